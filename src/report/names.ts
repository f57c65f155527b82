/** Names from the caller's own sources, as a report keeps them. Nothing is decided by them. */
import * as Schema from "effect/Schema";
import { DecodedFunction } from "../abi/calls.js";
import { Address } from "../primitives/hex.js";

const text = Schema.NullOr(Schema.String);

/**
 * Answers of `names` and `descriptors`, bounded and escaped. They stand here and in renderings alone: verdict, findings and
 * digest are the same without `names`.
 */
export const ReportNames = Schema.Struct({
  /** Labels of accounts, by address. */
  labels: Schema.Array(Schema.Struct({ address: Address, label: Schema.String })),
  /** Symbols and decimals of tokens that do not tell their own, by contract; null where the token tells it, or the source does not. */
  tokens: Schema.Array(Schema.Struct({ token: Address, symbol: text, decimals: Schema.NullOr(Schema.Int) })),
  /** Functions that calldata fits and that nothing else names. `place`: `1` = the call of the first transaction, `1.2` = the second call in it. */
  calls: Schema.Array(Schema.Struct({ place: Schema.String, functions: Schema.Array(DecodedFunction) })),
  /** Calls in the words of their descriptors (ERC-7730), by the transaction's place in the bundle, from 0. */
  described: Schema.Array(
    Schema.Struct({
      transaction: Schema.Int,
      intent: Schema.String,
      fields: Schema.Array(Schema.Struct({ label: Schema.String, value: Schema.String })),
    }),
  ),
});
export type ReportNames = typeof ReportNames.Type;
