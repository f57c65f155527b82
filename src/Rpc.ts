/**
 * The connection to a node: a JSON-RPC request as an Effect, and the run it belongs to.
 *
 * All other modules ask through {@link Rpc}. Only this one talks to viem clients, wallets, `node:http` and `fetch`.
 */
import * as Arr from "effect/Array";
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import type { HttpClient } from "effect/http/HttpClient";
import * as Layer from "effect/Layer";
import * as Result from "effect/Result";
import type * as Scope from "effect/Scope";
import type { Socket } from "effect/socket/Socket";
import type { Transport as ViemTransport } from "viem";
import {
  checkClient,
  checkProvider,
  checkQuorum,
  checkSocket,
  checkTransport,
  checkUrl,
  optionsOf,
  type HttpOptions,
  type Options,
  type PostingOptions,
  type QuorumOptions,
} from "./rpc/connection.js";
import { InvalidConnection } from "./errors/input.js";
import { lazyImport } from "./primitives/effects.js";
import { isRecord } from "./primitives/record.js";
import { endpointOf } from "./rpc/endpoint.js";
import { sendForeign } from "./rpc/foreign.js";
import { idsFrom, sendSingly, sendTogether, transportTo } from "./rpc/http.js";
import { believe, type Memory } from "./rpc/memory.js";
import { observed } from "./rpc/observe.js";
import { following, type PostTo } from "./rpc/post.js";
import { redactUrls } from "./rpc/redact.js";
import { patienceOf, requests, type Send } from "./rpc/requests.js";
import { Rpc } from "./rpc/service.js";
import { describedBy } from "./rpc/viemChain.js";
import { isSubscribing, letGoBy, subscription } from "./rpc/subscription.js";

export type { KnownEndpoint } from "./rpc/memory.js";
export type { HttpOptions, Options, PostingOptions, QuorumOptions } from "./rpc/connection.js";
export { Rpc } from "./rpc/service.js";
export type { LedgerEntry } from "./rpc/service.js";

const over = (
  sendWith: (memory: Memory) => Send,
  endpoint: string,
  options: Options,
  subscribe?: Rpc["Service"]["subscribe"],
): Effect.Effect<Rpc["Service"]> =>
  Effect.flatMap(Clock.Clock, (clock) => {
    const node = requests(sendWith, endpoint, patienceOf(options), clock);
    const description = options.endpoint;
    if (description !== undefined) believe(node.memory, description);
    return observed(endpoint, { ...node, subscribe, ...describedBy(options.chain) });
  });

/** Bytes of the longest answer, unless the caller says otherwise: 32 MiB. */
const mostBytes = 32 * 1_048_576;

/** A layer over whatever posts to an endpoint. */
const posting = <R>(
  endpoint: ReturnType<typeof checkUrl>,
  options: PostingOptions,
  wayOf: (url: URL, headers: Readonly<Record<string, string>>) => Effect.Effect<PostTo, never, R>,
): Layer.Layer<Rpc, never, Exclude<R, Scope.Scope>> =>
  Effect.gen(function* () {
    const headers = {
      "content-type": "application/json",
      ...(endpoint.authorization === null ? {} : { authorization: endpoint.authorization }),
      ...options.headers,
    };
    const postTo = yield* wayOf(endpoint.url, headers);
    const post = following(postTo, endpoint.url);
    const carried = { nextId: idsFrom(options.firstId ?? 1), maxBytes: options.maxResponseBytes ?? mostBytes };
    const sendWith = (memory: Memory): Send =>
      options.batch === true
        ? sendTogether(post, endpoint, carried, options.batchSize ?? 100, memory)
        : sendSingly(post, endpoint, carried);
    return yield* over(sendWith, endpoint.shown, options);
  }).pipe(Layer.effect(Rpc));

/**
 * An endpoint by its URL, over HTTP POST. User and password in the URL become basic authorisation; nothing behind the
 * origin is ever shown. Redirects with status 307 and 308 are followed within the origin (not in browsers, which hide
 * the target). Throws `InvalidConnection`, which names the wrong URL or option.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Eth, Rpc } from "evm-preflight";
 *
 * const node = Rpc.layerHttp("http://127.0.0.1:8545", { headers: { "x-team": "wallet" }, timeoutMs: 2_000 });
 * console.log(await Effect.runPromise(Effect.provide(Eth.chainId, node))); // 31337
 * ```
 */
export const layerHttp = (url: string, options: HttpOptions = {}): Layer.Layer<Rpc> =>
  posting(checkUrl(url, options, optionsOf.http), options, (to, headers) => transportTo(to, options, headers));

/**
 * {@link layerHttp} over Effect's own `HttpClient`, for what a program has put around it: proxies, tracing, tests.
 * Give it a client without retries and without status checks, because both are decided here. Throws
 * `InvalidConnection`, which names the wrong URL or option.
 */
export const layerHttpClient = (url: string, options: PostingOptions = {}): Layer.Layer<Rpc, never, HttpClient> =>
  posting(checkUrl(url, options, optionsOf.posting), options, (_, headers) =>
    Effect.flatMap(
      lazyImport(() => import("./rpc/httpClient.js")),
      ({ viaHttpClient }) => viaHttpClient(headers),
    ),
  );

/**
 * Effect's own `Socket`, such as `Socket.layerWebSocket(url)` or `NodeSocket.layerNet({ path: "geth.ipc" })`: for
 * requests, and for the subscriptions of `Eth.watchHeads` and `Eth.watchLogs`.
 *
 * The first request opens it; if it is lost, the next one opens it again; it is closed with the layer. A text frame
 * holds one message, bytes are a stream of messages. A socket that was asked and delivers no message for ten seconds
 * counts as lost. A message longer than `maxResponseBytes`, and one of more than 12 MiB that names no request, ends the
 * connection with `NodeLimitExceeded`; each value of a long message counts 24 bytes at least. Throws
 * `InvalidConnection`, which names the wrong option.
 */
export const layerSocket = (
  options: Options & Pick<PostingOptions, "maxResponseBytes"> = {},
): Layer.Layer<Rpc, never, Socket> => {
  checkSocket(options);
  return Effect.gen(function* () {
    const { overSocket } = yield* lazyImport(() => import("./rpc/socket.js"));
    const { send, subscribe } = yield* overSocket(options.maxResponseBytes ?? mostBytes);
    return yield* over(() => send, "socket", options, subscribe);
  }).pipe(Layer.effect(Rpc));
};

/** Anything that answers JSON-RPC requests: a viem client, or an EIP-1193 provider such as a wallet. */
export interface Requester {
  // `never`: each has its own, narrower types of the methods it knows
  /** Sends one request, `{ method, params }`, and resolves with its result. */
  request(args: never, options?: never): Promise<unknown>;
}

const requestOf =
  (requester: Requester): Parameters<typeof sendForeign>[0] =>
  (args, options) =>
    requester.request(args as never, options as never);

/** Over what has a viem transport's `value`, by whose `url` the endpoint is named. */
const overViem = (requester: Requester, value: unknown, otherwise: string, options: Options) => {
  const url = typeof value === "object" && value !== null && "url" in value ? value.url : undefined;
  const named = typeof url === "string" && url !== "" ? endpointOf(url) : { shown: otherwise, redact: redactUrls };
  const send = sendForeign(requestOf(requester), named.redact, letGoBy(value));
  const subscribe: Rpc["Service"]["subscribe"] = isSubscribing(value)
    ? (params, hear) => subscription(value, named.redact, params, hear)
    : undefined;
  return over(() => send, named.shown, options, subscribe);
};

/** The part of a viem client that is used. */
export interface ViemClient extends Requester {
  /** Its transport, by whose `url` the endpoint is named. */
  readonly transport?: unknown;
  /** Its name, where the transport has no `url`. */
  readonly name?: string | undefined;
  /**
   * Its id is the `chainId` of every transaction that names none. Its name, currency, block time and
   * `contracts.gasPriceOracle` take precedence over the `Chains` layer and the table.
   */
  readonly chain?: { readonly id: number } | undefined;
  /** The sender of every transaction that names none. */
  readonly account?: { readonly address: `0x${string}` } | undefined;
}

/** The sender of transactions that name none, over this client: its account (`client`) if it has one. */
export type SenderOf<client> = client extends { readonly account: { readonly address: string } } ? "client" : "caller";

/**
 * A viem client. Its batching works; its retries are off, because the reason of each error decides here. Its `chain`
 * and `account` are the `chainId` and `from` of every transaction that names none; a transaction that names others is
 * refused. Throws `InvalidConnection`, which says what is wrong.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Eth, Rpc } from "evm-preflight";
 * import { createClient, http } from "viem";
 *
 * const client = createClient({ transport: http("http://127.0.0.1:8545") });
 * console.log(await Effect.runPromise(Effect.provide(Eth.chainId, Rpc.layerClient(client)))); // 31337
 * ```
 */
export const layerClient = (client: ViemClient, options: Options = {}): Layer.Layer<Rpc> => {
  const described = checkClient(client, options);
  const rpc = overViem(client, client.transport, client.name ?? "viem client", options);
  return Effect.map(rpc, (service) => ({ ...service, ...described })).pipe(Layer.effect(Rpc));
};

/**
 * A viem transport, such as `http(url, { batch: true })`, `fallback([…])` or `webSocket(url, { reconnect: false })`.
 * `Eth.watchHeads` and `Eth.watchLogs` subscribe through a socket, and open a lost one again themselves.
 *
 * For the Unix socket of a node use {@link layerSocket}: viem's `ipc` (2.57) takes a brace inside a text for one of
 * JSON's, so a contract that reverts with `}` ends the process. Throws `InvalidConnection`, which says what is wrong.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Eth, Rpc } from "evm-preflight";
 * import { fallback, http } from "viem";
 *
 * const nodes = Rpc.layerTransport(fallback([http("http://127.0.0.1:9"), http("http://127.0.0.1:8545")]));
 * console.log(await Effect.runPromise(Effect.provide(Eth.chainId, nodes))); // 31337
 * ```
 */
export const layerTransport = (transport: ViemTransport, options: Options = {}): Layer.Layer<Rpc> => {
  const instance = checkTransport(transport, options);
  const problem = "must give an object, as viem's do";
  if (!isRecord(instance) || typeof instance.request !== "function" || !isRecord(instance.config))
    return Result.getOrThrow(Result.fail(new InvalidConnection({ field: "transport", problem })));
  return Layer.effect(Rpc, overViem(instance, instance.value, instance.config.name, options));
};

/** An EIP-1193 provider, such as a wallet in the browser. Throws `InvalidConnection`, which says what is wrong. */
export const layerProvider = (provider: Requester, options: Options = {}): Layer.Layer<Rpc> => {
  checkProvider(provider, options);
  const rpc = over(() => sendForeign(requestOf(provider), redactUrls), "EIP-1193 provider", options);
  return Layer.effect(Rpc, rpc);
};

/**
 * One endpoint of a {@link quorum}: its URL with the options of {@link layerHttp} beside it, or a layer of your own.
 */
export type QuorumEndpoint =
  | ({
      readonly url: string;
      /** The company that runs it. Default: the last two labels of the host, or `host:port` of an IP address. */
      readonly provider?: string | undefined;
    } & HttpOptions)
  | { readonly layer: Layer.Layer<Rpc>; readonly provider: string };

/**
 * Several endpoints as one, which must agree on what is measured: simulations, code, counts, balances, calls, chain id,
 * blocks, logs, receipts, transactions, and `eth_feeHistory`. All are asked at once. The first endpoint's answer is
 * handed on; it is confirmed if `agree` providers, the first among them, give it alike. A higher block, a later clock or
 * a coming fork does not count if all who report it may lie. Answers that can change nothing are not waited for. The
 * first endpoint alone sends transactions and estimates gas.
 *
 * If `agree` endpoints are honest, the first among them, and are the most, no other one changes verdict, sentences or
 * limits. If the first one fails, so does the request.
 *
 * If fewer agree, a difference about sealed state is `WitnessesDisagree`, a blocker with both values. One about
 * pending state is `DependsOnPending`, at most `caution`. Anything else is `QuorumMissing`, and the verdict is
 * `unknown`. An endpoint with another head is asked once more about a block that both have (the run `pinned`). Outside
 * the pipeline a request fails instead, with `WitnessesDisagree` or `UpstreamUnavailable`.
 *
 * Endpoints of one provider count once. Throws `InvalidConnection` if there are fewer than two different providers, if
 * `agree` is below 2 or above their number, if an option is wrong, or if an address does not show who runs it (`co.uk`,
 * shared hosting).
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Preflight, Rpc } from "evm-preflight";
 *
 * const nodes = Rpc.quorum([
 *   { url: "http://127.0.0.1:8545", provider: "ours" },
 *   { url: "http://localhost:8545", provider: "theirs" },
 * ]);
 * const report = await Preflight.preflight({
 *   from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
 *   to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
 *   value: 1n,
 * }).pipe(Effect.provide(nodes), Effect.runPromise);
 * console.log(report.verdict); // ready
 * ```
 */
export const quorum = (endpoints: ReadonlyArray<QuorumEndpoint>, options: QuorumOptions = {}): Layer.Layer<Rpc> => {
  // why: null is no options, which the check says
  const { agree = 2, waitMs = 3_000, chain } = options ?? {};
  const members = Arr.map(checkQuorum(endpoints, options, agree), ([endpoint, provider]) => {
    if ("layer" in endpoint) return { provider, layer: endpoint.layer };
    const { url, provider: _, ...options } = endpoint;
    return { provider, layer: layerHttp(url, options) };
  });
  // why: few are asked by several, and what compares them weighs much
  const loaded = lazyImport(() => import("./rpc/quorum/layer.js"));
  const layer = Layer.unwrap(Effect.map(loaded, ({ quorumOf }) => quorumOf(members, { agree, waitMs })));
  const described = Effect.map(Effect.service(Rpc), (rpc) => ({ ...rpc, ...describedBy(chain) }));
  return chain === undefined ? layer : Layer.provide(Layer.effect(Rpc, described), layer);
};
