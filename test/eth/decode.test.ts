import * as Effect from "effect/Effect";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import * as Eth from "../../src/Eth.js";
import { Rpc } from "../../src/Rpc.js";
import { judging, memoryOf } from "../rooms/rpc.js";
import { account, block, broken, callResult, feeHistory, log, named, receipt, simulated, word } from "./answers.js";

// why: what the first error loads is here from then on, and nothing waits any more
beforeAll(() => Effect.runPromise(judging((classify) => classify({ method: "" }))));

/** What a method makes of a `result`. */
const read = <A>(method: Effect.Effect<A, Eth.Failure, Rpc>, result: unknown) =>
  Effect.runSync(
    Effect.result(method).pipe(
      Effect.provideService(
        Rpc,
        Rpc.of({
          endpoint: "",
          request: () => Effect.succeed(result),
          memory: memoryOf(() => 0, 0),
          admit: (run) => run,
        }),
      ),
    ),
  );

const pathOf = (method: Effect.Effect<unknown, Eth.Failure, Rpc>, result: unknown): string | null => {
  const answer = read(method, result);
  return answer._tag === "Failure" &&
    answer.failure._tag === "RpcError" &&
    answer.failure.reason._tag === "MalformedResponse"
    ? answer.failure.reason.path
    : null;
};

const twoCalls = { blocks: [{ calls: [{}, {}] }], block: "pending" } as const;
const methods = {
  eth_getLogs: Eth.getLogs({ address: account as `0x${string}` }),
  eth_call: Eth.call({ to: account as `0x${string}`, block: "latest" }),
  eth_simulateV1: Eth.simulateV1(twoCalls),
  eth_getBlockReceipts: Eth.getBlockReceipts({ block: "latest" }),
  eth_estimateGas: Eth.estimateGas({ data: "0x" }),
  eth_getTransactionCount: Eth.getTransactionCount({ address: account, block: "latest" }),
  eth_getCode: Eth.getCode({ address: account, block: "latest" }),
  eth_getBalance: Eth.getBalance({ address: account, block: "latest" }),
  eth_chainId: Eth.chainId,
  eth_getBlockByNumber: Eth.getBlock({ block: "latest" }),
  eth_feeHistory: Eth.feeHistory({ blockCount: 1, newestBlock: "latest", rewardPercentiles: [] }),
  eth_sendRawTransaction: Eth.sendRawTransaction({ serializedTransaction: "0x02" }),
} as const;

const whole: Readonly<Record<keyof typeof methods, unknown>> = {
  eth_getLogs: [log],
  eth_call: "0x",
  eth_simulateV1: [simulated],
  eth_getBlockReceipts: [receipt],
  eth_estimateGas: "0x5208",
  eth_getTransactionCount: "0x0",
  eth_getCode: "0x",
  eth_getBalance: "0x0",
  eth_chainId: "0x1",
  eth_getBlockByNumber: block,
  eth_feeHistory: feeHistory,
  eth_sendRawTransaction: word,
};

const required: ReadonlyArray<readonly [keyof typeof methods, ReadonlyArray<string | number>]> = [
  ...["address", "topics", "data"].map((field) => ["eth_getLogs", [0, field]] as const),
  ...["number", "hash", "parentHash", "timestamp", "gasLimit", "gasUsed", "calls"].map(
    (field) => ["eth_simulateV1", [0, field]] as const,
  ),
  ...["status", "gasUsed", "returnData", "logs"].map((field) => ["eth_simulateV1", [0, "calls", 1, field]] as const),
  ...["address", "topics", "data"].map((field) => ["eth_simulateV1", [0, "calls", 0, "logs", 0, field]] as const),
  ...["transactionHash", "blockNumber", "gasUsed", "status"].map(
    (field) => ["eth_getBlockReceipts", [0, field]] as const,
  ),
  ...["number", "parentHash", "timestamp", "gasLimit", "gasUsed"].map(
    (field) => ["eth_getBlockByNumber", [field]] as const,
  ),
  ...["oldestBlock", "baseFeePerGas", "gasUsedRatio"].map((field) => ["eth_feeHistory", [field]] as const),
];

describe("the decoder of every method", () => {
  it.each(Object.entries(methods))("reads the smallest valid answer of %s", (method, ask) => {
    const answer = read(ask as Effect.Effect<unknown, Eth.Failure, Rpc>, whole[method as keyof typeof methods]);
    expect(answer._tag).toBe("Success");
  });

  it.each(Object.entries(methods))("names the whole result of %s when it has another type", (_method, ask) => {
    for (const result of [7, true, { a: 1 }, [[1]], "latest", "0xzz", "0x1 "]) {
      const path = pathOf(ask as Effect.Effect<unknown, Eth.Failure, Rpc>, result);
      expect(path, JSON.stringify(result)).toMatch(/^result/);
    }
  });

  it.each(required)("refuses an answer of %s without %j, by its path", (method, path) => {
    const ask = methods[method] as Effect.Effect<unknown, Eth.Failure, Rpc>;
    expect(pathOf(ask, broken(whole[method], path, undefined))).toBe(named(path));
    expect(pathOf(ask, broken(whole[method], path, null))).toBe(named(path));
    expect(pathOf(ask, broken(whole[method], path, { no: 1 }))).toBe(named(path));
  });

  it.each([
    ["eth_getLogs", [0, "topics", 0], "0x11"],
    ["eth_getLogs", [0, "address"], word],
    ["eth_getLogs", [0, "data"], "0x123"],
    ["eth_getLogs", [0, "topics"], [word, word, word, word, word]],
    ["eth_getLogs", [0, "logIndex"], "1"],
    ["eth_getLogs", [0, "logIndex"], "0xffffffffffffffff"],
    ["eth_simulateV1", [0, "calls", 0, "status"], "0x2"],
    ["eth_simulateV1", [0, "calls", 1, "gasUsed"], 21_000],
    ["eth_simulateV1", [0, "baseFeePerGas"], "seven"],
    ["eth_getBlockReceipts", [0, "l1Fee"], "0x"],
    ["eth_getBlockReceipts", [0, "type"], 2],
    ["eth_feeHistory", ["gasUsedRatio", 0], "0.5"],
    ["eth_feeHistory", ["baseFeePerGas", 1], `0x${"f".repeat(65)}`],
  ] as const)("refuses in %s at %j the value %j", (method, path, value) => {
    const ask = methods[method] as Effect.Effect<unknown, Eth.Failure, Rpc>;
    expect(pathOf(ask, broken(whole[method], path, value))).toBe(named(path));
  });

  it("reads null as an unknown block where there may be none, and as malformed elsewhere", () => {
    for (const [method, ask] of Object.entries(methods)) {
      const answer = read(ask as Effect.Effect<unknown, Eth.Failure, Rpc>, null);
      const tag = answer._tag === "Failure" && answer.failure._tag === "RpcError" ? answer.failure.reason._tag : "";
      const mayBeNone = method === "eth_getBlockReceipts" || method === "eth_getBlockByNumber";
      expect([method, tag]).toEqual([method, mayBeNone ? "BlockNotFound" : "MalformedResponse"]);
    }
  });

  it("gives a success or a typed error for any JSON, never a defect", () => {
    const asks = Object.values(methods) as ReadonlyArray<Effect.Effect<unknown, Eth.Failure, Rpc>>;
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (result) => {
        for (const ask of asks) {
          const answer = read(ask, result);
          if (answer._tag === "Failure") expect(answer.failure.message.length).toBeGreaterThan(0);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("gives a success or a typed error for a valid answer with anything anywhere", () => {
    const places: ReadonlyArray<ReadonlyArray<string | number>> = [
      ...required.flatMap(([method, path]) => (method === "eth_simulateV1" ? [path] : [])),
      ...[[0, "calls", 0, "error"], [0, "calls", 1], [0, "transactions"], [0], [0, "withdrawals"], [1]],
    ];
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.jsonValue(), (path, value) => {
        const answer = read(methods.eth_simulateV1, broken([simulated], path, value));
        if (answer._tag === "Failure") expect(answer.failure.message.length).toBeGreaterThan(0);
      }),
      { numRuns: 500 },
    );
  });

  it("reads megabytes in linear time", () => {
    const bytes = `0x${"ab".repeat(4_000_000)}`;
    expect(read(methods.eth_call, bytes)._tag).toBe("Success");
    expect(pathOf(methods.eth_call, `${bytes}zz`)).toBe("result");
    const logs = Array.from({ length: 20_000 }, () => log);
    const started = performance.now();
    expect(read(methods.eth_getLogs, logs)._tag).toBe("Success");
    expect(performance.now() - started).toBeLessThan(3_000);
  });
});

describe("an optional field", () => {
  it("is null when missing or null, and an unknown one is dropped", () => {
    const answer = read(methods.eth_getLogs, [{ ...log, blockHash: null, extra: { a: 1 } }]);
    expect(answer._tag === "Success" && answer.success).toEqual([
      {
        ...log,
        ...{ blockNumber: null, blockTimestamp: null, blockTimestampMs: null },
        ...{ transactionHash: null, transactionIndex: null },
        ...{ blockHash: null, logIndex: null, removed: false },
      },
    ]);
  });

  it("is decoded where it is present: log timestamps, rollup receipts, deposits", () => {
    const deposit = {
      ...receipt,
      type: "0x7E",
      ...{ l1Fee: "0x5", l1GasPrice: "0x6", l1GasUsed: "0x7", l1FeeScalar: "0.684", depositNonce: "0x8" },
      ...{ operatorFeeScalar: "0x0", operatorFeeConstant: "0x9", daFootprintGasScalar: "0xa" },
      logs: [{ ...log, blockTimestamp: "0x64", logIndex: "0x3", removed: true }],
    };
    const answer = read(methods.eth_getBlockReceipts, [deposit]);
    expect(answer._tag === "Success" && answer.success[0]).toMatchObject({
      ...{ type: "0x7e", status: "success", l1Fee: 5n, l1GasPrice: 6n, l1GasUsed: 7n, l1FeeScalar: "0.684" },
      ...{ depositNonce: 8n, operatorFeeScalar: 0n, operatorFeeConstant: 9n, daFootprintGasScalar: 10n },
      logs: [{ blockTimestamp: 100n, logIndex: 3, removed: true }],
    });
  });

  it("gives the time of a block in milliseconds, where a node sends it, and null elsewhere", () => {
    const wholes = { eth_getBlockByNumber: block, eth_getBlockReceipts: [receipt], eth_simulateV1: [simulated] };
    const places = [
      ["eth_getBlockByNumber", ["timestampMs"]],
      ["eth_getBlockReceipts", [0, "blockTimestampMs"]],
      ["eth_getBlockReceipts", [0, "logs", 0, "blockTimestampMs"]],
      ["eth_simulateV1", [0, "timestampMs"]],
      ["eth_simulateV1", [0, "calls", 1, "logs", 0, "blockTimestampMs"]],
    ] as const;
    const at = (answer: unknown, path: ReadonlyArray<string | number>): unknown =>
      path.reduce<unknown>((value, key) => (value as Readonly<Record<string | number, unknown>>)[key], answer);
    for (const [method, path] of places) {
      const ask = methods[method] as Effect.Effect<unknown, Eth.Failure, Rpc>;
      const told = (value: unknown) => {
        const answer = read(ask, broken(wholes[method], path, value));
        return answer._tag === "Success" ? at(answer.success, path) : pathOf(ask, broken(wholes[method], path, value));
      };
      fc.assert(
        fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (ms) => {
          expect(told(`0x${ms.toString(16)}`)).toBe(ms);
        }),
        { numRuns: 50 },
      );
      expect([told(undefined), told(null)]).toEqual([null, null]);
      for (const wrong of [1_700_000_000_000, "1700000000000", "0x", true, {}]) expect(told(wrong)).toBe(named(path));
    }
  });

  it("is every field of a receipt but the five that the interface names", () => {
    const five = { transactionHash: word, blockNumber: "0x1", status: "0x0", gasUsed: "0x5208", type: "0x02" };
    const answer = read(methods.eth_getBlockReceipts, [five]);
    if (answer._tag === "Failure") throw answer.failure;
    const [only] = answer.success;
    expect(only).toMatchObject({ blockNumber: 1n, status: "failure", gasUsed: 21_000n, type: "0x2" });
    const others = Object.entries(only ?? {}).filter(([key]) => !Object.hasOwn(five, key));
    expect(others.every(([, value]) => value === null)).toBe(true);
    expect(others.map(([key]) => key)).toContain("logs");
  });

  it("may be `root` in place of `status`", () => {
    const { status: _status, ...old } = receipt;
    const answer = read(methods.eth_getBlockReceipts, [{ ...old, root: word }]);
    expect(answer._tag === "Success" && answer.success[0]).toMatchObject({ status: null, root: word });
  });
});

describe("eth_simulateV1's decoder", () => {
  const failed = (error: unknown, returnData = "0x") =>
    read(methods.eth_simulateV1, [
      { ...simulated, calls: [callResult, { ...callResult, status: "0x0", returnData, error, logs: [] }] },
    ]);
  const resultOf = (answer: ReturnType<typeof failed>): Eth.CallResult | undefined =>
    answer._tag === "Success" ? answer.success[0]?.calls[1] : undefined;

  it("reads a failed call's error as an object, as text, and where it is absent", () => {
    const data = "0x08c379a0";
    expect(resultOf(failed({ code: 3, message: "execution reverted", data }))).toMatchObject({
      status: "failure",
      error: { code: 3, message: "execution reverted", data },
      failure: { _tag: "ExecutionReverted", data },
    });
    expect(resultOf(failed("execution reverted: no", data))).toMatchObject({
      error: { code: null, message: "execution reverted: no", data: null },
      failure: { _tag: "ExecutionReverted", data },
    });
    expect(resultOf(failed({ code: -3200, message: "execution failed" }, data))).toMatchObject({
      failure: { _tag: "ExecutionReverted", data },
    });
    expect(resultOf(failed({ code: -32015, message: "out of gas" }))?.failure?._tag).toMatch(/OutOfGas|VmHalt/);
    expect(resultOf(failed(null))?.failure).not.toBe(null);
    expect(resultOf(failed(undefined, data))?.failure).not.toBe(null);
    expect(resultOf(failed({ code: null, message: null, data: 7 }))).toMatchObject({
      error: { code: null, message: "", data: null },
    });
  });

  it("gives a successful call no failure, and a call with an error no success", () => {
    const answer = read(methods.eth_simulateV1, [simulated]);
    expect(answer._tag === "Success" && answer.success[0]?.calls.map(({ failure, error }) => [failure, error])).toEqual(
      [
        [null, null],
        [null, null],
      ],
    );
    expect(pathOf(methods.eth_simulateV1, broken([simulated], [0, "calls", 1, "error"], "execution reverted"))).toBe(
      "result[0].calls[1].error",
    );
  });

  it("reads an inline error as that of the whole request", () => {
    const inline = { error: "insufficient sender balance", errorCode: -38014 };
    for (const result of [[inline], [simulated, inline], [{ ...simulated, calls: [callResult, inline] }], inline]) {
      const answer = read(methods.eth_simulateV1, result);
      expect(answer._tag === "Failure" && answer.failure._tag, JSON.stringify(result).slice(-90)).toBe(
        "InsufficientFunds",
      );
    }
  });

  it("requires one block per entry and one result per call", () => {
    expect(pathOf(methods.eth_simulateV1, [])).toBe("result[0]");
    const idle = { ...callResult, gasUsed: "0x0", maxUsedGas: "0x0" };
    const called = (...calls: ReadonlyArray<unknown>) => pathOf(methods.eth_simulateV1, [{ ...simulated, calls }]);
    expect(called(callResult, idle)).toBe("result[0].calls[1].gasUsed");
    expect(called(callResult, { ...idle, status: "0x0", logs: [] })).toBeNull();
    expect(pathOf(methods.eth_simulateV1, [simulated, simulated])).toBe("result[1]");
    expect(pathOf(methods.eth_simulateV1, [{ ...simulated, calls: [callResult] }])).toBe("result[0].calls");
    expect(pathOf(methods.eth_simulateV1, [{ ...simulated, calls: [callResult, callResult, callResult] }])).toBe(
      "result[0].calls",
    );
  });

  it("leaves out the blocks that fill a gap between numbers", () => {
    const at = (number: number, calls: ReadonlyArray<unknown> = []) => ({
      ...block,
      number: `0x${number.toString(16)}`,
      calls,
    });
    const ask = Eth.simulateV1({
      blocks: [{ calls: [{}] }, { blockOverrides: { number: 20n }, calls: [{}] }],
      block: "latest",
    });
    const filled = [at(16, [callResult]), at(17), at(18), at(19), at(20, [callResult])];
    const answer = read(ask, filled);
    expect(answer._tag === "Success" && answer.success.map(({ number, entry }) => [number, entry])).toEqual([
      [16n, 0],
      [20n, 1],
    ]);
    expect(pathOf(ask, filled.slice(0, 4))).toBe("result[4]");
    expect(pathOf(ask, [...filled, at(21)])).toBe("result[5]");
    expect(pathOf(ask, [at(16, [callResult]), at(17, [callResult]), at(20, [callResult])])).toBe("result[2]");
  });

  it("gives every block with `fillers`, and the number of the entry that each answers", () => {
    const gap = fc.nat(3).chain((before) => fc.record({ before: fc.constant(before), calls: fc.nat(2) }));
    fc.assert(
      fc.property(fc.array(gap, { minLength: 1, maxLength: 5 }), (entries) => {
        let height = 15;
        const expected: Array<readonly [bigint, number | null, number]> = [];
        const asked = entries.map(({ before, calls }, entry) => {
          for (let index = 0; index < before; index++) expected.push([BigInt(++height), null, 0]);
          expected.push([BigInt(++height), entry, calls]);
          const numbered = before === 0 ? {} : { blockOverrides: { number: height } };
          return { calls: Array.from({ length: calls }, () => ({})), ...numbered };
        });
        const result = expected.map(([number, , calls]) => ({
          ...block,
          number: `0x${number.toString(16)}`,
          calls: Array.from({ length: calls }, () => callResult),
        }));
        const all = read(Eth.simulateV1({ blocks: asked, fillers: true, block: "latest" }), result);
        const seen = all._tag === "Success" ? all.success : [];
        expect(seen.map(({ number, entry, calls }) => [number, entry, calls.length])).toEqual(expected);
        const asEntries = read(Eth.simulateV1({ blocks: asked, block: "latest" }), result);
        expect(asEntries._tag === "Success" && asEntries.success).toEqual(seen.filter(({ entry }) => entry !== null));
      }),
    );
  });

  it("keeps every field of a full transaction", () => {
    const whole = {
      ...{ hash: word, from: account, to: account, nonce: "0x1", gas: "0x5208", value: "0x2", input: "0x12" },
      ...{ chainId: "0x1", maxFeePerGas: "0x3", maxPriorityFeePerGas: "0x4", gasPrice: "0x5", maxFeePerBlobGas: "0x6" },
      ...{ type: "0x4", blobVersionedHashes: [word], accessList: [{ address: account, storageKeys: [word] }] },
      authorizationList: [
        { chainId: "0x1", address: account, nonce: "0x2", yParity: "0x1", r: "0x3", s: `0x${"f".repeat(64)}` },
      ],
      ...{ v: "0x1", r: "0x2", s: "0x3", yParity: "0x1" },
      ...{ blockHash: word, blockNumber: "0x10", transactionIndex: "0x0" },
      ...{ blockTimestamp: "0x5", blockTimestampMs: "0x1468" },
    };
    const answer = read(methods.eth_simulateV1, [{ ...simulated, transactions: [whole, word] }]);
    const [full, bare] = (answer._tag === "Success" ? answer.success[0]?.transactions : null) ?? [];
    expect(bare).toBe(word);
    expect(full).toEqual({
      ...whole,
      ...{ nonce: 1n, gas: 21_000n, value: 2n, chainId: 1n, maxFeePerGas: 3n, maxPriorityFeePerGas: 4n, gasPrice: 5n },
      ...{ maxFeePerBlobGas: 6n, v: 1n, r: 2n, s: 3n, yParity: 1n },
      authorizationList: [{ chainId: 1n, address: account, nonce: 2n, yParity: 1n, r: 3n, s: 2n ** 256n - 1n }],
      ...{ blockNumber: 16n, blockTimestamp: 5n, blockTimestampMs: 5_224n, transactionIndex: 0 },
    });
  });
});
