/** The small decisions of a quorum, one table each: what of a receipt counts, which head can follow, who pays what. */
import * as Result from "effect/Result";
import { describe, expect, it } from "vitest";
import { InsufficientFunds, MethodNotSupported, RpcError, UpstreamUnavailable } from "../rooms/errors.js";
import {
  canFollow,
  compareAdvice,
  compareAnswers,
  differenceOf,
  earliestFork,
  isDoubtOnly,
  isSaidByEnough,
  partsOf,
  reachedBy,
  stateOf,
  type MemberAnswer,
  type Member,
  type Vote,
} from "../rooms/rpc.js";

const quantity = (value: bigint): string => `0x${value.toString(16)}`;
const to = `0x${"22".repeat(20)}`;
const log = { address: to, topics: [`0x${"ab".repeat(32)}`], data: "0x05" };
const another = { ...log, data: "0x06" };

/** The first part that differs, and whether that is only a doubt. */
const differenceIn = (method: string, one: unknown, other: unknown) => {
  const found = differenceOf(partsOf(method, [], one), partsOf(method, [], other));
  return found === null ? "the same" : `${found[0]}${isDoubtOnly(found) ? "?" : ""}`;
};
const word = `0x${"ab".repeat(32)}`;

describe("the comparison of two searches for logs", () => {
  const place = {
    blockHash: word,
    transactionHash: word,
    blockNumber: "0x5",
    transactionIndex: "0x0",
    logIndex: "0x1",
  };
  const [found, second] = [
    { ...log, ...place, removed: false, blockTimestamp: "0x7" },
    { ...another, ...place, logIndex: "0x2" },
  ];
  const { removed: _, blockTimestamp: __, ...bare } = found;
  it.each<[string, unknown, unknown, string]>([
    ["fields of one client alone", [found], [bare], "the same"],
    [
      "the case of hex, and leading zeros",
      [found],
      [{ ...found, address: to.toUpperCase(), logIndex: "0x01" }],
      "the same",
    ],
    ["no logs", [], [], "the same"],
    ["one left out", [found, second], [found], "logs"],
    ["one invented", [found], [found, second], "logs"],
    ["another contract's", [found], [{ ...found, address: word }], "logs[0] "],
    ["other data", [found], [{ ...found, data: "0x06" }], "logs[0] "],
    ["other topics", [found], [{ ...found, topics: [] }], "logs[0] "],
    ["another block", [found], [{ ...found, blockHash: to }], "logs[0] blockHash"],
    ["another transaction", [found], [{ ...found, transactionHash: to }], "logs[0] transactionHash"],
    ["another number", [found], [{ ...found, blockNumber: "0x6" }], "logs[0] blockNumber"],
    ["another place", [found], [{ ...found, logIndex: "0x2" }], "logs[0] logIndex"],
    ["another order", [found, second], [second, found], "logs[0] "],
    ["no list", [found], null, "block?"],
  ])("finds $3 in %s", (_, one, other, expected) => expect(differenceIn("eth_getLogs", one, other)).toBe(expected));

  const answered = (logs: unknown): MemberAnswer => Result.succeed(logs);
  it.each([
    ["of one block", { blockHash: word }, "disagreed"],
    ["of a range", { fromBlock: "0x1", toBlock: "latest" }, "unconfirmed"],
  ])("is $2 where one left out logs %s", (_, filter, kind) => {
    const [method, params] = ["eth_getLogs", [filter]];
    const state = stateOf(method, params) ?? "pending";
    expect(compareAnswers({ method, params, state }, answered([found, second]), answered([found])).kind).toBe(kind);
  });
});

describe("the comparison of two receipts", () => {
  const receipt = {
    ...{ transactionHash: word, blockHash: word, blockNumber: "0x5", transactionIndex: "0x0", type: "0x0" },
    ...{ from: to, to, contractAddress: null, status: "0x1", gasUsed: "0x5208", cumulativeGasUsed: "0x5208" },
    ...{ effectiveGasPrice: "0x7", logs: [log], logsBloom: "0x00", blobGasPrice: "0x1" },
  };
  const { type, contractAddress: _, ...bare } = receipt;
  const blobs = { ...receipt, type: "0x3", blobGasUsed: "0x20000", blobGasPrice: "0x1" };
  it.each<[string, unknown, unknown, string]>([
    ["null and missing", receipt, { ...bare, type, root: null }, "the same"],
    ["a type that is not told, and legacy", receipt, bare, "the same"],
    ["a type that is not told, and another", { ...receipt, type: "0x2" }, bare, "type?"],
    [
      "the case of hex, and leading zeros",
      receipt,
      { ...receipt, from: to.toUpperCase(), gasUsed: "0x05208" },
      "the same",
    ],
    ["fields of one client alone", receipt, { ...receipt, logsBloom: "0x01", extra: 7 }, "the same"],
    ["the price of blobs, where there are none", receipt, { ...receipt, blobGasPrice: "0x9" }, "the same"],
    ["the price of blobs", blobs, { ...blobs, blobGasPrice: "0x9" }, "blobGasPrice"],
    ["the gas of blobs", blobs, { ...blobs, blobGasUsed: "0x40000" }, "blobGasUsed"],
    [
      "the kind of the operator's scalar",
      receipt,
      { ...receipt, daFootprintGasScalar: "0x1" },
      "daFootprintGasScalar?",
    ],
    ["the gas before it", receipt, { ...receipt, cumulativeGasUsed: "0x5209" }, "cumulativeGasUsed"],
    ["a fee of layer 1", { ...receipt, l1Fee: "0x1" }, { ...receipt, l1Fee: "0x2" }, "l1Fee"],
    ["a fee of layer 1 that one does not tell", { ...receipt, l1Fee: "0x1" }, receipt, "l1Fee?"],
    ["the status", receipt, { ...receipt, status: "0x0" }, "status"],
    ["the order of logs", { ...receipt, logs: [log, another] }, { ...receipt, logs: [another, log] }, "logs[0]"],
    ["none", receipt, null, "block?"],
  ])("finds $3 in %s", (_, one, other, expected) =>
    expect(differenceIn("eth_getTransactionReceipt", one, other)).toBe(expected),
  );
});

describe("the comparison of two transactions", () => {
  const authorization = { address: to, chainId: "0x1", nonce: "0x0", yParity: "0x0", r: "0x0a", s: "0x0b" };
  const transaction = {
    ...{ hash: word, blockHash: word, from: to, to, input: "0x", nonce: "0x1", value: "0x0", gas: "0x5208" },
    ...{ type: "0x4", chainId: "0x1", maxFeePerGas: "0x2", maxPriorityFeePerGas: "0x1", gasPrice: "0x2" },
    ...{ accessList: [], authorizationList: [authorization], blockNumber: "0x5", transactionIndex: "0x0" },
  };
  const signed = (change: object) => ({ ...transaction, authorizationList: [{ ...authorization, ...change }] });
  const blobs = { ...transaction, type: "0x3", blobVersionedHashes: [word], maxFeePerBlobGas: "0x1" };
  it.each<[string, unknown, unknown, string]>([
    ["zeros before a signature", transaction, signed({ r: "0xa" }), "the same"],
    ["another's authorisation", transaction, signed({ r: "0xc" }), "authorizationList"],
    ["the price that came of it", transaction, { ...transaction, gasPrice: "0x1" }, "the same"],
    ["other blobs", blobs, { ...blobs, blobVersionedHashes: [`0x${"cd".repeat(32)}`] }, "blobVersionedHashes"],
    ["another price of blobs", blobs, { ...blobs, maxFeePerBlobGas: "0x2" }, "maxFeePerBlobGas"],
    ["a list that is null, or not there", transaction, { ...transaction, accessList: null }, "the same"],
    ["one in the pool", { ...transaction, blockHash: null }, transaction, "block?"],
  ])("finds $3 in %s", (_, one, other, expected) =>
    expect(differenceIn("eth_getTransactionByHash", one, other)).toBe(expected),
  );
});

describe("the judgement of a head that nobody else has", () => {
  const head = { timestamp: "0x64", baseFeePerGas: "0x3b9aca00", gasLimit: "0x3938700" };
  const answer = (block: unknown): MemberAnswer => Result.succeed(block);
  const failed: MemberAnswer = Result.fail(
    new RpcError({ method: "m", reason: new UpstreamUnavailable({ detail: "" }) }),
  );
  it.each<[string, MemberAnswer, MemberAnswer, bigint, boolean]>([
    ["the same values", answer(head), answer(head), 1n, true],
    ["an eighth more of base fee", answer(head), answer({ ...head, baseFeePerGas: "0x430e2340" }), 1n, true],
    ["more than that", answer(head), answer({ ...head, baseFeePerGas: "0x430e2342" }), 1n, false],
    ["as much in two blocks", answer(head), answer({ ...head, baseFeePerGas: "0x430e2342" }), 2n, true],
    ["an eighth less", answer(head), answer({ ...head, baseFeePerGas: "0x342770c0" }), 1n, true],
    ["half of it", answer(head), answer({ ...head, baseFeePerGas: "0x1dcd6500" }), 1n, false],
    ["an earlier time", answer(head), answer({ ...head, timestamp: "0x63" }), 1n, false],
    ["no time", answer(head), answer({ ...head, timestamp: undefined }), 1n, false],
    ["another gas limit", answer(head), answer({ ...head, gasLimit: "0x3d09000" }), 1n, false],
    ["no base fee any more", answer(head), answer({ ...head, baseFeePerGas: null }), 1n, false],
    [
      "none before either",
      answer({ ...head, baseFeePerGas: null }),
      answer({ ...head, baseFeePerGas: null }),
      1n,
      true,
    ],
    ["no head", answer(head), failed, 1n, false],
    ["nothing before it", failed, answer(head), 1n, false],
    ["nothing that is a block", answer("0x1"), answer(head), 1n, false],
  ])("is $4 for %s", (_, earlier, later, blocks, expected) => expect(canFollow(earlier, later, blocks)).toBe(expected));
});

describe("the comparison of other senders' fees", () => {
  const history = (...tips: ReadonlyArray<bigint>): MemberAnswer =>
    Result.succeed({ reward: tips.map((tip) => [quantity(tip), quantity(tip)]) });
  const receipts = (...prices: ReadonlyArray<bigint>): MemberAnswer =>
    Result.succeed(prices.map((price) => ({ effectiveGasPrice: quantity(price) })));
  const failed: MemberAnswer = Result.fail(
    new RpcError({ method: "m", reason: new UpstreamUnavailable({ detail: "" }) }),
  );
  it.each<[string, MemberAnswer, MemberAnswer, string]>([
    ["the same", history(5n, 6n), history(5n, 6n), "agreed"],
    ["four times what the other tells", history(20n), history(5n), "agreed"],
    ["more", history(21n), history(5n), "unconfirmed"],
    ["much less", history(1n), history(900n), "agreed"],
    ["nothing, where the other tells of some", history(), history(5n), "agreed"],
    ["some, where the other tells of nothing", history(1n), history(), "unconfirmed"],
    ["one block that is dear among many", history(1n, 1n, 900n), history(1n, 1n, 1n), "agreed"],
    ["no answer of the other", history(1n), failed, "unconfirmed"],
    ["no answer", failed, history(1n), "unconfirmed"],
    ["what nobody can read", Result.succeed({ reward: [["0xzz", 7, null]] }), failed, "agreed"],
    ["prices of receipts", receipts(20n, 20n), receipts(5n, 6n, 7n), "agreed"],
    ["dear ones", receipts(40n), receipts(5n), "unconfirmed"],
  ])("is $3 for %s", (_, first, other, kind) => expect(compareAdvice(first, other).kind).toBe(kind));
});

const votes = (...answers: ReadonlyArray<MemberAnswer>): ReadonlyArray<Vote> =>
  answers.map((answer, index) => ({ provider: `provider ${index}`, answer }));

describe("the number that enough endpoints reach", () => {
  /** `a5 b7` = 5 by a, 7 by b. */
  const claimsIn = (text: string) =>
    text.split(" ").flatMap((one) => (one === "" ? [] : [[one.slice(0, 1), BigInt(one.slice(1))] as const]));
  it.each<[string, string, number, bigint | null]>([
    ["the greatest, where all must agree", "a5 b7", 0, 7n],
    ["the second, where one may lie", "a5 b99 c7", 1, 7n],
    ["none by one provider's two claims", "a99 a98 b5", 1, 5n],
    ["none, where only those tell who may lie", "a99", 1, null],
    ["none at all", "", 0, null],
  ])("is %s", (_, claims, others, expected) => expect(reachedBy(claimsIn(claims), others)).toBe(expected));
});

describe("the first endpoint's answer", () => {
  const [one, two]: ReadonlyArray<MemberAnswer> = [Result.succeed({ a: 1 }), Result.succeed({ a: 2 })] as const;
  const refused = (detail: string): MemberAnswer =>
    Result.fail(new RpcError({ method: "m", reason: new MethodNotSupported({ detail }) }));
  const down: MemberAnswer = Result.fail(
    new RpcError({ method: "m", reason: new UpstreamUnavailable({ detail: "" }) }),
  );
  const short = (have: bigint): MemberAnswer => Result.fail(new InsufficientFunds({ have, want: 7n }));
  const among = (answers: ReadonlyArray<MemberAnswer>, providerOf: (index: number) => string = String): boolean => {
    const members = answers.map((_, index) => ({ provider: providerOf(index), name: "", rpc: {} as Member["rpc"] }));
    const [lead = expect.fail()] = members;
    const said = members.map((member, index) => [member, answers[index] ?? down] as const);
    return isSaidByEnough({ lead, members, agree: 2, waitMs: 1, most: 1 }, new Map(said));
  };
  it.each<[string, ReadonlyArray<MemberAnswer>, boolean]>([
    ["is said by enough where one of the others says it", [one, two, one], true],
    ["is not, where the others agree with each other", [two, one, one], false],
    ["is not, where all differ", [one, two, refused("")], false],
    ["is a refusal that another shares in its own words", [refused("a"), refused("b"), one], true],
    ["is no failure of an endpoint", [down, down, down], false],
    ["is a verdict with its numbers", [short(1n), short(2n), short(2n)], false],
    ["is a verdict that another shares", [short(2n), short(1n), short(2n)], true],
  ])("%s", (_, answers, expected) => expect(among(answers)).toBe(expected));

  it("counts once for each provider", () => expect(among([one, one, two], () => "same")).toBe(false));
});

describe("the coming fork of several endpoints", () => {
  const config = (next: unknown, current: unknown = { precompiles: {}, systemContracts: {} }): MemberAnswer =>
    Result.succeed({ current, next });
  const at = (time: unknown) => ({ activationTime: time });
  it.each<[string, ReadonlyArray<MemberAnswer>, unknown, number?]>([
    ["none that one of three invents", [config(at(20)), config(null), config(null)], null, 1],
    [
      "the later one, where one of three tells of an earlier one",
      [config(at(30)), config(at(20)), config(at(30))],
      at(30),
      1,
    ],
    ["one that one of three hides", [config(null), config(at(20)), config(at(20))], at(20), 1],
    [
      "none of one alone who serves the method",
      [config(at(20)), Result.succeed(null), Result.succeed(null)],
      undefined,
      1,
    ],
    ["the earliest", [config(at(30)), config(at(20)), config(null)], at(20)],
    ["one that is still to come, where another names one that has been", [config(at(10)), config(at(30))], at(30)],
    ["one that has been, where nobody names another", [config(at(10)), config(null)], at(10)],
    ["of one alone", [config(null), config(at(20))], at(20)],
    ["none", [config(null), config(at("soon"))], null],
    ["of whom nothing else can be read", [config(null), config(at(20), null)], null],
    ["nobody", [Result.succeed("none"), Result.succeed(null)], undefined],
  ])("is %s", (_, answers, next, others = 0) => {
    const told = earliestFork(votes(...answers), 10_000, others);
    expect(told === null ? undefined : Result.getOrThrow(told)).toEqual(
      next === undefined ? undefined : { ...(Result.getOrThrow(answers[0] ?? config(null)) as object), next },
    );
  });
});
