/** The services of the nonce protocol: its store, by itself that of the process, who broadcasts, and the settings. */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { lazyImport, type Hex } from "../primitives/index.js";
import type { Keep } from "./laneRules.js";
import type { Result, Store } from "./store.js";

/** The store of nonces. */
export class NonceStore extends Context.Service<NonceStore, Store>()("evm-preflight/NonceStore") {}

/** The process's store in memory, whose code is loaded with its first operation: who only simulates never loads it. */
export const layerMemoryBy = (
  load: () => Promise<{ readonly memoryOfProcess: Effect.Effect<Store> }>,
): Layer.Layer<NonceStore> =>
  Layer.effect(
    NonceStore,
    Effect.map(Effect.cached(Effect.flatMap(lazyImport(load), ({ memoryOfProcess }) => memoryOfProcess)), (loaded) => {
      const later =
        <Given extends ReadonlyArray<unknown>, A>(operation: (store: Store) => (...input: Given) => Result<A>) =>
        (...input: Given): Result<A> =>
          Effect.flatMap(loaded, (store) => operation(store)(...input));
      return {
        kind: "memory",
        persistent: false,
        bootstrap: later(({ bootstrap }) => bootstrap),
        reserve: later(({ reserve }) => reserve),
        commit: later(({ commit }) => commit),
        release: later(({ release }) => release),
        recycle: later(({ recycle }) => recycle),
        replace: later(({ replace }) => replace),
        report: later(({ report }) => report),
        reconcile: later(({ reconcile }) => reconcile),
        adopt: later(({ adopt }) => adopt),
        forget: later(({ forget }) => forget),
        read: later(({ read }) => read),
        mark: later(({ mark }) => mark),
        setMark: later(({ setMark }) => setMark),
        check: later(({ check }) => check),
        lanes: Effect.flatMap(loaded, ({ lanes }) => lanes),
      };
    }),
  );

/**
 * Nonces of one process: the same ones however often, and by however many clients, this is provided. When it ends, what was in flight is only on the chain: lanes start again from its counts.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import * as Layer from "effect/Layer";
 * import { Nonces, NonceStore, Rpc } from "evm-preflight";
 *
 * const lane = { chainId: 31337, address: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC" } as const;
 * const nonce = await Nonces.reserve(lane).pipe(
 *   Effect.map((lease) => lease.nonce), // the scope ends with nothing committed: the nonce is free again
 *   Effect.scoped,
 *   Effect.provide(Layer.merge(Rpc.layerHttp("http://127.0.0.1:8545"), NonceStore.layerMemory)),
 *   Effect.runPromise,
 * );
 * console.log(nonce); // 0n
 * ```
 */
export const layerMemory: Layer.Layer<NonceStore> = layerMemoryBy(() => import("./memory.js"));

/**
 * Default broadcaster of first sends, replacements, and resends by `keep`.
 * For private relays; null = `eth_sendRawTransaction` of the `Rpc`.
 *
 * It broadcasts signed bytes, and answers as `eth_sendRawTransaction` does: with the hash, or with a whole
 * JSON-RPC answer. It may fail with anything; what it answers otherwise counts as `unknown`.
 */
export const Sender = Context.Reference<((raw: Hex) => Effect.Effect<unknown, unknown>) | null>(
  "evm-preflight/Nonces/Sender",
  { defaultValue: () => null },
);

/** How long things take and how many there may be; times in ms. */
export interface Settings extends Keep {
  /** How long a reserved nonce waits for its commit, ms: the longest a crash can hold one up. */
  readonly ttlMs: number;
  /** The most transactions in flight per lane; pools keep 16 per account (geth, reth). */
  readonly inFlight: number;
  /** The same for a sender with an EIP-7702 delegation; pools keep 1. */
  readonly delegatedInFlight: number;
  /** How long after the last send a transaction is sent again, ms; by `keep` only one that the node does not have. */
  readonly resendAfterMs: number;
  /** How long no receipt may exist below the floor before the final block is asked whether the transaction is burned, ms. */
  readonly burnedAfterMs: number;
  /** One try of a store operation, ms: several times the way to the store and back, for it asks more than once, and may have to connect. */
  readonly storeTimeoutMs: number;
  /** Further tries of a store operation; every one is idempotent. */
  readonly storeRetries: number;
  /**
   * True if a nonce goes back when the node refused its transaction for good. Only with a single
   * endpoint: with several, another may have taken the bytes. Without it the nonce stays committed
   * until it is replaced.
   */
  readonly recycleRejected: boolean;
}

/** The settings in use where none are provided. */
export const defaults: Settings = {
  ttlMs: 60_000,
  inFlight: 16,
  delegatedInFlight: 1,
  settledMs: 3_600_000,
  foreignMs: 60_000,
  doubtMs: 15_000,
  // why: more than a slot of Ethereum
  resendAfterMs: 15_000,
  burnedAfterMs: 30_000,
  storeTimeoutMs: 5_000,
  storeRetries: 2,
  recycleRejected: false,
};

/** The service that holds the settings; provide others with `Effect.provideService(Nonces.Settings, …)`. */
export const Settings: Context.Reference<Settings> = Context.Reference("evm-preflight/Nonces/Settings", {
  defaultValue: () => defaults,
});
