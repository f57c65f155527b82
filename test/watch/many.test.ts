/** Many reports on one connection are judged at each head, a few at a time, and what moves one of them moves no other. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Hex } from "viem";
import type * as Report from "../../src/Report.js";
import { Rpc } from "../../src/Rpc.js";
import { Token } from "../contracts/artifacts.js";
import { until } from "../eth/watching.js";
import { furnish, transferOf } from "../preflight/furnished.js";
import {
  calldata,
  layerOf,
  nobody,
  other,
  owner,
  preflightOn,
  startAnvilScene,
  third,
  type AnyInput,
  type Scene,
} from "../preflight/scene.js";
import { watching } from "./watched.js";
import { CurrentRun } from "../rooms/rpc.js";

let scene: Scene;
let token: Hex;
beforeAll(async () => {
  ({ scene, token } = await furnish(startAnvilScene));
  await scene.pool(owner, { to: token, data: calldata(Token, "mint", [other.address, 1n]) });
  await scene.pool(third, { to: nobody, value: 1n });
  await scene.mine();
});
afterAll(() => scene.stop());

it("forty watched reports are each proven at a head, few at once", { timeout: 90_000 }, async () => {
  let [underWay, most] = [0, 0];
  const layer = Layer.effect(
    Rpc,
    Effect.map(Rpc, (node) =>
      Rpc.of({
        ...node,
        request: (method, params) =>
          Effect.flatMap(Effect.service(CurrentRun), ({ run }) => {
            if (run !== "exact") return node.request(method, params);
            most = Math.max(most, ++underWay);
            return Effect.ensuring(
              node.request(method, params),
              Effect.sync(() => void underWay--),
            );
          }),
      }),
    ),
  ).pipe(Layer.provide(layerOf(scene.url)));
  const input = (index: number): AnyInput =>
    index % 2 === 0 ? transferOf(token, BigInt(index + 1)) : { from: other.address, to: nobody, value: BigInt(index) };
  const reports: Array<Report.Report> = [];
  for (let index = 0; index < 40; index++) reports.push(await preflightOn(layer, input(index)));
  const all = watching(reports, layer, { maxAge: "5 minutes" });
  const isToldOf = (number: bigint) => all.every(({ told }) => told.at(-1)?.head?.header.number === number);
  const mined = async () => {
    await scene.mine();
    const number = BigInt(String(await scene.ask("eth_blockNumber", [])));
    await until(() => isToldOf(number), `a word of all on ${number}`, 60_000);
    return all.map(({ told }) => told.at(-1)?._tag);
  };
  try {
    await until(() => all.every(({ told }) => told.length > 0), "the first words", 60_000);
    await scene.pool(third, { to: nobody, value: 1n });
    expect(new Set(await mined())).toEqual(new Set(["Fresh"]));
    await scene.pool(third, { to: token, data: calldata(Token, "mint", [third.address, 1_000n]) });
    expect(new Set(await mined())).toEqual(new Set(["Fresh"]));
    await scene.pool(third, { to: other.address, value: 1n });
    expect(await mined()).toEqual(all.map((_, index) => (index % 2 === 0 ? "Fresh" : "Moved")));
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(8);
  } finally {
    for (const one of all) await one.stop();
  }
});
