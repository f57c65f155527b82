/** What contracts could take, as a schema. */
import * as Schema from "effect/Schema";
import { Address } from "../primitives/hex.js";
import { Evidence } from "./finding.js";

const amount = Schema.NullOr(Schema.BigInt);

/** The amount that one contract could take of one account, in addition to what it does take. */
export const Exposure = Schema.Struct({
  /** Who could take it. */
  spender: Address,
  /** Whose it is. */
  account: Address,
  /** The token's contract; null = the chain's own currency. */
  token: Schema.NullOr(Address),
  /** The id of an ERC-721, ERC-1155 or ERC-6909 token; null of others, and of a whole collection. */
  tokenId: Schema.NullOr(Schema.BigInt),
  /**
   * `allowance`: by what the token or Permit2 allows, or by the approval of one NFT. `operator`: of the whole collection.
   * `delegate`: as the account itself (EIP-7702), by code that is not known. `value`: what is sent to it, whatever it
   * gives back.
   */
  by: Schema.Literals(["allowance", "operator", "delegate", "value"]),
  /** Raw units or wei, after the bundle: no more than there is; null = not known. */
  amount,
  /** What the account holds after the bundle; null where it was not read, and of a value, which is gone. */
  balance: amount,
  /** How the figures were obtained. */
  evidence: Evidence,
});
export interface Exposure extends Schema.Schema.Type<typeof Exposure> {}

/** What contracts could take, at least: only some accounts, tokens and contracts are looked at. */
export const Exposures = Schema.Struct({
  /** Only what is not nothing. */
  rows: Schema.Array(Exposure),
  /** Number of pairs of a contract and an account's token that were checked. */
  pairs: Schema.Int,
  /** How many were not: they found no room, or no answer. */
  unread: Schema.Int,
});
export interface Exposures extends Schema.Schema.Type<typeof Exposures> {
  readonly rows: ReadonlyArray<Exposure>;
}
