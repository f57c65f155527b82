/** What the input alone shows wrong: the first wrong field by its path, before anything is sent. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import fc from "fast-check";
import { parseAbi } from "viem";
import { describe, expect, it } from "vitest";
import { InvalidTransaction } from "../rooms/errors.js";
import * as Preflight from "../../src/Preflight.js";
import * as Rpc from "../../src/Rpc.js";
import { layerScripted } from "../../src/testing.js";
import { validate } from "../rooms/transaction.js";
import { startNode } from "../harness/server.js";

const from = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const to = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const abi = parseAbi([
  "function transfer(address to, uint256 amount) returns (bool)",
  "function over(uint256 a)",
  "function over(address a)",
  "function many((bytes a, bool b)[] list, bytes4 c)",
]);
const hash = `0x${"11".repeat(32)}`;
const authorization = { address: to, chainId: 1, nonce: 0, r: hash, s: hash, yParity: 0 };
const unsigned = { authority: from, address: to, chainId: 1, nonce: 0 };
const base = { from, to };
const call = { ...base, abi, functionName: "transfer", args: [to, 1n] };
const deployment = { from, abi: [{ type: "constructor", inputs: [{ type: "uint8", name: "a" }] }], bytecode: "0x00" };
const blob = `0x01${"11".repeat(31)}`;
const blobs = { blobVersionedHashes: [blob], maxFeePerBlobGas: 1n };

const wrong: ReadonlyArray<readonly [input: unknown, field: string, problem: RegExp]> = [
  [undefined, "transaction", /must be an object, got nothing$/],
  [null, "transaction", /null/],
  ["0x", "transaction", /string/],
  [[], "transactions", /empty/],
  [Array.from({ length: 65 }, () => base), "transactions", /more than 64/],
  [[base, null], "[1]", /object/],
  [[base, [base]], "[1]", /array/],
  [{ ...base, gas: 2n, gasLimit: 1n }, "gasLimit", /differs from gas$/],
  [{ account: from, from: to, to }, "account", /differs from from$/],
  [{ sender: from, to }, "sender", /is not a field of a transaction; say from$/],
  [[base, { ...base, valeu: 1n }], "[1].valeu", /is not a field of a transaction; did you mean value\?$/],
  [{ ...base, colour: 1n }, "colour", /is not a field of a transaction$/],
  [{ ...base, constructor: 1n }, "constructor", /is not a field of a transaction$/],
  [{ ...call, functionName: "transfr" }, "functionName", /the ABI has no function transfr; did you mean transfer\?$/],
  [[base, { ...base, data: "0x12", input: "0x34" }], "[1].input", /differs from data$/],
  [{ to }, "from", /is missing/],
  [{ from: 1, to }, "from", /number/],
  [{ from: {}, to }, "from", /must be an address, got an object$/],
  [{ from: "0x1234", to }, "from", /20 bytes/],
  [{ from: from.slice(2), to }, "from", /20 bytes/],
  [{ from, to: `${to.slice(0, -1)}c` }, "to", /checksum/],
  [{ from: "0xF39Fd6e51aad88F6F4ce6aB8827279cffFb92266", to }, "from", /checksum/],
  [{ from, to: "vitalik.eth" }, "to", /20 bytes/],
  [{ ...base, data: "0x123" }, "data", /odd/],
  [{ ...base, data: "1234" }, "data", /0x/],
  [{ ...base, data: "0xzz" }, "data", /not hex/],
  [{ ...base, data: 12 }, "data", /number/],
  [{ ...base, data: `0x${"00".repeat(4 * 1024 * 1024 + 1)}` }, "data", /larger/],
  [{ ...base, value: 1 }, "value", /bigint/],
  [{ ...base, value: "1" }, "value", /bigint/],
  [{ ...base, value: -1n }, "value", /negative/],
  [{ ...base, value: 2n ** 256n }, "value", /uint256/],
  [{ ...base, gas: 0n }, "gas", /above 0/],
  [{ ...base, gas: 2n ** 63n }, "gas", /above/],
  [{ ...base, gas: 21_000 }, "gas", /bigint/],
  [{ ...base, nonce: -1 }, "nonce", /whole number/],
  [{ ...base, nonce: 1.5 }, "nonce", /whole number/],
  [{ ...base, nonce: Number.NaN }, "nonce", /whole number/],
  [{ ...base, nonce: 2n ** 64n - 1n }, "nonce", /maximum/],
  [{ ...base, nonce: 2 ** 64 }, "nonce", /maximum/],
  [{ ...base, nonce: 2n ** 53n }, "nonce", /any account/],
  [{ ...base, nonce: Number.MAX_SAFE_INTEGER }, "nonce", /any account/],
  [{ ...base, chainId: 0 }, "chainId", /above 0/],
  [{ ...base, chainId: 1n }, "chainId", /whole number/],
  [{ ...base, chainId: 2 ** 53 }, "chainId", /whole number/],
  [[{ ...base, chainId: 1 }, base, { ...base, chainId: 2 }], "[2].chainId", /differs/],
  [{ ...base, maxFeePerGas: 2n ** 256n }, "maxFeePerGas", /uint256/],
  [{ ...base, maxFeePerGas: 1n, maxPriorityFeePerGas: 2n }, "maxPriorityFeePerGas", /above maxFeePerGas/],
  [{ ...base, gasPrice: 1n, maxFeePerGas: 1n }, "gasPrice", /combined/],
  [{ ...base, gasPrice: 1n, maxPriorityFeePerGas: 1n }, "gasPrice", /combined/],
  [{ ...base, gasPrice: 1n, authorizationList: [authorization] }, "gasPrice", /7702/],
  [{ ...base, gasPrice: 1n, ...blobs }, "gasPrice", /4844/],
  [{ ...base, authorizationList: [authorization], ...blobs }, "authorizationList", /combined/],
  [{ from, data: "0x00", authorizationList: [authorization] }, "to", /7702/],
  [{ from, data: "0x00", ...blobs }, "to", /4844/],
  [{ from }, "to", /deployment needs data/],
  [{ from, to: null }, "to", /deployment needs data/],
  [{ ...base, maxFeePerBlobGas: 1n }, "maxFeePerBlobGas", /blobVersionedHashes/],
  [{ ...base, blobVersionedHashes: [blob] }, "maxFeePerBlobGas", /missing/],
  [{ ...base, ...blobs, blobVersionedHashes: [`0x02${"11".repeat(31)}`] }, "blobVersionedHashes[0]", /0x01.*4844/],
  [{ ...base, ...blobs, blobVersionedHashes: [blob, hash] }, "blobVersionedHashes[1]", /0x01/],
  [{ ...base, blobVersionedHashes: [] }, "blobVersionedHashes", /empty/],
  [{ ...base, blobVersionedHashes: ["0x11"] }, "blobVersionedHashes[0]", /32 bytes/],
  [{ ...base, authorizationList: [] }, "authorizationList", /empty/],
  [{ ...base, authorizationList: {} }, "authorizationList", /array/],
  [{ ...base, authorizationList: [{ ...authorization, r: "0x" }] }, "authorizationList[0].r", /32 bytes/],
  [{ ...base, authorizationList: [{ ...authorization, yParity: 2 }] }, "authorizationList[0].yParity", /to 1/],
  [{ ...base, authorizationList: [{ ...authorization, address: "0x" }] }, "authorizationList[0].address", /20 bytes/],
  [{ ...base, authorizationList: [{ ...unsigned, authority: "0x" }] }, "authorizationList[0].authority", /20 bytes/],
  [{ ...base, authorizationList: [{ ...unsigned, authority: undefined }] }, "authorizationList[0].r", /32 bytes/],
  [{ ...base, authorizationList: [{ ...unsigned, nonce: undefined }] }, "authorizationList[0].nonce", /whole number/],
  [{ ...base, authorizationList: [{ ...unsigned, s: hash }] }, "authorizationList[0].r", /32 bytes/],
  [{ ...base, authorizationList: Array.from({ length: 17 }, () => unsigned) }, "authorizationList", /more than 16/],
  [[base, { ...base, authorizationList: [authorization, unsigned] }], "[1].authorizationList", /only the first/],
  [{ ...base, accessList: [{ address: "0x", storageKeys: [] }] }, "accessList[0].address", /20 bytes/],
  [{ ...base, accessList: [{ address: to, storageKeys: ["0x1"] }] }, "accessList[0].storageKeys[0]", /32 bytes/],
  [{ ...base, accessList: [null] }, "accessList[0]", /object/],
  [{ ...base, functionName: "transfer" }, "abi", /missing/],
  [{ ...base, args: [] }, "abi", /missing/],
  [{ from, bytecode: "0x00" }, "abi", /missing/],
  [{ ...call, data: "0x" }, "data", /combined/],
  [{ ...call, to: undefined }, "to", /missing/],
  [{ ...call, abi: {} }, "abi", /JSON ABI/],
  [{ ...call, abi: ["function transfer()"] }, "args", /takes 0 arguments, got 2/],
  [{ ...call, abi: ["function transfer()", "struct A { B b; }", "struct B { uint256 c; }"] }, "args", /takes 0/],
  [
    { ...call, abi: ["function a()", "struct B { uint256 c; }", "functon b(B c)"] },
    "abi[2]",
    /Unknown signature.*b\(B c\)/,
  ],
  [{ ...call, abi: ["function a(adress b)"] }, "abi[0]", /Type "adress" is not a valid ABI type/],
  [{ ...call, abi: ["function a()", "struct A { B b; }"] }, "abi[1]", /struct/],
  [{ ...call, abi: ["function a()", "struct A { B b; }", "struct B { A a; }"] }, "abi", /circular/],
  [{ ...call, abi: ["struct A { uint256 b; }"] }, "functionName", /no function transfer/],
  [{ ...call, abi: ["function a()", `${"x".repeat(5_000)}\u202e`] }, "abi[1]", /more characters|\(\+\d+ characters\)$/],
  [[base, { ...call, abi: ["a"] }], "[1].abi[0]", /is no ABI/],
  [{ ...call, abi: ["function a()", { type: "function" }] }, "abi", /must be a JSON ABI/],
  [{ ...call, abi: [{ type: "function", name: "f", inputs: [], extra: 1n }] }, "abi", /not JSON/],
  [{ ...call, abi: [{ type: "function", name: "transfer", inputs: [null, null] }] }, "abi", /parameter that is none/],
  [{ ...deployment, abi: [{ type: "constructor", inputs: [null] }], args: [1] }, "abi", /parameter that is none/],
  [{ ...call, functionName: undefined }, "functionName", /name a function/],
  [{ ...call, functionName: "mint" }, "functionName", /no function mint/],
  [{ ...call, functionName: "mint()" }, "functionName", /no function mint\(\); the ABI has transfer, over, many$/],
  [{ ...call, functionName: "transfer(address)" }, "functionName", /no function transfer\(address\); did you mean/],
  [{ ...call, functionName: "0x12345678" }, "functionName", /no function 0x12345678; the ABI has/],
  [{ ...call, args: [to] }, "args", /takes 2 arguments, got 1/],
  [{ ...call, args: "ab" }, "args", /array/],
  [{ ...call, args: ["0x12", 1n] }, "args[0]", /address/],
  [{ ...call, args: [to, 2n ** 256n] }, "args[1]", /uint256 amount/],
  [{ ...call, args: [to, "many"] }, "args[1]", /uint256 amount/],
  [[base, { ...call, args: [to, -1n] }], "[1].args[1]", /uint256 amount/],
  [{ ...call, functionName: "over", args: [true] }, "args[0]", /whole number/],
  [{ ...call, args: [to, true] }, "args[1]", /whole number/],
  [{ ...call, args: [to, "5"] }, "args[1]", /whole number/],
  [{ ...call, args: [to, 2 ** 60] }, "args[1]", /whole number/],
  [
    { ...call, functionName: "many", args: [[{ a: "0x123", b: true }], "0x00000000"] },
    "args[0]",
    /\[0\].a must be hex/,
  ],
  [{ ...call, functionName: "many", args: [[["0x12", 1]], "0x00000000"] }, "args[0]", /\[0\]\[1\] must be a boolean/],
  [{ ...call, functionName: "many", args: [[null], "0x00000000"] }, "args[0]", /\[0\] must be an object/],
  [{ ...call, functionName: "many", args: [{}, "0x00000000"] }, "args[0]", /must be an array/],
  [{ ...call, functionName: "many", args: [[], "0x00zz0000"] }, "args[1]", /must be hex/],
  [{ ...call, functionName: "many", args: [[], "0x0000"] }, "args[1]", /bytes4/],
  [{ ...deployment, args: [] }, "args", /takes 1 arguments/],
  [{ ...deployment, args: [256] }, "args[0]", /uint8/],
  [{ ...deployment, args: [1], to }, "to", /combined/],
  [{ ...deployment, args: [1], functionName: "f" }, "functionName", /combined/],
  [{ ...deployment, args: [1], bytecode: "0x0" }, "bytecode", /odd/],
];

describe("malformed input", () => {
  it.each(wrong.map(([input, field, problem]) => ({ input, field, problem })))(
    "is refused by $field: $problem",
    ({ input, field, problem }) => {
      const result = validate(input);
      if (Result.isSuccess(result)) throw new Error("accepted");
      expect(result.failure).toBeInstanceOf(InvalidTransaction);
      expect(result.failure.field).toBe(field);
      expect(result.failure.problem).toMatch(problem);
      expect(result.failure.message).toContain("nothing was sent");
    },
  );

  const amount = { token: to, owner: from, amount: 1n };
  const options: ReadonlyArray<readonly [options: unknown, field: string]> = [
    [null, "options"],
    [[], "options"],
    [{ unknown: 1 }, "options.unknown"],
    [{ deadline: 0 }, "options.deadline"],
    [{ deadline: Number.POSITIVE_INFINITY }, "options.deadline"],
    [{ deadline: "soon" }, "options.deadline"],
    [{ maxAge: -1 }, "options.maxAge"],
    [{ feeHorizon: "x" }, "options.feeHorizon"],
    [{ tolerance: 1 }, "options.tolerance"],
    [{ tolerance: Number.NaN }, "options.tolerance"],
    [{ feeLevel: "warp" }, "options.feeLevel"],
    [{ block: "newest" }, "options.block"],
    [{ knownAddresses: "0x" }, "options.knownAddresses"],
    [{ knownAddresses: [to, "0x12"] }, "options.knownAddresses[1]"],
    [{ knownAddresses: [`${to.slice(0, -1)}c`] }, "options.knownAddresses[0]"],
    [{ knownAddresses: Array.from({ length: 20_001 }, () => to) }, "options.knownAddresses"],
    [{ knownAddresses: { [from]: "mine", "vitalik.eth": "his" } }, "options.knownAddresses[1]"],
    [{ knownAddresses: { [to]: 5 } }, "options.knownAddresses[0]"],
    [{ knownAddresses: { [to]: "x".repeat(101) } }, "options.knownAddresses[0]"],
    [{ names: "ens" }, "options.names"],
    [{ names: [] }, "options.names"],
    [{ names: { lable: () => null } }, "options.names.lable"],
    [{ names: { label: "bob" } }, "options.names.label"],
    [{ names: { abi: [] } }, "options.names.abi"],
    [{ descriptors: {} }, "options.descriptors"],
    [{ abis: {} }, "options.abis"],
    [{ abis: ["function f("] }, "options.abis[0][0]"],
    [{ abis: ["function f()", {}] }, "options.abis[0]"],
    [{ abis: [[{ type: "function", inputs: 1n }]] }, "options.abis[0]"],
    [{ abis: [["function f()", "a"]] }, "options.abis[0][1]"],
    [{ abis: [{ address: "0x", abi: [] }] }, "options.abis[0].address"],
    [{ policies: {} }, "options.policies"],
    [{ policies: [null] }, "options.policies[0]"],
    [{ policies: [{ name: "p", evaluate: () => null, data: undefined }] }, "options.policies[0]"],
    [{ stateOverrides: { "0x12": {} } }, "options.stateOverrides"],
    [{ stateOverrides: { [to]: { balance: 1 } } }, `options.stateOverrides[${to}].balance`],
    [{ stateOverrides: { [to]: null } }, `options.stateOverrides[${to}]`],
    [{ tokenOverrides: [] }, "options.tokenOverrides"],
    [{ tokenOverrides: { balance: [] } }, "options.tokenOverrides.balance"],
    [{ tokenOverrides: { balances: {} } }, "options.tokenOverrides.balances"],
    [{ tokenOverrides: { balances: Array.from({ length: 33 }, () => amount) } }, "options.tokenOverrides.balances"],
    [{ tokenOverrides: { balances: [null] } }, "options.tokenOverrides.balances[0]"],
    [{ tokenOverrides: { balances: [{ ...amount, token: "0x" }] } }, "options.tokenOverrides.balances[0].token"],
    [{ tokenOverrides: { balances: [amount, { ...amount, amount: 1 }] } }, "options.tokenOverrides.balances[1].amount"],
    [{ tokenOverrides: { balances: [{ ...amount, amount: -1n }] } }, "options.tokenOverrides.balances[0].amount"],
    [{ tokenOverrides: { balances: [{ ...amount, spender: to }] } }, "options.tokenOverrides.balances[0].spender"],
    [{ tokenOverrides: { allowances: [amount] } }, "options.tokenOverrides.allowances[0].spender"],
    [{ blockOverrides: { time: "now" } }, "options.blockOverrides.time"],
  ];
  it.each(options.map(([given, field]) => ({ given, field })))(
    "is refused by $field, case $#",
    async ({ given, field }) => {
      const asked: Array<unknown> = [];
      const node = layerScripted({ eth_chainId: (params) => asked.push(params) });
      for (const door of [Preflight.scan, Preflight.preflight]) {
        const result = await Effect.runPromise(
          Effect.result(door(base as never, given as never)).pipe(Effect.provide(node)),
        );
        if (Result.isSuccess(result)) throw new Error("accepted");
        expect(result.failure).toMatchObject({ _tag: "InvalidTransaction", field });
      }
      expect(asked).toEqual([]);
    },
  );

  it("never throws, and is never accepted", () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withNullPrototype: true, withSparseArray: true }), (input) => {
        const result = validate(input);
        expect(Result.isFailure(result)).toBe(true);
      }),
      { numRuns: 500 },
    );
    const field = fc.constantFrom("value", "gas", "nonce", "data", "to", "accessList", "chainId", "abi", "args");
    fc.assert(
      fc.property(field, fc.anything({ withBigInt: true }), (name, value) => {
        validate({ ...base, [name]: value });
        validate({ ...call, [name]: value });
        validate([{ ...deployment, args: [1], [name]: value }]);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("a malformed transaction", () => {
  it("is refused by every entry before any request", async () => {
    const server = await startNode(() => ({ result: "0x1" }));
    const doors: ReadonlyArray<unknown> = [
      ...[Preflight.scan, Preflight.preflight, Preflight.simulate, Preflight.checkCode],
      ...[Preflight.estimateGas, Preflight.resolveNonce, Preflight.quoteFee],
    ];
    for (const door of doors) {
      for (const [input, field] of wrong.filter(([, name]) => ["sender", "[1].input", "chainId"].includes(name))) {
        const result = await Effect.runPromise(
          Effect.result((door as typeof Preflight.scan)(input as never)).pipe(
            Effect.provide(Rpc.layerHttp(server.url)),
          ),
        );
        if (Result.isSuccess(result)) throw new Error("accepted");
        expect(result.failure).toMatchObject({ _tag: "InvalidTransaction", field });
      }
    }
    expect([server.asked, server.connections()]).toEqual([[], 0]);
    await server.stop();
  });
});

describe("valid input", () => {
  const accepted = (input: unknown) => {
    const result = validate(input);
    if (Result.isFailure(result)) throw result.failure;
    return result.success;
  };

  it("is completed: lower case, no data, null where open", () => {
    expect(accepted(base).transactions).toEqual([
      {
        ...{ from: from.toLowerCase(), to: to.toLowerCase(), data: "0x", value: 0n, chainId: null, gas: null },
        ...{ nonce: null, maxFeePerGas: null, maxPriorityFeePerGas: null, gasPrice: null, accessList: null },
        ...{ authorizationList: null, blobVersionedHashes: null, maxFeePerBlobGas: null, item: null },
      },
    ]);
    expect(accepted({ ...base, from: from.toUpperCase().replace("0X", "0x") }).transactions[0]?.from).toBe(
      from.toLowerCase(),
    );
  });

  it("may have overloads chosen by arguments, names by signature, and deployments", () => {
    const over = accepted({ ...call, functionName: "over", args: [to] }).transactions[0];
    expect(over?.item).toMatchObject({ name: "over", inputs: [{ type: "address" }] });
    expect(accepted({ ...deployment, args: [1] }).transactions[0]?.data).toBe(`0x00${"01".padStart(64, "0")}`);
    expect(accepted([base, call]).abis).toHaveLength(1);
  });

  it("may not name an event or error as function", () => {
    const named = [...abi, ...parseAbi(["event over(address a)", "error over(uint256 a)"])];
    for (const args of [[to], [1n]])
      expect(accepted({ ...call, abi: named, functionName: "over", args }).transactions[0]).toEqual(
        accepted({ ...call, functionName: "over", args }).transactions[0],
      );
  });

  it("may name a function by its signature and by its selector", () => {
    for (const functionName of ["transfer(address,uint256)", "0xa9059cbb"])
      expect(accepted({ ...call, functionName }).transactions[0].data).toBe(accepted(call).transactions[0].data);
  });

  it("is encoded by the ABI as it is now, whoever changed it since it was read", () => {
    const changed = structuredClone(abi) as unknown as Array<{ name: string }>;
    const [first] = changed.filter(({ name }) => name === "transfer");
    const before = accepted({ ...call, abi: changed }).transactions[0];
    if (first === undefined) throw new Error("no transfer");
    first.name = "approve";
    const after = accepted({ ...call, abi: changed, functionName: "approve" }).transactions[0];
    expect([before.data.slice(0, 10), after.data.slice(0, 10)]).toEqual(["0xa9059cbb", "0x095ea7b3"]);
    // what a report shows of an ABI is nobody's to change
    expect(() => Object.assign(before.item as object, { name: "approve" })).toThrow(TypeError);
    const [again, soon] = [accepted(call), accepted(call)].map(({ transactions }) => transactions[0].item);
    expect([again, again === soon]).toEqual([before.item, true]);
  });

  it("keeps of an ABI what JSON can hold", () => {
    const odd = abi.map((item) => ({ ...item, extra: undefined, again: () => 1 }));
    expect(accepted({ ...call, abi: odd }).abis[0]?.abi).toEqual(JSON.parse(JSON.stringify(abi)));
  });

  it("may have as many authorisations as a block holds, counted over the bundle", () => {
    const listed = (count: number) => ({
      ...base,
      authorizationList: Array.from({ length: count }, () => authorization),
    });
    expect(accepted(listed(2_000)).transactions[0]?.authorizationList).toHaveLength(2_000);
    for (const input of [listed(2_001), [listed(1_000), listed(1_001)]])
      expect(Result.getOrThrow(Result.flip(validate(input))).message).toMatch(/authorizationList.*2000/s);
  });

  it("may have viem's authorisations, with `v` and with `contractAddress`", () => {
    const { yParity: _, address, ...rest } = authorization;
    const list = [{ ...rest, contractAddress: address, v: 28n }];
    expect(accepted({ ...base, authorizationList: list }).transactions[0]?.authorizationList?.[0]).toMatchObject({
      address: to.toLowerCase(),
      yParity: 1,
    });
  });
});
