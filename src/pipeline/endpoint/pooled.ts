/** What the node's pool holds of the signers that have transactions in flight, and the balance that it judges by. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { asking } from "../../eth/ask.js";
import * as Eth from "../../eth/index.js";
import { getPooled } from "../../eth/transactions.js";
import type { Address } from "../../primitives/hex.js";
import type { Rpc } from "../../rpc/index.js";
import type { Pooled } from "../../steps/reading/pooled.js";

/** A signer, and the nonces of it that the node counts in flight. */
export interface InFlight {
  readonly account: Address;
  readonly nonces: ReadonlyArray<number>;
}

/** The nonces from the mined count up to the pending one; nobody with none in flight, or whose counts are not known. */
export const inFlightOf = (
  account: Address,
  { latest, inFlight }: { readonly latest: number | null; readonly inFlight: number | null },
): ReadonlyArray<InFlight> =>
  latest === null || inFlight === null || inFlight === 0
    ? []
    : [{ account, nonces: Array.from({ length: Math.min(inFlight, 1_024) }, (_, index) => latest + index) }];

const atOnce = { concurrency: "unbounded" } as const;

const askOne = ({ account, nonces }: InFlight): Effect.Effect<readonly [Address, Pooled], never, Rpc> =>
  Effect.map(
    Effect.all(
      [Effect.result(getPooled(account, nonces)), Effect.result(Eth.getBalance({ address: account, block: "latest" }))],
      atOnce,
    ),
    ([transactions, balance]) => [
      account,
      {
        transactions: Result.getOrElse(transactions, () => new Map<never, never>()),
        balance: Result.getOrElse(balance, () => null),
      },
    ],
  );

/** By account; never fails: what a node does not tell is not known. */
export const askPooled = (wanted: ReadonlyArray<InFlight>): Effect.Effect<ReadonlyMap<Address, Pooled>, never, Rpc> =>
  asking(
    { step: "nonce" },
    Effect.map(Effect.forEach(wanted, askOne, atOnce), (found) => new Map(found)),
  );
