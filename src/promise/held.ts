/** What a call had committed when it was cut off: a rejection without a word of it would read as if it could be tried again. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { NonceStore } from "../NonceStore.js";
import { NonceError, PartlySent } from "../errors/nonces.js";
import type { Hash } from "../primitives/hex.js";

/** What one call took: the tokens of its nonces, and what it committed, or may have, in order. */
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
      reserve: (...asked: Parameters<typeof store.reserve>) =>
        Effect.tap(store.reserve(...asked), ({ answer }) =>
          Effect.sync(() => (answer._tag === "Granted" ? holding.tokens.add(asked[1].token) : null)),
        ),
      commit: (...asked: Parameters<typeof store.commit>) => {
        const [{ id: lane }, { nonce }, { hash }] = asked;
        return Effect.suspend(() => {
          holding.committed.set(hash, { lane, nonce, hash });
          return Effect.tap(store.commit(...asked), (answer) =>
            Effect.sync(() => (answer === "committed" ? null : holding.committed.delete(hash))),
          );
        });
      },
    })),
  );

/** Of the protocol's own failures only: a request that failed knows nothing of what the call committed before. */
const isTold = Schema.is(NonceError);

/** What a call rejects with: `error`, where that says itself what may be sent, or nothing was committed; else what is held. */
export const heldError = ({ tokens, committed }: Holding, error: unknown): unknown => {
  const sent = [...committed.values()];
  const inDoubt = sent.pop();
  if (inDoubt === undefined || isTold(error)) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new PartlySent({ sent, inDoubt, left: tokens.size - committed.size, detail });
};
