import { describe, expect, it } from "vitest";
import {
  concatHex,
  encodeAbiParameters,
  encodeErrorResult,
  parseAbi,
  stringToHex,
  toFunctionSelector,
  type Hex,
  type Abi,
} from "viem";
import {
  builtin,
  decodeRevert,
  describeRevert,
  indexAbis,
  packages,
  shortReasons,
  type AbiSources,
} from "../rooms/abi.js";

const owner = "0x00000000000000000000000000000000000000AA";
const other = "0x00000000000000000000000000000000000000bb";
const reason = (text: string): Hex => concatHex(["0x08c379a0", encodeAbiParameters([{ type: "string" }], [text])]);
const panic = (code: bigint): Hex => concatHex(["0x4e487b71", encodeAbiParameters([{ type: "uint256" }], [code])]);
const word = (value: number | bigint): string => value.toString(16).padStart(64, "0");

const abi = parseAbi([
  "error FailedOpWithRevert(uint256 opIndex, string reason, bytes inner)",
  "error FailedOp(uint256 opIndex, string reason)",
  "error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)",
  "error Batch((address target, bytes data)[] results)",
  "error Paused()",
]);
const balance = encodeErrorResult({ abi, errorName: "ERC20InsufficientBalance", args: [owner, 1n, 2n] });

const tags = (bytes: string, abis?: AbiSources, address?: string) =>
  decodeRevert(bytes, abis, address === undefined ? {} : { address }).layers.map(({ layer }) => layer._tag);
const first = (bytes: string, abis?: AbiSources, address?: string) =>
  decodeRevert(bytes, abis, address === undefined ? {} : { address }).layers[0].layer;

describe("decodeRevert on Solidity's own errors", () => {
  it("reads Error(string), unescaped but bounded", () => {
    expect(first(reason("no \u202eway"))).toMatchObject({ _tag: "Reason", reason: "no \u202eway", meaning: null });
    expect(first(reason("é".repeat(10_000)))).toMatchObject({ reason: "é".repeat(4096) });
    expect(describeRevert(decodeRevert(reason("no \u202eway")))).toBe('"no \\u{202e}way"');
  });

  it("explains each Solidity panic", () => {
    for (const code of [0x00n, 0x01n, 0x11n, 0x12n, 0x21n, 0x22n, 0x31n, 0x32n, 0x41n, 0x51n]) {
      const layer = first(panic(code));
      expect(layer).toMatchObject({ _tag: "Panic", code });
      expect(layer._tag === "Panic" && layer.meaning).not.toContain("not define");
    }
    expect(first(panic(0x99n))).toMatchObject({ meaning: "a code that Solidity does not define" });
  });

  it("explains the Safe's codes", () => {
    expect(first(reason("GS013"))).toMatchObject({ meaning: expect.stringContaining("inner call failed") });
    expect(first(reason("GS013 "))).toMatchObject({ meaning: null });
    for (const [code, meaning] of shortReasons) expect(first(reason(code))).toMatchObject({ meaning });
  });
});

describe("decodeRevert by the built-in table", () => {
  const role = `0x${"11".repeat(32)}`;
  const declared: ReadonlyArray<readonly [string, string, ReadonlyArray<unknown>, string]> = [
    ["ERC-6093", "ERC721NonexistentToken(uint256 tokenId)", [5n], "@openzeppelin/contracts"],
    ["OpenZeppelin", "AccessControlUnauthorizedAccount(address, bytes32)", [owner, role], "@openzeppelin/contracts"],
    ["Solady", "InsufficientAllowance()", [], "solady"],
    ["Permit2", "AllowanceExpired(uint256 deadline)", [5n], "@uniswap/v4-periphery"],
    ["EntryPoint", "FailedOp(uint256, string)", [0n, "AA21 didn't pay"], "@account-abstraction/contracts@0.6.0"],
    ["Universal Router", "V3TooLittleReceived()", [], "@uniswap/universal-router"],
    ["Uniswap v4", "CurrencyNotSettled()", [], "@uniswap/v4-core"],
    ["1inch", "TakingAmountTooHigh()", [], "@1inch/limit-order-protocol-contract"],
    ["0x", "OrderNotFillableError(bytes32, uint8)", [role, 3], "@0x/contracts-zero-ex"],
  ];
  it.each(declared)("knows %s", (_, error, args, source) => {
    const layer = first(encodeErrorResult({ abi: parseAbi([`error ${error}`] as never) as Abi, args }));
    expect(layer._tag).toBe("Custom");
    if (layer._tag !== "Custom") return;
    expect(layer.args).toEqual(args);
    expect(layer.provenance.some((each) => each.kind === "builtin" && each.source?.startsWith(source))).toBe(true);
  });

  it("finds every built-in declaration by its selector, in every package that has it", () => {
    for (const [source, declarations] of packages) {
      for (const declaration of declarations) {
        const selector = toFunctionSelector(`function ${declaration.replace(/ \w+/g, "")}`);
        const found = builtin.errors(selector).find(({ provenance }) => provenance.source === source);
        expect(toFunctionSelector(`function ${found?.signature}`)).toBe(selector);
        expect(declaration.startsWith(`${found?.name}(`)).toBe(true);
      }
    }
  });

  it("has in the built-in table only errors, no functions and no types to be signed", () => {
    expect(builtin.errors("0x1626ba7e")).toEqual([]);
    for (const [, declarations] of packages)
      for (const declaration of declarations) expect(declaration).toMatch(/^[A-Z]\w*\(.*\)$/);
  });
});

describe("decodeRevert by the caller's ABIs", () => {
  // the same selector, by a collision that was searched for
  const colliding = parseAbi(["error burn(uint256)", "error collate_propagate_storage(bytes16)"]);
  const collision = concatHex(["0x42966c68", encodeAbiParameters([{ type: "uint256" }], [0n])]);

  it("gives every candidate of an ambiguous selector that re-encodes, with provenance, and prefers none", () => {
    const layer = first(collision, [[colliding[0]], { address: other, abi: [colliding[1]] }]);
    expect(layer).toMatchObject({
      _tag: "Ambiguous",
      candidates: [
        { signature: "burn(uint256)", provenance: [{ kind: "caller", source: null }] },
        {
          signature: "collate_propagate_storage(bytes16)",
          provenance: [{ kind: "caller", source: other.toLowerCase() }],
        },
      ],
    });
    expect(describeRevert(decodeRevert(collision, [colliding]))).toBe(
      "one of burn(0) or collate_propagate_storage(0x00000000000000000000000000000000)",
    );
  });

  it("drops the candidate that would not re-encode to the same bytes", () => {
    const dirty = concatHex(["0x42966c68", encodeAbiParameters([{ type: "uint256" }], [1n])]);
    expect(first(dirty, [colliding])).toMatchObject({ _tag: "Custom", signature: "burn(uint256)" });
  });

  it("takes the ABI of the address that reverted before all others", () => {
    const abis: AbiSources = [[colliding[0]], { address: other, abi: [colliding[1]] }];
    expect(first(collision, abis, other.toLowerCase())).toMatchObject({
      _tag: "Custom",
      signature: "collate_propagate_storage(bytes16)",
      provenance: [{ kind: "address", source: other.toLowerCase() }],
    });
  });

  it("names all ABIs that agree, the caller's before the built-in", () => {
    const layer = first(balance, [abi, { address: other, abi }]);
    expect(layer._tag === "Custom" && layer.provenance.map(({ kind }) => kind).slice(0, 3)).toEqual([
      "caller",
      "caller",
      "builtin",
    ]);
  });

  it("gives the same with an index made before", () => {
    expect(decodeRevert(balance, indexAbis([abi]))).toEqual(decodeRevert(balance, [abi]));
  });

  it("leaves out malformed items", () => {
    const broken = [
      { type: "error", name: "Broken" },
      {
        type: "error",
        name: ["ERC20InsufficientBalance"],
        inputs: ["address", "uint256", "uint256"].map((type) => ({ type })),
      },
      { type: "error", name: "Odd", inputs: [{ type: "wat", name: "x" }] },
      ...abi,
    ] as unknown as Abi;
    expect(tags(balance, [broken])).toEqual(["Custom"]);
    expect(tags(concatHex([toFunctionSelector("function Odd(wat)"), `0x${word(1)}`]), [broken])).toEqual(["Unknown"]);
  });
});

describe("decodeRevert on nested reverts", () => {
  it("unwraps bytes inside custom errors, with the path", () => {
    const op = encodeErrorResult({ abi, errorName: "FailedOpWithRevert", args: [0n, "AA23 reverted", balance] });
    const batch = encodeErrorResult({
      abi,
      errorName: "Batch",
      args: [
        [
          { target: owner, data: "0x" },
          { target: other, data: op },
        ],
      ],
    });
    expect(
      decodeRevert(batch, [abi]).layers.map(({ path, layer }) => [path, layer._tag === "Custom" && layer.name]),
    ).toEqual([
      ["", "Batch"],
      ["results[1].data", "FailedOpWithRevert"],
      ["results[1].data.inner", "ERC20InsufficientBalance"],
    ]);
  });

  it("unwraps a string that is itself revert data, raw or as hex", () => {
    const raw = concatHex(["0x08c379a0", encodeAbiParameters([{ type: "bytes" }], [reason("deep")])]);
    expect(tags(raw)).toEqual(["Reason", "Reason"]);
    expect(decodeRevert(reason(balance), [abi]).layers.map(({ path, layer }) => [path, layer._tag])).toEqual([
      ["", "Reason"],
      ["reason", "Custom"],
    ]);
  });

  it("does not read plain words as revert data", () => {
    const selector = toFunctionSelector("function Paused()");
    const named: Abi = [{ type: "error", name: "Paused", inputs: [] }];
    expect(selector).toBe("0x9e87fac8");
    expect(tags(reason("text"), [named])).toEqual(["Reason"]);
    expect(tags(encodeErrorResult({ abi, errorName: "FailedOp", args: [0n, "0x1234"] }), [abi])).toEqual(["Custom"]);
  });

  it("stops after eight nested layers", () => {
    let data: Hex = balance;
    for (let depth = 0; depth < 20; depth += 1)
      data = encodeErrorResult({ abi, errorName: "FailedOpWithRevert", args: [0n, "", data] });
    expect(decodeRevert(data).layers).toHaveLength(8);
    expect(describeRevert(decodeRevert(data)).length).toBeLessThan(6000);
  });
});

describe("decodeRevert on bytes that are no encoding", () => {
  const cases: ReadonlyArray<readonly [string, string, string]> = [
    ["nothing", "0x", "Empty"],
    ["no hex", "zz", "Empty"],
    ["odd hex", "0x123", "Empty"],
    ["one byte", "0x00", "Unknown"],
    ["three bytes", "0x08c379", "Unknown"],
    ["a bare selector", "0x08c379a0", "Unknown"],
    ["an absurd offset", `0x08c379a0${"f".repeat(64)}`, "Unknown"],
    ["an absurd length", `0x08c379a0${word(32)}${"f".repeat(64)}`, "Unknown"],
    ["a length beyond the bytes", `0x08c379a0${word(32)}${word(99)}41`, "Unknown"],
    ["a missing tail", `0x08c379a0${word(32)}${word(1)}41`, "Reason"],
    ["a dirty tail", `0x08c379a0${word(32)}${word(1)}${"41".repeat(32)}`, "Reason"],
    ["a panic of 31 bytes", panic(1n).slice(0, -2), "Unknown"],
    ["a panic of 33 bytes", `${panic(1n)}00`, "Unknown"],
    [
      "a custom error with dirty padding",
      balance.replace("000000AA".toLowerCase(), "000000aa").replace(/^(0x.{8})00/, "$101"),
      "Unknown",
    ],
    ["a custom error with a tail", `${balance}00`, "Unknown"],
    ["a custom error cut off", balance.slice(0, -2), "Unknown"],
    ["plain text", stringToHex("wrong-calldatasize"), "Unknown"],
  ];
  for (const [name, data, tag] of cases) it(`${name} is ${tag}`, () => expect(tags(data, [abi])).toEqual([tag]));

  it("refuses a pointer loop as an encoding", () => {
    const loop = `${toFunctionSelector("function Batch((address,bytes)[])")}${word(32)}${word(1000)}${word(32).repeat(1000)}`;
    expect(tags(loop, [abi])).toEqual(["Unknown"]);
  });
});
