/** What honest clients say differently, by recorded cases; and what no honest one does. */
import { describe, expect, it } from "vitest";
import {
  choseOtherwise,
  compareBlocks,
  differenceOf,
  inBlocksOf,
  movedTo,
  partsOf,
  providerOf,
  stateOf,
} from "../rooms/rpc.js";
import * as Result from "effect/Result";
import { decodeQueries, encodeQueries, type Query } from "../rooms/witness.js";

const to = `0x${"22".repeat(20)}` as const;
const asked = [{ blockStateCalls: [{ calls: [{ to, data: "0x" }] }] }, { blockHash: `0x${"01".repeat(32)}` }];
const log = { address: to, topics: [`0x${"ab".repeat(32)}`], data: "0x05" };
const traced = { address: `0x${"ee".repeat(20)}`, topics: [], data: "0x01" };
const told = { address: `0x${"ff".repeat(19)}fe`, topics: [], data: "0x01" };
const paid = (by: object, receiver: string) => ({
  ...by,
  topics: [`0x${"dd".repeat(32)}`, `0x${"11".padStart(64, "0")}`, `0x${receiver.padStart(64, "0")}`],
});
const call = { status: "0x1", gasUsed: "0x5208", returnData: "0x", logs: [log] };

/** An answer of one block with one call. */
const answer = (changes: object = {}, block: object = {}) => [
  { hash: "0x01", ...block, calls: [{ ...call, ...changes }] },
];
const differs = (one: unknown, other: unknown) =>
  differenceOf(partsOf("eth_simulateV1", asked, one), partsOf("eth_simulateV1", asked, other))?.[0] ?? null;

describe("two answers of a simulation", () => {
  it("with more events than blocks hold are refused without a look at each", () => {
    const flood = (count: number) =>
      partsOf("eth_simulateV1", asked, answer({ logs: Array<number>(count).fill(1) })).size;
    expect([flood(200_001), flood(1_000) > 1_000]).toEqual([1, true]);
  });

  const failed = { status: "0x0", logs: [] };
  const honest: ReadonlyArray<readonly [string, unknown, unknown]> = [
    ["the hash of the block that a client makes (anvil, geth)", answer({}, { hash: "0x02" }), answer()],
    [
      "the parent's hash, which anvil has as zero",
      answer({}, { parentHash: "0x00" }),
      answer({}, { parentHash: "0x9" }),
    ],
    ["the peak of gas, which not every client tells", answer({ maxUsedGas: "0x5300" }), answer()],
    ["leading zeros", answer({ gasUsed: "0x05208" }), answer()],
    [
      "the case of addresses and words",
      answer({ logs: [{ ...log, address: to.toUpperCase().replace("0X", "0x") }] }),
      answer(),
    ],
    [
      "native movements traced, or told by EIP-7708, or not",
      answer({ logs: [traced, log] }),
      answer({ logs: [log, told] }),
    ],
    [
      "the words of an error",
      answer({ ...failed, returnData: "0x08c379a0", error: { code: 3, message: "execution reverted" } }),
      answer({ ...failed, returnData: "0x08c379a0", error: { code: -32000, message: "revert" } }),
    ],
    [
      "where the data of a revert stands",
      answer({ ...failed, returnData: "0x", error: { code: 3, data: "0x08c379a0" } }),
      answer({ ...failed, returnData: "0x08c379a0", error: { code: 3 } }),
    ],
  ];
  it.each(honest)("may differ in %s", (_, one, other) => expect(differs(one, other)).toBeNull());

  const dishonest: ReadonlyArray<readonly [string, unknown, string]> = [
    ["status", answer(failed), "call 0 status"],
    ["gas", answer({ gasUsed: "0x5209" }), "call 0 gasUsed"],
    ["return value", answer({ returnData: "0x01" }), "call 0 returnData"],
    ["a log less", answer({ logs: [] }), "call 0 logs"],
    ["a log of another contract", answer({ logs: [{ ...log, address: told.topics }] }), "call 0 logs[0]"],
    ["data of a log", answer({ logs: [{ ...log, data: "0x06" }] }), "call 0 logs[0]"],
    ["topics of a log", answer({ logs: [{ ...log, topics: [] }] }), "call 0 logs[0]"],
    ["receiver of native currency", answer({ logs: [log, paid(told, "02")] }), "native movements of call 0"],
    ["calls", [{ calls: [] }], "calls"],
    ["no blocks", null, "calls"],
    ["nonsense", [{ calls: ["0x"] }], "call 0 status"],
  ];
  it.each(dishonest)("must not differ in %s", (_, other, path) =>
    expect(differs(answer({ logs: [log, paid(traced, "01")] }), other)).toBe(path),
  );
});

describe("the compared values of a simulated block", () => {
  const block = { number: "0x11", timestamp: "0x64", baseFeePerGas: "0x7", gasLimit: "0x1c9c380" };
  const difference = (other: object, look?: Parameters<typeof partsOf>[3]) =>
    differenceOf(
      partsOf("eth_simulateV1", asked, answer({}, block), look),
      partsOf("eth_simulateV1", asked, answer({}, { ...block, ...other }), look),
    )?.[0] ?? null;
  it.each<[string, object, Parameters<typeof partsOf>[3], string | null]>([
    ["another base fee is a difference", { baseFeePerGas: "0x8" }, undefined, "block 0 baseFeePerGas"],
    ["another time is a difference", { timestamp: "0x65" }, undefined, "block 0 timestamp"],
    ["another number is a difference", { number: "0x12" }, undefined, "block 0 number"],
    ["another gas limit is the client's own", { gasLimit: "0x1" }, undefined, null],
    ["another number is none where the block is another", { number: "0x12" }, { isOpen: false, isMoved: true }, null],
    [
      "another base fee is one there, too",
      { baseFeePerGas: "0x8" },
      { isOpen: false, isMoved: true },
      "block 0 baseFeePerGas",
    ],
    [
      "another base fee is none where the node chose it",
      { baseFeePerGas: "0x8" },
      { isOpen: true, isMoved: false },
      null,
    ],
  ])("are told apart: %s", (_, other, look, path) => expect(difference(other, look)).toBe(path));

  it("are those of the requested blocks, not of one in front", () => {
    const filled = [{ ...block, number: "0x10", calls: [] }, ...answer({}, block)];
    expect(differs(filled, answer({}, block))).toBeNull();
  });
});

describe("the queries of a witness", () => {
  const queries: ReadonlyArray<Query> = [
    { kind: "environment" },
    { kind: "account", address: to },
    { kind: "call", to, data: "0x12345678", gas: 100_000, returnCap: 64 },
  ];
  it("are read back from its calldata", () => expect(decodeQueries(encodeQueries(queries))).toEqual(queries));
  it.each([
    "0x04",
    "0x02ff",
    `0x03${"00".repeat(28)}-0000021`,
    `${encodeQueries(queries)}03`,
    encodeQueries(queries).slice(0, -2),
  ])("are not found in %s", (data) => expect(decodeQueries(data)).toBeNull());
});

describe("the block that a request is moved to", () => {
  it.each([
    ["eth_getCode", [to, "pending"], "pending"],
    ["eth_getCode", [to, "latest"], "latest"],
    ["eth_getCode", [to], "latest"],
    ["eth_getCode", [to, "0x5"], "sealed"],
    ["eth_simulateV1", [{}, { blockHash: "0x" }], "sealed"],
    ["eth_getStorageAt", [to, "0x0", "finalized"], "latest"],
  ] as const)("of %s %j is %s", (method, params, state) => expect(stateOf(method, params)).toBe(state));

  it("keeps its own numbers", () => {
    const params = [{ blockStateCalls: [{ blockOverrides: { number: "0x10", time: "0x1" } }, {}] }, "0x0"];
    expect(movedTo(params, "0xab", 2n)).toEqual([
      { blockStateCalls: [{ blockOverrides: { number: "0xe", time: "0x1" } }, {}] },
      { blockHash: "0xab" },
    ]);
  });

  it("is put into the blocks of another node, its own overrides first", () => {
    const params = [{ blockStateCalls: [{ blockOverrides: { time: "0x1" }, calls: [] }], validation: true }, "latest"];
    const [block] = [{ number: "0x5", timestamp: "0x9", baseFeePerGas: "0x7" }];
    expect(inBlocksOf(params, [block])).toEqual([
      {
        blockStateCalls: [{ blockOverrides: { number: "0x5", time: "0x1", baseFeePerGas: "0x7" }, calls: [] }],
        validation: true,
      },
      "latest",
    ]);
    expect(inBlocksOf(params, [])).toBeNull();
    expect(choseOtherwise([block], [{ ...block, baseFeePerGas: "0x8" }])).toBe(true);
    expect(choseOtherwise([block], [{ ...block, hash: "0x8" }])).toBe(false);
    expect(choseOtherwise([block], [])).toBe(false);
  });
});

describe("two blocks compared", () => {
  const head = {
    number: "0x5",
    hash: "0xaa",
    parentHash: "0xbb",
    timestamp: "0x1",
    gasLimit: "0x1",
    baseFeePerGas: "0x1",
  };
  it.each([
    ["the same", head, "agreed"],
    ["another of another number", { ...head, number: "0x6", hash: "0xcc" }, "disagreed"],
    ["another branch", { ...head, hash: "0xcc" }, "unconfirmed"],
    ["the same block with another base fee", { ...head, baseFeePerGas: "0x2" }, "disagreed"],
    ["the same block at another time", { ...head, timestamp: "0x2" }, "disagreed"],
  ])("are related as expected: %s", (_, other, kind) =>
    expect(compareBlocks(Result.succeed(head), Result.succeed(other)).kind).toBe(kind),
  );
});

describe("the provider of an endpoint", () => {
  it.each([
    ["https://eth-mainnet.g.alchemy.com/v2/key", "alchemy.com"],
    ["https://user:pass@RPC.Ankr.com./eth", "ankr.com"],
    ["http://192.0.2.1:8545", "192.0.2.1:8545"],
    ["http://[2001:db8::1]:8545", "[2001:db8::1]:8545"],
    ["http://127.0.0.1:8545", "localhost:8545"],
    ["http://127.1:8545", "localhost:8545"],
    ["http://0.0.0.0:8545", "localhost:8545"],
    ["http://[::1]:8545", "localhost:8545"],
    ["http://[::ffff:127.0.0.1]:8545", "localhost:8545"],
    ["http://node.localhost:8545", "localhost:8545"],
    ["http://127.0.0.1.example.org", "example.org"],
    ["https://localhost", "localhost:443"],
    ["http://geth", "geth:80"],
    ["https://rpc.example.co.uk", null],
    ["https://mine.workers.dev", null],
    ["no URL", null],
  ])("of %s is %s", (url, provider) => expect(providerOf(url)).toBe(provider));
});
