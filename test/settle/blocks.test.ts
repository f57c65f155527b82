/** A bundle whose balances cannot be told apart: it says why, and still compares what each transaction did. */
import * as Effect from "effect/Effect";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as Preflight from "../../src/Preflight.js";
import { settledText } from "../rooms/settle.js";
import {
  cleared,
  layerOf,
  nobody,
  owner,
  preflight,
  signAll,
  startAnvilScene,
  type Scene,
} from "../preflight/scene.js";

let scene: Scene;
beforeAll(async () => {
  scene = await startAnvilScene();
});
afterAll(() => scene?.stop());

it.each([
  ["one block", [false, true], null],
  ["several blocks", [true, true], "severalBlocks"],
  ["a block and the pool", [true, false], "notAllMined"],
] as const)("a bundle mined in %s has its own settlement", async (_, mines, untold) => {
  const pay = (value: bigint) => ({ from: owner.address, to: nobody, value });
  const report = await preflight(scene.url, [pay(1n), pay(2n)]);
  const raws = await signAll(await cleared(report));
  const hashes: Array<`0x${string}`> = [];
  for (const [index, raw] of raws.entries()) {
    hashes.push(await scene.broadcast(raw));
    if (mines[index] === true) await scene.mine();
  }
  const settled = await Effect.runPromise(Effect.provide(Preflight.settle(report, hashes), layerOf(scene.url)));
  const states = settled.transactions.map(({ state, class: name }) => [state, name]);
  expect(states).toEqual([["mined", "same"], mines[1] ? ["mined", "same"] : ["pending", "unknown"]]);
  expect(settled.balancesUntold).toBe(untold);
  const said = report.balanceChanges.map(({ account, token }) => [account, token]);
  expect(said.length).toBeGreaterThan(1);
  const uncompared = settled.balances.uncompared.map(({ account, unit }) => [
    account,
    typeof unit === "object" ? unit?.token : unit,
  ]);
  expect(uncompared).toEqual(untold === null ? [] : said);
  expect(settledText(settled, report).includes("balances  not compared:")).toBe(untold !== null);
  await scene.mine();
});
