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
import type { Signings } from "./signings.js";

/** A run as an account's input is judged by it; `carriers`: the calls of this input in the bundle. */
export type Seen = Parameters<Signings["judge"]>[0] & {
  readonly carriers: ReadonlyArray<Filled>;
  readonly mode: Mode;
  readonly now: number;
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
  _options: ReportOptions,
): Effect.Effect<ReadonlyArray<PlacedSigning>, never, Rpc> => Effect.succeed(signings.filter(isPlaced));

/** The judgement of what an account with code signs; null = it is another kind of signature. */
export const judgedAsAccount = (_signing: PlacedSigning, _seen: Seen): Judgement | null => null;
