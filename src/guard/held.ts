/** Accounts of a wallet that was handed a transaction which nobody has shown since. */
import type * as Effect from "effect/Effect";
import { isRecord, type Hash } from "../primitives/index.js";
import type { Rpc } from "../rpc/index.js";

/** What an account may have in flight. */
export interface Held {
  /** Null where the wallet answered with none. */
  readonly hash: Hash | null;
  /** The nonce that was cleared. */
  readonly nonce: number;
  /** Whether somebody shows the transaction now. */
  readonly isShown: Effect.Effect<boolean, never, Rpc>;
}

/** By chain and account. */
export type HeldAccounts = Map<string, Held>;

export const heldKey = (chainId: number | null, account: string): string => `${chainId} ${account.toLowerCase()}`;

const known = new WeakMap<object, HeldAccounts>();

/** Of a wallet, by its provider or transport: a guard that is made anew of the same holds the same. */
export const heldOf = (wallet: object): HeldAccounts => {
  const all: HeldAccounts = known.get(wallet) ?? new Map();
  known.set(wallet, all);
  return all;
};

/** By what a guard hands out, too. */
export const alsoHeldBy = (guarded: object, all: HeldAccounts): void => void known.set(guarded, all);

/**
 * Lets an account of a guarded provider or client send again, though what its wallet was handed (`Unverified`, `SentByOther`) may
 * yet be mined: then both are paid for. `account` is the sender's address. False where nothing was held.
 *
 * JSON-RPC: none.
 */
export const releaseHeld = (guarded: object, account: string): boolean => {
  const transport: unknown = Reflect.get(guarded, "transport");
  const all = known.get(guarded) ?? (isRecord(transport) ? known.get(transport) : undefined);
  const end = ` ${account.toLowerCase()}`;
  return [...(all?.keys() ?? [])].filter((key) => key.endsWith(end) && all?.delete(key)).length > 0;
};
