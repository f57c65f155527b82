/** What no method has is refused by name, and never dropped; what two names say must be one thing. */
import type * as Effect from "effect/Effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as Eth from "../../src/Eth.js";
import type { Rpc } from "../../src/Rpc.js";
import { account, word } from "./answers.js";
import { sent } from "./sent.js";

const address = account as `0x${string}`;
const hash = word as `0x${string}`;
const to = address;

/** What `InvalidParams` says; null where the request was sent. */
const refused = (method: Effect.Effect<unknown, Eth.Failure, Rpc>): string | null => {
  const { asked, failure } = sent(method);
  if (asked !== null) return null;
  return failure?._tag === "InvalidParams" ? failure.detail : "not InvalidParams";
};

/** Any of the methods, with parameters that the types would not let through. */
const loosely = {
  call: (more: object) => Eth.call({ to, block: "latest", ...more }),
  estimateGas: (more: object) => Eth.estimateGas({ to, ...more }),
  simulateV1: (more: object) => Eth.simulateV1({ blocks: [], block: "latest", ...more }),
  entry: (more: object) => Eth.simulateV1({ blocks: [{ calls: [{ to }], ...more }], block: "latest" }),
  inner: (more: object) => Eth.simulateV1({ blocks: [{ calls: [{ to, ...more }] }], block: "latest" }),
  getLogs: (more: object) => Eth.getLogs({ fromBlock: 1n, toBlock: "latest", ...more }),
  getCode: (more: object) => Eth.getCode({ address, block: "latest", ...more }),
  getTransactionCount: (more: object) => Eth.getTransactionCount({ address, block: "latest", ...more }),
  getBlockReceipts: (more: object) => Eth.getBlockReceipts({ block: "latest", ...more }),
  getBlock: (more: object) => Eth.getBlock({ block: "latest", ...more }),
  feeHistory: (more: object) =>
    Eth.feeHistory({ blockCount: 1, newestBlock: "latest", rewardPercentiles: [], ...more }),
  sendRawTransaction: (more: object) => Eth.sendRawTransaction({ serializedTransaction: "0x02", ...more }),
};
type Method = keyof typeof loosely;
const methods = Object.keys(loosely) as ReadonlyArray<Method>;

describe("a field that no method has", () => {
  it.each<readonly [Method, object, path: string, meant: string]>([
    ["call", { inputs: "0x12" }, "call.inputs", "input"],
    ["call", { gasLimit: 1n }, "call.gasLimit", "gas"],
    ["call", { blockTag: "pending" }, "call.blockTag", "block"],
    ["estimateGas", { form: address }, "call.form", "from"],
    ["estimateGas", { account: address }, "call.account", ""],
    ["inner", { Data: "0x12" }, "blocks[0].calls[0].Data", "data"],
    ["inner", { block: "latest" }, "blocks[0].calls[0].block", ""],
    ["entry", { call: [] }, "blocks[0].call", "calls"],
    ["entry", { blockOverrides: { timestmp: 1n } }, "blocks[0].blockOverrides.timestmp", "time"],
    ["entry", { blockOverrides: { coinbase: to } }, "blocks[0].blockOverrides.coinbase", ""],
    ["entry", { blockOverrides: { baseFee: 1n } }, "blocks[0].blockOverrides.baseFee", "baseFeePerGas"],
    ["entry", { stateOverrides: { [to]: { storageDiff: {} } } }, `blocks[0].stateOverrides[${to}].storageDiff`, ""],
    ["call", { accessList: [{ address, storageKeys: [], keys: [] }] }, "call.accessList[0].keys", "storageKeys"],
    ["simulateV1", { traceTransfer: true }, "traceTransfer", "traceTransfers"],
    ["simulateV1", { blockStateCalls: [] }, "blockStateCalls", "blocks"],
    ["getLogs", { addresses: [address] }, "filter.addresses", "address"],
    ["getLogs", { blockhash: hash }, "filter.blockhash", "blockHash"],
    ["getCode", { tag: "pending" }, "tag", ""],
  ])("is refused with a suggestion, in %s: %#", (method, more, path, meant) => {
    const hint = meant === "" ? "" : `; did you mean ${meant}?`;
    expect(refused(loosely[method](more))).toBe(`${path}: no such field${hint}`);
  });

  it("is allowed where its value is empty", () => {
    for (const method of methods) {
      expect([method, refused(loosely[method]({ more: undefined, none: null }))]).toEqual([method, null]);
    }
  });

  it("is refused by every method under any name, a prototype's too", () => {
    const name = fc.oneof(
      fc.string({ minLength: 1, maxLength: 100 }),
      fc.constantFrom("__proto__", "constructor", "toString", "hasOwnProperty"),
    );
    const known = [
      ...[
        "from",
        "to",
        "data",
        "input",
        "value",
        "chainId",
        "gas",
        "nonce",
        "type",
        "block",
        "blocks",
        "calls",
        "r",
        "s",
      ],
      ...["address", "topics", "fillers", "validation"],
    ];
    fc.assert(
      fc.property(name, fc.constantFrom(...methods), (key, method) => {
        fc.pre(!known.includes(key));
        const more = Object.defineProperty({}, key, { value: 5, enumerable: true });
        expect(refused(loosely[method](more))).toContain(`${key.slice(0, 80)}: no such field`);
      }),
    );
  });
});

describe("a missing field", () => {
  const loose: Readonly<Record<string, (parameters: object) => Effect.Effect<unknown, Eth.Failure, Rpc>>> =
    Eth as never;
  const signed = { address, chainId: 1, nonce: 2, r: hash, s: hash, yParity: 1 };
  const noReceiver = "call.to: required, for a deployment has data";
  it.each<readonly [method: string, parameters: object, detail: string]>([
    ["call", {}, "block: required; call.to: required, for a deployment is no call"],
    ["call", { to }, "block: required"],
    ["call", { to, block: null }, "block: required"],
    ["call", { block: "latest" }, "call.to: required, for a deployment is no call"],
    ["estimateGas", {}, noReceiver],
    ["estimateGas", { from: address, value: 1n, to: null, block: "latest" }, noReceiver],
    ["estimateGas", { to: 5 }, "call.to: not an address of 20 bytes"],
    ["estimateGas", { data: 5 }, "call.data: not hex of whole bytes"],
    ["estimateGas", { to, block: 1.5 }, "block: not a quantity of 0 to 256 bits"],
    ["estimateGas", { to, accessList: [{ address }] }, "call.accessList[0].storageKeys: required"],
    ["call", { to, block: 1n, accessList: [{ storageKeys: [] }] }, "call.accessList[0].address: required"],
    ...Object.keys(signed).map(
      (name) =>
        [
          "estimateGas",
          { to, authorizationList: [{ ...signed, [name]: undefined }] },
          `call.authorizationList[0].${name}: required`,
        ] as const,
    ),
  ])("of %s is named in the error: %#", (method, parameters, detail) =>
    expect(refused(loose[method]?.(parameters) ?? expect.fail())).toBe(detail),
  );

  it("may be an optional one, such as the receiver of a deployment", () => {
    for (const parameters of [{ data: "0x00" }, { input: "0x00" }, { to }, { to, accessList: [], block: null }])
      expect([parameters, refused(loose["estimateGas"]?.(parameters) ?? expect.fail())]).toEqual([parameters, null]);
  });
});

describe("parameters in a row, as other libraries take them,", () => {
  const inRow: Readonly<
    Record<string, (...values: ReadonlyArray<unknown>) => Effect.Effect<unknown, Eth.Failure, Rpc>>
  > = Eth as never;
  it.each([
    ["getCode", "give { address, block }"],
    ["getBalance", "give { address, block }"],
    ["getTransactionCount", "give { address, block }"],
    ["getBlock", "give { block }"],
    ["getFullBlock", "give { block }"],
    ["getBlockReceipts", "give { block }"],
    ["getTransaction", "give { hash }"],
    ["getTransactionReceipt", "give { hash }"],
    ["sendRawTransaction", "give { serializedTransaction }"],
    ["feeHistory", "give { blockCount, newestBlock, rewardPercentiles }"],
    ["call", "give { from, to, data, value, block }"],
    ["estimateGas", "give { from, to, data, value, block }"],
    ["simulateV1", "give { blocks, block }"],
    ["getLogs", "filter: not an object; give { fromBlock, toBlock, blockHash, address, topics }"],
  ])("are not sent by %s, which names the object to give", (method, give) => {
    for (const values of [[address, "pending"], [undefined], [null], [7n], [[address]]]) {
      const { asked, failure } = sent(inRow[method]?.(...values) as Effect.Effect<unknown, Eth.Failure, Rpc>);
      expect(asked).toBeNull();
      expect(failure?.message).toBe(`not sent: ${give} · correct this parameter`);
    }
  });
});

describe("two names of one field", () => {
  const written = (method: Method, more: object) => sent(loosely[method](more)).asked?.[1][0];
  it("are written as one", () => {
    expect(written("call", { input: "0x12" })).toEqual({ to, data: "0x12" });
    expect(written("call", { input: "0xAB", data: "0xab" })).toMatchObject({
      to,
      data: expect.stringMatching(/^0xab$/i),
    });
    expect(written("call", { input: null, data: "0xab" })).toEqual({ to, data: "0xab" });
    const [entry] = (written("entry", { blockOverrides: { timestamp: 7, time: 7n } }) as { blockStateCalls: [object] })
      .blockStateCalls;
    expect(entry).toMatchObject({ blockOverrides: { time: "0x7" } });
    const authorization = { address, chainId: 1, nonce: 2, r: hash, s: `0x00${word.slice(4)}` };
    for (const parity of [{ v: 28n }, { v: 28, yParity: 1 }, { yParity: 1n }])
      expect(written("call", { authorizationList: [{ ...authorization, ...parity }] })).toEqual({
        to,
        authorizationList: [
          { address, chainId: "0x1", nonce: "0x2", r: word, s: `0x${word.slice(4)}`, yParity: "0x1" },
        ],
      });
  });

  it("are refused with two values", () => {
    expect(refused(loosely.call({ input: "0x12", data: "0x34" }))).toBe("call.input: another value than data");
    expect(refused(loosely.call({ input: "0x12", data: "0x" }))).toBe("call.input: another value than data");
    expect(refused(loosely.entry({ blockOverrides: { timestamp: 7n, time: 8n } }))).toBe(
      "blocks[0].blockOverrides.timestamp: another value than time",
    );
    expect(refused(loosely.call({ input: "0x1" }))).toBe("call.input: not hex of whole bytes");
  });
});

describe("a required field", () => {
  it.each<readonly [Method, object, string]>([
    ["call", { to: null }, "call.to: required, for a deployment is no call"],
    ["call", { to: undefined, data: "0x00" }, "call.to: required, for a deployment is no call"],
    ["getCode", { block: undefined }, "block: required"],
    ["getCode", { address: null }, "address: required"],
    ["getBlock", { block: null }, "block: required"],
    ["getBlock", { block: {} }, "block: either blockHash or blockNumber"],
    ["getCode", { block: { blockHash: hash, blockNumber: 5n } }, "block: either blockHash or blockNumber"],
    ["getCode", { block: { blockHash: null } }, "block: either blockHash or blockNumber"],
    [
      "getCode",
      { block: { hash } },
      "block.hash: no such field; did you mean blockHash?; block: either blockHash or blockNumber",
    ],
    ["simulateV1", { block: null }, "block: required"],
    ["simulateV1", { blocks: undefined }, "blocks: required"],
    ["feeHistory", { rewardPercentiles: undefined }, "rewardPercentiles: required"],
    ["sendRawTransaction", { serializedTransaction: undefined }, "serializedTransaction: required"],
  ])("is named by %s: %#", (method, more, detail) => {
    expect(refused(loosely[method](more))).toBe(detail);
  });
});

describe("hex in a parameter", () => {
  const digits = fc.string({ unit: fc.constantFrom(..."0123456789abcdefABCDEF"), maxLength: 140 });
  const places: ReadonlyArray<
    readonly [size: number | null, (hex: `0x${string}`) => Effect.Effect<unknown, Eth.Failure, Rpc>]
  > = [
    [null, (data) => Eth.call({ to, data, block: 1n })],
    [null, (serializedTransaction) => Eth.sendRawTransaction({ serializedTransaction })],
    [20, (hex) => Eth.call({ to: hex, block: 1n })],
    [20, (hex) => Eth.getTransactionCount({ address: hex, block: 1n })],
    [20, (hex) => Eth.getLogs({ address: [to, hex] })],
    [20, (hex) => Eth.estimateGas({ to, stateOverrides: { [hex]: {} } })],
    [32, (hex) => Eth.getLogs({ topics: [null, [hash, hex]] })],
    [32, (hex) => Eth.getLogs({ blockHash: hex })],
    [32, (hex) => Eth.getCode({ address, block: { blockHash: hex } })],
    [32, (hex) => Eth.estimateGas({ to, accessList: [{ address, storageKeys: [hex] }] })],
    [32, (hex) => Eth.estimateGas({ to, stateOverrides: { [to]: { state: { [hex]: hash } } } })],
    [32, (hex) => Eth.estimateGas({ to, stateOverrides: { [to]: { stateDiff: { [hash]: hex } } } })],
  ];
  it("is sent exactly where it has the length of its kind", () => {
    fc.assert(
      fc.property(
        fc.oneof(digits, fc.constantFrom("1".repeat(40), "1".repeat(64), "1".repeat(39), "1".repeat(66))),
        fc.constantFrom(...places),
        (text, [size, ask]) => {
          const isRight = size === null ? text.length % 2 === 0 : text.length === 2 * size;
          expect(refused(ask(`0x${text}`)) === null).toBe(isRight);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("of at most 64 bits is a block's number", () => {
    expect(sent(Eth.getBlock({ block: "0x10" })).asked).toEqual(["eth_getBlockByNumber", ["0x10", false]]);
    expect(sent(Eth.getCode({ address, block: "0x0" })).asked?.[1][1]).toBe("0x0");
    expect(refused(Eth.getCode({ address, block: "0x00" }))).toBe("block: not hex of 32 bytes");
    expect(refused(Eth.getBlock({ block: hash.slice(0, -2) as "0x" }))).toBe("block: not hex of 32 bytes");
  });
});
