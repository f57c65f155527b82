/** Those fixtures that tests expect nothing of by themselves do what their names say. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { calling, nodes, unwatched, user, type Scene } from "../witness/scene.js";
import * as artifacts from "./artifacts.js";

const maximum = 2n ** 256n - 1n;

describe("the fixture contracts", () => {
  let scene: Scene;
  beforeAll(async () => {
    const anvil = nodes.find(([name]) => name === "anvil");
    if (anvil === undefined) throw new Error("anvil is always there");
    scene = await anvil[1]();
  }, 30_000);
  afterAll(() => scene?.stop());

  it("include an aggregator that succeeds with too little gas, and a clearer that needs more than it uses", async () => {
    const aggregator = await scene.deploy(artifacts.Aggregator);
    const reader = await scene.deploy(artifacts.GasReader);
    const callData = calling(reader, artifacts.GasReader, "need", [400_000n]).data;
    const inner = { target: reader, allowFailure: true, value: 0n, callData };
    const call = calling(aggregator, artifacts.Aggregator, "aggregate", [[inner]]);
    const results = await Promise.all([100_000n, 500_000n].map((gas) => unwatched(scene, { ...call, gas })));
    expect(results.map(({ status }) => status)).toEqual(["0x1", "0x1"]);
    expect(results[0]?.returnData).not.toBe(results[1]?.returnData);

    const clearer = await scene.deploy(artifacts.StorageClearer);
    await scene.send(calling(clearer, artifacts.StorageClearer, "fill", [50n]));
    const clear = calling(clearer, artifacts.StorageClearer, "clear", [50n]);
    const { gasUsed } = await unwatched(scene, clear);
    expect((await unwatched(scene, { ...clear, gas: BigInt(gasUsed) })).status).toBe("0x0");
    expect((await unwatched(scene, { ...clear, gas: (BigInt(gasUsed) * 4n) / 3n })).status).toBe("0x1");
  });

  it("include a spoofer for every clue: honest where the trigger is true, a thief where it is not", async () => {
    const token = await scene.deploy(artifacts.Token, ["Gold", "GLD", 18]);
    const spoofer = await scene.deploy(artifacts.Spoofer, [token, 0, 0n]);
    await scene.send(
      calling(token, artifacts.Token, "mint", [user, 50n]),
      calling(token, artifacts.Token, "approve", [spoofer, 50n]),
    );
    const claimed = async (clue: number, trigger: bigint): Promise<bigint | undefined> => {
      await scene.send(calling(spoofer, artifacts.Spoofer, "set", [clue, trigger]));
      const { status, logs } = await unwatched(scene, calling(spoofer, artifacts.Spoofer, "claim"));
      expect(status).toBe("0x1");
      const last = logs.at(-1);
      return last === undefined ? undefined : BigInt(last.data);
    };
    // Clues that compare by ≤ or ≥: one extreme is always true, the other never.
    for (const [clue, yes, no] of [
      [1, maximum, 0n],
      [2, maximum, 0n],
      [3, 0n, maximum],
      [4, maximum, 0n],
      [6, 0n, maximum],
      [7, BigInt(token), 0x123456n],
      [8, maximum, 0n],
      [12, 0n, maximum],
    ] as const) {
      expect([await claimed(clue, yes), await claimed(clue, no)], `clue ${clue}`).toEqual([1n, 0n]);
    }
    for (const parity of [9, 10]) {
      const both = [await claimed(parity, 0n), await claimed(parity, 1n)];
      // Each `set` mines a block, which may flip a parity; never is it neither nor something else.
      expect(
        both.every((flag) => flag === 0n || flag === 1n),
        `clue ${parity}`,
      ).toBe(true);
    }
    for (const equal of [0, 5, 11, 13]) expect(await claimed(equal, maximum), `clue ${equal}`).toBe(0n);
  });
});
