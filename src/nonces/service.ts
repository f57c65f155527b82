/** The store of nonces as a service, and the one that every process has. */
import * as Context from "effect/Context";
import * as Layer from "effect/Layer";
import { makeLazyMemory } from "./lazy.js";
import type { Store } from "./store.js";

/** The store of nonces. */
export class NonceStore extends Context.Service<NonceStore, Store>()("evm-preflight/NonceStore") {}

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
export const layerMemory: Layer.Layer<NonceStore> = Layer.effect(NonceStore, makeLazyMemory);
