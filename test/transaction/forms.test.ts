/** Forms in which people hold a transaction: equal fields are one checked input and one digest, contradictions are named. */
import * as Effect from "effect/Effect";
import fc from "fast-check";
import {
  encodeFunctionData,
  formatTransaction,
  numberToHex,
  parseAbi,
  parseGwei,
  serializeTransaction,
  sha256,
  toRlp,
  fromRlp,
  type Hex,
  type TransactionSerializable,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { mainnet } from "viem/chains";
import { describe, expect, it } from "vitest";
import { buildRequest, signingHash, type Request } from "../rooms/transaction.js";
import { check } from "../../src/Transaction.js";
import { runs } from "../harness/parts.js";
import { accountArbitrary, requestArbitrary } from "./requests.js";

const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
const from = account.address;
const to = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const hash = `0x${"22".repeat(32)}` as const;

const simulated = {
  ...{ abi: parseAbi(["function transfer(address to, uint256 amount) returns (bool)"]), address: to },
  ...{ functionName: "transfer", args: [to, 1n], account: { address: from, type: "json-rpc" }, dataSuffix: undefined },
} as const;

const checked = (input: unknown) => Effect.runPromise(check(input));
const refused = (input: unknown) => Effect.runPromise(Effect.flip(check(input)));

/** What is checked of an input, without what its form says beside the fields. */
const fieldsOf = async (input: unknown) => {
  const { transactions } = await checked(input);
  return transactions.map((transaction) => ({ ...transaction, origin: undefined }));
};

const digestOf = async (input: unknown) => {
  const [transaction] = (await checked(input)).transactions;
  const { chainId, nonce, gas, gasPrice, maxFeePerGas, maxPriorityFeePerGas } = transaction;
  const request = buildRequest(transaction, { chainId, nonce, gas, gasPrice, maxFeePerGas, maxPriorityFeePerGas });
  return request === null ? null : signingHash(request);
};

const types = { legacy: 0, eip2930: 1, eip1559: 2, eip4844: 3, eip7702: 4 } as const;

/** A value as JSON-RPC has it: numbers as hex, at whatever depth, signatures without leading zeros. */
const wired = (value: unknown, name = ""): unknown => {
  if (typeof value === "bigint" || typeof value === "number") return numberToHex(value);
  if (Array.isArray(value)) return value.map((each: unknown) => wired(each));
  if (name === "r" || name === "s") return numberToHex(BigInt(String(value)));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]: [string, unknown]) => [key, wired(part, key)]));
};

/** The same as a node, viem and ethers have it, before and after it was sent. */
const formsOf = (request: Request, sender: string): Readonly<Record<string, unknown>> => {
  const { type, data, gas, ...rest } = request;
  const price = request.maxFeePerGas ?? request.gasPrice;
  const mined = { hash, blockHash: hash, blockNumber: 7n, transactionIndex: 0 };
  const rpc = {
    ...(wired(rest) as object),
    from: sender,
    gas: wired(gas),
    type: numberToHex(types[type]),
    input: data,
  };
  const sent = {
    ...rpc,
    ...(wired(mined) as object),
    gasPrice: wired(price),
    r: "0x1",
    s: hash,
    v: "0x0",
    yParity: "0x0",
  };
  const populated = {
    ...{ ...rest, data, from: sender, gasLimit: gas, type: types[type], chainId: BigInt(request.chainId) },
    ...{ accessList: request.accessList ?? [] },
    authorizationList:
      request.authorizationList?.map(({ address, chainId, nonce, r, s, yParity }) => ({
        ...{ address, chainId: BigInt(chainId), nonce: BigInt(nonce), signature: { r, s, yParity } },
      })) ?? null,
  };
  const fetched = {
    ...{ ...populated, provider: {}, index: 0, signature: {}, hash, blockHash: null, blockNumber: null },
    ...{
      gasPrice: price,
      maxFeePerGas: request.maxFeePerGas ?? null,
      blobVersionedHashes: request.blobVersionedHashes ?? [],
    },
  };
  return {
    "a request of ready": { from: sender, ...request },
    "viem's prepared request": {
      ...request,
      from: sender,
      account: { address: sender, type: "local", sign: () => 0 },
      nonceManager: {},
    },
    "viem's request": { ...request, account: sender, chain: { ...mainnet, id: request.chainId } },
    "a JSON-RPC object": rpc,
    eth_sendTransaction: { jsonrpc: "2.0", id: 1, method: "eth_sendTransaction", params: [rpc] },
    eth_signTransaction: { method: "eth_signTransaction", params: [{ ...rpc, data }] },
    "a node's mined transaction": sent,
    "viem's mined transaction": formatTransaction(sent as never),
    "ethers' populated": populated,
    "ethers' fetched": fetched,
    "what toJSON of ethers gives": {
      ...{ ...rest, data, from: sender, type: types[type], accessList: request.accessList ?? null, sig: null },
      ...{ gasLimit: String(gas), value: String(rest.value), chainId: String(request.chainId) },
      ...Object.fromEntries(
        Object.entries(rest).flatMap(([key, part]) => (typeof part === "bigint" ? [[key, String(part)]] : [])),
      ),
    },
  };
};

/** Requests that a caller may ask about: a deployment has data. */
const sendable = requestArbitrary.filter(({ to: target, data }) => target !== undefined || data !== "0x");

/** A `Transaction` of ethers 6.17 has no field of its own: getters alone. */
const ethersTransaction = (raw: Hex, isSigned: boolean): object => {
  class Transaction {
    get signature() {
      return isSigned ? { r: hash, s: hash } : null;
    }
    get serialized() {
      if (!isSigned) throw new Error("cannot serialize unsigned transaction; maybe you meant .unsignedSerialized");
      return raw;
    }
    get unsignedSerialized() {
      return isSigned ? "0x" : raw;
    }
  }
  return new Transaction();
};

describe("the forms of one transaction", () => {
  it("give one checked input and one digest, for every type", async () => {
    await fc.assert(
      fc.asyncProperty(sendable, accountArbitrary, async (request, signer) => {
        const sender = signer.address;
        const usual = await fieldsOf({ from: sender, ...request });
        for (const [name, form] of Object.entries(formsOf(request, sender)))
          expect([name, await fieldsOf(form)]).toEqual([name, usual]);
        const { type, ...plain } = request;
        // only the type tells an empty access list of a gas price from none
        const isNamed = type === "eip2930" && request.accessList.length === 0;
        if (!isNamed) expect(await fieldsOf({ from: sender, ...plain })).toEqual(usual);
        expect(await digestOf({ from: sender, ...request })).toBe(signingHash(request));
        const raw = await signer.signTransaction(request as TransactionSerializable);
        const unsigned = serializeTransaction(request as TransactionSerializable);
        const bytes = [
          ...[raw, { raw }, { from: sender, raw }, { method: "eth_sendRawTransaction", params: [raw] }],
          ...[{ from: sender, raw: unsigned }, ethersTransaction(raw, true)],
        ];
        for (const form of bytes)
          expect([await fieldsOf(form), await digestOf(form)]).toEqual([usual, signingHash(request)]);
        const [own] = (
          await Effect.runPromise(
            check(ethersTransaction(unsigned, false), { chainId: null, from: sender.toLowerCase() as Hex }),
          )
        ).transactions;
        expect([own]).toEqual(usual);
      }),
      { numRuns: runs(100) },
    );
  });
});

const plain = { from, to, value: 1n, nonce: 3, gas: 21_000n, chainId: 1 };
const caps = { maxFeePerGas: parseGwei("2"), maxPriorityFeePerGas: 1n };
const call = { to, value: "0x1" };
const raw = await account.signTransaction({ ...plain, ...caps, from: undefined } as never);
const legacy = { ...plain, type: "legacy", gasPrice: 7n } as const;
const { chainId: _, ...anyChain } = legacy;
const unbound = await account.signTransaction({ ...anyChain, from: undefined } as never);
const other = `0x${"33".repeat(20)}`;
const safe = {
  ...{ version: "1.0", chainId: "1", createdAt: 1_700_000_000_000 },
  meta: { name: "Batch", createdFromSafeAddress: to, createdFromOwnerAddress: "" },
  transactions: [
    { to: from, value: "1000000000000000000", data: null, contractMethod: null, contractInputsValues: null },
    { to: from, value: "0", data: "0x12", contractMethod: { name: "f" }, contractInputsValues: { a: "1" } },
  ],
};

/** A signed authorisation whose signature is an object of its own, with further fields beside it. */
const twofold = (beside: object) => ({
  ...{ address: to, chainId: 1, nonce: 0, signature: { r: "0x1", s: "0x1", yParity: 0 } },
  ...beside,
});

const signedEntry = { address: to, chainId: 1, nonce: 0, r: hash, s: hash, yParity: 0 };
const tuple = (type: string) => ({ type: "tuple", name: "n", components: [{ type, name: "a" }] });

describe("an input that contradicts itself", () => {
  const wrong: ReadonlyArray<readonly [input: unknown, field: string, problem: RegExp]> = [
    [{ ...plain, type: "eip1559", gasPrice: 1n }, "type", /eip1559, which has no gasPrice/],
    [{ ...plain, type: 2, authorizationList: [{}] }, "type", /eip1559, which has no authorizationList/],
    [{ ...plain, type: "0x0" }, "type", /legacy, which needs gasPrice; give it, or leave type out/],
    [{ ...plain, ...caps, type: 0 }, "type", /legacy, which has no maxFeePerGas/],
    [{ ...plain, typeHex: "0x1", ...caps }, "typeHex", /eip2930, which has no maxFeePerGas/],
    [{ ...legacy, accessList: [{ address: to, storageKeys: [] }] }, "type", /legacy, which has no accessList/],
    [{ ...plain, type: 3n, blobVersionedHashes: [] }, "type", /eip4844, which needs blobVersionedHashes/],
    [{ ...plain, type: "eip7702", authorizationList: null }, "type", /eip7702, which needs authorizationList/],
    [{ ...plain, type: "0x7e" }, "type", /from 0 to 4/],
    [{ ...plain, type: "deposit" }, "type", /from 0 to 4/],
    [{ ...plain, type: "eip1559", typeHex: "0x1" }, "typeHex", /differs from type/],
    [{ ...plain, type: 2, data: "0x12", input: "0x13" }, "input", /differs from data/],
    [{ ...plain, type: 2, gasLimit: 1n }, "gasLimit", /differs from gas/],
    [{ type: 2, gasLimit: 1n, ...plain }, "gasLimit", /differs from gas/],
    [{ ...plain, account: { address: to } }, "account", /differs from from/],
    [{ ...plain, chain: { id: 5 } }, "chain", /differs from chainId/],
    [{ ...plain, ...caps, gasPrice: 1n, type: 2 }, "type", /which has no gasPrice/],
    [{ ...plain, type: 2, gasLimit: "many", gas: undefined }, "gasLimit", /must be a bigint/],
    [{ ...plain, type: 2, value: "1" }, "value", /must be a bigint/],
    [{ ...plain, type: 2, valeu: 1n }, "valeu", /did you mean value/],
    [JSON.parse(`{ "from": "${from}", "to": "${to}", "type": "0x2", "__proto__": "0x1" }`), "__proto__", /not a field/],
    [{ ...plain, type: 2, hash: null, v: 1n }, "v", /not a field/],
    [{ ...plain, type: 2, blobs: ["0x"] }, "blobs", /not a field/],
    [[plain, { ...plain, type: 2, gasLimit: 1n }], "[1].gasLimit", /differs from gas/],
    [{ method: "eth_sendTransaction", params: [{ ...call, from, input: "0x1" }] }, "params[0].input", /odd/],
    [{ method: "eth_sendTransaction", params: [{ from, ...call }, "latest"] }, "params", /list of one/],
    [{ method: "eth_sendTransaction" }, "params", /list of one/],
    [{ method: "eth_sign", params: [] }, "method", /must be eth_sendTransaction, /],
    [{ method: "constructor", params: [1] }, "method", /must be/],
    [{ method: "eth_sendTransaction", params: [raw] }, "params[0]", /must be an object/],
    [{ method: "eth_sendTransaction", params: [plain], from }, "from", /not a field of a JSON-RPC request/],
    [{ method: "eth_sendRawTransaction", params: [{}] }, "params[0]", /must be the bytes/],
    [{ method: "wallet_sendCalls", params: [{ from, calls: [] }] }, "params[0].calls", /empty/],
    [
      { method: "wallet_sendCalls", params: [{ from, calls: [call, null] }] },
      "params[0].calls[1]",
      /must be an object/,
    ],
    [
      { method: "wallet_sendCalls", params: [{ from, calls: [{ ...call, gasPrise: 1 }] }] },
      "params[0].calls[0].gasPrise",
      /not a field of a transaction; did you mean/,
    ],
    [{ from, calls: [{ ...call, chainId: "0x2" }], chainId: "0x1" }, "calls[0].chainId", /differs from chainId/],
    [{ from, calls: [call], capabilities: { paymasterService: {} } }, "capabilities.paymasterService", /not optional/],
    [
      { from, calls: [{ ...call, capabilities: { a: { optional: false } } }] },
      "calls[0].capabilities.a",
      /not optional/,
    ],
    [{ calls: [call] }, "calls[0].from", /missing/],
    [{ from, calls: Array.from({ length: 65 }, () => call) }, "calls", /more than 64/],
    [
      [
        { from, calls: Array.from({ length: 40 }, () => call) },
        { from, calls: Array.from({ length: 40 }, () => call) },
      ],
      "transactions",
      /more than 64/,
    ],
    [{ from: other, raw }, "from", /differs from the signer of raw, who is 0x19e7e376/],
    [{ from, raw, gas: 1n }, "gas", /not a field beside raw/],
    [{ raw: 1 }, "raw", /bytes/],
    [raw.slice(0, -2), "transaction", /is no transaction/],
    [[`${raw}00`], "[0]", /is no transaction/],
    ["0x05c0", "transaction", /is no transaction/],
    [`${raw.slice(0, -64)}${"0".repeat(64)}`, "transaction", /is no transaction|signature/],
    [
      { raw: serializeTransaction({ ...plain, ...caps } as never) },
      "from",
      /unsigned bytes name no sender; give \{ from, raw \}/,
    ],
    [{ ...safe, meta: { name: "Batch" } }, "from", /does not name its Safe/],
    [{ ...safe, from: other }, "from", /differs from meta.createdFromSafeAddress/],
    [
      { ...safe, transactions: [{ ...safe.transactions[1], data: null, contractMethod: {} }] },
      "transactions[0].functionName",
      /must name a function/,
    ],
    ...(
      [
        [[{ type: "uint256", name: "n" }], { n: 5 }, ".n", /must be a text/],
        [[{ type: "uint256", name: "n" }], {}, ".n", /must be a text/],
        [[{ type: "uint256", name: "n" }], { n: "1.5" }, ".n", /must be a bigint/],
        [[{ type: "uint8[2]", name: "n" }], { n: "[1,2" }, ".n", /is not JSON/],
        [[{ type: "uint8[2]", name: "n" }], { n: "[1]" }, ".n", /must have 2 entries/],
        [[{ type: "uint8[]", name: "n" }], { n: "[1,true]" }, ".n[1]", /must be a bigint/],
        [[{ type: "bool", name: "" }], { 0: "yes" }, ".0", /must be a boolean/],
        [[{ type: "uint8[]", name: "n" }], { n: '[""]' }, ".n[0]", /must be a bigint/],
        [[{ type: "uint8[]", name: "n" }], { n: '"[1]"' }, ".n", /is not JSON/],
        [[{ type: "string[]", name: "n" }], { n: "[a]" }, ".n", /is not JSON/],
        [[{ type: "string[]", name: "n" }], { n: "[true]" }, ".n[0]", /must be a string/],
        [[tuple("address")], { n: `[${to}]` }, ".n", /is not JSON/],
        [[tuple("uint256")], { n: "[12345678901234567890]" }, ".n[0]", /must be a bigint or a whole/],
        [[tuple("bool")], { n: '["false"]' }, ".n[0]", /must be a boolean/],
      ] as const
    ).map(([inputs, contractInputsValues, field, problem]): (typeof wrong)[number] => [
      { ...safe, transactions: [{ to, value: "0", contractMethod: { name: "f", inputs }, contractInputsValues }] },
      `transactions[0].contractInputsValues${field}`,
      problem,
    ]),
    [{ ...safe, transactions: [{ to, value: "1.5" }] }, "transactions[0].value", /bigint/],
    [{ ...safe, transactions: [{ to, value: "0b101" }] }, "transactions[0].value", /bigint/],
    [
      { ...safe, transactions: [{ to, value: "1", contractInputsValues: { a: "1" } }] },
      "transactions[0].contractMethod",
      /is missing/,
    ],
    [{ ...safe, transactions: [{ to, value: "1", from }] }, "transactions[0].from", /same for all/],
    [{ ...safe, transactions: [{ to, value: "1", chainId: "1" }] }, "transactions[0].chainId", /same for all/],
    [{ from, calls: [{ to, from: to }] }, "calls[0].from", /same for all/],
    [{ from, calls: [{ to, account: to }] }, "calls[0].account", /same for all/],
    [{ from, chainId: 1, calls: [{ to, chain: { id: 5 } }] }, "calls[0].chain", /same for all/],
    [{ from, capabilities: ["paymaster"], calls: [{ to }] }, "capabilities.*", /no proof covers it/],
    [{ ...plain, type: 2, to: [], data: "0x6000" }, "to", /address/],
    [{ ...plain, type: 2, value: [] }, "value", /bigint/],
    [{ ...plain, type: 2, paymaster: [] }, "paymaster", /not a field/],
    [{ to, value: 1n, type: 2, account: { addres: from } }, "account", /address/],
    [{ from, to, type: 2, chain: { chainId: 5 } }, "chain", /number|integer/],
    [{ from, raw: toRlp(["0x", "0x01", "0x5208", to, "0x", "0x"]) }, "raw", /binds no chain/],
    [{ ...plain, ...caps, authorizationList: [twofold({ r: "0x5" })], type: 4 }, "authorizationList[0].r", /hex/],
    [{ ...plain, ...caps, authorizationList: [twofold({ v: 28n })], type: 4 }, "authorizationList[0].yParity", /./],
    [
      { ...plain, ...caps, authorizationList: [twofold({ contractAddress: from })], type: 4 },
      "authorizationList[0].address",
      /20 bytes/,
    ],
    [{ ...safe, transactions: {} }, "transactions", /must be an array/],
    [{ ...simulated, to: other }, "address", /differs from to/],
    [{ ...simulated, address: "0x12" }, "address", /20 bytes/],
    [{ ...simulated, functionName: undefined, address: to }, "address", /say to/],
    [{ ...plain, dataSuffix: "0x1" }, "dataSuffix", /odd/],
    [{ ...plain, type: "deposit", typeHex: "0x7e" }, "type", /from 0 to 4/],
    [{ ...plain, authorizationList: [{ ...signedEntry, v: 28n }] }, "authorizationList[0].v", /differs from yParity/],
    [
      { ...plain, authorizationList: [{ ...signedEntry, contractAddress: from }] },
      "authorizationList[0].contractAddress",
      /differs from address/,
    ],
    [{ ...plain, accessList: [{ address: to, storagekeys: [hash] }] }, "accessList[0].storagekeys", /did you mean/],
    [{ ...plain, unsignedSerialized: "0x", signature: {}, serialized: raw }, "from", /beside unsignedSerialized/],
  ];
  it.each(wrong.map(([input, field, problem]) => ({ input, field, problem })))(
    "is refused by $field: $problem, case $#",
    async ({ input, field, problem }) => {
      const error = await refused(input);
      expect([error.field, error._tag]).toEqual([field, "InvalidTransaction"]);
      expect(error.problem).toMatch(problem);
    },
  );
});

describe("a call that a library or a page makes", () => {
  it("is read from viem's simulateContract, with the suffix of a wallet's client", async () => {
    const data = encodeFunctionData(simulated as never);
    const { abi, functionName, args } = simulated;
    const [call] = await fieldsOf({ from, to, abi, functionName, args });
    expect(await fieldsOf(simulated)).toEqual([{ ...call, data }]);
    expect(await fieldsOf({ ...simulated, dataSuffix: "0x8021" })).toEqual([{ ...call, data: `${data}8021` }]);
    expect(await fieldsOf({ ...plain, dataSuffix: "0x8021" })).toEqual(await fieldsOf({ ...plain, data: "0x8021" }));
  });

  const text = fc.string().map((value) => [value, value, JSON.stringify(value)] as const);
  const number = fc
    .bigInt(-(2n ** 127n), 2n ** 127n - 1n)
    .map((value) => [value, String(value), `"${value}"`] as const);
  const flag = fc.boolean().map((value) => [value, String(value), String(value)] as const);
  const who = fc.constantFrom(from, to).map((value) => [value, value, `"${value}"`] as const);
  // a type of ABI, and a value with its text in a field of its own and inside a list
  const part = fc.oneof(
    text.map((value) => ["string", value] as const),
    number.map((value) => ["int128", value] as const),
    flag.map((value) => ["bool", value] as const),
    who.map((value) => ["address", value] as const),
  );
  it("is read from a Safe's file with a text for each input, as viem encodes it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 4 }), fc.boolean(), async (parts, isTuple) => {
        const list = `[${parts.map(([, [, , inside]]) => inside).join(" , ")}]`;
        const types = parts.map(([type], index) => ({ type, name: `a${index}` }));
        const values = parts.map(([, [value]]) => value);
        const whole = parts.map(([, [, alone]]) => alone);
        const numbers = parts.filter(([type]) => type === "int128");
        const inputs = [
          ...(isTuple ? [{ type: "tuple", name: "all", components: types }] : types),
          { type: "int128[]", name: "many" },
        ];
        const texts = {
          ...(isTuple ? { all: list } : Object.fromEntries(types.map(({ name }, index) => [name, whole[index]]))),
          many: `[${numbers.map(([, [, alone, quoted]]) => (isTuple ? quoted : alone)).join(", ")}]`,
        };
        const method = { name: "f", inputs, payable: isTuple };
        const file = {
          ...safe,
          transactions: [{ to, value: "1", data: null, contractMethod: method, contractInputsValues: texts }],
        };
        const data = encodeFunctionData({
          abi: [{ type: "function", name: "f", inputs, outputs: [], stateMutability: "payable" }],
          args: [...(isTuple ? [values] : values), numbers.map(([, [value]]) => value)],
        } as never);
        const [made] = await fieldsOf(file);
        expect(made).toMatchObject({ data, item: { stateMutability: isTuple ? "payable" : "nonpayable" } });
      }),
      { numRuns: runs(200) },
    );
  });

  it("has no data where the builder encodes nothing", async () => {
    const empty = ["receive", "fallback"].map((name) => ({ to, value: "1", contractMethod: { name, inputs: [] } }));
    expect((await fieldsOf({ ...safe, transactions: empty })).map(({ data }) => data)).toEqual(["0x", "0x"]);
  });
});

describe("the details that only a form has", () => {
  it("are kept of signed bytes, of a mined transaction, and of calls that are one", async () => {
    const origins = async (input: unknown) => (await checked(input)).transactions.map(({ origin }) => origin);
    expect(await origins(raw)).toEqual([{ raw }]);
    expect(await origins([raw.toUpperCase().replace("0X", "0x"), plain])).toEqual([{ raw }, undefined]);
    expect(await origins({ ...plain, type: 2, hash, blockNumber: null })).toEqual([undefined]);
    expect(await origins({ ...plain, type: 2, hash, blockNumber: 1n })).toEqual([{ isMined: true }]);
    const batch = "open";
    expect(await origins({ account, calls: [call, call], forceAtomic: true })).toEqual([
      { isAtomic: true, batch },
      { isAtomic: true, batch },
    ]);
    // among other transactions a batch is a bundle
    expect(await origins([{ from, calls: [call], forceAtomic: true }, plain])).toEqual([{ isAtomic: true }, undefined]);
    const [loose] = await origins({ from, calls: [call], atomicRequired: "true" });
    expect(loose).toEqual({ isAtomic: true, batch });
    const optional = { atomicRequired: false, capabilities: { a: { optional: true } }, version: "2.0.0", id: "1" };
    expect(await origins({ method: "wallet_sendCalls", params: [{ from, calls: [call], ...optional }] })).toEqual([
      { batch },
    ]);
    const sponsored = { capabilities: { paymasterService: { url: "x", optional: true } } };
    expect(await origins({ from, calls: [call], ...sponsored })).toEqual([{ batch, isSponsored: true }]);
    expect(await origins({ from, calls: [call], delegate: to })).toEqual([
      { isAtomic: true, batch, delegate: to.toLowerCase() },
    ]);
    const authorization = { address: to, chainId: 1, nonce: 3 };
    const [delegating] = (await checked({ from, calls: [call], authorization })).transactions;
    expect(delegating.authorizationList).toEqual([
      { authority: from.toLowerCase(), address: to.toLowerCase(), chainId: 1, nonce: 3 },
    ]);
    const values = await fieldsOf({ from, chainId: "0x1", calls: [call, { to: other, data: "0x12" }] });
    expect(values.map(({ value, data, chainId }) => [value, data, chainId])).toEqual([
      [1n, "0x", 1],
      [0n, "0x12", 1],
    ]);
  });

  it("include the Safe as sender of a Safe's file", async () => {
    const calls = (await fieldsOf(safe)).map(({ from: sender, value, data, chainId }) => ({
      sender,
      value,
      data,
      chainId,
    }));
    const sender = to.toLowerCase();
    expect(calls).toEqual([
      { sender, value: 10n ** 18n, data: "0x", chainId: 1 },
      { sender, value: 0n, data: "0x12", chainId: 1 },
    ]);
    expect(await fieldsOf({ ...safe, meta: {}, from: to })).toEqual(await fieldsOf(safe));
  });

  it("include unprotected bytes, which bind no chain, for any chain of the client", async () => {
    const [transaction] = (await Effect.runPromise(check(unbound, { chainId: 5, from: null }))).transactions;
    expect([transaction.chainId, transaction.origin]).toEqual([null, { raw: unbound }]);
    const fees = { maxFeePerGas: null, maxPriorityFeePerGas: null };
    const request = buildRequest(transaction, { ...fees, chainId: 5, nonce: 3, gas: 21_000n, gasPrice: 7n });
    expect([request, "chainId" in (request ?? {})]).toEqual([
      { ...anyChain, from: undefined, to: to.toLowerCase(), data: "0x" },
      false,
    ]);
  });
});

describe("blobs in an input", () => {
  const commitment = `0xc0${"00".repeat(47)}` as const;
  const hashes = [`0x01${sha256(commitment).slice(4)}`] as const;
  const blob = `0x${"00".repeat(131_072)}` as const;
  const fields = { ...plain, ...caps, type: "eip4844", maxFeePerBlobGas: 1n, blobVersionedHashes: hashes } as const;
  const signed = async (versioned: ReadonlyArray<string> = hashes) =>
    account.signTransaction({ ...fields, blobVersionedHashes: versioned, from: undefined } as never);
  const wrap = (canonical: Hex, ...beside: ReadonlyArray<unknown>): Hex =>
    `0x03${toRlp([fromRlp(`0x${canonical.slice(4)}`, "hex"), ...beside] as never).slice(2)}`;

  it("may be in either wire form, and are no part of what is proven", async () => {
    const canonical = await signed();
    const [usual] = (await checked(canonical)).transactions;
    const before = wrap(canonical, [blob], [commitment], [commitment]);
    const since = wrap(
      canonical,
      "0x01",
      [blob],
      [commitment],
      Array.from({ length: 128 }, () => commitment),
    );
    for (const form of [before, since]) expect((await checked(form)).transactions).toEqual([usual]);
    expect(usual.origin).toEqual({ raw: canonical });
    const objects = { blobs: [blob], kzg: {}, sidecars: [{ blob, commitment, proof: commitment }] };
    expect(await fieldsOf({ ...fields, ...objects })).toEqual(await fieldsOf(canonical));
  });

  it("are refused with other commitments, and in other envelopes", async () => {
    const canonical = await signed([`0x01${"44".repeat(31)}`]);
    expect((await refused(wrap(canonical, [blob], [commitment], [commitment]))).problem).toMatch(
      /commitments.*blobVersionedHashes/,
    );
    const right = await signed();
    for (const beside of [
      ["0x02", [blob], [commitment], []],
      [[blob], [commitment]],
      [[blob], [commitment], [], []],
    ])
      expect((await refused(wrap(right, ...beside))).problem).toMatch(/is no transaction/);
    expect((await refused(wrap(right, [blob], [], []))).problem).toMatch(/commitments/);
    expect((await refused(wrap(right, [blob], commitment, []))).problem).toMatch(/commitments/);
  });
});

describe("strange input", () => {
  it("never throws, and is never read as other bytes", async () => {
    const keys = fc.constantFrom(
      "method",
      "params",
      "raw",
      "calls",
      "transactions",
      "unsignedSerialized",
      "type",
      "account",
      "chain",
      "hash",
      "meta",
      "capabilities",
      "r",
      "input",
      "gasLimit",
    );
    const entries = fc.array(fc.tuple(keys, fc.anything({ withBigInt: true })), { maxLength: 4 });
    const settled = (input: unknown) => Effect.runPromise(Effect.result(check(input)));
    await fc.assert(
      fc.asyncProperty(entries, async (more) => {
        for (const method of ["eth_sendTransaction", "wallet_sendCalls", "eth_sendRawTransaction"]) {
          const held = { ...plain, ...Object.fromEntries(more) };
          for (const form of [
            held,
            [held],
            { method, params: [held] },
            { from, calls: [held] },
            { ...safe, transactions: [held] },
          ])
            expect(["Success", "Failure"]).toContain((await settled(form))._tag);
        }
      }),
      { numRuns: runs(200) },
    );
    await fc.assert(
      fc.asyncProperty(fc.nat(raw.length - 3), fc.constantFrom(..."0123456789abcdef"), async (at, digit) => {
        const bytes = `${raw.slice(0, at + 2)}${digit}${raw.slice(at + 3)}`;
        const read = await settled(bytes);
        if (read._tag === "Success") expect(read.success.transactions[0].origin?.raw).toBe(bytes);
      }),
      { numRuns: runs(200) },
    );
  });

  it("is refused where a field is not the object's own, and read in our own form", async () => {
    class Made {
      readonly from = from;
      readonly to = to;
      get value() {
        return 10n ** 18n;
      }
    }
    const [{ value }] = (await checked(new Made())).transactions;
    expect(value).toBe(10n ** 18n);
    for (const [name, hidden] of Object.entries({ input: "0x1234", gasLimit: 5n, typeHex: "0x1" })) {
      const heir = Object.assign(Object.create({ [name]: hidden }) as object, { from, to });
      expect(await refused(heir)).toMatchObject({ field: name, problem: "is not the object's own field" });
    }
    for (const more of [{ type: 2 }, { accessList: [] }, { hash }, { chain: { id: 1 } }]) {
      const { field, problem } = await refused(Object.assign(new Made(), more));
      expect([field, problem]).toEqual(["value", "is not the object's own field"]);
    }
    const heir = Object.assign(Object.create({ value: 7n, data: "0x1234" }) as object, { from, to, hash });
    expect((await refused(heir)).field).toBe("data");
  });

  it("is read with an authorisation's parity in v, and with unambiguous numbers", async () => {
    const signature = { r: "0x1", s: "0x1", v: 28 };
    const { gas: _, ...open } = plain;
    const input = { ...open, ...caps, type: 4, gasLimit: 90_000, authorizationList: [twofold({ signature })] };
    const [{ gas, authorizationList }] = (await checked(input)).transactions;
    expect([gas, authorizationList]).toMatchObject([90_000n, [{ yParity: 1 }]]);
  });

  it("is read with an unsigned authorisation, of JSON-RPC and of our own", async () => {
    const entry = { authority: from, address: to, chainId: 1, nonce: 7 };
    const wire = { ...entry, chainId: "0x1", nonce: "0x7" };
    const { gas: _, ...open } = plain;
    const rpc = { method: "eth_sendTransaction", params: [{ from, to, type: "0x4", authorizationList: [wire] }] };
    for (const input of [{ ...open, ...caps, authorizationList: [entry] }, rpc])
      expect((await checked(input)).transactions[0].authorizationList).toEqual([
        { ...entry, authority: from.toLowerCase(), address: to.toLowerCase() },
      ]);
  });

  it("is refused where a getter throws", async () => {
    const broken = Object.defineProperty({}, "method", {
      enumerable: true,
      get: () => {
        throw new Error("no");
      },
    });
    expect((await refused(broken)).problem).toBe("cannot be read");
  });
});
