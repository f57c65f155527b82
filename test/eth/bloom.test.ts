/** Blooms beside the logs that they came with: honest ones of real nodes, and logs that were left out or put in. */
import * as Effect from "effect/Effect";
import { getAddress, concatHex, hexToBytes, keccak256, numberToHex, pad, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Eth from "../../src/Eth.js";
import { checkBlooms } from "../rooms/eth.js";
import * as Preflight from "../../src/Preflight.js";
import { Token } from "../contracts/artifacts.js";
import { calldata, layerOf, nobody, owner, scenesFor, spare, tampered, third, type Scene } from "../preflight/scene.js";

const [one, other, native] = [pad("0x01", { size: 20 }), pad("0x02", { size: 20 }), `0x${"e".repeat(40)}` as Hex];
const [first, second] = [pad("0xaa"), pad("0xbb")];
const bloomOf = (...values: ReadonlyArray<Hex>): Hex => {
  let bits = 0n;
  for (const value of values) {
    const hash = hexToBytes(keccak256(value));
    for (const at of [0, 2, 4]) bits |= 1n << BigInt((((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2_047);
  }
  return `0x${bits.toString(16).padStart(512, "0")}`;
};
/** The place of the first bloom that its logs contradict; null = there is none. */
const contradictedIn = (all: Parameters<typeof checkBlooms>[1]): Promise<number | null> =>
  Effect.runPromise(
    Effect.match(checkBlooms("eth_getBlockReceipts", all, String), {
      onSuccess: () => null,
      onFailure: ({ reason }) => (reason._tag === "MalformedResponse" ? Number.parseInt(reason.path) : Number.NaN),
    }),
  );
const log = (address: Hex, ...topics: ReadonlyArray<Hex>) => ({ address, topics }) as never;

describe("a block's bloom held against its logs", () => {
  const both = bloomOf(one, first, other, second);
  it.each([
    ["agrees with its logs", both, [log(one, first), log(other, second)], false],
    ["misses one that was put in", bloomOf(one, first), [log(one, first), log(other, second)], true],
    ["tells of one that was left out", both, [log(one, first)], true],
    ["tells of a topic that was changed", both, [log(one, first), log(other, first)], true],
    ["tells of one though there are none", both, [], true],
    ["misses who tells of native moves, whom a real log names", bloomOf(one), [log(one, native), log(native)], true],
    [
      "says nothing of native movements, or counts them",
      both,
      [log(one, first), log(other, second), log(native, first)],
      false,
    ],
    ["counts native movements", bloomOf(one, first, native), [log(one, first), log(native, first)], false],
    ["is empty, as some chains have it", `0x${"00".repeat(256)}`, [log(one, first)], false],
    ["is full, as others have it", `0x${"ff".repeat(256)}`, [log(one, first)], false],
    ["is left out", null, [log(one, first)], false],
    ["is of another length", concatHex([both, "0x00"]), [], false],
  ] as const)("contradicts them or not: a bloom that %s", async (_, bloom, logs, isContradicted) => {
    const place = await contradictedIn([{ logsBloom: bloom as never, logs }]);
    expect(place).toBe(isContradicted ? 0 : null);
  });
  it("may hold what another's equal call emitted, and must hold its own", async () => {
    const [own, also] = [[log(one, first)], [log(other, second)]];
    expect(await contradictedIn([{ logsBloom: both as never, logs: own, also }])).toBeNull();
    expect(await contradictedIn([{ logsBloom: bloomOf(one, first) as never, logs: own, also }])).toBeNull();
    expect(await contradictedIn([{ logsBloom: bloomOf(other, second) as never, logs: own, also }])).toBe(0);
    expect(await contradictedIn([{ logsBloom: bloomOf(one, first, native) as never, logs: own, also }])).toBe(0);
  });
});

it("a bloom is compared in turns of the event loop, and not where it tells nothing", async () => {
  const logs = Array.from({ length: 3_500 }, (_, index) => log(one, pad(numberToHex(10_000 + index))));
  const lookedAt = async (logsBloom: Hex | null) => {
    let turns = 0;
    const turn = () => void (turns++, (next = setImmediate(turn)));
    let next = setImmediate(turn);
    const place = await contradictedIn([
      { logsBloom: null, logs },
      { logsBloom, logs },
    ]);
    clearImmediate(next);
    return { turns, place };
  };
  const empty = await lookedAt(null);
  expect([empty.turns < 3, empty.place]).toEqual([true, null]);
  const lied = await lookedAt(bloomOf(one));
  expect([lied.turns >= 3, lied.place]).toEqual([true, 1]);
});

it("a bloom of very many values is compared with the first of them, and reports no log as left out", async () => {
  const bitsOf = (value: Hex) => BigInt(bloomOf(value));
  // in the bloom, and of none of the first; and in no bloom
  const [late, never] = [1n, 2n];
  const all = Array.from({ length: 8_400 }, (_, index) => pad(numberToHex(50_000 + index)));
  const many = all.filter((value) => (bitsOf(value) & (late | never)) === 0n);
  const full = (1n << 2_048n) - 1n;
  const held = (bloom: bigint) =>
    contradictedIn([{ logsBloom: numberToHex(bloom, { size: 256 }), logs: [log(one, ...many)] }]);
  expect(many.length).toBeGreaterThan(8_192);
  expect(await held(full ^ never)).toBe(null);
  expect(await held(full ^ never ^ (bitsOf(many[0] ?? one) & -bitsOf(many[0] ?? one)))).toBe(0);
});

describe.each(scenesFor("the blooms of answers"))("logs and blooms that %s answers", (_, start) => {
  let scene: Scene;
  let token: Hex;
  let hash: Hex;
  beforeAll(async () => {
    scene = await start();
    token = await scene.deploy(Token, ["Coin", "COIN", 6]);
    hash = await scene.send(owner, { to: token, data: calldata(Token, "mint", [owner.address, 5n]) });
    await scene.mine();
  }, 60_000);
  afterAll(() => scene?.stop());

  /** What of an answer is changed. */
  interface Told {
    readonly calls?: ReadonlyArray<{ logs: ReadonlyArray<unknown> }>;
    readonly logs: ReadonlyArray<{ readonly topics: Array<Hex> }>;
  }
  const changing = (change: (result: ReadonlyArray<Told> & Told) => unknown) =>
    tampered(scene.url, () => (result) => change(structuredClone(result) as never));
  const call = () => ({ from: owner.address, to: token, data: calldata(Token, "transfer", [nobody, 1n]) });

  it("agree on an honest node; a report without its logs is unknown", async () => {
    const asked = Preflight.preflight(call());
    const honest = await Effect.runPromise(asked.pipe(Effect.provide(layerOf(scene.url))));
    expect(honest.verdict).toBe("ready");
    const leaving = changing((result) => {
      for (const block of Array.isArray(result) ? result : []) for (const one of block.calls ?? []) one.logs = [];
      return result;
    });
    const lied = await Effect.runPromise(asked.pipe(Effect.provide(leaving)));
    expect(lied.verdict).toBe("unknown");
    const found = lied.findings.filter(({ code }) => code === "MalformedResponse");
    expect(found.length).toBeGreaterThan(0);
    expect(JSON.stringify(found)).toContain("logsBloom");
  });
  it("agree for the same call by two senders at one nonce, each in a block of its own", async () => {
    for (const { address } of [third, spare])
      await scene.send(owner, { to: token, data: calldata(Token, "mint", [address, 5n]) });
    await scene.mine();
    const [mine, theirs] = [third, spare].map(({ address }) => ({ ...call(), from: address, nonce: 0, gas: 100_000n }));
    const { nonce: _, ...filled } = { ...mine };
    // written as one likes: an address in capitals, a nonce that is left to the node
    for (const first of [mine, { ...mine, to: getAddress(token) }, filled]) {
      const blocks = [first, theirs].map((one) => ({ calls: [one] }));
      const asked = Eth.simulateV1({ blocks, block: "latest" } as never);
      const found = await Effect.runPromise(asked.pipe(Effect.provide(layerOf(scene.url))));
      expect(found.map(({ calls }) => calls.map(({ status, logs }) => [status, logs.length]))).toEqual([
        [["success", 1]],
        [["success", 1]],
      ]);
    }
  });
  it("agree for a receipt and for a whole block; a log put in shows", async () => {
    const receipt = Eth.getTransactionReceipt({ hash: hash as never });
    const receipts = Eth.getBlockReceipts({ block: "latest" });
    for (const asked of [receipt, receipts]) {
      await Effect.runPromise(Effect.provide(asked as typeof receipt, layerOf(scene.url)));
      const adding = changing((result) => {
        for (const { logs } of [result].flat()) logs[0]?.topics.splice(0, 1, pad("0x99"));
        return result;
      });
      const failure = await Effect.runPromise(Effect.flip(Effect.provide(asked as typeof receipt, adding)));
      expect(JSON.stringify(failure)).toContain("logsBloom");
    }
  });
});
