/**
 * Schemas of what the steps find: one per question, composed by the report.
 *
 * Amounts are wei, gas is gas, prices are wei per gas. `null` = not known; `evidence` says how the
 * rest is known.
 */
import * as Schema from "effect/Schema";
import { rightStandards } from "../abi/known/rights.js";
import { DecodedLog, DecodedResult } from "../abi/decodeLogs.js";
import { Evidence } from "./finding.js";
import { CallFrame, InnerCalls } from "./beside.js";
import { Address, amount, Hash, Hex, later, nullable, Uint } from "../primitives/hex.js";
import { Revert } from "../abi/revert.js";
import { RpcError } from "../errors/rpc.js";
import { Verdict } from "../errors/verdicts.js";

/** The chooser of a value that will be signed: the caller, a nonce reserved from outside the pipeline, or the scan. */
export const By = Schema.Literals(["caller", "reserved", "us"]);
export type By = typeof By.Type;

/** The account at an address. */
export const AccountCode = Schema.Struct({
  /** The account. */
  account: Address,
  /** `nobody`: no code. `delegated`: EIP-7702. */
  kind: Schema.Literals(["contract", "delegated", "precompile", "nobody", "unknown"]),
  /** The EIP-7702 delegate. */
  delegate: nullable(Address),
  /** True if the delegate has code. */
  delegateHasCode: nullable(Schema.Boolean),
  /** How the figures were obtained. */
  evidence: Evidence,
});
export interface AccountCode extends Schema.Schema.Type<typeof AccountCode> {}

/** The sender and the receiver. */
export const Parties = Schema.Struct({
  /** The sender. */
  from: AccountCode,
  /** null = deployment. */
  to: nullable(AccountCode),
  /** The address of a deployment's contract (CREATE of sender and nonce); null when the nonce is not known. */
  creates: nullable(Address),
});

/** One log of a simulated call. */
export const OutcomeLog = Schema.Struct({
  /** The contract that emitted it. */
  address: Address,
  /** Its topics, 32 bytes each. */
  topics: Schema.Array(Hash),
  /** Data that is not indexed, ABI-encoded. */
  data: Hex,
  /** The event by the ABIs that are known; null where none names it. */
  decoded: nullable(DecodedLog),
});
export interface OutcomeLog extends Schema.Schema.Type<typeof OutcomeLog> {}

/** The outcome of the simulated call. */
export const Outcome = Schema.Struct({
  /** `halted`: stopped without `revert`, e.g. out of gas. `unknown`: not simulated. */
  status: Schema.Literals(["success", "reverted", "halted", "unknown"]),
  /** After refunds. */
  gasUsed: amount,
  /** Peak before refunds, where the node says it. */
  maxUsedGas: amount,
  /** The bytes that it returned, or its revert data; null where it is not known. */
  returnData: Schema.NullOr(Hex),
  /** The return value, when the call's function is known. */
  result: Schema.NullOr(DecodedResult),
  /** The events, in order. */
  logs: Schema.Array(OutcomeLog),
  /** Calls inside that failed or may have, where it succeeded; left out where there are none. */
  inner: Schema.optionalKey(InnerCalls),
  trace: later(Schema.NullOr(CallFrame), null),
  /** The revert, decoded; null where it did not revert. */
  revert: Schema.NullOr(Revert),
  /** Why it failed. */
  failure: Schema.NullOr(Verdict),
  /** How the figures were obtained. */
  evidence: Evidence,
});
export interface Outcome extends Schema.Schema.Type<typeof Outcome> {
  readonly logs: ReadonlyArray<OutcomeLog>;
  readonly failure: Verdict | null;
  /** The calls, the transaction's own first; null where no tracer showed them with this outcome and this gas. */
  readonly trace: CallFrame | null;
}

/** How much gas to allow. */
export const Gas = Schema.Struct({
  /** The answer of `eth_estimateGas`, where there is one. */
  estimate: amount,
  /** Gas used in the simulation, after refunds. */
  used: amount,
  /** Peak gas in the simulation, before refunds (bounded from `used` where the node does not say). */
  peak: amount,
  /** The limit to sign. */
  limit: amount,
  /** The most one transaction may ask for on this chain and in this block. */
  cap: amount,
  /** The chooser of the limit. */
  by: By,
  /** Why `eth_estimateGas` gave no number, where it was asked. */
  refusal: nullable(Schema.Union([Verdict, RpcError])),
  /** How the figures were obtained. */
  evidence: Evidence,
});
export interface Gas extends Schema.Schema.Type<typeof Gas> {
  readonly refusal: Verdict | RpcError | null;
}

/** Which nonce to sign. */
export const Nonce = Schema.Struct({
  /** The nonce to sign. */
  value: Schema.NullOr(Schema.Int),
  /** `eth_getTransactionCount` on `pending`: the next free nonce as the node sees it. */
  next: Schema.NullOr(Schema.Int),
  /** `eth_getTransactionCount` on `latest`: the next nonce that can be mined. */
  latest: Schema.NullOr(Schema.Int),
  /** Transactions of this sender between the two. */
  inFlight: Schema.NullOr(Schema.Int),
  /** Nonces missing before `value`. */
  gap: Schema.NullOr(Schema.Int),
  /** The chooser of the nonce. */
  by: By,
  /** How the figures were obtained. */
  evidence: Evidence,
});
export interface Nonce extends Schema.Schema.Type<typeof Nonce> {}

/** The price to pay per gas. */
export const Fee = Schema.Struct({
  /** Base fee of the block this would be mined in. */
  baseFeePerGas: amount,
  /** The fee cap to sign, wei per gas; null in a legacy transaction, or where it is not known. */
  maxFeePerGas: amount,
  /** The tip to sign, wei per gas; null in a legacy transaction, or where it is not known. */
  maxPriorityFeePerGas: amount,
  /** Set instead of the two above for a legacy transaction. */
  gasPrice: amount,
  /** The chooser of the cap. */
  by: By,
  /** Wei per gas that the sources name as a tip, where that is above what is ever proposed. */
  tipNamed: amount,
  /** The source of the tip. */
  tipSource: Schema.Literals(["caller", "feeHistory", "receipts", "minimum", "unknown"]),
  /** How long the fee cap outlives full blocks, seconds; null where the caller fixed it. */
  horizonSeconds: Schema.NullOr(Schema.Finite),
  /** The cap for the whole horizon, where the balance does not carry it. */
  shortenedFrom: nullable(Schema.Struct({ maxFeePerGas: Uint, horizonSeconds: Schema.Finite })),
  /** How the figures were obtained. */
  evidence: Evidence,
});
export interface Fee extends Schema.Schema.Type<typeof Fee> {}

/** One term of what an account must hold. */
const FundsTerm = Schema.Struct({
  /** Index of the transaction. */
  transaction: Schema.Int,
  /** The purpose of the amount. */
  name: Schema.Literals(["value", "gas", "blobGas", "l1Fee", "operatorFee", "received", "spent"]),
  /** Wei; negative for what earlier transactions of the bundle bring in. */
  amount: Schema.BigInt,
});

/** The terms that are fees. */
export const feeTerms: ReadonlySet<string> = new Set(["gas", "blobGas", "l1Fee", "operatorFee"]);

/** An account's ability to pay for its transactions, in bundle order. */
export const Funds = Schema.Struct({
  /** The payer. */
  account: Address,
  /** Native balance before the first transaction. */
  balance: amount,
  /**
   * The most it must hold: value + gas limit × max fee (+ L1 and operator fee), less what the bundle itself brings
   * in before (`terms` named `received`); pools count nothing that is not mined.
   */
  required: amount,
  /** The amount that it will probably pay. */
  expected: amount,
  /** Missing wei, at least that much where `required` is null; 0 when it can pay; null = not known. */
  shortfall: amount,
  /** The cost that mempools reserve for its transactions in flight, at their fee caps, wei; 0 = none are. */
  queued: amount,
  /** Its balance on the latest block, by which pools judge, wei; null where nothing is in flight, or not known. */
  sealed: amount,
  /** The parts of `required`, as far as they are known. */
  terms: Schema.Array(FundsTerm),
  /** How the figures were obtained. */
  evidence: Evidence,
});
export interface Funds extends Schema.Schema.Type<typeof Funds> {}

const standard = Schema.Literals(["native", "erc20", "erc721", "erc1155", "erc6909"]);

/** A token's own description, sanitised when shown. */
export const TokenInfo = Schema.Struct({
  /** The token's contract. */
  token: Address,
  /** Its own name, escaped; null where it does not say. */
  name: Schema.NullOr(Schema.String),
  /** Its symbol, escaped; null where it does not say. */
  symbol: Schema.NullOr(Schema.String),
  /** How many decimals its amounts have; null where it does not say. */
  decimals: Schema.NullOr(Schema.Int),
});
export interface TokenInfo extends Schema.Schema.Type<typeof TokenInfo> {}

/** One movement. */
export const Transfer = Schema.Struct({
  /** The kind of movement. */
  standard,
  /** null for the native currency. */
  token: Schema.NullOr(Address),
  /** The giver; the zero address where it is minted. */
  from: Address,
  /** The receiver; the zero address where it is burned. */
  to: Address,
  /** Raw units; wei for native. */
  amount: Uint,
  /** The id of an ERC-721, ERC-1155 or ERC-6909 token; null of others. */
  tokenId: amount,
  /** The transaction's place in the bundle, from 0. */
  transaction: Schema.Int,
  /** How the figures were obtained. */
  evidence: Evidence,
});
export interface Transfer extends Schema.Schema.Type<typeof Transfer> {}

/** An account's balance before and after the bundle, without the gas it pays. */
export const BalanceChange = Schema.Struct({
  /** The account whose balance it is. */
  account: Address,
  /** The token's contract; null = the chain's own currency. */
  token: Schema.NullOr(Address),
  /** The id of an ERC-721, ERC-1155 or ERC-6909 token; null of others. */
  tokenId: amount,
  /** Before the bundle, raw units or wei; null where it was not measured. */
  before: amount,
  /** After the bundle, raw units or wei; null where it was not measured. */
  after: amount,
  /** How it changes, raw units or wei, gas left out. */
  delta: Schema.BigInt,
  /** How the figures were obtained. */
  evidence: Evidence,
});
export interface BalanceChange extends Schema.Schema.Type<typeof BalanceChange> {}

/** An account that names a sender as its owner; a contract may claim any owner, and nothing is decided by it. */
export const OwnedAccount = Schema.Struct({
  /** The account. */
  account: Address,
  /** The sender that it names. */
  owner: Address,
  /** `safe`: by the code of a Safe's proxy, and `isOwner`. `account`: by `isOwner` or `owner`, an ERC-4337 or ERC-1271 account. */
  kind: Schema.Literals(["safe", "account"]),
  /** How it is known. */
  evidence: Evidence,
});

/** One right over somebody's tokens. */
export const Approval = Schema.Struct({
  /** `aaveDebt`: to borrow in the owner's name. `morpho`: to manage the owner's positions. `cryptopunks`: to buy. */
  standard: Schema.Literals(rightStandards),
  /** The contract that the right is over. */
  token: Address,
  /** The account that grants it. */
  owner: Address,
  /** The spender; the zero address for a CryptoPunk that anybody may buy. */
  spender: Address,
  /** For a single NFT or one id. */
  tokenId: amount,
  /** Allowance in raw units; 0 or 1 for all-or-nothing approvals. */
  before: amount,
  /** The allowance after the bundle, raw units; 0 where it has expired; 1 or 0 for all-or-nothing; null where not known. */
  after: amount,
  /** Epoch seconds, where the approval ends by itself. */
  expiration: amount,
  /** True if it ends later than the previous one, whatever its amount. */
  extended: later(Schema.Boolean, false),
  /** True if it is without limit. */
  unlimited: Schema.Boolean,
  /** Kind of account at the spender's address. */
  spenderKind: Schema.Literals(["contract", "eoa", "delegated", "created", "precompile", "unknown"]),
  /** The transaction's place in the bundle, from 0. */
  transaction: Schema.Int,
  /** How the figures were obtained. */
  evidence: Evidence,
});
export interface Approval extends Schema.Schema.Type<typeof Approval> {}
