import * as Effect from "effect/Effect";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import * as Eth from "../../src/Eth.js";
import * as Rpc from "../../src/Rpc.js";
import { startNode } from "../harness/server.js";
import { kept, stopAll, tagOf } from "../rpc/asking.js";
import { account, word } from "./answers.js";

afterEach(stopAll);

type Filter = { readonly fromBlock?: string; readonly toBlock?: string };
const head = 5_000;
const heightOf = (end: string | undefined): number =>
  end === undefined || end === "latest" || end === "pending" ? head : end === "earliest" ? 0 : Number(end);
const logAt = (block: number) => ({
  address: account,
  topics: [word],
  data: "0x",
  blockNumber: `0x${block.toString(16)}`,
});
const every = 7;

/** A node with a log in every 7th block that refuses what `refuse` says. */
const chain = async (refuse: (from: number, to: number, nth: number) => object | null) => {
  const asked: Array<readonly [from: number | string, to: number | string]> = [];
  const node = await kept(
    startNode(({ method, params }) => {
      if (method === "eth_getBlockByNumber") {
        const block = { parentHash: word, hash: word, timestamp: "0x1", gasLimit: "0x1", gasUsed: "0x0" };
        return { result: { ...block, number: `0x${head.toString(16)}` } };
      }
      const { fromBlock, toBlock } = params[0] as Filter;
      const number = (end: string | undefined) => (end?.startsWith("0x") === true ? Number(end) : (end ?? "absent"));
      asked.push([number(fromBlock), number(toBlock)]);
      const [from, to] = [heightOf(fromBlock), heightOf(toBlock)];
      const error = refuse(from, to, asked.length);
      if (error !== null) return { error };
      const logs: Array<object> = [];
      for (let block = Math.ceil(from / every) * every; block <= to; block += every) logs.push(logAt(block));
      return { result: logs };
    }),
  );
  return { node, asked };
};

const get = (url: string, filter: Eth.LogFilter, options: Rpc.HttpOptions = {}) =>
  Eth.getLogs(filter).pipe(
    Effect.map((logs) => logs.map(({ blockNumber }) => Number(blockNumber))),
    Effect.result,
    Effect.provide(Rpc.layerHttp(url, { retryTimes: 0, ...options })),
    Effect.runPromise,
  );
const blocks = (from: number, to: number): ReadonlyArray<number> =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index).filter((block) => block % every === 0);
const logsOf = (answer: Awaited<ReturnType<typeof get>>) =>
  answer._tag === "Success" ? answer.success : answer.failure;
const size = ([from, to]: readonly [number | string, number | string]) => Number(to) - Number(from) + 1;

describe("getLogs", () => {
  it("asks for a narrow range once", async () => {
    const { node, asked } = await chain(() => null);
    expect(logsOf(await get(node.url, { fromBlock: 10n, toBlock: 2_008n }))).toEqual(blocks(10, 2_008));
    expect(asked).toEqual([[10, 2_008]]);
  });

  it("splits a wide range into pieces below 2,000 blocks, in order and without holes", async () => {
    const { node, asked } = await chain(() => null);
    expect(logsOf(await get(node.url, { fromBlock: 0n, toBlock: 4_999n }))).toEqual(blocks(0, 4_999));
    expect(asked).toEqual([
      [0, 1_998],
      [1_999, 3_997],
      [3_998, 4_999],
    ]);
  });

  it("resolves a tag only when the number matters, and keeps the tag at its end", async () => {
    const { node, asked } = await chain(() => null);
    expect(logsOf(await get(node.url, { fromBlock: 2_500n }))).toEqual(blocks(2_500, head));
    expect(asked).toEqual([
      [2_500, 4_498],
      [4_499, "latest"],
    ]);
    expect(node.asked.filter(({ method }) => method === "eth_getBlockByNumber").length).toBe(1);
    node.asked.length = 0;
    for (const filter of [
      {},
      { fromBlock: "pending", toBlock: "pending" },
      { fromBlock: "latest", toBlock: "pending" },
    ] as const)
      await get(node.url, filter);
    expect(node.asked.every(({ method }) => method === "eth_getLogs")).toBe(true);
    asked.length = 0;
    await get(node.url, { fromBlock: "earliest", toBlock: "latest" });
    expect(asked).toEqual([
      ["earliest", 1_998],
      [1_999, 3_997],
      [3_998, "latest"],
    ]);
  });

  it("sends the range as it is where the tag cannot be resolved", async () => {
    const node = await kept(
      startNode(({ method }) =>
        method === "eth_getLogs" ? { result: [] } : { error: { code: -32601, message: "method not found" } },
      ),
    );
    expect(logsOf(await get(node.url, { fromBlock: 1n }))).toEqual([]);
    expect(node.asked.map(({ method, params }) => [method, params[0]])).toEqual([
      ["eth_getBlockByNumber", "latest"],
      ["eth_getLogs", { fromBlock: "0x1" }],
    ]);
  });

  it("follows the node's suggestion when it is smaller", async () => {
    const { node, asked } = await chain((from, to) =>
      to - from + 1 > 500
        ? {
            code: -32602,
            message: `this block range should work: [0x${from.toString(16)}, 0x${(from + 499).toString(16)}]`,
          }
        : null,
    );
    expect(logsOf(await get(node.url, { fromBlock: 0n, toBlock: 1_799n }))).toEqual(blocks(0, 1_799));
    expect(asked[0]).toEqual([0, 1_799]);
    expect(asked.slice(1).map(size)).toEqual([500, 500, 500, 300]);
  });

  it("follows a named maximum, also for the pieces that come after", async () => {
    const { node, asked } = await chain((from, to) =>
      to - from + 1 > 1_000 ? { code: -32602, message: "block range greater than 1000 max" } : null,
    );
    expect(logsOf(await get(node.url, { fromBlock: 0n, toBlock: 4_999n }))).toEqual(blocks(0, 4_999));
    expect(asked.filter((range) => size(range) > 1_000).length).toBe(1);
  });

  it("halves where the suggestion is no smaller, or there is none", async () => {
    const same = await chain((from, to) =>
      to - from + 1 > 300
        ? { code: -32602, message: `query exceeds max results 20000, retry with the range ${from}-${to}` }
        : null,
    );
    expect(logsOf(await get(same.node.url, { fromBlock: 0n, toBlock: 999n }))).toEqual(blocks(0, 999));
    expect(same.asked.map(size)).toEqual([1_000, 500, 250, 250, 500, 250, 250]);
    const none = await chain((from, to) =>
      to - from > 600 ? { code: -32000, message: "block range is too wide" } : null,
    );
    expect(logsOf(await get(none.node.url, { fromBlock: 0n, toBlock: 999n }))).toEqual(blocks(0, 999));
    expect(none.asked.map(size)).toEqual([1_000, 500, 500]);
  });

  it("ends with a typed failure at one block", async () => {
    const { node, asked } = await chain(() => ({ code: -32005, message: "query returned more than 10000 results" }));
    const answer = await get(node.url, { fromBlock: 0n, toBlock: 999n });
    expect(tagOf(answer)).toBe("NodeLimitExceeded");
    expect(asked.map(size)).toEqual([1_000, 500, 250, 125, 62, 31, 15, 7, 3, 1]);
  });

  it("splits once for a gateway without a node", async () => {
    const wide = { code: -32011, message: "no backend is currently healthy to serve traffic" };
    const helps = await chain((from, to) => (to - from + 1 > 500 ? wide : null));
    expect(logsOf(await get(helps.node.url, { fromBlock: 0n, toBlock: 999n }))).toEqual(blocks(0, 999));
    const down = await chain(() => wide);
    const answer = await get(down.node.url, { fromBlock: 0n, toBlock: 999n });
    expect(tagOf(answer)).toBe("UpstreamUnavailable");
    expect(down.asked.map(size)).toEqual([1_000, 500]);
  });

  it("splits an answer that is larger than the limit", async () => {
    const { node, asked } = await chain(() => null);
    const filter = { fromBlock: 0n, toBlock: 1_399n };
    expect(logsOf(await get(node.url, filter, { maxResponseBytes: 20_000 }))).toEqual(blocks(0, 1_399));
    expect(asked.length).toBeGreaterThan(2);
  });

  it("refuses a range that would never end, and passes other failures on", async () => {
    const { node, asked } = await chain(() => null);
    const answer = await get(node.url, { fromBlock: 0n, toBlock: (1n << 256n) - 1n });
    expect(tagOf(answer)).toBe("NodeLimitExceeded");
    expect(asked).toEqual([]);
    const invalid = await chain(() => ({ code: -32602, message: "invalid params" }));
    const failed = await get(invalid.node.url, { fromBlock: 0n, toBlock: 999n });
    expect(tagOf(failed)).toBe("InvalidParams");
    expect(invalid.asked.length).toBe(1);
  });

  it("gives every log once, whatever a node refuses and suggests", async () => {
    const suggestion = (kind: number, from: number, to: number, seed: number) =>
      kind === 0
        ? { code: -32602, message: `retry with the range ${from}-${from + (seed % (to - from + 5))}` }
        : kind === 1
          ? { code: -32602, message: `query exceeds max block range ${seed % 2_500}` }
          : { code: -32000, message: "block range is too wide" };
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 3_000 }),
        fc.integer({ min: 0, max: 2_500 }),
        fc.integer({ min: 20, max: 2_000 }),
        fc.array(fc.tuple(fc.integer({ min: 0, max: 2 }), fc.nat(3_000)), { minLength: 1, maxLength: 5 }),
        async (from, length, max, hints) => {
          const { node, asked } = await chain((first, last, nth) => {
            const [kind, seed] = hints[nth % hints.length] ?? [2, 0];
            return last - first + 1 > max ? suggestion(kind, first, last, seed) : null;
          });
          const answer = await get(node.url, { fromBlock: BigInt(from), toBlock: BigInt(from + length) });
          expect(logsOf(answer)).toEqual(blocks(from, from + length));
          expect(asked.length).toBeLessThanOrEqual(2 * (length + 1));
        },
      ),
      { numRuns: 30 },
    );
  });
});
