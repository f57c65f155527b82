/** Nonces over Promises: lanes that are started, kept and repaired by one call each. */
import * as Effect from "effect/Effect";
import type { NonceStore } from "../NonceStore.js";
import * as Nonces from "../Nonces.js";
import type { LaneId } from "../nonces/lane.js";
import { checkKept } from "../nonces/protocol/reconcile.js";
import type { Hash } from "../primitives/hex.js";
import type { Abortable, Facade } from "./facade.js";
import { functionGiven } from "./given.js";

/** Broadcasts signed bytes, and answers as `eth_sendRawTransaction` does: with the hash. Whatever else it answers counts as unknown. */
export type Send = (raw: `0x${string}`) => Promise<unknown>;

/** Reads the counts of a lane with a key, of which the node knows none. */
export type ReadCounts = (lane: LaneId) => Promise<Nonces.Counts>;

/** Options of one `withNonce`. */
export interface WithNonceOptions extends Nonces.ReserveOptions, Abortable {
  /** Broadcasts this transaction first; the client's `send`, else `eth_sendRawTransaction`, when left out. */
  readonly send?: Send | undefined;
}

/** A lane that is kept, until `stop` or the client's `dispose`. */
export interface Keeping {
  /** Ends it; resolves when nothing of it runs any more. */
  readonly stop: () => Promise<void>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

/** What the lanes of the client's store need beside sending. */
export interface NonceActions {
  /**
   * `Nonces.bootstrap`: starts a lane that the store does not know, when nothing of it is in flight for
   * `settleMs` (15 s). Call it at every start: for a lane that is known it resolves at once, with false.
   * Rejects with `NonceColdStart` while something is in flight.
   */
  readonly bootstrap: (
    lane: Nonces.Lane,
    options?: { readonly settleMs?: number | undefined; readonly counts?: ReadCounts | undefined } & Abortable,
  ) => Promise<boolean>;
  /**
   * `Nonces.keep`: settles, and sends again what was lost, every `everyMs` (5 s), until it is stopped.
   * What fails is logged at Warning, told to `log` and counted, and never ends it. One process per lane
   * is enough, several do no harm. Rejects with `InvalidLane`, also for a lane with a key without `counts`.
   */
  readonly keep: (
    lane: Nonces.Lane,
    options?: {
      readonly everyMs?: number | undefined;
      readonly counts?: ReadCounts | undefined;
      readonly send?: Send | undefined;
    },
  ) => Promise<Keeping>;
  /**
   * `Nonces.sendReplacement`: records `raw` at the nonce in place of the transaction `replaces`, then
   * sends it. For what is stuck, or was refused with `mayBeSent`.
   */
  readonly replace: (
    lane: Nonces.Lane,
    nonce: bigint,
    replaces: `0x${string}`,
    raw: `0x${string}`,
    options?: Abortable,
  ) => Promise<Nonces.Sent>;
  /** `Nonces.status`: where the lane stands. Rejects with `NonceColdStart`. */
  readonly status: (lane: Nonces.Lane, options?: Abortable) => Promise<Nonces.Status>;
}

const attempt = <A>(ask: () => Promise<A>) => Effect.tryPromise({ try: ask, catch: (error) => error });

const sendOf =
  (send: Send): Nonces.Send =>
  (raw) =>
    attempt(() => send(raw));

const countsOf = (counts: ReadCounts | undefined) =>
  counts === undefined ? {} : { counts: (lane: LaneId) => attempt(() => counts(lane)) };

type WithNonce = (
  lane: Nonces.Lane,
  sign: (nonce: bigint) => Promise<`0x${string}`>,
  options?: WithNonceOptions,
) => Promise<Nonces.Sent>;

export { deliverAll } from "./deliver.js";
export { recording } from "./held.js";

/** The actions, each as the effect that its promise runs. */
export const withNonce = (...[lane, sign, { send, ...options } = {}]: Parameters<WithNonce>) =>
  Effect.andThen(
    Effect.fromResult(functionGiven("sign", sign)),
    Nonces.withNonce(
      lane,
      (nonce) => attempt(() => sign(nonce)),
      send === undefined ? undefined : sendOf(send),
      options,
    ),
  );

export const bootstrap = (...[lane, { settleMs, counts } = {}]: Parameters<NonceActions["bootstrap"]>) =>
  Nonces.bootstrap(lane, { settleMs, ...countsOf(counts) });

export const keep = (
  { effect }: Pick<Facade<NonceStore>, "effect">,
  ...[lane, { everyMs, counts, send } = {}]: Parameters<NonceActions["keep"]>
) =>
  Effect.map(checkKept(lane, counts !== undefined), (): Keeping => {
    const given = { everyMs, send: send === undefined ? undefined : sendOf(send), ...countsOf(counts) };
    const stopping = new AbortController();
    const ended = effect(Nonces.keep(lane, given), { signal: stopping.signal }).catch(() => undefined);
    const stop = () => {
      stopping.abort();
      return ended;
    };
    return { stop, [Symbol.asyncDispose]: stop };
  });

export const replace = (...[lane, nonce, replaces, raw]: Parameters<NonceActions["replace"]>) =>
  Nonces.sendReplacement(lane, nonce, replaces as Hash, raw);

export const status = (...[lane]: Parameters<NonceActions["status"]>) => Nonces.status(lane);
