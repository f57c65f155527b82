/**
 * A chain that does anything, and a node that tells of it: reorganisations, notifications that come late, sockets that are cut,
 * questions that fail or are answered late. What a taker of its logs holds is to be what its last chain holds.
 */
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Stream from "effect/Stream";
import { TestClock } from "effect/testing";
import * as Eth from "../../src/Eth.js";
import { RpcError, Transport } from "../rooms/errors.js";
import * as Rpc from "../../src/Rpc.js";

export type Weather =
  | { readonly is: "mined"; readonly logs: number }
  | { readonly is: "reorganised"; readonly depth: number; readonly logs: ReadonlyArray<number> }
  /** So many notifications of heads arrive. */
  | { readonly is: "heard"; readonly count: number }
  | { readonly is: "cut" }
  /** The next question for logs fails. */
  | { readonly is: "failing" }
  | { readonly is: "later"; readonly ms: number };

interface Block {
  readonly number: number;
  readonly hash: string;
  readonly parentHash: string;
  readonly logs: ReadonlyArray<number>;
}

const quantity = (value: number) => `0x${value.toString(16)}`;
const word = (value: number) => `0x${value.toString(16).padStart(64, "0")}`;
const header = ({ number, hash, parentHash, logs }: Block, hasBlooms: boolean) => ({
  ...{ number: quantity(number), hash, parentHash, timestamp: quantity(number), gasLimit: "0x1c9c380", gasUsed: "0x0" },
  logsBloom: hasBlooms ? `0x${(logs.length > 0 ? "ff" : "00").repeat(256)}` : null,
});
const wireLog = ({ number, hash, logs }: Block, index: number) => ({
  ...{ address: `0x${"11".repeat(20)}`, topics: [], data: word(logs[index] ?? 0), blockNumber: quantity(number) },
  ...{
    blockHash: hash,
    transactionHash: word(index),
    transactionIndex: "0x0",
    logIndex: quantity(index),
    removed: false,
  },
});

/** Plays the weather, then lets it calm down; what a taker holds at the end beside what it should. */
export const played = (
  weather: ReadonlyArray<Weather>,
  {
    hasSocket,
    hasBlooms,
    lateMs,
  }: { readonly hasSocket: boolean; readonly hasBlooms: boolean; readonly lateMs: number },
) =>
  Effect.gen(function* () {
    let names = 0;
    let chain: Array<Block> = [];
    const known = new Map<string, Block>();
    const add = (count: number): Block => {
      const last = chain.at(-1);
      names += 1;
      const logs = Array.from({ length: count }, (_, index) => names * 10_000 + index);
      const block = { number: (last?.number ?? 9) + 1, hash: word(names), parentHash: last?.hash ?? word(0), logs };
      chain = [...chain, block];
      known.set(block.hash, block);
      return block;
    };
    for (let count = 0; count < 4; count++) add(1);

    let failing = 0;
    let isAsked = false;
    let first: ReadonlyArray<Block> | undefined;
    const subscriptions = new Set<{
      readonly hear: (result: unknown) => void;
      readonly lost: Deferred.Deferred<never, RpcError>;
      readonly waiting: Array<unknown>;
    }>();
    const mined = (count: number) => {
      const block = add(count);
      for (const { waiting } of subscriptions) waiting.push(header(block, hasBlooms));
    };
    const failed = (method: string) => new RpcError({ method, reason: new Transport({ detail: "" }) });
    const answer = (method: string, [given]: ReadonlyArray<unknown>) =>
      Effect.suspend((): Effect.Effect<unknown, RpcError> => {
        if (method === "eth_getLogs") {
          if (failing > 0) {
            failing -= 1;
            return Effect.fail(failed(method));
          }
          const filter = given as { blockHash?: string; fromBlock?: string; toBlock?: string };
          const at = filter.blockHash === undefined ? undefined : known.get(filter.blockHash);
          if (filter.blockHash !== undefined && at === undefined) return Effect.fail(failed(method));
          const blocks =
            at === undefined
              ? chain.filter(({ number }) => number >= Number(filter.fromBlock) && number <= Number(filter.toBlock))
              : [at];
          return Effect.succeed(blocks.flatMap((block) => block.logs.map((_, index) => wireLog(block, index))));
        }
        const block =
          method === "eth_getBlockByHash"
            ? known.get(String(given))
            : given === "latest"
              ? chain.at(-1)
              : chain.find(({ number }) => number === Number(given));
        if (given === "latest") first ??= chain;
        return Effect.succeed(block === undefined ? null : header(block, hasBlooms));
      });
    const layer = Layer.effect(
      Rpc.Rpc,
      Effect.map(Rpc.Rpc, (rpc) => {
        const request: typeof rpc.request = (method, params) => {
          isAsked = true;
          return Effect.tap(answer(method, params), () => Effect.sleep(lateMs));
        };
        const subscribe: typeof rpc.subscribe = (_, hear) =>
          Effect.gen(function* () {
            isAsked = true;
            yield* Effect.sleep(lateMs);
            const one = { hear, lost: Deferred.makeUnsafe<never, RpcError>(), waiting: [] };
            subscriptions.add(one);
            yield* Effect.addFinalizer(() => Effect.sync(() => subscriptions.delete(one)));
            const abandon = Effect.sync(() => void cut());
            return { lost: Deferred.await(one.lost), abandon };
          });
        return Rpc.Rpc.of({ ...rpc, request, ...(hasSocket ? { subscribe } : {}) });
      }),
    ).pipe(Layer.provide(Rpc.layerHttp("http://127.0.0.1:9")));
    const cut = () => {
      for (const one of subscriptions) Deferred.doneUnsafe(one.lost, Effect.fail(failed("eth_subscribe")));
      subscriptions.clear();
    };
    const hear = (count: number) => {
      for (const one of subscriptions) for (const what of one.waiting.splice(0, count)) one.hear(what);
    };

    const told: Array<Eth.Log> = [];
    const following = yield* Stream.runForEach(Eth.watchLogs({}, { pollMs: 100, silentMs: 3_000 }), (log) =>
      Effect.sync(() => void told.push(log)),
    ).pipe(Effect.provide(layer), Effect.forkChild);
    const settle = Effect.promise(() => new Promise((resolve) => void setImmediate(resolve)));
    const pass = (ms: number) => Effect.andThen(TestClock.adjust(ms), settle);
    // why: modules are loaded in real time
    yield* Effect.repeat(settle, { until: () => isAsked });
    for (const one of weather) {
      switch (one.is) {
        case "mined":
          mined(one.logs);
          break;
        case "reorganised": {
          const depth = Math.min(one.depth, chain.length - 1);
          chain = chain.slice(0, chain.length - depth);
          for (const count of one.logs) mined(count);
          break;
        }
        case "heard":
          hear(one.count);
          break;
        case "cut":
          cut();
          break;
        case "failing":
          failing += 1;
          break;
        case "later":
          yield* pass(one.ms);
      }
      yield* settle;
    }
    failing = 0;
    for (let calm = 0; calm < 6; calm++) {
      yield* pass(4_000);
      hear(Infinity);
      yield* pass(100);
      mined(0);
      hear(Infinity);
    }
    yield* pass(10_000);

    const ended = following.pollUnsafe();
    if (ended !== undefined) return yield* Effect.die(new Error(String(JSON.stringify(ended)).slice(0, 600)));
    const held = new Map<number, number>();
    const wrong: Array<string> = [];
    for (const { data, removed } of told) {
      const name = Number(data);
      const next = (held.get(name) ?? 0) + (removed ? -1 : 1);
      if (next < 0 || next > 1) wrong.push(`${name} ${removed ? "taken back, never told" : "told twice"}`);
      held.set(name, next);
    }
    // why: how deep a branch goes that begins below the first head nobody can know
    const start = first?.at(-1)?.number ?? 0;
    const late = new Set([...known.values()].filter(({ number }) => number > start).flatMap((block) => block.logs));
    const ofLate = (logs: ReadonlyArray<number>) => logs.filter((name) => late.has(name)).sort((one, two) => one - two);
    return {
      wrong,
      held: ofLate([...held].filter(([, count]) => count === 1).map(([name]) => name)),
      should: ofLate(chain.flatMap((block) => block.logs)),
    };
  }).pipe(Effect.provide(TestClock.layer()));
