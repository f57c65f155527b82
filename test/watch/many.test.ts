/** A hundred reports on one connection cost one request per head, and what moves one of them moves no other. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Hex } from "viem";
import type * as Report from "../../src/Report.js";
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
import { counted, watching } from "./watched.js";

let scene: Scene;
let token: Hex;
beforeAll(async () => {
  ({ scene, token } = await furnish(startAnvilScene));
  await scene.pool(owner, { to: token, data: calldata(Token, "mint", [other.address, 1n]) });
  await scene.pool(third, { to: nobody, value: 1n });
  await scene.mine();
});
afterAll(() => scene.stop());

it("a hundred watched reports", { timeout: 90_000 }, async () => {
  const { layer, asked } = counted(layerOf(scene.url));
  const input = (index: number): AnyInput =>
    index % 2 === 0 ? transferOf(token, BigInt(index + 1)) : { from: other.address, to: nobody, value: BigInt(index) };
  const reports: Array<Report.Report> = [];
  for (let index = 0; index < 100; index++) reports.push(await preflightOn(layer, input(index)));
  const all = watching(reports, layer, { maxAge: "5 minutes" });
  const isToldOf = (number: bigint) => all.every(({ told }) => told.at(-1)?.head?.header.number === number);
  const mined = async () => {
    await scene.mine();
    const number = BigInt(String(await scene.ask("eth_blockNumber", [])));
    await until(() => isToldOf(number), `a word of all on ${number}`, 60_000);
    return all.map(({ told }) => {
      const word = told.at(-1);
      return word?._tag === "Fresh" ? word.by : word?._tag;
    });
  };
  try {
    await until(() => all.every(({ told }) => told.length > 0), "the first words", 60_000);
    asked.length = 0;
    for (let count = 0; count < 3; count++) {
      await scene.pool(third, { to: nobody, value: 1n });
      expect(new Set(await mined())).toEqual(new Set(["reading"]));
    }
    // why: what there is of a token is only compared with what is granted of it
    await scene.pool(third, { to: token, data: calldata(Token, "mint", [third.address, 1_000n]) });
    expect(new Set(await mined())).toEqual(new Set(["reading"]));
    expect(asked.filter((purpose) => purpose !== "eth_getBlockByNumber")).toEqual(Array(5).fill("eth_simulateV1"));
    await scene.pool(third, { to: other.address, value: 1n });
    const words = await mined();
    expect(words.map((word, index) => (index % 2 === 0 ? word : null)).filter((word) => word !== null)).toEqual(
      Array(50).fill("reading"),
    );
    expect(words.filter((word) => word === "Moved")).toHaveLength(50);
  } finally {
    for (const one of all) await one.stop();
  }
});
