import type * as Effect from "effect/Effect";
import { describe, expect, it } from "vitest";
import * as Eth from "../../src/Eth.js";
import type { Rpc } from "../../src/Rpc.js";
import { account, word } from "./answers.js";
import { sent } from "./sent.js";

const address = account as `0x${string}`;
const hash = word as `0x${string}`;

describe("an encoded block parameter", () => {
  it.each([
    [12n, "0xc"],
    [0, "0x0"],
    ["pending", "pending"],
    ["earliest", "earliest"],
    [hash, hash],
    [{ blockHash: hash }, { blockHash: hash }],
    [
      { blockHash: hash, requireCanonical: true },
      { blockHash: hash, requireCanonical: true },
    ],
    [{ blockNumber: 5n }, { blockNumber: "0x5" }],
  ] as ReadonlyArray<readonly [Eth.BlockParameter, unknown]>)("has the node's form: %#", (block, written) => {
    expect(sent(Eth.getCode({ address, block })).asked).toEqual(["eth_getCode", [account, written]]);
  });

  it.each([-1n, 1.5, Number.NaN, 1n << 256n, "newest", "0xzz", null, undefined, [], true])(
    "is refused for %s",
    (block) => {
      const { asked, failure } = sent(Eth.getCode({ address, block: block as "latest" }));
      expect(asked).toBe(null);
      expect(failure).toMatchObject({ _tag: "InvalidParams", detail: expect.stringMatching(/^block/) });
    },
  );
});

describe("an encoded call", () => {
  const everything = {
    ...{ from: address, to: address, gas: 21_000n, gasPrice: 1n, maxFeePerGas: 2n, maxPriorityFeePerGas: 3n },
    ...{ maxFeePerBlobGas: 4n, value: 5n, data: "0x1234", nonce: 6, chainId: 7, type: 2 },
    accessList: [{ address, storageKeys: [hash] }],
    authorizationList: [{ address, chainId: 1, nonce: 2, r: hash, s: hash, yParity: 1 }],
    blobVersionedHashes: [hash],
  } satisfies Eth.CallRequest;
  const written = {
    ...{ from: account, to: account, gas: "0x5208", gasPrice: "0x1", maxFeePerGas: "0x2", maxPriorityFeePerGas: "0x3" },
    ...{ maxFeePerBlobGas: "0x4", value: "0x5", data: "0x1234", nonce: "0x6", chainId: "0x7", type: "0x2" },
    accessList: [{ address: account, storageKeys: [word] }],
    authorizationList: [{ address: account, chainId: "0x1", nonce: "0x2", r: word, s: word, yParity: "0x1" }],
    blobVersionedHashes: [word],
  };

  it("carries every given field, and none that is absent", () => {
    expect(sent(Eth.call({ ...everything, block: "latest" })).asked).toEqual(["eth_call", [written, "latest"]]);
    expect(sent(Eth.call({ from: null, to: address, data: undefined, nonce: null, block: 1n })).asked).toEqual([
      "eth_call",
      [{ to: account }, "0x1"],
    ]);
    expect(sent(Eth.estimateGas({ data: "0x", value: 0n, nonce: 0 })).asked?.[1][0]).toEqual({
      data: "0x",
      value: "0x0",
      nonce: "0x0",
    });
  });

  it("has its overrides behind the block", () => {
    const stateOverrides = {
      [account]: {
        balance: 1n,
        nonce: 2,
        code: "0x60",
        state: { [word]: hash },
        stateDiff: {},
        movePrecompileToAddress: address,
      },
    } as const;
    const blockOverrides = {
      ...{ number: 1n, time: 2n, gasLimit: 3n, feeRecipient: address, prevRandao: hash, baseFeePerGas: 4n },
      ...{ blobBaseFee: 5n, difficulty: 6n, beaconRoot: hash },
      withdrawals: [{ index: 1n, validatorIndex: 2n, address, amount: 3n }],
    };
    const state = {
      [account]: {
        balance: "0x1",
        nonce: "0x2",
        code: "0x60",
        state: { [word]: word },
        stateDiff: {},
        movePrecompileToAddress: account,
      },
    };
    const block = {
      ...{ number: "0x1", time: "0x2", gasLimit: "0x3", feeRecipient: account, prevRandao: word, baseFeePerGas: "0x4" },
      ...{ blobBaseFee: "0x5", difficulty: "0x6", beaconRoot: word },
      withdrawals: [{ index: "0x1", validatorIndex: "0x2", address: account, amount: "0x3" }],
    };
    const params = (more: object) => sent(Eth.estimateGas({ to: address, block: "latest", ...more })).asked?.[1];
    expect(params({ stateOverrides, blockOverrides })).toEqual([{ to: account }, "latest", state, block]);
    expect(params({ stateOverrides })).toEqual([{ to: account }, "latest", state]);
    expect(params({ blockOverrides })).toEqual([{ to: account }, "latest", {}, block]);
    const simulation = sent(
      Eth.simulateV1({ blocks: [{ calls: [everything], stateOverrides, blockOverrides }], block: "pending" }),
    );
    expect(simulation.asked).toEqual([
      "eth_simulateV1",
      [{ blockStateCalls: [{ calls: [written], stateOverrides: state, blockOverrides: block }] }, "pending"],
    ]);
  });

  it.each([
    [{ gas: -1n }, "call.gas"],
    [{ value: 1n << 256n }, "call.value"],
    [{ nonce: 0.5 }, "call.nonce"],
    [{ data: "1234" }, "call.data"],
    [{ to: "vitalik.eth" }, "call.to"],
    [{ gas: "0x5" }, "call.gas"],
    [{ accessList: {} }, "call.accessList"],
    [{ accessList: [null] }, "call.accessList[0]"],
    [{ accessList: [{ address: account, storageKeys: ["x"] }] }, "call.accessList[0].storageKeys[0]"],
    [{ stateOverrides: { [account]: { balance: -1n } } }, `stateOverrides[${account}].balance`],
    [{ stateOverrides: { me: {} } }, "stateOverrides[me]"],
    [{ stateOverrides: [] }, "stateOverrides"],
    [{ stateOverrides: { [account]: { state: 7 } } }, `stateOverrides[${account}].state`],
    [
      { stateOverrides: { [account]: { stateDiff: { [word]: "0x1" } } } },
      `stateOverrides[${account}].stateDiff[${word}]`,
    ],
    [{ stateOverrides: { [account]: { stateDiff: { "0x1": word } } } }, `stateOverrides[${account}].stateDiff[0x1]`],
    [{ stateOverrides: { [word]: {} } }, `stateOverrides[${word}]`],
    [{ to: `${account}22` }, "call.to"],
    [{ from: "0x22" }, "call.from"],
    [{ data: "0x123" }, "call.data"],
    [{ blobVersionedHashes: ["0x11"] }, "call.blobVersionedHashes[0]"],
    [{ accessList: [{ address: account, storageKeys: ["0x1"] }] }, "call.accessList[0].storageKeys[0]"],
    [{ accessList: [{ address: word, storageKeys: [] }] }, "call.accessList[0].address"],
    [{ authorizationList: [{ address, chainId: 1, nonce: 2, r: "0x", s: hash }] }, "call.authorizationList[0].r"],
    [
      { authorizationList: [{ address, chainId: 1, nonce: 2, r: hash, s: `${hash}11` }] },
      "call.authorizationList[0].s",
    ],
    [{ blockOverrides: { prevRandao: account } }, "blockOverrides.prevRandao"],
    [{ blockOverrides: { feeRecipient: word } }, "blockOverrides.feeRecipient"],
  ])("is refused with a field that no wire can carry: %#", (fields, path) => {
    const { asked, failure } = sent(Eth.estimateGas({ ...(fields as object), block: "latest" }));
    expect(asked).toBe(null);
    expect(failure?._tag === "InvalidParams" && failure.detail.startsWith(`${path}: `)).toBe(true);
  });
});

describe("the encoded parameters of the other methods", () => {
  it("always include the block of an estimate, `latest` by default", () => {
    expect(sent(Eth.estimateGas({ to: address })).asked).toEqual(["eth_estimateGas", [{ to: account }, "latest"]]);
    expect(sent(Eth.estimateGas({ data: "0x", block: "pending" })).asked).toEqual([
      "eth_estimateGas",
      [{ data: "0x" }, "pending"],
    ]);
  });

  it("include the simulation's flags as given", () => {
    const blocks = [{ calls: [] }, {}];
    expect(
      sent(Eth.simulateV1({ blocks, traceTransfers: true, validation: false, block: "pending" })).asked?.[1],
    ).toEqual([{ blockStateCalls: [{ calls: [] }, {}], traceTransfers: true, validation: false }, "pending"]);
    expect(sent(Eth.simulateV1({ blocks, returnFullTransactions: true, block: 7n })).asked?.[1]).toEqual([
      { blockStateCalls: [{ calls: [] }, {}], returnFullTransactions: true },
      "0x7",
    ]);
  });

  it.each([
    [Eth.getBlockReceipts({ block: "pending" }), ["eth_getBlockReceipts", ["pending"]]],
    [Eth.getTransactionCount({ address, block: "pending" }), ["eth_getTransactionCount", [account, "pending"]]],
    [Eth.getBalance({ address, block: 1n }), ["eth_getBalance", [account, "0x1"]]],
    [Eth.chainId, ["eth_chainId", []]],
    [Eth.getBlock({ block: "latest" }), ["eth_getBlockByNumber", ["latest", false]]],
    [Eth.getBlock({ block: hash }), ["eth_getBlockByHash", [word, false]]],
    [Eth.getBlock({ block: { blockHash: hash } }), ["eth_getBlockByHash", [word, false]]],
    [Eth.getBlock({ block: { blockNumber: 3n } }), ["eth_getBlockByNumber", ["0x3", false]]],
    [
      Eth.feeHistory({ blockCount: 10, newestBlock: "latest", rewardPercentiles: [20, 50.5] }),
      ["eth_feeHistory", ["0xa", "latest", [20, 50.5]]],
    ],
    [Eth.sendRawTransaction({ serializedTransaction: "0x02f8" }), ["eth_sendRawTransaction", ["0x02f8"]]],
  ] as ReadonlyArray<readonly [Effect.Effect<unknown, Eth.Failure, Rpc>, unknown]>)(
    "have the form of the interface: %#",
    (method, asked) => {
      expect(sent(method).asked).toEqual(asked);
    },
  );
});

describe("an encoded log filter", () => {
  const written = (filter: Eth.LogFilter) => sent(Eth.getLogs(filter)).asked?.[1][0];
  it("has its topics by position, with null and alternatives", () => {
    expect(written({ topics: [null, hash, [hash, hash], []] })).toEqual({ topics: [null, word, [word, word], []] });
  });
  it("may have one address or several", () => {
    expect(written({ address })).toEqual({ address: account });
    expect(written({ address: [address, address] })).toEqual({ address: [account, account] });
  });
  it("has no range beside a block hash", () => {
    expect(written({ blockHash: hash, fromBlock: 1n, toBlock: 9_999n, address })).toEqual({
      blockHash: word,
      address: account,
    });
  });
  it("keeps tags and numbers as they are", () => {
    expect(written({})).toEqual({});
    expect(written({ fromBlock: "pending", toBlock: "pending" })).toEqual({ fromBlock: "pending", toBlock: "pending" });
    expect(written({ fromBlock: 5n, toBlock: 5 })).toEqual({ fromBlock: "0x5", toBlock: "0x5" });
    expect(written({ fromBlock: 9n, toBlock: 5n })).toEqual({ fromBlock: "0x9", toBlock: "0x5" });
  });
  it("is refused where it is no filter", () => {
    for (const filter of [
      { topics: ["x"] },
      { topics: "0x" },
      { address: 7 },
      { fromBlock: "newest" },
      { blockHash: "x" },
    ]) {
      expect(sent(Eth.getLogs(filter as Eth.LogFilter)).asked, JSON.stringify(filter)).toBe(null);
    }
  });
});
