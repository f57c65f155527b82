/**
 * User operations and transactions of Safes: accounts with code have them signed. Facts of the chain, asked in a round in front, say
 * what is signed and which calls use it; what became of those calls is read from the account's own events.
 */
import * as Effect from "effect/Effect";
import type { ReportOptions } from "../report/schema.js";
import type { Rpc } from "../rpc/index.js";
import { isPlaced, type AnySigning, type PlacedSigning } from "../signing/index.js";
import { judgedOperation } from "./operationJudgement.js";
import { resolvedOperation } from "./operations.js";
import { judgedAsSafe } from "./safeJudgement.js";
import { withSafes } from "./safes.js";
import type { Judgement, Seen } from "./signings.js";

export { looksOf } from "./safes.js";

/** The signatures with those that wait for facts resolved; of one whose facts cannot be read no call is known. */
export const resolved = (
  signings: ReadonlyArray<AnySigning>,
  options: ReportOptions,
): Effect.Effect<ReadonlyArray<PlacedSigning>, never, Rpc> =>
  Effect.flatMap(
    Effect.forEach(
      signings,
      (signing): Effect.Effect<AnySigning, never, Rpc> =>
        !isPlaced(signing) && signing.open.form === "userOperation"
          ? resolvedOperation(signing, signing.open, options)
          : Effect.succeed(signing),
      { concurrency: "unbounded" },
    ),
    (all) => Effect.map(withSafes(all, options), (read) => read.filter(isPlaced)),
  );

/** The judgement of what an account with code signs; null = it is another kind of signature. */
export const judgedAsAccount = (signing: PlacedSigning, seen: Seen): Judgement | null => {
  const { operation, kind } = signing.use;
  if (operation !== undefined) return judgedOperation(signing, operation, seen);
  return kind === "safeTransaction" ? judgedAsSafe(signing, seen) : null;
};
