/**
 * What accounts with code sign: user operations and transactions of Safes. Facts of the chain, asked in a round in front, say
 * what is signed and which calls use it; what became of those calls is read from the account's own events.
 */
import * as Effect from "effect/Effect";
import type { Finding } from "../report/finding.js";
import type { ReportOptions } from "../report/schema.js";
import type { Rpc } from "../rpc/index.js";
import { isPlaced, type AnySigning, type Mode, type PlacedSigning, type Signing } from "../signing/index.js";
import type { Filled } from "../steps/reading/bundle.js";
import { judgedOperation, resolvedOperation, type LimitTold } from "./operations.js";
import type { Signings } from "./signings.js";

/** A run as an account's input is judged by it; `carriers`: the calls of this input in the bundle. */
export type Seen = Parameters<Signings["judge"]>[0] & {
  readonly carriers: ReadonlyArray<Filled>;
  readonly mode: Mode;
  readonly now: number;
  readonly options: ReportOptions;
  /** The limit of a user operation that was found too low; null = none was. */
  readonly limitOf: (signing: PlacedSigning) => LimitTold | null;
};

/** The judgement of one: what the report says of it, what is found, and which findings of the run it tells otherwise. */
export interface Judgement {
  readonly signing: Signing;
  readonly findings: ReadonlyArray<Finding>;
  readonly kept: ReadonlyArray<Finding>;
}

/** The signatures with those that wait for facts resolved; of one whose facts cannot be read no call is known. */
export const resolved = (
  signings: ReadonlyArray<AnySigning>,
  options: ReportOptions,
): Effect.Effect<ReadonlyArray<PlacedSigning>, never, Rpc> =>
  Effect.map(
    Effect.forEach(
      signings,
      (signing) =>
        isPlaced(signing)
          ? Effect.succeed([signing])
          : signing.open.form === "userOperation"
            ? Effect.map(resolvedOperation(signing, signing.open, options), (one) => [one])
            : Effect.succeed([]),
      { concurrency: "unbounded" },
    ),
    (all) => all.flat(),
  );

/** The judgement of what an account with code signs; null = it is another kind of signature. */
export const judgedAsAccount = (signing: PlacedSigning, seen: Seen): Judgement | null => {
  const { operation } = signing.use;
  return operation === undefined ? null : judgedOperation(signing, operation, seen);
};
