/** A client of the Promise entries: the pipeline on one connection, with the parts that are handed in. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Result from "effect/Result";
import type { Transport } from "viem";
import type { Head, HeadOptions, Log, LogFilter, LogOptions } from "../Eth.js";
import type * as Nonces from "../Nonces.js";
import { layerMemoryBy, Sender, type NonceStore } from "../nonces/service.js";
import { lazyImport } from "../primitives/index.js";
import type { Report as AnyReport } from "../report/index.js";
import { checkConnection } from "../rpc/connection.js";
import * as Rpc from "../Rpc.js";
import type * as Transaction from "../Transaction.js";
import type { Watched } from "../watch/watch.js";
import type { Delivered, DeliverOptions, Sign } from "./deliver.js";
import * as Promises from "./facade.js";
import { defaultsGiven, recordGiven, reportGiven, signalGiven } from "./given.js";
import type { Holding, NonceActions, Send } from "./nonces.js";
import { loaderOf, type Part } from "./parts.js";

/** The way to one node: as {@link Connection}, without several endpoints that must agree. */
export type SingleConnection<client extends Rpc.ViemClient = Rpc.ViemClient> =
  | ({ readonly url: string } & Rpc.HttpOptions)
  | ({ readonly client: client } & Rpc.Options)
  | ({ readonly transport: Transport } & Rpc.Options)
  | ({ readonly provider: Rpc.Requester } & Rpc.Options)
  | { readonly layer: Layer.Layer<Rpc.Rpc> };

/**
 * The way to the node: a URL (with `Rpc.HttpOptions` beside it), a viem client (its chain and account are those of
 * every transaction that names none), a viem transport, an EIP-1193 provider, several endpoints that must agree
 * (`Rpc.quorum`), or a layer of your own, such as those of `evm-preflight/testing`.
 */
export type Connection<client extends Rpc.ViemClient = Rpc.ViemClient> =
  | SingleConnection<client>
  | ({ readonly endpoints: ReadonlyArray<Rpc.QuorumEndpoint> } & Rpc.QuorumOptions);

const layerOf = (input: Connection & Promises.GivenSteps): Layer.Layer<Rpc.Rpc> => {
  checkConnection(input);
  // why: the connection's own checks know nothing of steps
  const { steps: _, without: __, ...connection } = input;
  if ("url" in connection) return Rpc.layerHttp(connection.url, connection);
  if ("endpoints" in connection) return Rpc.quorum(connection.endpoints, connection);
  if ("client" in connection) return Rpc.layerClient(connection.client, connection);
  if ("transport" in connection) return Rpc.layerTransport(connection.transport, connection);
  return "layer" in connection ? connection.layer : Rpc.layerProvider(connection.provider, connection);
};

/**
 * Scans, reserves nonces, proves with them, has the cleared requests signed, commits and sends them. `sign` must sign
 * exactly the request that it gets. No nonce is used twice, whatever fails in between. `deliver(sign)(tx, options)` is
 * the same.
 *
 * Rejects with the reason against sending, and with the errors of `Nonces`. Nothing is sent then, unless the error's
 * `mayBeSent` is true: `SendRejected` (a node refused the bytes, which keep their nonce) and `PartlySent` (a bundle
 * stopped; it says what was sent). A `caution` report rejects with `NotProven` of `Caution`, unless `onCaution`
 * allows it. The cause of `ExecutionReverted` is viem's `ContractFunctionRevertedError`, decoded by the ABI of the call;
 * `walk` finds it, as in viem's errors.
 *
 * A clearance that expires during signing, or while earlier transactions are sent, is proven again before the commit.
 * A new reason against sending rejects then, also a changed outcome. A request that must wait for others
 * (`Clearance.waits`) is proven again with all that follow it, and is committed and sent when the others are mined.
 * Each may wait as long as its nonce is leased (60 s, `Nonces.Settings`); after that it rejects with `NotProven` of
 * `NotMined`.
 */
export interface Deliver<sender extends "caller" | "client" = "caller"> {
  (sign: Sign): Transaction.TakesInput<DeliverOptions, Promise<Delivered>, sender>;
  <const input>(
    input: [input] extends [never] ? input : Transaction.JudgedInput<input, sender>,
    sign: Sign,
    options?: DeliverOptions,
  ): Promise<Delivered>;
}

/** The pipeline on one connection. */
export interface PreflightClient<sender extends "caller" | "client" = "caller"> extends Promises.Facade<
  NonceStore,
  sender
> {
  /** The same as `preflight`, by its earlier name. */
  readonly run: Promises.Actions<sender>["preflight"];
  /** Scans, proves, has the requests signed, commits and sends them, with nonces from the store. Leave nonces out. */
  readonly deliver: Deliver<sender>;
  /**
   * `Nonces.withNonce`: takes the lane's next nonce, has it signed, commits it and sends it. For transactions that
   * need no report. Rejects as `deliver` does: nothing was or will be sent unless `mayBeSent` is true. After an abort
   * that follows the commit, `nonces.keep` goes on sending; the rejection is then `PartlySent`, which names what is in
   * doubt, not `signal.reason`.
   */
  readonly withNonce: (
    lane: Nonces.Lane,
    sign: (nonce: bigint) => Promise<`0x${string}`>,
    options?: Nonces.ReserveOptions &
      Promises.Abortable & {
        /** Broadcasts this transaction first; the client's `send`, else `eth_sendRawTransaction`, when left out. */
        readonly send?: Send | undefined;
        /** As `deliver` has it; not with a `send`. */
        readonly sync?: DeliverOptions["sync"];
      },
  ) => Promise<Nonces.Sent>;
  /** The upkeep of lanes beside sending: `bootstrap` once, `keep` in at least one process. */
  readonly nonces: NonceActions;
  /**
   * `Preflight.watch`: an event for a proven report at each new head, without end: `Fresh`, `Moved` or `Lost`. All
   * reports of a connection are watched by one stream of heads (`Defaults.heads`). Its `next` rejects as `ready` does
   * where the report gives no clearance, and as `watchHeads` does; with `signal.reason` once that is aborted.
   */
  readonly watch: (report: AnyReport, options?: Promises.RunOptions) => AsyncIterable<Watched>;
  /** `Eth.watchHeads`: the heads of the chain, from the present one on. */
  readonly watchHeads: (options?: HeadOptions & Promises.Abortable) => AsyncIterable<Head>;
  /** `Eth.watchLogs`: logs of every block after the present one, or of pending state. */
  readonly watchLogs: (
    filter: Pick<LogFilter, "address" | "topics">,
    options?: LogOptions & Promises.Abortable,
  ) => AsyncIterable<Log>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

/** Options of every call that gives no others, the listeners, and the store of the nonces. */
export interface Defaults extends Promises.Defaults {
  /** The store that `deliver` and `withNonce` reserve in; `NonceStore.layerMemory` of this process when left out. */
  readonly nonces?: Layer.Layer<NonceStore> | undefined;
  /**
   * Broadcasts in place of `eth_sendRawTransaction`, such as a private relay: first sends, what `keep` sends
   * again, and replacements. It answers with the hash, or rejects with what the relay said.
   */
  readonly send?: Send | undefined;
  /** Options of the stream of heads by which reports are watched. */
  readonly heads?: HeadOptions | undefined;
}

/** An iterable whose iterator comes from what is still to be loaded. */
const later = <A>(open: () => Promise<AsyncIterator<A>>): AsyncIterable<A> => ({
  [Symbol.asyncIterator]: () => {
    const opened = open();
    const end = (iterator: AsyncIterator<A>) =>
      iterator.return?.() ?? Promise.resolve<IteratorResult<A>>({ done: true, value: undefined });
    return { next: () => opened.then((iterator) => iterator.next()), return: () => opened.then(end) };
  },
});

/** A client with these parts. A verb whose part is not among them rejects with `InvalidConnection`, which names it. */
export const clientWith = <client extends Rpc.ViemClient>(
  parts: ReadonlyArray<Part>,
  connection: Connection<client> & Promises.GivenSteps,
  given?: Defaults,
): PreflightClient<Rpc.SenderOf<client>> => {
  const loadNonces = loaderOf(parts, "sending");
  const nonceActions = lazyImport(loadNonces);
  const watching = lazyImport(loaderOf(parts, "watching"));
  const { nonces, send, log, heads, ...defaults } = defaultsGiven(given);
  const sender = Layer.succeed(Sender, send == null ? null : (raw) => Promises.attempt(() => send(raw)));
  const layer = Layer.mergeAll(layerOf(connection), nonces ?? layerMemoryBy(loadNonces), sender);
  const { steps, without } = connection;
  const facade = Promises.make<NonceStore>(
    layer,
    { ...defaults, log },
    { steps, without },
    lazyImport(loaderOf(parts, "settling")),
  );
  // why: a page loads the nonce protocol when somebody sends, not with the pipeline; nothing is reserved before
  const act = <A, E>(
    use: (actions: Effect.Success<typeof nonceActions>) => Effect.Effect<A, E, Rpc.Rpc | NonceStore>,
    options?: Promises.Abortable,
  ) => facade.effect(Effect.flatMap(nonceActions, use), options);
  /** As `act`; an abort, or the end of the client, does not hide what was committed before it. */
  const commit = <A, E>(use: Parameters<typeof act<A, E>>[0], options?: Promises.Abortable) => {
    const holding: Holding = { tokens: new Set(), committed: new Map() };
    return act((actions) => actions.recording(holding, use(actions)), options).catch((error: unknown) =>
      holding.committed.size === 0
        ? Promise.reject(error)
        : loadNonces().then(({ heldError }) => Promise.reject(heldError(holding, error))),
    );
  };
  const delivering =
    (sign: unknown, input: unknown, options?: DeliverOptions) =>
    ({ deliverAll }: Effect.Success<typeof nonceActions>) =>
      deliverAll(sign as Sign, input, Promises.withDefaults(defaults, options));
  let following: Promise<ReturnType<Effect.Success<typeof watching>["followWith"]>> | null = null;
  const follow = () =>
    (following ??= Effect.runPromise(watching).then(({ followWith }) => followWith(facade.effect, heads ?? {})));
  const iterable = <A>(
    given: Result.Result<unknown, unknown>,
    options: Promises.Abortable | undefined,
    open: (on: Awaited<ReturnType<typeof follow>>, signal: AbortSignal | undefined) => AsyncIterator<A>,
  ) =>
    later(() =>
      Result.match(Result.all([signalGiven(options), given]), {
        onFailure: (wrong) => Promise.reject(wrong),
        onSuccess: ([signal]) => follow().then((on) => open(on, signal)),
      }),
    );
  // why: where the watching could not be loaded, nothing has to end
  const dispose = () =>
    Promise.resolve(
      following?.then(
        (on) => on.end(),
        () => undefined,
      ),
    ).then(facade.dispose);
  return {
    ...facade,
    run: facade.preflight,
    // why: a transaction is no function, and a signer always one
    // `never`: both forms are judged by `Deliver`
    deliver: (...[first, sign, options]: [unknown, unknown?, DeliverOptions?]) =>
      (typeof first === "function"
        ? (input: unknown, others?: DeliverOptions) => commit(delivering(first, input, others), others)
        : commit(delivering(sign, first, options), options)) as never,
    withNonce: (lane, sign, options) => commit(({ withNonce }) => withNonce(lane, sign, options), options),
    nonces: {
      bootstrap: (lane, options) => act(({ bootstrap }) => bootstrap(lane, options), options),
      keep: (lane, options) => act(({ keep }) => keep(facade, lane, options)),
      replace: (lane, nonce, replaces, raw, options) =>
        act(({ sendReplacement }) => sendReplacement(lane, nonce, replaces, raw), options),
      status: (lane, options) => act((actions) => actions.status(lane), options),
    },
    watch: (report, options) =>
      iterable(reportGiven(report), options, (on, signal) =>
        on.report(Promises.withAge(report, defaults), Promises.withFunctions(report, options, defaults), signal),
      ),
    watchHeads: (options) => iterable(Result.void, options, (on, signal) => on.heads(options ?? {}, signal)),
    watchLogs: (filter, options) =>
      iterable(recordGiven("filter", filter), options, (on, signal) => on.logs(filter, options ?? {}, signal)),
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
};
