/**
 * For your own tests: a node that answers by a script, and one that replays what a real one answered.
 *
 * ```ts
 * const tape = emptyTape()
 * await Effect.runPromise(Preflight.scan(tx).pipe(Effect.provide(layerRecorder(Rpc.layerHttp(url), tape))))
 * // later, without any node:
 * Preflight.scan(tx).pipe(Effect.provide(layerReplay(tape)))
 * // and with one thing gone wrong:
 * layerScripted({ eth_getCode: rpcError({ code: -32005, message: "limit exceeded" }) }, layerReplay(tape))
 * ```
 */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import { classify } from "./errors/classify.js";
import type { Failure } from "./Eth.js";
import { RpcError, Transport } from "./errors/rpc.js";
import { Verdict } from "./errors/verdicts.js";
import { makeMemory } from "./nonces/memory.js";
import { NonceStore } from "./nonces/service.js";
import { RandomWords } from "./primitives/effects.js";
import type { Hex } from "./primitives/hex.js";
import { Rpc } from "./Rpc.js";
import { memoryOf } from "./rpc/memory.js";

export { type EndpointFacts, type Memory, memoryOf } from "./rpc/memory.js";
import { observed } from "./rpc/observe.js";
import type { Options, Patience } from "./rpc/connection.js";
import { patience, requests, type Send } from "./rpc/requests.js";

const failureSchema = Schema.Union([RpcError, Verdict]);
const isFailure = Schema.is(failureSchema);

/** A JSON-RPC error as a node would send it; made by {@link rpcError}. */
export interface ScriptedError {
  readonly _tag: "ScriptedError";
  /** The error of the JSON-RPC answer. */
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
  /** The status of the HTTP answer; null where it does not matter. */
  readonly httpStatus: number | null;
}

/** The answer "JSON-RPC error", to be classified like that of a real node. */
export const rpcError = (
  error: ScriptedError["error"],
  options: { readonly httpStatus?: number } = {},
): ScriptedError => ({ _tag: "ScriptedError", error, httpStatus: options.httpStatus ?? null });

/** No answer: the request ends with its deadline. */
export const silence: unique symbol = Symbol.for("evm-preflight/testing/silence");

/** A result as JSON, an error as a node would send it, an error as it comes out of `Rpc`, or {@link silence}. */
export type Answer = Schema.Json | ScriptedError | Failure | typeof silence;

/** Answers by method: fixed, or from the parameters and how often the method was asked before. */
export type Script = Readonly<Record<string, Answer | ((params: ReadonlyArray<unknown>, before: number) => Answer)>>;

const isScriptedError = (answer: Answer): answer is ScriptedError =>
  typeof answer === "object" && answer !== null && "_tag" in answer && answer["_tag"] === "ScriptedError";

const resultOf = (method: string, answer: Exclude<Answer, typeof silence>): Result.Result<unknown, Failure> => {
  if (isFailure(answer)) return Result.fail(answer);
  if (!isScriptedError(answer)) return Result.succeed(answer);
  const { error, httpStatus } = answer;
  return Result.fail(classify({ method, error, ...(httpStatus === null ? {} : { httpStatus }) }));
};

const play = (script: Script): Send => {
  const counts = new Map<string, number>();
  return (method, params, done) => {
    const before = counts.get(method) ?? 0;
    counts.set(method, before + 1);
    const scripted = Object.hasOwn(script, method)
      ? script[method]
      : rpcError({ code: -32601, message: `the method ${method} does not exist/is not available` });
    const answer = typeof scripted === "function" ? scripted(params, before) : (scripted ?? null);
    if (answer !== silence) done({ result: resultOf(method, answer), bytes: 0 });
    return () => undefined;
  };
};

const impatient: Patience = { ...patience, retryTimes: 0 };

/** A node that tries nothing twice, unless `options` say so. */
const nodeOf = (endpoint: string, send: () => Send, clock: Clock.Clock, options: Partial<Patience> = {}) =>
  observed(endpoint, requests(send, endpoint, { ...impatient, ...options }, clock));

/**
 * A node that answers by a script. A method that is not in it is asked of `otherwise`; without that, the node does not
 * support it. Nothing is tried twice, unless `options` say so.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Eth } from "evm-preflight";
 * import { layerScripted } from "evm-preflight/testing";
 *
 * const node = layerScripted({ eth_chainId: "0x2105" });
 * console.log(await Effect.runPromise(Effect.provide(Eth.chainId, node))); // 8453
 * ```
 */
export const layerScripted = (
  script: Script,
  otherwise?: Layer.Layer<Rpc>,
  options: Omit<Options, "endpoint"> = {},
): Layer.Layer<Rpc> => {
  const scripted = Effect.flatMap(Clock.Clock, (clock) => nodeOf("scripted node", () => play(script), clock, options));
  if (otherwise === undefined) return Layer.effect(Rpc, scripted);
  return Effect.gen(function* () {
    const node = yield* scripted;
    const real = yield* Rpc;
    const of = (method: string) => (Object.hasOwn(script, method) ? node : real);
    return Rpc.of({
      endpoint: real.endpoint,
      request: (method, params) => of(method).request(method, params),
      // why: what the real node was found to be is not what the script makes of it
      memory: { ...node.memory, refused: (method) => of(method).memory.refused(method) },
      admit: real.admit,
      defaults: real.defaults,
      chain: real.chain,
    });
  }).pipe(Layer.effect(Rpc), Layer.provideMerge(otherwise));
};

/** The recording that a recorder writes and {@link layerReplay} replays; `JSON.stringify` takes it as it is. */
export interface Tape {
  /** Epoch ms of the first request; null while empty. */
  startedAt: number | null;
  /** Requests with their answers, JSON-safe, in the order in which they were made. */
  readonly exchanges: Array<{
    /** The JSON-RPC method. */
    readonly method: string;
    /** Its parameters. */
    readonly params: ReadonlyArray<unknown>;
    /** The node's answer. */
    readonly answer: { readonly result: unknown } | { readonly failure: Schema.Json };
  }>;
  /** The random bytes that went into the requests, hex, in their order; absent on older tapes. */
  readonly rolls?: Array<Hex>;
}

/** A tape to record on. */
export const emptyTape = (): Tape => ({ startedAt: null, exchanges: [], rolls: [] });

const failureCodec = Schema.toCodecJson(failureSchema);
const encodeFailure = Schema.encodeSync(failureCodec);
const decodeFailure = Schema.decodeUnknownResult(failureCodec);

/** The node `node`; every request and answer is recorded on `tape`. */
export const layerRecorder = (node: Layer.Layer<Rpc>, tape: Tape): Layer.Layer<Rpc> =>
  Effect.gen(function* () {
    const real = yield* Rpc;
    const request = Effect.fnUntraced(function* (method: string, params: ReadonlyArray<unknown>) {
      tape.startedAt ??= yield* Clock.currentTimeMillis;
      // Its place is taken when the request is made: answers arrive in any order.
      const place = tape.exchanges.push({ method, params, answer: { result: null } }) - 1;
      const result = yield* Effect.result(real.request(method, params));
      tape.exchanges[place] = {
        method,
        params,
        answer: Result.isSuccess(result) ? { result: result.success } : { failure: encodeFailure(result.failure) },
      };
      return yield* Effect.fromResult(result);
    });
    // why: what is remembered is not asked, and would be missing on the tape
    const clock = yield* Clock.Clock;
    const fresh = memoryOf(() => clock.currentTimeMillisUnsafe(), impatient.refusalMs);
    const memory = { ...fresh, refused: real.memory.refused };
    return Rpc.of({ ...real, request, memory });
  }).pipe(
    Layer.effect(Rpc),
    Layer.provide(node),
    Layer.merge(
      Layer.effect(
        RandomWords,
        Effect.map(Effect.service(RandomWords), (dice) => (bytes) => {
          const rolled = dice(bytes);
          tape.rolls?.push(rolled);
          return rolled;
        }),
      ),
    ),
  );

/** The dice of a tape, and others once its rolls are used up. */
const loaded = ({ rolls = [] }: Tape, dice: typeof RandomWords.Service): typeof RandomWords.Service => {
  const unused = [...rolls];
  return (bytes) => unused.shift() ?? dice(bytes);
};

const unknownRequest = (method: string) =>
  new RpcError({ method, reason: new Transport({ detail: "the tape has no further answer for this method" }) });

const failureOf = (method: string, failure: Schema.Json): Failure =>
  Result.getOrElse(decodeFailure(failure), () => unknownRequest(method));

const rewind = (tape: Tape): Send => {
  const unused = [...tape.exchanges];
  return (method, params, done) => {
    const json = JSON.stringify(params);
    const exact = unused.findIndex((each) => each.method === method && JSON.stringify(each.params) === json);
    const place = exact === -1 ? unused.findIndex((each) => each.method === method) : exact;
    const answer = place === -1 ? undefined : unused.splice(place, 1)[0]?.answer;
    const result =
      answer === undefined
        ? Result.fail(unknownRequest(method))
        : "failure" in answer
          ? Result.fail(failureOf(method, answer.failure))
          : Result.succeed(answer.result);
    done({ result, bytes: 0 });
    return () => undefined;
  };
};

/** `clock`, set back so that it shows `from` now. */
const setBack = (clock: Clock.Clock, from: number): Clock.Clock => {
  const ms = Math.floor(clock.currentTimeMillisUnsafe()) - from;
  const nanos = BigInt(ms) * 1_000_000n;
  return {
    currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() - ms,
    currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now - ms),
    currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe() - nanos,
    currentTimeNanos: Effect.map(clock.currentTimeNanos, (now) => now - nanos),
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    sleep: (duration) => clock.sleep(duration),
  };
};

/**
 * A node that replays a tape, each answer once: to the same request, else to the next one of the same method, because
 * the witness has another address in every request. The clock starts when the tape did, so the recorded blocks are as
 * fresh as they were.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Preflight, Rpc } from "evm-preflight";
 * import { emptyTape, layerRecorder, layerReplay } from "evm-preflight/testing";
 *
 * const tape = emptyTape(); // JSON: keep it beside the test
 * const check = Preflight.preflight({
 *   from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
 *   to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
 *   value: 1n,
 * });
 * const live = layerRecorder(Rpc.layerHttp("http://127.0.0.1:8545"), tape);
 * const first = await Effect.runPromise(Effect.provide(check, live));
 * const again = await Effect.runPromise(Effect.provide(check, layerReplay(tape)));
 * console.log(first.digest === again.digest); // true
 * ```
 */
export const layerReplay = (tape: Tape): Layer.Layer<Rpc> =>
  Effect.gen(function* () {
    const [clock, dice] = [yield* Clock.Clock, yield* Effect.service(RandomWords)];
    const then = tape.startedAt === null ? clock : setBack(clock, tape.startedAt);
    return Layer.mergeAll(
      Layer.succeed(RandomWords, loaded(tape, dice)),
      nodeOf("replayed node", () => rewind(tape), then).pipe(Layer.effect(Rpc)),
      Layer.succeed(Clock.Clock, then),
    );
  }).pipe(Layer.unwrap);

/**
 * A nonce store in memory of its own, empty at first, for tests whose chain begins anew. `NonceStore.layerMemory` is
 * one for the whole process.
 */
export const layerNonces: Layer.Layer<NonceStore> = Layer.effect(NonceStore, makeMemory);
