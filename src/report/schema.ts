/** The report, as a schema: what was asked, what is known and how, and what it means. */
import * as Schema from "effect/Schema";
import * as Struct from "effect/Struct";
import { schemaOf, type Mapped, type SchemaOf } from "../primitives/rows.js";
import { Finding } from "./finding.js";
import { Address, Hash } from "../primitives/hex.js";
import { Approval, BalanceChange, Code, Fee, Funds, Gas, Nonce, Outcome, TokenInfo, Transfer } from "./parts.js";
import { Transaction } from "../transaction/schema.js";
import { BlockName, named, times } from "./options.js";
import { Request } from "../transaction/request.js";

const amount = Schema.NullOr(Schema.BigInt);

/** The version of the report's shape; part of the digest. */
export const reportVersion = 1;

/** `blocked`: do not send. `unknown`: something needed could not be checked. `caution`: ready, with warnings. */
export const VerdictName = Schema.Literals(["ready", "caution", "unknown", "blocked"]);
export type VerdictName = typeof VerdictName.Type;

/** How the outcome was learned: `simulate` = `eth_simulateV1`; `call` = `eth_call` and `eth_estimateGas`; `none`. */
export const Tier = Schema.Literals(["simulate", "call", "none"]);

export type Times = {
  /** ms for a whole run. */
  readonly deadlineMs: typeof Schema.Finite;
  /** ms for which a clearance holds. */
  readonly maxAgeMs: typeof Schema.Finite;
  /** How long the fee cap must hold under full blocks, seconds. */
  readonly feeHorizonSeconds: typeof Schema.Finite;
};
const keptTimes: Times & Record<(typeof times)[keyof typeof times]["kept"], Schema.Constraint> = {
  deadlineMs: times.deadline.schema,
  maxAgeMs: times.maxAge.schema,
  feeHorizonSeconds: times.feeHorizon.schema,
};

/** The schema of a report's options. Named, so that declarations refer to it and keep the documentation. */
export interface ReportOptionsSchema extends Schema.Struct<Mapped<typeof named, SchemaOf> & Times> {}

/** The caller's options, as far as they can be written down; `prove` runs with them again. */
export const ReportOptions: ReportOptionsSchema = Schema.Struct({
  ...Struct.map(named, schemaOf),
  ...keptTimes,
});
export type ReportOptions = typeof ReportOptions.Type;

/** The state all of it was asked on. */
export const Observed = Schema.Struct({
  blockTag: BlockName,
  /** The block whose state was the base. */
  baseNumber: amount,
  /** The block that was simulated on top. */
  simulatedNumber: amount,
  parentHash: Schema.NullOr(Hash),
  /** Epoch seconds of the simulated block. */
  timestamp: amount,
  baseFeePerGas: amount,
  gasLimit: amount,
  /** `latest` as the node answered it beside. */
  latestNumber: amount,
  /** Fee recipient of the latest block; null = not known. */
  feeRecipient: Schema.NullOr(Address),
  /** Epoch ms when the answers were in. */
  at: Schema.Finite,
  freshness: Schema.Literals(["fresh", "stale", "unknown"]),
  tier: Tier,
});
export type Observed = typeof Observed.Type;

/** One transaction of the bundle, from what was asked to what should be signed. */
export const TransactionReport = Schema.Struct({
  input: Transaction,
  request: Schema.NullOr(Request),
  code: Code,
  outcome: Outcome,
  gas: Gas,
  nonce: Nonce,
  fee: Fee,
});
export type TransactionReport = typeof TransactionReport.Type;

/** What it took. */
export const Ledger = Schema.Struct({
  /** Network rounds, one after another. */
  rounds: Schema.Int,
  requests: Schema.Array(
    Schema.Struct({
      method: Schema.String,
      round: Schema.Int,
      ms: Schema.Finite,
      bytes: Schema.Int,
      tries: Schema.Int,
    }),
  ),
  /** Wall time, ms. */
  ms: Schema.Finite,
});

/** One report over a bundle. Immutable; JSON-safe through `Report.toJson`. */
export class Report extends Schema.Class<Report>("Report")({
  version: Schema.Literal(reportVersion),
  verdict: VerdictName,
  stage: Schema.Literals(["scanned", "proven"]),
  chainId: Schema.NullOr(Schema.Int),
  options: ReportOptions,
  observed: Observed,
  transactions: Schema.NonEmptyArray(TransactionReport),
  funds: Schema.Array(Funds),
  transfers: Schema.Array(Transfer),
  balanceChanges: Schema.Array(BalanceChange),
  approvals: Schema.Array(Approval),
  tokens: Schema.Array(TokenInfo),
  findings: Schema.Array(Finding),
  /** keccak256 over version, chain id, and per transaction its sender and signing hash; null while any request has a hole. */
  digest: Schema.NullOr(Hash),
  ledger: Ledger,
}) {}

/** Permission to sign exactly these requests until `expiresAt`. */
export const Clearance = Schema.Struct({
  requests: Schema.NonEmptyArray(Request),
  /** Who signs each, in order. */
  senders: Schema.NonEmptyArray(Address),
  digest: Hash,
  /** Epoch ms. */
  expiresAt: Schema.Finite,
});
export type Clearance = typeof Clearance.Type;

export { Request };
