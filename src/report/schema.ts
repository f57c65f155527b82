/** The report, as a schema: what was asked, what is known and how, and what it means. */
import * as Schema from "effect/Schema";
import * as Struct from "effect/Struct";
import { schemaOf } from "../primitives/rows.js";
import { Fork, RunName, SimulationPart, StepName } from "../primitives/names.js";
import { Finding } from "./finding.js";
import { Address, Hash } from "../primitives/hex.js";
import { Approval, BalanceChange, Fee, Funds, Gas, Nonce, Outcome, Parties, TokenInfo, Transfer } from "./parts.js";
import { maxTransactions, Transaction } from "../transaction/schema.js";
import { BlockName, named, times } from "./options.js";
import { Request } from "../transaction/request.js";

const amount = Schema.NullOr(Schema.BigInt);

/** The version of the report's shape; part of the digest. */
export const reportVersion = 2;

/** `blocked`: do not send. `unknown`: something needed could not be checked. `caution`: ready, with warnings. */
export const VerdictName = Schema.Literals(["ready", "caution", "unknown", "blocked"]);
export type VerdictName = typeof VerdictName.Type;

/** How the outcome was learned: `simulate` = `eth_simulateV1`; `call` = `eth_call` and `eth_estimateGas`; `none`. */
export const Tier = Schema.Literals(["simulate", "call", "none"]);

const keptTimes = {
  /** ms for a whole run. */
  deadlineMs: times.deadline.schema,
  /** ms for which a clearance holds. */
  maxAgeMs: times.maxAge.schema,
  /** How long the fee cap must hold under full blocks, seconds. */
  feeHorizonSeconds: times.feeHorizon.schema,
} satisfies Record<(typeof times)[keyof typeof times]["kept"], Schema.Constraint>;

/** The schemas of a report's options. Named, so that declarations refer to it and keep the documentation. */
export type ReportOptionsFields = {
  readonly [K in keyof typeof named]: (typeof named)[K]["schema"];
} & typeof keptTimes;

/** The caller's options, as far as they can be written down; `prove` runs with them again. */
export const ReportOptions: Schema.Struct<ReportOptionsFields> = Schema.Struct({
  ...Struct.map(named, schemaOf),
  ...keptTimes,
});
export interface ReportOptions extends Schema.Schema.Type<typeof ReportOptions> {}

/** One block context in which the exact requests ran. */
export const World = Schema.Struct({
  run: RunName,
  /** The block or tag whose state it stood on. */
  state: BlockName,
  number: amount,
  /** Epoch seconds. */
  timestamp: amount,
  feeRecipient: Schema.NullOr(Address),
  gasLimit: amount,
  /** Whether it did the same as the world that the report's figures are from; null = could not be compared. */
  agrees: Schema.NullOr(Schema.Boolean),
});
export interface World extends Schema.Schema.Type<typeof World> {}

/** The rules that one transaction is bound by, and who says so. */
export const Rules = Schema.Struct({
  /** null = nobody said. */
  fork: Schema.NullOr(Fork),
  /**
   * `executed`: by opcodes that the witness tried in the simulated block. `header`: by the fields of that block.
   * `config`: by `eth_config`. `table`: nobody said, and the table of chains is taken.
   */
  by: Schema.Literals(["executed", "header", "config", "table"]),
  /** Whether nothing spoke against it. */
  agrees: Schema.Boolean,
  /** Most gas one transaction may ask for; null = only the block limits it. */
  txGasCap: amount,
  /** Bytes. */
  maxInitCodeSize: Schema.Finite,
  /** When the next fork activates, epoch seconds, by `eth_config`; null = not known, or none is planned. */
  nextFork: amount,
});
export interface Rules extends Schema.Schema.Type<typeof Rules> {}

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
  /**
   * `stale`: another answer named a newer block, or the head is too old for its chain. `unknown`: that could not be told,
   * or another state than the newest was asked for. A chain that mines on demand (1337, 31337) is judged by number alone.
   */
  freshness: Schema.Literals(["fresh", "stale", "unknown"]),
  tier: Tier,
  /** What `eth_simulateV1` did not take, or ignored, in the run that the figures are from; empty where it took everything. */
  leftOut: Schema.Array(SimulationPart),
  rules: Rules,
  /**
   * What `eth_chainId` answered, at most ten minutes ago on the same connection, whatever the chain says of itself
   * inside the simulation.
   */
  namedChainId: Schema.NullOr(Schema.Int),
  /** Where the exact requests ran; empty until they were proven. */
  worlds: Schema.Array(World),
});
export interface Observed extends Schema.Schema.Type<typeof Observed> {}

/** One transaction of the bundle, from what was asked to what should be signed. */
export const TransactionReport = Schema.Struct({
  input: Transaction,
  request: Schema.NullOr(Request),
  code: Parties,
  outcome: Outcome,
  gas: Gas,
  nonce: Nonce,
  fee: Fee,
});
export interface TransactionReport extends Schema.Schema.Type<typeof TransactionReport> {}

/** What it took. */
export const Ledger = Schema.Struct({
  /** Network rounds, one after another. */
  rounds: Schema.Int,
  requests: Schema.Array(
    Schema.Struct({
      method: Schema.String,
      /** Of `eth_simulateV1`: which run it was; null for other methods. */
      run: Schema.NullOr(RunName),
      /** Which step asked. */
      step: Schema.NullOr(StepName),
      /** The endpoint without credentials. */
      endpoint: Schema.String,
      round: Schema.Int,
      ms: Schema.Finite,
      bytes: Schema.Int,
      tries: Schema.Int,
    }),
  ),
  /** Wall time, ms. */
  ms: Schema.Finite,
});
export interface Ledger extends Schema.Schema.Type<typeof Ledger> {}

/** One report over a bundle: plain data, JSON-safe through `Report.toJson`. */
export const Report = Schema.Struct({
  version: Schema.Literal(reportVersion),
  verdict: VerdictName,
  /** The one reason for the verdict, in a sentence. */
  because: Schema.String,
  stage: Schema.Literals(["scanned", "proven"]),
  chainId: Schema.NullOr(Schema.Int),
  options: ReportOptions,
  observed: Observed,
  transactions: Schema.NonEmptyArray(TransactionReport).check(Schema.isMaxLength(maxTransactions)),
  funds: Schema.Array(Funds),
  transfers: Schema.Array(Transfer),
  balanceChanges: Schema.Array(BalanceChange),
  approvals: Schema.Array(Approval),
  tokens: Schema.Array(TokenInfo),
  findings: Schema.Array(Finding),
  /** keccak256 over version, chain id, and per transaction its sender and signing hash; null while any request has a hole. */
  digest: Schema.NullOr(Hash),
  ledger: Ledger,
});
export interface Report extends Schema.Schema.Type<typeof Report> {}

/** Permission to sign exactly these requests until `expiresAt`. */
export const Clearance = Schema.Struct({
  requests: Schema.NonEmptyArray(Request),
  /** Who signs each, in order. */
  senders: Schema.NonEmptyArray(Address),
  digest: Hash,
  /** Epoch ms. */
  expiresAt: Schema.Finite,
  /** What must be mined first, in the order of the requests; sent earlier, one may be dropped or do something else. */
  waits: Schema.Array(
    Schema.Struct({
      /** The request's place in the bundle, from 0. */
      transaction: Schema.Int,
      account: Address,
      /** What `eth_getTransactionCount` of `account` on `latest` must have reached. */
      nonce: Schema.Int,
    }),
  ),
});
export interface Clearance extends Schema.Schema.Type<typeof Clearance> {}
/** What must be mined before a request is sent. */
export type Wait = Clearance["waits"][number];

export { Request, RunName };
