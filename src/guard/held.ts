/** A guard's memory of a wallet: accounts that may have something in flight, and chains whose node a page named. */
import type * as Effect from "effect/Effect";
import type * as Semaphore from "effect/Semaphore";
import { isRecord, type Hash } from "../primitives/index.js";
import type { Rpc } from "../rpc/index.js";

export const heldKey = (chainId: number | null, account: string): string => `${chainId} ${account.toLowerCase()}`;

/** The memory of a wallet. */
export interface Memory {
  /** Transactions that an account may have in flight, by chain and account. */
  readonly held: Map<
    string,
    {
      /** Null where the wallet answered with none. */
      readonly hash: Hash | null;
      /** The nonce that was cleared. */
      readonly nonce: number;
      /** True if somebody shows the transaction now. */
      readonly isShown: Effect.Effect<boolean, never, Rpc>;
    }
  >;
  /** Chains whose node in the wallet a page may have named, by their ids. */
  readonly pageChains: Set<number>;
  /** A JSON-RPC account signs one at a time, through all guards of its wallet; by address. */
  readonly turns: Map<string, Semaphore.Semaphore>;
}

const known = new WeakMap<object, Memory>();

/** Returns a wallet's memory, by its provider or transport: a guard made anew of the same remembers the same. */
export const memoryOf = (wallet: object): Memory => {
  const memory = known.get(wallet) ?? { held: new Map(), pageChains: new Set(), turns: new Map() };
  known.set(wallet, memory);
  return memory;
};

/** By what a guard hands out, too. */
export const alsoKnownBy = (guarded: object, memory: Memory): void => void known.set(guarded, memory);

/**
 * Lets an account of a guarded provider or client send again, though what its wallet was handed (`Unverified`, `SentByOther`) may
 * yet be mined: then both are paid for. `account` is the sender's address. False where nothing was held.
 *
 * JSON-RPC: none.
 */
export const releaseHeld = (guarded: object, account: string): boolean => {
  const transport: unknown = Reflect.get(guarded, "transport");
  const { held: all } = known.get(guarded) ?? (isRecord(transport) ? known.get(transport) : undefined) ?? {};
  const end = ` ${account.toLowerCase()}`;
  return [...(all?.keys() ?? [])].filter((key) => key.endsWith(end) && all?.delete(key)).length > 0;
};
