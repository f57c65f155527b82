/** The store of nonces as a service, and the one that every process has. */
import * as Context from "effect/Context";
import * as Layer from "effect/Layer";
import { makeLazyMemory } from "./lazy.js";
import type { Store } from "./store.js";

/** The store of nonces. */
export class NonceStore extends Context.Service<NonceStore, Store>()("evm-preflight/NonceStore") {}

/**
 * Nonces of one process: the same ones however often, and by however many clients, this is provided. When it ends, what was in flight is only on the chain: lanes start again from its counts.
 */
export const layerMemory: Layer.Layer<NonceStore> = Layer.effect(NonceStore, makeLazyMemory);
