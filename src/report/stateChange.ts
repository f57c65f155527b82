/** What a bundle leaves in the storage and code of accounts, as a schema. */
import * as Schema from "effect/Schema";
import { Address, Hash } from "../primitives/hex.js";

/** One word that the bundle changes, or an account of which that is not known. */
export const StateChange = Schema.Struct({
  /** Whose storage, code or answer it is. */
  account: Address,
  /** The storage slot; null where the account's code or its own answer shows the change. */
  slot: Schema.NullOr(Hash),
  /** What the word is, where that is known. `facet`: code behind a function of a diamond. `key`: who may act for an account. */
  holds: Schema.NullOr(
    Schema.Literals([
      ...(["implementation", "admin", "beacon", "owner", "threshold", "module", "guard", "moduleGuard"] as const),
      ...(["fallbackHandler", "facet", "key", "delegate"] as const),
    ]),
  ),
  /** 32 bytes, an address in the low 20; null = not known, or none. */
  before: Schema.NullOr(Hash),
  /** The same behind the bundle. */
  after: Schema.NullOr(Hash),
  /** The place in the bundle of the one transaction that calls the account, from 0; null = none, or several. */
  transaction: Schema.NullOr(Schema.Int),
  /**
   * `lens`: read from storage. `trace`: shown by the node's tracer, in any slot. `view`: the account's own answer, such
   * as `owner()`. `code`: an EIP-7702 delegation.
   * `calldata`: named by a call of the account to itself. `unseen`: the account was not read, or did not answer.
   */
  seen: Schema.Literals(["lens", "trace", "view", "code", "calldata", "unseen"]),
});
export interface StateChange extends Schema.Schema.Type<typeof StateChange> {}
