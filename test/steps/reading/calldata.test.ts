/** Rights out of calldata: read by their rules, in batches too, never thrown over. */
import {
  encodeAbiParameters,
  encodeFunctionData,
  parseAbi,
  parseAbiParameters,
  type Abi,
  type Hex as ViemHex,
} from "viem";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Address, Hex } from "../../rooms/primitives.js";
import { callsIn } from "../../rooms/abi.js";
import { effectsIn } from "../../rooms/effects.js";
import { addressesIn } from "../../rooms/steps.js";
import { at, hex } from "./arbitrary.js";

const [alice, bob, token, other] = [at("a"), at("b"), at("1"), at("2")];

describe("rights in calldata", () => {
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
    effectsIn([{ index: 0, calls: callsIn(call(data, to)) }], "request").map(
      ({ standard, token: of, keeper, owner, spender, claim, operator, expiration }) => [
        ...[standard, of, keeper, owner, spender, claim, operator, expiration],
      ],
    );
  const approve = encodeFunctionData({ abi, functionName: "approve", args: [bob, 5n] });

  it("name what is granted, by whom, of what", () => {
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

  it("are read from calldata that ends early as the EVM reads it: zeros lie behind it", () => {
    const all = encodeFunctionData({ abi, functionName: "approve", args: [bob, 2n ** 256n - 1n] });
    const cut = (data: ViemHex, bytes: number): ViemHex => `0x${data.slice(2, data.length - 2 * bytes)}`;
    for (const bytes of [1, 2, 16, 31]) {
      const left = 2n ** 256n - 2n ** BigInt(8 * bytes);
      expect(asked(cut(all, bytes))).toEqual([["erc20", token, token, alice, bob, left, false, null]]);
      const batch = encodeFunctionData({
        abi,
        functionName: "aggregate3",
        args: [[{ target: token, mayFail: false, data: cut(all, bytes) }]],
      });
      expect(asked(batch, other)).toEqual([["erc20", token, token, other, bob, left, false, null]]);
    }
    expect(asked(cut(all, 32))).toEqual([["erc20", token, token, alice, bob, 0n, false, null]]);
    // an address that ends in zeros
    const ending = at("b").slice(0, -2).concat("00") as Address;
    const handing = cut(encodeFunctionData({ abi: parseAbi(["function give(address)"]), args: [ending] }), 1);
    expect(addressesIn([call(handing)], 6)).toEqual([token, ending]);
  });

  it("of other standards and contracts name what is granted, by whom", () => {
    const others = parseAbi([
      "function setOperator(address operator, bool approved)",
      "function approve(address spender, uint256 id, uint256 amount)",
      "function authorizeOperator(address operator)",
      "function revokeOperator(address operator)",
      "function approveDelegation(address delegatee, uint256 amount)",
      "function setAuthorization(address authorized, bool newIsAuthorized)",
      "function allow(address manager, bool isAllowed)",
      "function allowBySig(address,address,bool,uint256,uint256,uint8,bytes32,bytes32)",
      "function approveAndCall(address,uint256,bytes)",
      "function offerPunkForSale(uint256 index, uint256 least)",
      "function offerPunkForSaleToAddress(uint256 index, uint256 least, address to)",
    ]);
    const of = (...[functionName, args]: readonly [string, ReadonlyArray<unknown>]) =>
      effectsIn(
        [
          {
            index: 0,
            calls: { read: [call(encodeFunctionData({ abi: others as Abi, functionName, args: [...args] }))] },
          },
        ],
        "request",
      ).map(({ standard, owner, spender, tokenId, operator, claim }) => [
        standard,
        owner,
        spender,
        tokenId,
        operator,
        claim,
      ])[0];
    expect(of("setOperator", [bob, true])).toEqual(["erc6909", alice, bob, null, true, 1n]);
    expect(of("setOperator", [bob, false])).toEqual(["erc6909", alice, bob, null, true, 0n]);
    expect(of("approve", [bob, 7n, 5n])).toEqual(["erc6909", alice, bob, 7n, false, 5n]);
    expect(of("authorizeOperator", [bob])).toEqual(["erc777", alice, bob, null, true, 1n]);
    expect(of("revokeOperator", [bob])).toEqual(["erc777", alice, bob, null, true, 0n]);
    expect(of("approveDelegation", [bob, 5n])).toEqual(["aaveDebt", alice, bob, null, false, 5n]);
    expect(of("setAuthorization", [bob, true])).toEqual(["morpho", alice, bob, null, true, 1n]);
    expect(of("allow", [bob, true])).toEqual(["erc20", alice, bob, null, false, 2n ** 256n - 1n]);
    const signed = [7n, 9n, 27, `0x${"0".repeat(64)}`, `0x${"0".repeat(64)}`];
    expect(of("allowBySig", [other, bob, true, ...signed])).toEqual([
      "erc20",
      other,
      bob,
      null,
      false,
      2n ** 256n - 1n,
    ]);
    expect(of("approveAndCall", [bob, 5n, "0x"])).toEqual(["erc20", alice, bob, null, false, 5n]);
    expect(of("allow", [bob, false])).toEqual(["erc20", alice, bob, null, false, 0n]);
    expect(of("offerPunkForSale", [8n, 0n])).toEqual(["cryptopunks", alice, at("0"), 8n, false, 1n]);
    expect(of("offerPunkForSaleToAddress", [8n, 0n, bob])).toEqual(["cryptopunks", alice, bob, 8n, false, 1n]);
  });

  it("are read from Permit2 batches", () => {
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
    const args = (count: number) => {
      const details = [...Array.from({ length: count }, () => detail(other, 0n)), detail(token, 5n)];
      return [alice, { details, spender: bob, sigDeadline: 1n }, "0x1234"] as const;
    };
    const long = encodeFunctionData({ abi: batchAbi, functionName: "permit", args: args(300) });
    expect(asked(long, permit2).at(-1)).toEqual(["permit2", token, permit2, alice, bob, 5n, false, 77n]);
  });

  it("are read inside batches: by the same sender in a multicall, by the batcher in an aggregate", () => {
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
    expect(addressesIn(callsIn(call(outer, other)).read, 6)).toEqual([other, token, bob]);
  });

  it("are read in a router's plans: by its caller, to those whom its permits name, and nothing else is a call", () => {
    const permit2 = "0x000000000022d473030f116ddee9f6b43ac78ba3";
    const [details, bytes] = ["(address,uint160,uint48,uint48)", "0x1234"] as const;
    const single = encodeAbiParameters(parseAbiParameters(`(${details},address,uint256),bytes`), [
      [[token, 3n, 77, 0], bob, 1n],
      bytes,
    ]);
    const batch = encodeAbiParameters(parseAbiParameters(`(${details}[],address,uint256),bytes`), [
      [
        [
          [token, 4n, 77, 0],
          [other, 5n, 77, 0],
        ],
        bob,
        1n,
      ],
      bytes,
    ]);
    const router = at("4");
    const plan = (commands: ViemHex, ...inputs: ReadonlyArray<ViemHex>) =>
      encodeFunctionData({
        abi: parseAbi(["function execute(bytes commands, bytes[] inputs, uint256 deadline)"]),
        args: [commands, inputs, 9n],
      });
    const within = (commands: ViemHex, ...inputs: ReadonlyArray<ViemHex>) =>
      encodeAbiParameters(parseAbiParameters("bytes, bytes[]"), [commands, inputs]);
    const granted = (of: Address, said: bigint, owner = alice) => [
      ...["permit2", of, permit2, owner, bob, said, false, 77n],
    ];
    expect(asked(plan("0x0b0a03", approve, single, batch), router)).toEqual([
      ...[granted(token, 3n), granted(token, 4n), granted(other, 5n)],
    ]);
    // by whatever flags
    for (const command of ["0x8a", "0x4a", "0xca"] as const)
      expect(asked(plan(command, single), router)).toEqual([granted(token, 3n)]);
    const deep = plan("0x21a1", within("0x0a", single), within("0x0b21", bytes, within("0x03", batch)));
    expect(asked(deep, router)).toEqual([granted(token, 3n), granted(token, 4n), granted(other, 5n)]);
    const aggregate = encodeFunctionData({
      abi,
      functionName: "aggregate3",
      args: [[{ target: router, mayFail: false, data: deep }]],
    });
    expect(asked(aggregate, at("5"))[0]).toEqual(granted(token, 3n, at("5")));
    const read = (data: ViemHex) => callsIn(call(data, router));
    expect(read(deep)).toMatchObject({ isCut: false, isUnread: false });
    // as many inputs as commands, or the router refuses
    expect(read(plan("0x0a0a", single))).toMatchObject({ isUnread: true, read: { length: 2 } });
    expect(read(plan("0x0a", single, single))).toMatchObject({ isUnread: true, read: { length: 2 } });
    // other routers number their commands otherwise: a sub-plan is what is written as one
    const listed = encodeAbiParameters(parseAbiParameters("address, uint256"), [token, 1n]);
    expect(read(plan("0x2100", listed, bytes))).toMatchObject({ isUnread: false, read: { length: 1 } });
    expect(asked(plan("0x20", within("0x0a", single)), router)).toEqual([granted(token, 3n)]);
    expect(read(plan("0x21", within("0x0a")))).toMatchObject({ isUnread: true });
    // too short for a permit
    expect(read(plan("0x0a", bytes))).toMatchObject({ isUnread: false, read: { length: 1 } });
    expect(read(plan(`0x${"0b".repeat(900)}`, ...Array.from({ length: 900 }, () => bytes)))).toMatchObject({
      ...{ isCut: false, read: { length: 1 } },
    });
  });

  it("whose lists point to one another are given up soon, however many there are", () => {
    const words = (...all: ReadonlyArray<number | bigint>) =>
      all.map((word) => word.toString(16).padStart(64, "0")).join("");
    const many = 6_000;
    // each group points to the list of all, whose items lie nowhere
    const groups = words(32, many, ...Array.from({ length: many }, () => 32 * many));
    const pointed = words(32, many, ...Array.from({ length: many }, () => (1n << 200n) - 1n));
    const started = performance.now();
    expect(callsIn(call(`0x4b1d7cf5${groups}${pointed}`))).toMatchObject({ isUnread: true, read: { length: 1 } });
    expect(performance.now() - started).toBeLessThan(1_000);
    // a count beyond all counts is no list
    const counted = `0xac9650d8${words(32, 1n << 41n, 32, 0)}` as const;
    expect(callsIn(call(counted))).toMatchObject({ isUnread: true, read: { length: 1 } });
  });
  it("are read from any bytes without an exception", () => {
    const selectors = [
      "0x24856bc3",
      "0x3593564c",
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
        const { read } = callsIn(call(`${selector}${rest}` as ViemHex));
        for (const right of effectsIn([{ index: 0, calls: { read } }], "request")) expect(right.claim >= 0n).toBe(true);
        expect(addressesIn(read, 6).length).toBeLessThanOrEqual(6);
      }),
      { numRuns: 500 },
    );
  });
});
