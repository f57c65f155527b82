/** Recovers who signed transactions' authorisations, before anything reads it: few have any, and the curve is large. */
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { lazyImport } from "../primitives/effects.js";
import { lower, type Address } from "../primitives/hex.js";
import { isUnsigned, type Authorization, type Transaction, type UnsignedAuthorization } from "./fields.js";

const loading = lazyImport(() => import("./signer.js"));

/** Until the first are recovered: whoever reads one earlier must not take "no signature" for the answer. */
let recover: (entry: Authorization) => Address | null = () =>
  Result.getOrThrow(Result.fail("an authority was read before `recoverAuthorities`"));

/** The authority of an authorisation: the one it names, or `authorityOf` where {@link recoverAuthorities} was given it. */
export const recoveredAuthority = (entry: Authorization | UnsignedAuthorization): Address | null =>
  isUnsigned(entry) ? lower(entry.authority) : recover(entry);

/** Authorisations that are recovered between two turns of the event loop. */
const atOnce = 8;

/** Recovers the authorities of transactions, a few at a time: what reads them after it stalls nothing. */
export const recoverAuthorities = (
  transactions: ReadonlyArray<Pick<Transaction, "authorizationList">>,
): Effect.Effect<void> => {
  const entries = transactions.flatMap(({ authorizationList }) =>
    (authorizationList ?? []).flatMap((entry) => (isUnsigned(entry) ? [] : entry)),
  );
  if (entries.length === 0) return Effect.void;
  return Effect.flatMap(loading, ({ authorityOf }) => {
    recover = authorityOf;
    return Effect.forEach(
      Arr.chunksOf(entries, atOnce),
      (some) =>
        Effect.andThen(
          Effect.sync(() => some.forEach(authorityOf)),
          Effect.yieldNow,
        ),
      { discard: true },
    );
  });
};
