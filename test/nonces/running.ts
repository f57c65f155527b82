/** The protocol on a simulated chain and a memory store of its own, with short times. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { it } from "vitest";
import { NonceStore, type Store } from "../../src/NonceStore.js";
import * as Nonces from "../../src/Nonces.js";
import type { Rpc } from "../../src/Rpc.js";
import { layerNonces } from "../../src/testing.js";
import { lane, sign, SimulatedChain } from "./chain.js";

export const quick = { ...Nonces.defaults, burnedAfterMs: 60, resendAfterMs: 0, storeTimeoutMs: 100 };

/** The memory store, changed. */
export const changed = (change: (store: Store) => Partial<Store>): Layer.Layer<NonceStore> =>
  Layer.effect(
    NonceStore,
    Effect.map(NonceStore, (store) => ({ ...store, ...change(store) })),
  ).pipe(Layer.provide(layerNonces));

export const run = <A, E>(
  chain: SimulatedChain,
  effect: Effect.Effect<A, E, NonceStore | Rpc>,
  options: { readonly settings?: Partial<typeof quick>; readonly store?: Layer.Layer<NonceStore> } = {},
): Promise<A> =>
  Effect.runPromise(
    effect.pipe(
      Effect.provide(Layer.mergeAll(chain.layer(), options.store ?? layerNonces)),
      Effect.provideService(Nonces.Settings, { ...quick, ...options.settings }),
    ),
  );

/** A test on a simulated chain of its own. */
export const itOnChain = (
  what: string,
  use: (chain: SimulatedChain) => Generator<Effect.Effect<unknown, unknown, NonceStore | Rpc>, void>,
): void =>
  it(what, () => {
    const chain = new SimulatedChain();
    return run(
      chain,
      Effect.gen(() => use(chain)),
    );
  });

/** Until it holds: whoever waits for what happens needs no time that is long enough. */
export const until = (holds: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => (holds() ? Effect.void : Effect.andThen(Effect.sleep(2), until(holds))));

/** Sends one transaction with the next nonce. */
export const send = (value?: bigint) => Nonces.withNonce(lane, (nonce) => sign(nonce, value));
