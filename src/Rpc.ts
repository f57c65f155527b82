/**
 * The one way to a node: a JSON-RPC request as an Effect, and the run it belongs to.
 *
 * Everything above asks through {@link Rpc}; only this file and its parts in `rpc/` talk to viem
 * clients, wallets, `node:http` and `fetch`.
 */
import * as Clock from "effect/Clock";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import type { HttpClient } from "effect/http/HttpClient";
import * as Layer from "effect/Layer";
import * as Result from "effect/Result";
import type * as Scope from "effect/Scope";
import type { Transport as ViemTransport } from "viem";
import { RpcError, Transport } from "./errors/rpc.js";
import type { Verdict } from "./errors/verdicts.js";
import { endpointOf } from "./rpc/endpoint.js";
import { sendForeign, type ForeignRequest } from "./rpc/foreign.js";
import { sendSingly, sendTogether } from "./rpc/http.js";
import type { Memory } from "./rpc/memory.js";
import { observed } from "./rpc/observe.js";
import { following, type PostOptions, type PostTo } from "./rpc/post.js";
import { patienceOf, requests, type Patience, type Send } from "./rpc/retry.js";
import { wayTo, type Ways } from "./rpc/way.js";

export { CurrentRun } from "./rpc/run.js";
export { mostRunBytes } from "./rpc/room.js";
export type { Forks, SimulationPart } from "./primitives/names.js";
export type { Budget } from "./rpc/room.js";
export { memoryOf } from "./rpc/memory.js";
export type { Facts, Memory, Refusable } from "./rpc/memory.js";
export type { LedgerEntry, Run, Sighted } from "./rpc/run.js";
export type { Dispatcher } from "./rpc/dispatcher.js";
export type { Fetch } from "./rpc/fetch.js";
export type { GateOptions } from "./rpc/gate.js";
export type { NodeAgent } from "./rpc/nodeHttp.js";
export type { NodeWays } from "./rpc/nodeWay.js";
export type { Ways } from "./rpc/way.js";
export type { Patience } from "./rpc/retry.js";

/** JSON-RPC 2.0 requests to one endpoint. */
export class Rpc extends Context.Service<
  Rpc,
  {
    /** The endpoint without credentials, for people. */
    readonly endpoint: string;
    /**
     * One request. Succeeds with the `result` as it came; fails with the classified error, after
     * the retries that its reason allows within the run's deadline.
     */
    readonly request: (method: string, params: ReadonlyArray<unknown>) => Effect.Effect<unknown, RpcError | Verdict>;
    /** What this endpoint was found to be, and which methods it refuses. */
    readonly memory: Memory;
    /**
     * Runs an effect once there is room for it (`maxInFlight`), first come, first served; requests outside
     * do so one by one. Where the room does not come in `maxWaitMs`, the effect runs all the same and each of
     * its requests fails with `AdmissionTimeout`. Within another admitted effect it does not wait again.
     */
    readonly admit: <A, E, R>(run: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>;
  }
>()("evm-preflight/Rpc") {}

/** How patient an endpoint is, and with how many at once; every field has a default. */
export interface Options extends Partial<Patience> {}

/** What does not depend on who carries the requests; every field has a default. */
export interface PostingOptions extends Options {
  /** Sent with every request, e.g. `authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Puts the requests of one moment into one POST. An endpoint that refuses gets single ones for ten minutes. Default false. */
  readonly batch?: boolean;
  /** The most requests in one POST; default 100. */
  readonly batchSize?: number;
  /**
   * A longer answer, unpacked, is `NodeLimitExceeded`; default 32 MiB. Numbers, hashes and code are held to less, and
   * all answers of one call of the pipeline together to 12 MiB; each value of a long answer counts 24 bytes at least.
   */
  readonly maxResponseBytes?: number;
  /** The id of the first request; default 1. */
  readonly firstId?: number;
}

/** How to talk HTTP; every field has a default. */
export interface HttpOptions extends PostingOptions, Ways {}

const over = (sendWith: (memory: Memory) => Send, endpoint: string, options: Options): Effect.Effect<Rpc["Service"]> =>
  Effect.flatMap(Clock.Clock, (clock) => observed(endpoint, requests(sendWith, endpoint, patienceOf(options), clock)));

/** Sends nothing: there is nowhere to send to. */
const nowhere = (detail: string) => (): Send => (method, _params, done) => {
  done({ result: Result.fail(new RpcError({ method, reason: new Transport({ detail }) })), bytes: 0 });
  return () => undefined;
};

const mebibyte = 1_048_576;

/** A layer over whatever posts to `url`; `wayOf` gives null where it cannot. */
const posting = <R>(
  url: string,
  options: PostingOptions,
  wayOf: (url: URL, options: PostOptions) => Effect.Effect<PostTo | null, never, R>,
): Layer.Layer<Rpc, never, Exclude<R, Scope.Scope>> =>
  Layer.effect(
    Rpc,
    Effect.gen(function* () {
      const endpoint = endpointOf(url);
      if (endpoint.url === null) return yield* over(nowhere("not an http or https URL"), endpoint.shown, options);
      const headers = {
        "content-type": "application/json",
        ...(endpoint.authorization === null ? {} : { authorization: endpoint.authorization }),
        ...options.headers,
      };
      const postTo = yield* wayOf(endpoint.url, { headers });
      if (postTo === null)
        return yield* over(nowhere("`agent` and `dispatcher` are for Node only"), endpoint.shown, options);
      const post = following(postTo, endpoint.url);
      const carried = { firstId: options.firstId ?? 1, maxBytes: options.maxResponseBytes ?? 32 * mebibyte };
      const sendWith = (memory: Memory): Send =>
        options.batch === true
          ? sendTogether(post, endpoint, carried, options.batchSize ?? 100, memory)
          : sendSingly(post, endpoint, carried);
      return yield* over(sendWith, endpoint.shown, options);
    }),
  );

/**
 * An endpoint by its URL, over plain HTTP POST. User and password in the URL become basic
 * authorisation; nothing behind the origin is ever shown. Redirects with status 307 and 308 are
 * followed within the origin (browsers hide where they point, so not there).
 */
export const layerHttp = (url: string, options: HttpOptions = {}): Layer.Layer<Rpc> =>
  posting(url, options, (to, target) =>
    Effect.map(
      Effect.acquireRelease(wayTo(to, options, target), (way) => Effect.sync(() => way?.close())),
      (way) => way?.postTo ?? null,
    ),
  );

/**
 * The same over Effect's own `HttpClient`, for what a program has put around it: proxies, tracing, tests.
 * Give it a client without retries and without status checks, for both are decided here.
 */
export const layerHttpClient = (url: string, options: PostingOptions = {}): Layer.Layer<Rpc, never, HttpClient> =>
  posting(url, options, (_, target) =>
    Effect.flatMap(
      Effect.promise(() => import("./rpc/httpClient.js")),
      ({ viaHttpClient }) => viaHttpClient(target),
    ),
  );

/** Whatever answers JSON-RPC requests: a viem client, or an EIP-1193 provider such as a wallet. */
export interface Requester {
  // `never`: each has its own, narrower types of the methods it knows
  request(args: never, options?: never): Promise<unknown>;
}

const requestOf =
  (requester: Requester): ForeignRequest =>
  (args, options) =>
    requester.request(args as never, options as never);

const shownOf = (
  transport: unknown,
  otherwise: string,
): { readonly shown: string; readonly redact: (text: string) => string } => {
  const url = typeof transport === "object" && transport !== null && "url" in transport ? transport.url : undefined;
  return typeof url === "string" && url !== "" ? endpointOf(url) : { shown: otherwise, redact: (text) => text };
};

/** A viem client. Its batching works, its retries are off: the reasons of the errors decide here. */
export const layerClient = (
  client: Requester & { readonly transport?: unknown; readonly name?: string | undefined },
  options: Options = {},
): Layer.Layer<Rpc> => {
  const { shown, redact } = shownOf(client.transport, client.name ?? "viem client");
  return Layer.effect(
    Rpc,
    over(() => sendForeign(requestOf(client), redact), shown, options),
  );
};

/** A viem transport, such as `http(url, { batch: true })`, `webSocket(url)` or `fallback([…])`. */
export const layerTransport = (transport: ViemTransport, options: Options = {}): Layer.Layer<Rpc> => {
  const made = Result.try(() => transport({ retryCount: 0 }));
  if (Result.isFailure(made)) {
    const detail = made.failure instanceof Error ? (made.failure.message.split("\n")[0] ?? "") : "";
    return Layer.effect(Rpc, over(nowhere(detail), "viem transport", options));
  }
  const { shown, redact } = shownOf(made.success.value, made.success.config.name);
  return Layer.effect(
    Rpc,
    over(() => sendForeign(requestOf(made.success), redact), shown, options),
  );
};

/** An EIP-1193 provider, such as a wallet in the browser. */
export const layerProvider = (provider: Requester, options: Options = {}): Layer.Layer<Rpc> =>
  Layer.effect(
    Rpc,
    over(() => sendForeign(requestOf(provider), (text) => text), "EIP-1193 provider", options),
  );
