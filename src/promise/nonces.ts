/** Nonces over Promises: lanes that are started, kept and repaired by one call each. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { NonceError, PartlySent } from "../errors/index.js";
import { NonceStore } from "../NonceStore.js";
import * as Nonces from "../Nonces.js";
import { besideLane, type Given, type LaneId, type Takes } from "../nonces/lane.js";
import { reserveTakes } from "../nonces/protocol/lease.js";
import { checkKept, keepTakes } from "../nonces/protocol/reconcile.js";
import type { Hash } from "../primitives/index.js";
import type { DeliverOptions } from "./deliver.js";
import { attempt, type Abortable, type Facade } from "./facade.js";
import { functionGiven } from "./given.js";

export { memoryOfProcess } from "../nonces/memory.js";

/** Broadcasts signed bytes, and answers as `eth_sendRawTransaction` does: with the hash. Whatever else it answers counts as unknown. */
export type Send = (raw: `0x${string}`) => Promise<unknown>;

/** Functions that the lanes of the client's store need beside sending. */
export interface NonceActions {
  /**
   * `Nonces.bootstrap`: starts a lane that the store does not know, when nothing of it is in flight for
   * `settleMs` (15 s). Call it at every start: for a lane that is known it resolves at once, with false.
   * Rejects with `NonceColdStart` while something is in flight.
   */
  readonly bootstrap: (
    lane: Nonces.Lane,
    options?: {
      readonly settleMs?: number | undefined;
      /** Reads the counts of a lane with a key, of which the node knows none. */
      readonly counts?: ((lane: LaneId) => Promise<Nonces.Counts>) | undefined;
    } & Abortable,
  ) => Promise<boolean>;
  /**
   * `Nonces.keep`: settles, and sends again what was lost, every `everyMs` (5 s), until `stop` or the client's
   * `dispose`; `stop` resolves when nothing of it runs any more.
   * Failures are logged at Warning, passed to `log` and counted; they never end it. One process per lane
   * is enough, several do no harm. Rejects with `InvalidLane`, also for a lane with a key without `counts`.
   */
  readonly keep: (
    lane: Nonces.Lane,
    options?: {
      readonly everyMs?: number | undefined;
      readonly counts?: ((lane: LaneId) => Promise<Nonces.Counts>) | undefined;
      readonly send?: Send | undefined;
    },
  ) => Promise<{ readonly stop: () => Promise<void>; readonly [Symbol.asyncDispose]: () => Promise<void> }>;
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

const sendOf = (send: Send | undefined) =>
  send === undefined ? undefined : (raw: `0x${string}`) => attempt(() => send(raw));

const countsOf = (counts: ((lane: LaneId) => Promise<Nonces.Counts>) | undefined) =>
  counts === undefined ? undefined : (lane: LaneId) => attempt(() => counts(lane));

export { sendReplacement, status } from "../Nonces.js";
export { deliverAll } from "./deliver.js";

/** An action under the options of its call, which are judged before anything is asked; null is none. */
const under = <O extends object, A, E, R>(
  options: O | null | undefined,
  takes: Takes,
  use: (given: Given<O>) => Effect.Effect<A, E, R>,
) => Effect.flatMap(Effect.fromResult(besideLane(options, takes)), use);

/** The actions, each as the effect that its promise runs. */
export const withNonce = (
  lane: Nonces.Lane,
  sign: (nonce: bigint) => Promise<`0x${string}`>,
  options?: Nonces.ReserveOptions &
    Abortable & { readonly send?: Send | undefined; readonly sync?: DeliverOptions["sync"] },
) =>
  under(options, [...reserveTakes, "send", "sync"], ({ send, sync, ...others }) => {
    const sendBy = sendOf(send) ?? (sync ? Nonces.sendSync(sync) : undefined);
    return Effect.andThen(
      Effect.fromResult(functionGiven("sign", sign)),
      Nonces.withNonce(lane, (nonce) => attempt(() => sign(nonce)), sendBy, others),
    );
  });

export const bootstrap = (...[lane, options]: Parameters<NonceActions["bootstrap"]>) =>
  under(options, ["settleMs", "countsBy"], ({ settleMs, counts }) =>
    Nonces.bootstrap(lane, { settleMs, counts: countsOf(counts) }),
  );

export const keep = (
  { effect }: Pick<Facade<NonceStore>, "effect">,
  ...[lane, options]: Parameters<NonceActions["keep"]>
) =>
  under(options, keepTakes, ({ everyMs, send, counts }) => {
    const input = { everyMs, send: sendOf(send), counts: countsOf(counts) };
    return Effect.map(checkKept(lane, input), () => {
      const stopping = new AbortController();
      const ended = effect(Nonces.keep(lane, input), { signal: stopping.signal }).catch(() => undefined);
      const stop = () => {
        stopping.abort();
        return ended;
      };
      return { stop, [Symbol.asyncDispose]: stop };
    });
  });

/**
 * Holdings of one call: the tokens of its nonces, and what it committed, or may have, in order. A call that is cut off
 * has to tell of it: a rejection without a word would read as if it could be tried again.
 */
export interface Holding {
  readonly tokens: Set<string>;
  readonly committed: Map<Hash, { readonly lane: string; readonly nonce: bigint; readonly hash: Hash }>;
}

/** The effect on a store that writes into `holding` what is committed, from when it is asked to until it says no. */
export const recording = <A, E, R>(holding: Holding, effect: Effect.Effect<A, E, R>) =>
  Effect.provideServiceEffect(
    effect,
    NonceStore,
    Effect.map(NonceStore, (store) => ({
      ...store,
      reserve: (...args: Parameters<typeof store.reserve>) =>
        Effect.tap(store.reserve(...args), ({ answer }) =>
          Effect.sync(() => (answer._tag === "Granted" ? holding.tokens.add(args[1].token) : null)),
        ),
      commit: (...args: Parameters<typeof store.commit>) => {
        const [{ id: lane }, { nonce }, { hash }] = args;
        return Effect.suspend(() => {
          holding.committed.set(hash, { lane, nonce, hash });
          return Effect.tap(store.commit(...args), (answer) =>
            Effect.sync(() => (answer === "committed" ? null : holding.committed.delete(hash))),
          );
        });
      },
    })),
  );

/** True for the protocol's own failures only: a request that failed knows nothing of what the call committed before. */
const isTold = Schema.is(NonceError);

/** The error of a call: `error`, where it says itself what may be sent, or nothing was committed; else what is held. */
export const heldError = ({ tokens, committed }: Holding, error: unknown): unknown => {
  const sent = [...committed.values()];
  const inDoubt = sent.pop();
  if (inDoubt === undefined || isTold(error)) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new PartlySent({ sent, inDoubt, left: tokens.size - committed.size, detail });
};
