import * as Result from "effect/Result";
import fc from "fast-check";
import { erc20Abi, parseAbi } from "viem";
import { describe, expect, it } from "vitest";
import {
  abiOf,
  abiOfText,
  amount,
  block,
  callOf,
  codeOf,
  count,
  duration,
  inputOf,
  inputOfText,
  integer,
  isSignature,
  normalize,
  wei,
} from "../rooms/cli.js";
import { validate } from "../rooms/transaction.js";

const good = <A>(result: Result.Result<A, unknown>): A => Result.getOrThrow(result);
const bad = <A>(result: Result.Result<A, unknown>): unknown =>
  Result.isFailure(result) ? result.failure : expect.fail(`accepted: ${String(result.success)}`);
const alice = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const bob = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

describe("a signature and its arguments on the command line", () => {
  it.each([
    ...["transfer(address,uint256)", "function f()", "f (uint256) external", "f(", "event E(address a)"],
    ...["constructor(uint256)", "f(uint256[2][] calldata a) returns (bool)", "_$1()", "f((uint256 a, string b)[] c)"],
  ])("%s is recognised as a signature", (text) => expect(isSignature(text)).toBe(true));
  it.each([
    ...["tx.json", "./f()", "/a/f(uint256)", "Token(1).json", "f(1).txt", "file:///f()", "-", "0x02", ""],
    ...["C:\\f()", "a b.json", "(uint256)", "build (copy)/tx.json"],
  ])("%s is not taken for a signature", (text) => expect(isSignature(text)).toBe(false));

  const valuesOf = (signature: string, ...args: ReadonlyArray<string>) =>
    good(
      Result.flatMap(callOf(signature, args), (call) => inputOf({ from: alice, to: bob, ...call }, true)),
    ) as Readonly<Record<string, unknown>>;
  it.each<readonly [signature: string, args: ReadonlyArray<string>, values: ReadonlyArray<unknown>]>([
    ["transfer(address,uint256)", [bob, "5"], [bob, 5n]],
    ["f(uint256,int256,uint8)", ["0.1ether", "-7", "0x10"], [10n ** 17n, -7n, 16]],
    ["f(bool,bool,string,bytes)", ["true", "false", "true", "0x12"], [true, false, "true", "0x12"]],
    ["f(string,string)", ['"quoted"', "a, (b)"], ['"quoted"', "a, (b)"]],
    [
      "f(uint256[],address[])",
      ["[1, 12345678901234567890]", `[${alice},"${bob}"]`],
      [
        [1n, 12345678901234567890n],
        [alice, bob],
      ],
    ],
    ["f(uint256[][2])", ["[[],[1,2]]"], [[[], [1n, 2n]]]],
    [
      "f((uint256,string)[] a)",
      [`[(1,"a, b)"),(2,c)]`],
      [
        [
          [1n, "a, b)"],
          [2n, "c"],
        ],
      ],
    ],
    ["f((uint256 a, bool b) c)", ['{"a": "5", "b": true}'], [{ a: 5n, b: true }]],
    ["f((uint256 a, bool b) c)", ["(5,true)"], [[5n, true]]],
    ["f()", [], []],
    ["f(address)(uint256,bool)", [bob], [bob]],
  ])("%s with its arguments %j gives their values", (signature, args, values) => {
    expect(valuesOf(signature, ...args)["args"]).toEqual(values);
  });
  it.each<readonly [signature: string, args: ReadonlyArray<string>, field: string, problem: string]>([
    ["transfer(address,uint256)", [bob], "args", "must have 2 entries, got 1"],
    ["f()", ["1"], "args", "must have 0 entries, got 1"],
    ["f(uint256)", ["x"], "args[0]", "must be wei"],
    ["f(uint256[])", ["[1,x]"], "args[0][1]", "must be wei"],
    ["f(uint256[])", ["[1,]"], "args[0][1]", "must be wei"],
    ["f(uint256[])", ["[1"], "args[0]", "must be an array"],
    ["f(uint256[])", ["[1],[2]"], "args[0]", "must be an array"],
    ["f(uint256[])", ["(1]"], "args[0]", "must be an array"],
    ["f(bool)", ["yes"], "args[0]", "must be true or false"],
    ["f((uint256,bool) a)", ["5"], "args[0]", "must be an object or an array"],
    ["f(address)", ["vitalik.eth"], "args[0]", "is a name"],
    ["f(uint)x", ["1"], "signature", "is no ABI"],
    ["event E(uint256 a)", ["1"], "signature", "must be that of a function"],
  ])("%s with the arguments %j is refused by %s", (signature, args, field, problem) => {
    const refused = bad(Result.flatMap(callOf(signature, args), (call) => inputOf({ from: alice, ...call }, true)));
    expect(refused).toMatchObject({ field, problem: expect.stringContaining(problem) });
  });
  it("fail with a typed error for any text", () => {
    const types = fc.constantFrom("uint256", "bool", "string", "uint256[]", "(uint256,string[])[]", "(bool)");
    const texts = fc.oneof(fc.string(), fc.stringMatching(/^[[\](),"\\a1 ]{0,24}$/));
    fc.assert(
      fc.property(types, texts, (type, text) => {
        const call = callOf(`f(${type})`, [text]);
        expect(Result.isResult(Result.flatMap(call, (fields) => inputOf({ from: alice, ...fields }, true)))).toBe(true);
      }),
    );
  });
  it("gives back any list of texts as it was written", () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.string())), (lists) => {
        expect(valuesOf("f(string[][])", JSON.stringify(lists))["args"]).toEqual([lists]);
      }),
    );
  });
});

describe("amounts on the command line", () => {
  it.each([
    ["0.1ether", 10n ** 17n],
    ["1ETH", 10n ** 18n],
    ["2gwei", 2_000_000_000n],
    ["2.5 gwei", 2_500_000_000n],
    ["7wei", 7n],
    ["0.000000000000000001ether", 1n],
    ["1000", 1_000n],
    ["0x10", 16n],
    [5, 5n],
  ])("reads %s", (text, expected) => {
    expect(good(wei(text))).toBe(expected);
  });
  it.each([
    ["0.1", "needs a unit: 0.1ether, 0.1gwei"],
    ["0.1wei", "has more decimals than wei can hold (0); did you mean 0.1gwei or 0.1ether?"],
    ["1.0000000001gwei", "has more decimals than gwei can hold (9); did you mean 1.0000000001ether?"],
    [`0.${"1".repeat(19)}ether`, "has more decimals than ether can hold (18)"],
    ["-1", "must be wei"],
    ["-1ether", '"-1ether"; it cannot be negative'],
    ["\u22121ether", "it cannot be negative"],
    ["1e18", "must be wei"],
    ["1,000", "thousands have nothing between them: 1.000 or 1000"],
    ["1,000 ether", "1.000 ether or 1000 ether"],
    ["0,1ether", "a decimal has a point: did you mean 0.1ether?"],
    [".5gwei", "did you mean 0.5gwei?"],
    ["", "must be wei"],
    ["0x", "must be wei"],
    ["1 finney", "must be wei"],
    [1e21, "write it as a string"],
    [0.5, "must be a whole number"],
    [-1, "must be a whole number"],
    [true, "must be a number or a string"],
    [null, "must be a number or a string"],
  ])("refuses %s", (text, problem) => {
    expect(bad(wei(text))).toContain(problem);
  });
  it("reads every amount in every unit exactly", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (amount) => {
        const digits = amount.toString().padStart(19, "0");
        expect(good(wei(`${digits.slice(0, -18)}.${digits.slice(-18)}ether`))).toBe(amount);
        expect(good(wei(`${digits.slice(0, -9)}.${digits.slice(-9)}gwei`))).toBe(amount);
        expect(good(wei(`0x${amount.toString(16)}`))).toBe(amount);
        expect(good(wei(String(amount)))).toBe(amount);
      }),
    );
  });
  it("never throws on any text", () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        for (const read of [wei, count, integer]) expect(Result.isResult(read(value))).toBe(true);
        for (const read of [duration, block]) expect(Result.isResult(read(String(JSON.stringify(value))))).toBe(true);
      }),
    );
  });
});

describe("arguments on the command line", () => {
  it.each([
    [
      ["check", "--value", "-1ether"],
      ["check", "--value=-1ether"],
    ],
    [
      ["check", "--html", "-x", "--json"],
      ["check", "--html=-x", "--json"],
    ],
    [
      ["check", "--value", "-h"],
      ["check", "--value", "-h"],
    ],
    [
      ["check", "--value=1wei", "-5"],
      ["check", "--value=1wei", "-5"],
    ],
    [
      ["check", "--policies", "-"],
      ["check", "--policies", "-"],
    ],
    [
      ["check", "--value", "--", "-1ether"],
      ["check", "--value", "--", "-1ether"],
    ],
    [["help"], ["--help"]],
    [
      ["help", "nonces", "fill"],
      ["nonces", "fill", "--help"],
    ],
    [
      ["check", "help"],
      ["check", "--help"],
    ],
    [
      ["nonces", "fill", "help"],
      ["nonces", "fill", "--help"],
    ],
    [
      ["check", "tx.json", "help"],
      ["check", "tx.json", "help"],
    ],
    [[], []],
  ])("%j are read as %j", (given, meant) => {
    expect(normalize(given)).toEqual(meant);
  });
});

describe("quantities that are no amounts", () => {
  it("take no unit", () => {
    expect(bad(count("1gwei"))).toContain("decimal or 0x");
    expect(bad(integer("0x20000000000000"))).toBe("is too large");
    expect(good(integer("0x7b"))).toBe(123);
  });
  it("include times and blocks", () => {
    expect(good(duration("500ms"))).toBe(500);
    expect(bad(duration("500"))).toBe("needs a unit: 500s or 500ms");
    expect(good(amount(["gwei", "wei"])("0"))).toBe(0n);
    expect(good(amount(["gwei", "wei"])("0x10"))).toBe(16n);
    expect(good(amount(["gwei", "wei"])("2gwei"))).toBe(2_000_000_000n);
    expect(bad(amount(["gwei", "wei"])("0.5"))).toBe("needs a unit: 0.5gwei");
    for (const bare of ["2", "10"])
      expect(bad(amount(["gwei", "wei"])(bare))).toBe(`needs a unit: ${bare}gwei or ${bare}wei`);
    expect(good(duration("1.5s"))).toBe(1_500);
    expect(good(duration("2m"))).toBe(120_000);
    expect(bad(duration("0s"))).toContain("above 0");
    expect(bad(duration("soon"))).toContain("such as 500ms");
    expect(good(block("pending"))).toBe("pending");
    expect(good(block("123"))).toBe(123n);
    expect(good(block("0x7b"))).toBe(123n);
    expect(good(block(`0x${"ab".repeat(32)}`))).toBe(`0x${"ab".repeat(32)}`);
    expect(bad(block("newest"))).toContain("latest, pending");
  });
});

describe("ABIs on the command line", () => {
  const signature = "function transfer(address to, uint256 amount) returns (bool)";
  it("come as JSON, as an artifact, as signatures or as one signature", () => {
    expect(good(abiOf(erc20Abi, "abi"))).toBe(erc20Abi);
    expect(good(abiOf({ abi: erc20Abi, bytecode: "0x" }, "abi"))).toBe(erc20Abi);
    expect(good(abiOf([signature], "abi"))).toEqual(parseAbi([signature]));
    expect(good(abiOf("transfer(address to, uint256 amount) returns (bool)", "abi"))).toEqual(parseAbi([signature]));
    expect(good(abiOfText(`${signature}\n\nerror Foo(uint256 a)\n`, "abi"))).toHaveLength(2);
    expect(good(abiOfText(JSON.stringify(erc20Abi), "abi"))).toEqual(erc20Abi);
  });
  it("are refused by name when they are none", () => {
    for (const json of [
      3,
      null,
      [{ name: "no type" }],
      "not a signature",
      "transfer(adress to)",
      { abi: 3 },
      [{ type: "function", name: "pay" }],
    ])
      expect(bad(abiOf(json, "--abi"))).toMatchObject({ field: "--abi" });
    expect(bad(abiOfText("[{", "--abi"))).toMatchObject({ problem: expect.stringContaining("is no JSON") });
    for (const text of [JSON.stringify([signature, "not a signature"]), `${signature}\nfunction f(adress a)\n`])
      expect(bad(abiOfText(text, "--abi"))).toMatchObject({
        field: "--abi[1]",
        problem: expect.stringContaining("is no ABI: Unknown"),
      });
  });
});

describe("transactions in a JSON file", () => {
  const call = { from: alice, to: bob, abi: erc20Abi, functionName: "transfer" };

  it("may have strings with units, and have every field of the pipeline", () => {
    const input = good(
      inputOf({
        from: alice,
        to: bob,
        value: "0.1ether",
        gas: "0x5208",
        nonce: "7",
        maxFeePerGas: "2gwei",
        maxPriorityFeePerGas: 1,
        chainId: "0x1",
        data: null,
      }),
    );
    expect(input).toEqual({
      from: alice,
      to: bob,
      value: 10n ** 17n,
      gas: 21_000n,
      nonce: 7,
      maxFeePerGas: 2_000_000_000n,
      maxPriorityFeePerGas: 1n,
      chainId: 1,
    });
    expect(Result.isSuccess(validate(input))).toBe(true);
  });

  it("make arguments what the parameters take, tuples and arrays included", () => {
    const abi = [
      "function f((address who, uint256[2] amounts, bool on) one, int256 signed, uint8 small, bytes data, string text)",
    ];
    const args = [{ who: bob, amounts: ["1ether", "0x10"], on: true }, "-5", "255", "0x1234", "hello"];
    const input = good(inputOf({ from: alice, to: bob, abi, args }));
    expect(input).toMatchObject({
      functionName: "f",
      args: [{ who: bob, amounts: [10n ** 18n, 16n], on: true }, -5n, 255, "0x1234", "hello"],
    });
    expect(Result.isSuccess(validate(input))).toBe(true);
  });

  it("choose an overload by its arguments or its signature", () => {
    const abi = ["function f(uint256 a)", "function f(uint256 a, bool b)", "function f(address a)"];
    expect(good(inputOf({ ...call, abi, functionName: "f", args: ["1", true] }))).toMatchObject({ args: [1n, true] });
    const bySignature = good(inputOf({ ...call, abi, functionName: "f(uint256)", args: ["1"] }));
    expect(bySignature).toMatchObject({ functionName: "f", args: [1n] });
    expect(Result.isSuccess(validate(bySignature))).toBe(true);
    expect(good(inputOf({ ...call, abi, functionName: "f(address)", args: [bob] }))).toMatchObject({ args: [bob] });
  });

  it("may have the names of other tools, but no field twice", () => {
    expect(good(inputOf({ from: alice, to: bob, input: "0x12", gasLimit: "21000" }))).toEqual({
      from: alice,
      to: bob,
      data: "0x12",
      gas: 21_000n,
    });
    expect(bad(inputOf({ from: alice, to: bob, input: "0x12", data: "0x13" }))).toMatchObject({ field: "data" });
  });

  it("may have the forms of other tools, with numbers as JSON has them", () => {
    const fields = (json: unknown) => Result.getOrThrow(validate(good(inputOf(json)))).transactions;
    const usual = fields({ from: alice, to: bob, value: "5", gas: 21_000, nonce: 1, chainId: 1, maxFeePerGas: "7" });
    const rpc = {
      from: alice,
      to: bob,
      value: "0x5",
      gas: "0x5208",
      nonce: "0x1",
      chainId: "0x1",
      maxFeePerGas: "0x7",
    };
    const ethers = { from: alice, to: bob, value: "5", gasLimit: "21000", nonce: 1, chainId: "1", maxFeePerGas: "7" };
    for (const form of [
      { ...rpc, type: "0x2", input: "0x", accessList: [] },
      { ...rpc, type: "0x2", gasPrice: "0x3", hash: `0x${"22".repeat(32)}`, r: "0x1", s: "0x1", blockHash: null },
      { ...ethers, type: 2, data: "0x", accessList: [], gasPrice: null },
      { jsonrpc: "2.0", id: 1, method: "eth_sendTransaction", params: [rpc] },
    ])
      expect(fields(form)).toEqual(usual);
    expect(
      fields([
        { from: alice, to: bob },
        { from: alice, calls: [{ to: bob }, { to: bob }] },
      ]),
    ).toHaveLength(3);
    const file = {
      version: "1.0",
      chainId: "1",
      meta: {},
      transactions: [{ to: bob, value: "5", data: null }],
      from: alice,
    };
    expect(fields(file)).toMatchObject([{ value: 5n, chainId: 1 }]);
    expect(good(inputOfText(" 0x02f8\n"))).toBe("0x02f8");
    expect(good(inputOfText('["0x02f8"]'))).toEqual(["0x02f8"]);
    expect(bad(inputOfText('{"method":1}'))).toMatchObject({ field: "input" });
    const wrong = { ...rpc, type: "0x2", valu: 1 };
    expect(Result.getOrThrow(Result.flip(validate(good(inputOf(wrong))))).field).toBe("valu");
  });

  it.each([
    [{ ...call, args: [bob, "0.5"] }, "args[1]", "needs a unit"],
    [{ ...call, args: [bob, 1e21] }, "args[1]", "write it as a string"],
    [{ ...call, args: [bob] }, "args", "must have 2 entries, got 1"],
    [{ ...call, args: "x" }, "args", "must be a JSON array"],
    [{ ...call, functionName: "transfr", args: [] }, "functionName", "no function transfr; did you mean transfer?"],
    [{ ...call, functionName: "swap", args: [] }, "functionName", "no function swap; the ABI has allowance, approve"],
    [{ from: alice, to: bob, abi: erc20Abi }, "functionName", "is missing; the ABI has allowance, approve"],
    [{ from: alice, to: bob, functionName: "transfer" }, "abi", "is missing; functionName needs it"],
    [{ from: alice, valu: 1 }, "valu", "is not a field of a transaction; did you mean value?"],
    [{ sender: alice, to: bob }, "sender", "is not a field of a transaction; say from"],
    [JSON.parse('{"from":"0x","__proto__":1}'), "__proto__", "is not a field of a transaction"],
    [{ from: alice, value: "1.5" }, "value", "needs a unit"],
    [{ from: alice, gas: "1gwei" }, "gas", "decimal or 0x"],
    [[{ from: alice }, { from: alice, nonce: -1 }], "[1].nonce", "must be a whole number"],
    [[{ from: alice }, 3], "[1]", "must be an object"],
    ["text", "transaction", "must be an object"],
    [{ from: alice, authorizationList: [{ nonce: "x" }] }, "authorizationList[0].nonce", "decimal or 0x"],
    [{ from: alice, to: bob, abi: ["function f(uint256[2] a)"], args: [["1"]] }, "args[0]", "must have 2 entries"],
    [{ from: alice, to: bob, abi: ["function f((bool a) b)"], args: [{ c: true }] }, "args[0].c", "not a field"],
    [{ from: alice, to: bob, abi: ["function f((bool a) b)"], args: [{}] }, "args[0].a", "is missing"],
    [{ from: alice, to: bob, abi: ["function f(bool b)"], args: ["true"] }, "args[0]", "must be true or false"],
  ])("name the field that is wrong: %o", (json, field, problem) => {
    expect(bad(inputOf(json))).toMatchObject({ field, problem: expect.stringContaining(problem) });
  });

  it("give a typed failure for any JSON and any text", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        expect(Result.isResult(inputOf(json))).toBe(true);
      }),
    );
    fc.assert(
      fc.property(
        fc.record(
          {
            from: fc.constant(alice),
            abi: fc.oneof(fc.jsonValue(), fc.constant(["function f(uint256 a, (bytes b)[] c)"])),
            functionName: fc.oneof(fc.constant("f"), fc.string()),
            args: fc.jsonValue({ maxDepth: 4 }),
          },
          { requiredKeys: ["from"] },
        ),
        (json) => {
          const input = inputOf(json);
          if (Result.isSuccess(input)) expect(Result.isResult(validate(input.success))).toBe(true);
        },
      ),
    );
    expect(bad(inputOfText("{"))).toMatchObject({ field: "input" });
  });
});

describe("exit codes", () => {
  it("follow the verdict, and differ for a report that was not proven", () => {
    expect(codeOf({ verdict: "ready", stage: "proven" })).toBe(0);
    expect(codeOf({ verdict: "blocked", stage: "scanned" })).toBe(1);
    expect(codeOf({ verdict: "caution", stage: "proven" })).toBe(2);
    expect(codeOf({ verdict: "unknown", stage: "proven" })).toBe(3);
    expect(codeOf({ verdict: "ready", stage: "scanned" })).toBe(3);
  });
});
