/** Logs and calldata of any shape: read by their rules, never believed, never thrown over. */
import { encodeAbiParameters, encodeFunctionData, parseAbi, parseAbiParameters, type Hex as ViemHex } from "viem";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Address, type Hash, type Hex } from "../../src/primitives/hex.js";
import { rightsIn, settleRight } from "../../src/steps/reading/approvalLogs.js";
import { addressesIn, callsIn, rightsAsked } from "../../src/steps/reading/calldata.js";
import { controlsIn } from "../../src/steps/reading/controlLogs.js";
import { settle, transfersOf } from "../../src/steps/reading/transferLogs.js";
import type { OutcomeLog } from "../../src/report/parts.js";

const at = (digit: string): Address => Address.make(`0x${digit.repeat(40)}`);
const [alice, bob, token, other] = [at("a"), at("b"), at("1"), at("2")];
const zero = at("0");
const word = (value: bigint | string): string =>
  (typeof value === "bigint" ? value.toString(16) : value.slice(2)).padStart(64, "0");
const topics = {
  transfer: "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
  batch: "4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb",
  deposit: "e1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c",
  approval: "8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925",
};
const log = (
  address: Address,
  signature: string,
  indexed: ReadonlyArray<string>,
  data: ReadonlyArray<string>,
): OutcomeLog => ({
  address,
  topics: [signature, ...indexed].map((one) => `0x${one}` as Hash),
  data: `0x${data.join("")}` as Hex,
  decoded: null,
});
const traced = at("e");
const eip7708 = Address.make(`0x${"f".repeat(39)}e`);
const native = (emitter: Address, from: Address, to: Address, amount: bigint) =>
  log(emitter, topics.transfer, [word(from), word(to)], [word(amount)]);
const movements = (...logs: ReadonlyArray<OutcomeLog>) =>
  transfersOf(logs, 0, "measured").map(({ standard, from, to, amount, tokenId }) => [
    standard,
    from,
    to,
    amount,
    tokenId,
  ]);

describe("movements", () => {
  it("masks dirty upper bytes, reads indexed and unindexed values alike", () => {
    const dirty = `deadbeef${"0".repeat(16)}${alice.slice(2)}`;
    expect(movements(log(token, topics.transfer, [dirty, word(bob)], [word(5n)]))).toEqual([
      ["erc20", alice, bob, 5n, null],
    ]);
    expect(movements(log(token, topics.transfer, [], [word(alice), word(bob), word(5n)]))).toEqual([
      ["erc20", alice, bob, 5n, null],
    ]);
    expect(movements(log(token, topics.transfer, [word(alice), word(bob), word(5n)], []))).toEqual([
      ["erc721", alice, bob, 1n, 5n],
    ]);
  });

  it("counts a native movement once, whichever of the two tells it, and each of several", () => {
    const once = ["native", alice, bob, 3n, null];
    expect(movements(native(traced, alice, bob, 3n))).toEqual([once]);
    expect(movements(native(eip7708, alice, bob, 3n))).toEqual([once]);
    expect(movements(native(traced, alice, bob, 3n), native(eip7708, alice, bob, 3n))).toEqual([once]);
    expect(
      movements(
        ...[native(traced, alice, bob, 3n), native(traced, alice, bob, 3n)],
        ...[native(eip7708, alice, bob, 3n), native(eip7708, alice, bob, 3n)],
      ),
    ).toEqual([once, once]);
  });

  it("takes a Deposit for wrapping only where the native amount goes the other way", () => {
    const deposit = log(token, topics.deposit, [word(alice)], [word(9n)]);
    expect(movements(deposit)).toEqual([["erc20", zero, alice, 9n, null]]);
    expect(movements(native(traced, bob, token, 9n), deposit)).toHaveLength(2);
    expect(movements(native(traced, bob, token, 8n), deposit)).toHaveLength(1);
    const minted = log(token, topics.transfer, [word(zero), word(alice)], [word(9n)]);
    expect(movements(deposit, minted)).toHaveLength(1);
  });

  it("reads a batch whole or not at all", () => {
    const batchOf = (ids: ReadonlyArray<bigint>, amounts: ReadonlyArray<bigint>) =>
      encodeAbiParameters(parseAbiParameters("uint256[], uint256[]"), [ids, amounts]).slice(2);
    const parties = [word(bob), word(alice), word(bob)];
    expect(movements(log(token, topics.batch, parties, [batchOf([1n, 2n], [3n, 4n])]))).toEqual([
      ["erc1155", alice, bob, 3n, 1n],
      ["erc1155", alice, bob, 4n, 2n],
    ]);
    expect(movements(log(token, topics.batch, parties, [batchOf([1n, 2n], [3n])]))).toEqual([]);
    expect(movements(log(token, topics.batch, parties, [word(2n ** 200n), word(64n)]))).toEqual([]);
  });

  it("follows what the contract answers", () => {
    const [nft] = transfersOf([log(token, topics.transfer, [word(alice), word(bob), word(5n)], [])], 0, "measured");
    const [coin] = transfersOf([log(token, topics.transfer, [word(alice), word(bob)], [word(5n)])], 0, "measured");
    if (nft === undefined || coin === undefined) throw new Error("no movement");
    expect(settle([nft], new Map([[token, "erc20"]]))[0]).toMatchObject({
      standard: "erc20",
      amount: 5n,
      tokenId: null,
    });
    expect(settle([coin], new Map([[token, "erc721"]]))[0]).toMatchObject({
      standard: "erc721",
      amount: 1n,
      tokenId: 5n,
    });
    expect(settle([nft, coin], new Map([[other, "erc20"]]))).toEqual([nft, coin]);
  });
});

const hex = (maxLength: number) => fc.uint8Array({ maxLength }).map((bytes) => Buffer.from(bytes).toString("hex"));
const anyTopic = fc.oneof(
  fc.constantFrom(...Object.values(topics)),
  hex(32).map((text) => text.padStart(64, "0")),
);
const anyLog = fc
  .tuple(fc.constantFrom(token, traced, eip7708), fc.array(anyTopic, { maxLength: 4 }), hex(400))
  .map(([address, all, data]): OutcomeLog => ({
    address,
    topics: all.map((one) => `0x${one}` as Hash),
    data: `0x${data}` as Hex,
    decoded: null,
  }));

it("logs of any shape are read without an exception", () =>
  fc.assert(
    fc.property(fc.array(anyLog, { maxLength: 6 }), (logs) => {
      for (const { amount } of transfersOf(logs, 0, "measured")) expect(amount >= 0n).toBe(true);
      for (const right of rightsIn(logs, 0))
        expect(settleRight(right, new Map([[token, "erc721"]])).owner).toHaveLength(42);
      expect(controlsIn(logs, 0).length).toBeLessThanOrEqual(logs.length);
    }),
    { numRuns: 500 },
  ));

describe("calldata", () => {
  const abi = parseAbi([
    "function approve(address spender, uint256 amount)",
    "function increaseAllowance(address spender, uint256 added)",
    "function setApprovalForAll(address operator, bool approved)",
    "function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)",
    "function multicall(bytes[] data)",
    "function aggregate3((address target, bool mayFail, bytes data)[] calls)",
    "struct Details { address token; uint160 amount; uint48 expiration; uint48 nonce; }",
    "struct Batch { Details[] details; address spender; uint256 sigDeadline; }",
  ]);
  const batchAbi = parseAbi([
    "struct Details { address token; uint160 amount; uint48 expiration; uint48 nonce; }",
    "struct Batch { Details[] details; address spender; uint256 sigDeadline; }",
    "function permit(address owner, Batch batch, bytes signature)",
  ]);
  const call = (data: ViemHex, to: Address = token) => ({ from: alice, to, data: data as Hex });
  const asked = (data: ViemHex, to?: Address) =>
    rightsAsked(call(data, to), 0).map(
      ({ standard, token: of, keeper, owner, spender, said, operator, expiration }) => [
        ...[standard, of, keeper, owner, spender, said, operator, expiration],
      ],
    );
  const approve = encodeFunctionData({ abi, functionName: "approve", args: [bob, 5n] });

  it("tells what is granted, by whom, of what", () => {
    expect(asked(approve)).toEqual([["erc20", token, token, alice, bob, 5n, false, null]]);
    expect(asked(encodeFunctionData({ abi, functionName: "setApprovalForAll", args: [bob, true] }))).toEqual([
      ["erc721", token, token, alice, bob, 1n, true, null],
    ]);
    const permit = encodeFunctionData({
      abi,
      functionName: "permit",
      args: [other, bob, 7n, 9n, 27, `0x${"0".repeat(64)}`, `0x${"0".repeat(64)}`],
    });
    expect(asked(permit)).toEqual([["erc20", token, token, other, bob, 7n, false, null]]);
  });

  it("reads Permit2 batches", () => {
    const detail = (of: Address, amount: bigint) => ({ token: of, amount, expiration: 77, nonce: 0 });
    const data = encodeFunctionData({
      abi: batchAbi,
      functionName: "permit",
      args: [alice, { details: [detail(token, 3n), detail(other, 4n)], spender: bob, sigDeadline: 1n }, "0x1234"],
    });
    const permit2 = at("3");
    expect(asked(data, permit2)).toEqual([
      ["permit2", token, permit2, alice, bob, 3n, false, 77n],
      ["permit2", other, permit2, alice, bob, 4n, false, 77n],
    ]);
  });

  it("looks into batches: the same sender in a multicall, the batcher in an aggregate", () => {
    const inner = encodeFunctionData({ abi, functionName: "multicall", args: [[approve, approve]] });
    expect(asked(inner)).toHaveLength(2);
    const outer = encodeFunctionData({
      abi,
      functionName: "aggregate3",
      args: [[{ target: token, mayFail: false, data: inner }]],
    });
    expect(asked(outer, other)).toEqual([
      ["erc20", token, token, other, bob, 5n, false, null],
      ["erc20", token, token, other, bob, 5n, false, null],
    ]);
    expect(addressesIn(call(outer, other), 6)).toEqual([other, token, bob]);
  });

  it("does not follow batches without end", () => {
    let data = approve;
    for (let depth = 0; depth < 12; depth++)
      data = encodeFunctionData({ abi, functionName: "multicall", args: [[data, data]] });
    expect(callsIn(call(data)).length).toBeLessThanOrEqual(256);
  });

  it("of any shape is read without an exception", () => {
    const selectors = [
      "0x095ea7b3",
      "0x2a2d80d1",
      "0xac9650d8",
      "0x82ad56cb",
      "0x6a761202",
      "0x2b67b570",
      "0x8fcbaf0c",
    ];
    fc.assert(
      fc.property(fc.constantFrom(...selectors), hex(600), (selector, rest) => {
        const one = call(`${selector}${rest}` as ViemHex);
        for (const right of rightsAsked(one, 0)) expect(right.said >= 0n).toBe(true);
        expect(addressesIn(one, 6).length).toBeLessThanOrEqual(6);
      }),
      { numRuns: 500 },
    );
  });
});
