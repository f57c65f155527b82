/** Effects of a bundle beside movements: calls that fail inside, what could be taken, changed storage and code. */
import * as Schema from "effect/Schema";
import { Revert } from "../abi/revert.js";
import { Address, amount, Hash, Hex, nullable, Uint } from "../primitives/hex.js";
import { Evidence } from "./finding.js";

/** A call that failed inside one that succeeded. */
export const InnerFailure = Schema.Struct({
  /** The contract that made it, and went on. */
  by: Address,
  /** Its place among the calls of its batch, from 0; null where it is not known. */
  index: Schema.NullOr(Schema.Int),
  /** The address that was called; null where it is not known. */
  to: Schema.NullOr(Address),
  /** Its calldata; null where it is not known. */
  data: Schema.NullOr(Hex),
  /** Its calldata in words. */
  call: Schema.NullOr(Schema.String),
  /** Wei that was to go with it; left out where there was none, or nothing says. */
  value: Schema.optionalKey(Uint),
  /** Its revert, decoded; null where nothing says. */
  revert: Schema.NullOr(Revert),
  /** `measured` by what a known contract returned, `logged` by its event, `estimated` by the node's trace. */
  evidence: Evidence,
});
export interface InnerFailure extends Schema.Schema.Type<typeof InnerFailure> {}

/** Outcomes of the calls that a call made. */
export const InnerCalls = Schema.Struct({
  /** Those that failed. */
  failed: Schema.Array(InnerFailure),
  /** How many others may fail by their batch's own word, and were not seen to do either. */
  unseen: Schema.Int,
});

const frameFields = {
  /** How it was made. `static`: it may change nothing. `delegate`: the code of `contract` ran in the place of `from`. */
  kind: Schema.Literals(["call", "static", "delegate", "creation"]),
  /** The account that made it. */
  from: Address,
  /** The account whose code ran; null = a contract that could not be made. */
  contract: Schema.NullOr(Address),
  /** Its function by its signature, else its selector; null = none was called. */
  function: Schema.NullOr(Schema.String),
  /** Wei. */
  value: Uint,
  /** Gas that it used, with the calls inside; null = not told. */
  gasUsed: amount,
  /** Why it failed, in words: its revert, decoded, or the node's word; null = it succeeded. */
  reason: Schema.NullOr(Schema.String),
  /** True of the innermost call of those for which the transaction fails. */
  isCause: Schema.Boolean,
  /** How many calls right inside it are not shown: at most 256 are, 32 calls deep. */
  more: Schema.Int,
};
/** One call as the node's tracer showed it, with the calls inside. */
export interface CallFrame extends Schema.Schema.Type<Schema.Struct<typeof frameFields>> {
  /** The calls right inside it, in order. */
  readonly calls: ReadonlyArray<CallFrame>;
}
/** One call as the node's tracer showed it, with the calls inside. */
export const CallFrame: Schema.Codec<CallFrame> = Schema.Struct({
  ...frameFields,
  calls: Schema.Array(Schema.suspend((): Schema.Codec<CallFrame> => CallFrame)),
}).annotate({ identifier: "CallFrame" });

/** The amount that one contract could take of one account, in addition to what it does take. */
export const Exposure = Schema.Struct({
  /** The contract that could take it. */
  spender: Address,
  /** The account that has it. */
  account: Address,
  /** The token's contract; null = the chain's own currency. */
  token: Schema.NullOr(Address),
  /** The id of an ERC-721, ERC-1155 or ERC-6909 token; null of others, and of a whole collection. */
  tokenId: amount,
  /**
   * `allowance`: by what the token or Permit2 allows, or by the approval of one NFT. `operator`: of the whole collection.
   * `delegate`: as the account itself (EIP-7702), by code that is not known. `value`: what is sent to it, whatever it
   * gives back.
   */
  by: Schema.Literals(["allowance", "operator", "delegate", "value"]),
  /** Raw units or wei, after the bundle: no more than there is; null = not known. */
  amount,
  /** Balance of the account after the bundle; null where it was not read, and of a value, which is gone. */
  balance: amount,
  /** How the figures were obtained. */
  evidence: Evidence,
});
export interface Exposure extends Schema.Schema.Type<typeof Exposure> {}

/** Amounts that contracts could take, at least: only some accounts, tokens and contracts are looked at. */
export const Exposures = Schema.Struct({
  /** Only what is not nothing. */
  rows: Schema.Array(Exposure),
  /** Number of pairs of a contract and an account's token that were checked. */
  pairs: Schema.Int,
  /** How many were not: they found no room, or no answer; and those of `moved`. */
  unread: Schema.Int,
  /** Tokens that left a sender through a contract that was not checked; `spender` null = nothing shows which. Absent = none did. */
  moved: Schema.optionalKey(
    Schema.Array(Schema.Struct({ account: Address, token: Address, spender: nullable(Address) })),
  ),
});

/** One word that the bundle changes, or an account of which that is not known. */
export const StateChange = Schema.Struct({
  /** The account whose storage, code or answer it is. */
  account: Address,
  /** The storage slot; null where the account's code or its own answer shows the change. */
  slot: Schema.NullOr(Hash),
  /**
   * Name of the word, where known. `facet`: code behind a function of a diamond. `key`: who may act for an account.
   * `pendingOwner`: an account of the calldata where none stood. `operator`: an account of the calldata in a sender's entry.
   */
  holds: Schema.NullOr(
    Schema.Literals([
      ...(["implementation", "admin", "beacon", "owner", "threshold", "module", "guard", "moduleGuard"] as const),
      ...(["fallbackHandler", "facet", "key", "delegate", "pendingOwner", "operator"] as const),
    ]),
  ),
  /** 32 bytes, an address in the low 20; null = not known, or none. */
  before: Schema.NullOr(Hash),
  /** The same behind the bundle. */
  after: Schema.NullOr(Hash),
  /** The place in the bundle of the one transaction that calls the account, from 0; null = none, or several. */
  transaction: Schema.NullOr(Schema.Int),
  /**
   * `lens`: read from storage. `trace`: in any slot, shown by the node's tracer, or named by its access list and
   * read from storage. `view`: the account's own answer, such
   * as `owner()`. `code`: an EIP-7702 delegation.
   * `calldata`: named by a call of the account to itself. `unseen`: the account was not read, or did not answer.
   */
  seen: Schema.Literals(["lens", "trace", "view", "code", "calldata", "unseen"]),
});
export interface StateChange extends Schema.Schema.Type<typeof StateChange> {}
