/** What became of the calls inside a transaction, as schemas. */
import * as Schema from "effect/Schema";
import { Revert } from "../abi/revert.js";
import { Address, Hex } from "../primitives/hex.js";
import { Evidence } from "./finding.js";

/** A call that failed inside one that succeeded. */
export const InnerFailure = Schema.Struct({
  /** The contract that made it, and went on. */
  by: Address,
  /** Its place among the calls of its batch, from 0; null where it is not known. */
  index: Schema.NullOr(Schema.Int),
  /** Who was called; null where it is not known. */
  to: Schema.NullOr(Address),
  /** Its calldata; null where it is not known. */
  data: Schema.NullOr(Hex),
  /** Its calldata in words. */
  call: Schema.NullOr(Schema.String),
  /** What it reverted with, decoded; null where nothing says. */
  revert: Schema.NullOr(Revert),
  /** `measured` by what a known contract returned, `logged` by its event, `estimated` by the node's trace. */
  evidence: Evidence,
});
export interface InnerFailure extends Schema.Schema.Type<typeof InnerFailure> {}

/** What became of the calls that a call made. */
export const InnerCalls = Schema.Struct({
  /** Those that failed. */
  failed: Schema.Array(InnerFailure),
  /** How many others may fail by their batch's own word, and were not seen to do either. */
  unseen: Schema.Int,
});
export interface InnerCalls extends Schema.Schema.Type<typeof InnerCalls> {
  readonly failed: ReadonlyArray<InnerFailure>;
}
