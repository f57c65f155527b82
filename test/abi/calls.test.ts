/** Calldata as data: by ABI or by selector, arguments by name and type, calls inside, bounded whatever the bytes. */
import * as Schema from "effect/Schema";
import fc from "fast-check";
import { encodeAbiParameters, encodeFunctionData, erc20Abi, parseAbi, type Hex } from "viem";
import { describe, expect, it } from "vitest";
import * as Errors from "../../src/Errors.js";

const bob = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const usdc = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";
const abi = parseAbi([
  "function multicall(bytes[] data)",
  "function aggregate3((address target, bool allowFailure, bytes callData)[] calls)",
  "function mixed(int8 small, (address who, uint256[2] pair) record, string text, bytes data)",
  "function many(uint256[] all)",
  "function sameNames((uint256 a, uint256 a) pair)",
  "function execute(bytes commands, bytes[] inputs)",
]);
const transfer = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [bob, 5n] });
const codec = Schema.toCodecJson(Errors.DecodedCall);
const written = (call: Errors.DecodedCall) => JSON.parse(JSON.stringify(Schema.encodeSync(codec)(call))) as unknown;

const countOf = (values: ReadonlyArray<Errors.DecodedArgument>): number =>
  values.reduce((sum, { value }) => sum + 1 + (typeof value === "object" ? countOf(value) : 0), 0);
const sizesOf = ({ arguments: own, others, calls }: Errors.DecodedCall): number =>
  [{ arguments: own }, ...others].reduce((sum, one) => sum + countOf(one.arguments), 0) +
  calls.reduce((sum, call) => sum + sizesOf(call), 0);

describe("decodeCall", () => {
  it("says the function, its arguments by name and type, and that only the selector tells it", () => {
    expect(Errors.decodeCall(transfer)).toMatchObject({
      ...{ function: "transfer", signature: "transfer(address,uint256)", by: "selector", sources: ["ERC-20"] },
      arguments: [
        { name: "to", type: "address", value: bob.toLowerCase(), more: 0 },
        { name: "amount", type: "uint256", value: 5n, more: 0 },
      ],
      ...{ to: null, value: null, selector: "0xa9059cbb", size: 68, others: [], calls: [], more: 0 },
    });
  });

  it("believes an ABI, alone, in a list, or given for the contract", () => {
    const mine = parseAbi(["function transfer(address whom, uint256 what)"]);
    for (const given of [mine, [mine]])
      expect(Errors.decodeCall(transfer, given)).toMatchObject({
        by: "abi",
        sources: [],
        arguments: [{ name: "whom" }, { name: "what" }],
      });
    expect(Errors.decodeCall(transfer, [{ address: usdc, abi: mine }], { address: usdc })).toMatchObject({
      ...{ by: "abi", sources: [usdc.toLowerCase()], to: usdc.toLowerCase() },
    });
    expect(Errors.decodeCall(transfer, parseAbi(["function other()"]))).toMatchObject({ by: "selector" });
  });

  it("lists the other functions that fit, and none where none fits", () => {
    const approve = encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [bob, 5n] });
    expect(Errors.decodeCall(approve)?.others).toMatchObject([{ function: "approve", sources: ["ERC-721"] }]);
    const unknown = { function: null, signature: null, by: null, arguments: [], others: [] };
    expect(Errors.decodeCall("0xdeadbeef01")).toMatchObject({ ...unknown, selector: "0xdeadbeef", size: 5 });
    expect(Errors.decodeCall("0x12")).toMatchObject({ ...unknown, selector: "0x12", size: 1 });
    for (const nothing of ["0x", "", "0x1", "nonsense"]) expect(Errors.decodeCall(nothing)).toBeNull();
  });

  it("keeps tuples, lists and small integers as they are", () => {
    const args = [-3, { who: bob, pair: [1n, 2n] }, "hi", "0xabcd"] as const;
    const call = Errors.decodeCall(encodeFunctionData({ abi, functionName: "mixed", args }), abi);
    expect(call?.arguments).toMatchObject([
      { name: "small", type: "int8", value: -3n },
      {
        ...{ name: "record", type: "tuple" },
        value: [
          { name: "who", value: bob.toLowerCase() },
          { name: "pair", type: "uint256[2]", value: [{ name: "", type: "uint256", value: 1n }, { value: 2n }] },
        ],
      },
      { name: "text", type: "string", value: "hi" },
      { name: "data", type: "bytes", value: "0xabcd" },
    ]);
    const twins = encodeFunctionData({ abi, functionName: "sameNames", args: [[1n, 2n]] as never });
    expect(Errors.decodeCall(twins, abi)?.arguments[0]?.value).toMatchObject([{ value: 1n }, { value: 2n }]);
  });

  it("reads the calls inside a multicall without an ABI, and says whom a batch calls", () => {
    const inside = encodeFunctionData({ abi, functionName: "multicall", args: [[transfer, "0xdeadbeef"]] });
    expect(Errors.decodeCall(inside)).toMatchObject({
      ...{ function: "multicall", by: "selector", more: 0 },
      calls: [
        { function: "transfer", to: null },
        { function: null, selector: "0xdeadbeef", to: null },
      ],
    });
    const pair = { target: usdc, allowFailure: true, callData: inside } as const;
    expect(Errors.decodeCall(encodeFunctionData({ abi, functionName: "aggregate3", args: [[pair]] }))).toMatchObject({
      calls: [{ to: usdc.toLowerCase(), mayFail: true, function: "multicall", calls: [{ function: "transfer" }, {}] }],
    });
    const wrap = encodeAbiParameters([{ type: "address" }, { type: "uint256" }], [bob, 5n]);
    const plan = encodeFunctionData({ abi, functionName: "execute", args: ["0x0bbf", [wrap, wrap]] });
    expect(Errors.decodeCall(plan)?.calls).toMatchObject([
      { function: "WRAP_ETH", by: "command", selector: "0x0b", arguments: [{ name: "recipient" }, { value: 5n }] },
      { function: null, by: null, selector: "0xbf", size: 64, mayFail: true },
    ]);
  });

  it("counts what it leaves out of a long list, text or batch", () => {
    const all = Array.from({ length: 100 }, (_, index) => BigInt(index));
    const list = Errors.decodeCall(encodeFunctionData({ abi, functionName: "many", args: [all] }), abi);
    expect(list?.arguments[0]).toMatchObject({ more: 36 });
    const mixed = [1, { who: bob, pair: [1n, 2n] }, "x".repeat(1_000), `0x${"ab".repeat(1_000)}`] as const;
    const long = Errors.decodeCall(encodeFunctionData({ abi, functionName: "mixed", args: mixed }), abi);
    expect(long?.arguments.map(({ more }) => more)).toEqual([0, 0, 744, 744]);
    const calls = encodeFunctionData({ abi, functionName: "multicall", args: [Array<Hex>(90).fill(transfer)] });
    expect(Errors.decodeCall(calls)).toMatchObject({ more: 26 });
    const huge = Errors.decodeCall(`${transfer}${"00".repeat(70_000)}`, erc20Abi);
    expect(huge).toMatchObject({ function: null, size: 70_068 });
  });

  it("never throws, stays bounded, and comes back from its JSON as it was, whatever the bytes", () => {
    const pair = { target: usdc, allowFailure: false, callData: transfer } as const;
    const inside = encodeFunctionData({ abi, functionName: "multicall", args: [[transfer, transfer]] });
    const args = [-3, { who: bob, pair: [1n, 2n] }, "hi", "0xabcd"] as const;
    const seeds = [
      inside,
      encodeFunctionData({ abi, functionName: "multicall", args: [[inside, inside]] }),
      encodeFunctionData({ abi, functionName: "aggregate3", args: [[pair, pair]] }),
      encodeFunctionData({ abi, functionName: "mixed", args }),
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...seeds),
        fc.array(fc.tuple(fc.nat(2_000), fc.integer({ min: 0, max: 255 })), { maxLength: 6 }),
        fc.array(fc.jsonValue(), { maxLength: 3 }),
        (seed, changes, items) => {
          const bytes = Buffer.from(seed.slice(2), "hex");
          for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
          const call = Errors.decodeCall(`0x${bytes.toString("hex")}`, [abi, items as never]);
          if (call === null) throw new Error("no call");
          expect(sizesOf(call)).toBeLessThanOrEqual(1_024);
          expect(Schema.decodeUnknownSync(codec)(written(call))).toEqual(call);
        },
      ),
      { numRuns: 300 },
    );
  });
});
