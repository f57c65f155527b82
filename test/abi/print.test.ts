import { concatHex, encodeAbiParameters, encodeErrorResult, encodeFunctionData, parseAbi, type Hex } from "viem";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { explain } from "../rooms/cli.js";
import {
  DecodedLog,
  DecodedResult,
  callIn,
  callText,
  decodeRevert,
  describeCall,
  describeLayer,
  describeResult,
  describeRevert,
  describeValue,
  Revert,
  RevertAmbiguous,
  RevertCustom,
} from "../rooms/abi.js";
import { ExecutionReverted } from "../rooms/errors.js";
import { toText } from "../rooms/report.js";
import { hostile } from "../report/arbitrary.js";
import { report, transfer } from "../report/fixtures.js";

const owner = "0x00000000219ab540356cBB839Cbe05303d7705Fa";
const lower = owner.toLowerCase() as Hex;
const bad = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const describeCalldata = (data: string, item: unknown) => {
  const call = callIn(data, [], { item });
  return call === null ? null : callText(call);
};
const json = (value: unknown) => JSON.parse(JSON.stringify(value)) as RevertCustom["item"];

describe("a printed value", () => {
  it("reads by its type, addresses with their checksum", () => {
    const read = (type: string, value: unknown, rest = {}) => describeValue({ type, name: "x", ...rest }, value);
    expect(read("address", lower)).toBe(owner);
    expect(read("uint256", 5n)).toBe("5");
    expect(read("uint256", 2n ** 256n - 1n)).toBe("2^256 − 1");
    expect(read("bool", true)).toBe("true");
    expect(read("bytes", `0x${"ab".repeat(40)}`)).toBe(`0x${"ab".repeat(32)}… (40 bytes)`);
    expect(read("string", 'say "no" \\')).toBe('"say \\"no\\" \\\\"');
    expect(read("address[]", [lower, lower])).toBe(`[${owner}, ${owner}]`);
    expect(read("uint8[]", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])).toBe("[1, 2, 3, 4, 5, 6, 7, 8, … (+2 more)]");
    const components = [
      { name: "to", type: "address" },
      { name: "n", type: "uint8" },
    ];
    expect(read("tuple", { to: lower, n: 1 }, { components })).toBe(`{to: ${owner}, n: 1}`);
    expect(read("tuple[]", [{ to: lower, n: 1 }], { components })).toBe(`[{to: ${owner}, n: 1}]`);
    const unnamed = components.map(({ type }) => ({ type }));
    expect(read("tuple", [lower, 1], { components: unnamed })).toBe(`(${owner}, 1)`);
  });

  it("is one bounded line whatever the item and the value, and never throws", () => {
    const anything = fc.oneof(fc.anything({ withBigInt: true, withNullPrototype: true }), fc.constantFrom(...hostile));
    const parameter = fc.oneof(
      anything,
      fc.record({ type: fc.oneof(fc.constantFrom("tuple[]", "string", "bytes", "address"), anything), name: anything }),
      fc.record({ type: fc.constant("tuple"), components: fc.array(fc.record({ name: anything, type: anything })) }),
    );
    fc.assert(
      fc.property(parameter, anything, fc.array(anything), fc.string(), (item, value, values, name) => {
        for (const line of [describeValue(item, value), describeCall(name, [item], values)]) {
          expect(line.length).toBeLessThan(6_000);
          expect(line).not.toMatch(bad);
        }
      }),
      { numRuns: 500 },
    );
    const throwing = {
      get type(): string {
        throw new Error("hostile");
      },
    };
    expect(describeValue(throwing, "x")).toBe("a value that cannot be read");
    expect(describeCall("f", [throwing], ["x"])).toBe("f(…)");
  });

  it("stops at its bounds, however wide and deep the value is", () => {
    const wide = (depth: number): unknown => (depth === 0 ? lower : Array.from({ length: 100 }, () => wide(depth - 1)));
    const started = performance.now();
    const line = describeValue({ type: "address[][][]" }, wide(3));
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(line.length).toBeLessThan(700);
    const deep: Array<unknown> = [];
    deep.push(deep);
    expect(describeValue({ type: "uint8[]" }, deep)).toBe("[((((…))))]");
  });
});

describe("printed calldata and return values", () => {
  const abi = parseAbi([
    "function transfer(address to, uint256 amount) returns (bool)",
    "function two() returns (uint8 a, string b)",
  ]);
  it("name the function and its arguments, else the selector and the size", () => {
    const data = encodeFunctionData({ abi, functionName: "transfer", args: [owner, 7n] });
    expect(describeCalldata(data, abi[0])).toBe(`transfer(to: ${owner}, amount: 7) (by an ABI you gave)`);
    expect(describeCalldata(`0xdeadbeef${data.slice(10)}`, abi[0])).toBe("selector 0xdeadbeef, 68 bytes of data");
    expect(describeCalldata("0x", abi[0])).toBeNull();
    expect(describeCalldata("0x1234", null)).toBe("0x1234");
    const multicall = parseAbi(["function multicall(bytes[] data)"]);
    const word = (value: number) => value.toString(16).padStart(64, "0");
    // why: decoded as it says, it is 30 MB of bytes
    const bomb = `0xac9650d8${word(32)}${word(1_000)}${word(32_000).repeat(1_000)}${word(30_000)}${"00".repeat(30_016)}`;
    expect(describeCalldata(bomb, multicall[0])).toBe("selector 0xac9650d8, 62116 bytes of data");
    expect(describeCalldata(`${data}${"00".repeat(70_000)}`, abi[0])).toBe("selector 0xa9059cbb, 70068 bytes of data");
  });
  it("show one value, or several by name", () => {
    const result = (item: unknown, data: string) =>
      describeResult(new DecodedResult({ name: "f", item: json(item), data: data as Hex }));
    expect(result(abi[0], encodeAbiParameters([{ type: "bool" }], [true]))).toBe("true");
    const two = encodeAbiParameters([{ type: "uint8" }, { type: "string" }], [1, "x"]);
    expect(result(abi[1], two)).toBe('(a: 1, b: "x")');
    expect(result({ ...abi[0], outputs: [] }, "0x")).toBeNull();
    expect(result(abi[0], "0x12")).toBe("0x12");
    expect(result({ outputs: [{ type: "tuple[]", components: [] }] }, `0x${"ff".repeat(64)}`)).toMatch(/^0xff/);
  });
});

describe("a printed revert", () => {
  const panic = `0x4e487b71${"11".padStart(64, "0")}` as Hex;

  it("reads the same in an error, in a report and on the command line", () => {
    const revert = decodeRevert(panic);
    const said = "Panic(0x11): arithmetic overflow or underflow";
    const failure = new ExecutionReverted({ data: panic, revert });
    expect(describeRevert(revert)).toBe(said);
    expect(failure.statement.sentence).toBe(`the call reverts with ${said}`);
    expect(explain(panic, null, []).readings.map(({ text }) => text)).toEqual([said]);
    const outcome = { ...transfer.outcome, status: "reverted", revert, failure } as const;
    const text = toText(report({ transactions: [{ ...transfer, outcome }] }), { width: 200, full: true });
    expect(text).toContain(`reverted with ${said}`);
    expect(text).not.toContain("Panic(17)");
  });

  it("names whose ABI explained it where that is asked for", () => {
    const abi = parseAbi(["error NotAllowed(address who, uint256 limit)"]);
    const data = encodeErrorResult({ abi, errorName: "NotAllowed", args: [owner, 5n] });
    const line = `NotAllowed(who: ${owner}, limit: 5)`;
    expect(describeRevert(decodeRevert(data, [abi]))).toBe(line);
    expect(describeRevert(decodeRevert(data, [abi]), { sources: true })).toBe(`${line} (by an ABI you gave)`);
    const given = decodeRevert(data, [{ address: owner, abi }], { address: owner });
    expect(describeRevert(given, { sources: true })).toBe(`${line} (by the ABI given for ${owner})`);
    const known = decodeRevert(
      concatHex([
        "0xe450d38c",
        encodeAbiParameters([{ type: "address" }, { type: "uint256" }, { type: "uint256" }], [owner, 1n, 2n]),
      ]),
    );
    expect(describeRevert(known, { sources: true })).toMatch(/ \(by the built-in table: [^)]+\)$/);
  });

  it("does not hang, throw or show control characters on a forged item", () => {
    const data = `0x12345678${"20".padStart(64, "0")}${"f".repeat(12).padStart(64, "0")}` as Hex;
    const items: ReadonlyArray<unknown> = [
      null,
      [],
      { inputs: "none" },
      { type: "error", name: "Loop", inputs: [{ type: "tuple[]", name: "x", components: [] }] },
      { type: "error", name: "Few", inputs: [{ type: "uint256", name: "x" }] },
    ];
    for (const item of items) {
      const custom = new RevertCustom({
        data,
        name: "\u202eForged",
        signature: "Forged\u001b[31m()",
        item: json(item),
        provenance: [{ kind: "builtin", source: "\u0007" }],
        meaning: "line\nline",
      });
      const ambiguous = new RevertAmbiguous({ data, candidates: Array.from({ length: 20 }, () => custom) });
      for (const layer of [custom, ambiguous]) {
        expect(describeLayer(layer, { sources: true })).not.toMatch(bad);
        const revert = new Revert({ data, layers: [{ path: "\u0000", layer }] });
        expect(describeRevert(revert)).not.toMatch(bad);
      }
      expect(custom.args).toEqual([]);
      expect(new DecodedResult({ name: "f", item: json(item), data }).value).toBeUndefined();
      const log = { name: "E", signature: "E()", item: json(item), topics: [], data, provenance: [] };
      expect(new DecodedLog(log).args).toBeUndefined();
      expect(describeLayer(custom)).toContain("Forged\\u{1b}[31m(): line\\u{a}line");
    }
  });
});
