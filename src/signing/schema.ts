/** A signature in a report: what it is for, whoever can use it and until when, and how its use was simulated. */
import * as Schema from "effect/Schema";
import { Address, amount, Hash, nullable, Uint } from "../primitives/hex.js";
import { SignatureRequest } from "../transaction/signature.js";

/** Kinds of signatures, by what uses them. */
export const signingKinds = [
  ...(["erc2612", "dai", "erc4494", "erc3009Transfer", "erc3009Receive", "erc3009Cancel"] as const),
  ...(["permit2Single", "permit2Batch", "permit2Transfer", "permit2BatchTransfer"] as const),
  ...(["permit2Witness", "permit2BatchWitness", "seaport", "authorization", "signIn"] as const),
  ...(["safeTransaction", "safeMessage", "userOperation", "unknown"] as const),
] as const;
export type SigningKind = (typeof signingKinds)[number];

/** A signature's parts in the calls that were simulated, which no key has given, and accounts that nobody has. */
const Stand = Schema.Struct({
  ...{ r: Hash, s: Hash, v: Uint, stranger: Address, taker: Address },
  /** Raw units of each token that are taken, where that is less than the message permits: as much as there is. */
  taken: Schema.optionalKey(Schema.Array(Uint)),
  /** The paymaster's signature of a user operation, which no key has given either. */
  paymaster: Schema.optionalKey(Schema.Struct({ digest: Hash, signer: Address })),
});

/** A user operation (ERC-4337), as the EntryPoint told of it. */
const Operation = Schema.Struct({
  /** The contract that runs it. */
  entryPoint: Address,
  /** The version of that contract. */
  version: Schema.Literals(["0.6", "0.7", "0.8", "0.9"]),
  /** Its hash there (`userOpHash`), by which it is found later. */
  hash: Hash,
  /** The upper 192 bits of its nonce, and its number under this key. */
  nonce: Schema.Struct({ key: Uint, sequence: Uint }),
  /** True if its calls succeeded, false if they failed though the transaction does not; null = it was not seen to run. */
  success: Schema.NullOr(Schema.Boolean),
  /** Gas that it is charged for; null = it was not seen to run. */
  actualGasUsed: amount,
  /** Wei that it is charged; null = it was not seen to run. */
  actualGasCost: amount,
  /** Wei that are held back before it runs: the most that it can cost. */
  prefund: Uint,
  /** The payer: the sender, or the paymaster. */
  payer: Address,
  /** Wei that the payer has in the EntryPoint; null = not known. */
  deposit: amount,
  /** First and last time at which account and paymaster take it; null = no bound, or not known. */
  validAfter: amount,
  validUntil: amount,
  /** The unit of these two; null = whether there are any is not known. */
  validIn: Schema.NullOr(Schema.Literals(["seconds", "blocks"])),
});

/** The Safe of a Safe's transaction, as it was read in front of the simulation, and who takes part in that. */
const SafeState = Schema.Struct({
  safe: Address,
  /** Its own word for its version: 1.3.0, 1.4.1 or 1.5.0. */
  version: Schema.String,
  /** keccak256 of what its owners sign (`safeTxHash`), by its own `getTransactionHash`. */
  hash: Hash,
  /** The hash that came with it; null = none. */
  said: nullable(Hash),
  threshold: Uint,
  owners: Schema.Array(Address),
  /** Its next nonce. */
  nonce: Uint,
  /** Transactions of its queue that were pretended to be executed in front of this one. */
  queued: Uint,
  ...{ singleton: Address, guard: nullable(Address), moduleGuard: nullable(Address) },
  fallbackHandler: nullable(Address),
  modules: Schema.Array(Address),
  /** The sender of `execTransaction` in the simulation: who was named, else an owner. */
  executor: Address,
  /** Owners whose approval was assumed, by address; the executor's is no call. */
  approvers: Schema.Array(Address),
  /** Owners who have approved already: by a confirmation that is their key's, or on the chain. */
  approved: Schema.Array(Address),
  /** Owners whose signatures `ready` hands out: with those approved already, and the executor who was named, they reach the threshold. */
  missing: Schema.Array(Address),
});
export type SafeState = typeof SafeState.Type;

/** One signature of a report. */
export const Signing = Schema.Struct({
  /** The text, data or hash to be signed, as `ready` hands it out. */
  sign: SignatureRequest,
  /** Its kind, by the contract function that uses it. */
  kind: Schema.Literals(signingKinds),
  /** The account whose assets it is about; the signer's own, or a contract that takes the key's signature for its own (ERC-1271). */
  account: Address,
  /** The one account that can use it, `anyone`, or null where it is not known. */
  usableBy: Schema.NullOr(Schema.Union([Schema.Literal("anyone"), Address])),
  /** The contract that judges it; null = none. */
  contract: nullable(Address),
  /** Epoch seconds of the first block that takes it; null = any. */
  from: amount,
  /** Epoch seconds of the last block that takes it; null = every later one. */
  until: amount,
  /** Epoch seconds at which the right ends that it gives; null = it gives none, or one without an end of its own. */
  ends: amount,
  /** True if it can be used more than once. */
  repeats: Schema.Boolean,
  /** The number that it uses up, and whether it is used already; null = it has none. */
  nonce: Schema.NullOr(Schema.Struct({ value: Uint, used: Schema.NullOr(Schema.Boolean) })),
  /** The origin that a sign-in is for, as the caller named it; null = it named none. */
  origin: nullable(Schema.String),
  /**
   * The way in which its use was simulated: `shim`: by code that takes the signature for given; `equalCall`: by the account's own call that
   * does the same; `code`: on the code that an authorisation sets; `approvals`: behind the approvals of a Safe's owners; null = it was not.
   */
  assumed: Schema.NullOr(Schema.Literals(["shim", "equalCall", "code", "approvals"])),
  /** The evidence of its effect. */
  evidence: Schema.Literals(["assumed", "unavailable"]),
  /** The count of transactions of the bundle that stand before it. */
  place: Schema.Int,
  /** The parts and accounts of the calls that were simulated: they are made up. */
  stand: Stand,
  /** The user operation that it is; absent = it is none. */
  operation: Schema.optionalKey(Operation),
  /** The Safe, of a transaction of one that could be read; else absent. */
  safe: Schema.optionalKey(SafeState),
}).annotate({ identifier: "Signing" });
export interface Signing extends Schema.Schema.Type<typeof Signing> {}
