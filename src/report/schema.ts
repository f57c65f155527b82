/** The report, as a schema: what was asked, what is known and how, and what it means. */
import type * as Arr from "effect/Array";
import * as Schema from "effect/Schema";
import { DecodedCall } from "../abi/calls.js";
import { type Chain, unknownChain } from "../Chains.js";
import { schemasOf } from "../primitives/record.js";
import {
  AskRule,
  BlockRead,
  Fork,
  OwnName,
  RunName,
  SimulationPart,
  StepName,
  builtInSteps,
} from "../primitives/names.js";
import { Exposures } from "./exposure.js";
import { Finding } from "./finding.js";
import { Address, Hash, nullable } from "../primitives/hex.js";
import {
  Approval,
  BalanceChange,
  Fee,
  Funds,
  Gas,
  Nonce,
  Outcome,
  OwnedAccount,
  Parties,
  TokenInfo,
  Transfer,
} from "./parts.js";
import { maxTransactions, Transaction } from "../transaction/fields.js";
import { BlockName, named, times } from "./options.js";
import { Request } from "../transaction/request.js";
import { StateChange } from "./stateChange.js";

const amount = Schema.NullOr(Schema.BigInt);

/** The version of the report's shape; part of the digest. */
export const reportVersion = 4;

/** `blocked`: do not send. `unknown`: something needed could not be checked. `caution`: ready, with warnings. */
export const VerdictName = Schema.Literals(["ready", "caution", "unknown", "blocked"]);
export type VerdictName = typeof VerdictName.Type;

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
  ...schemasOf(named),
  ...keptTimes,
});
export interface ReportOptions extends Schema.Schema.Type<typeof ReportOptions> {}

/** One block context in which the exact requests ran. */
export const World = Schema.Struct({
  /** The run that simulated it. */
  run: RunName,
  /** The block or tag whose state it stood on. */
  state: BlockName,
  /** The number of the simulated block. */
  number: amount,
  /** Epoch seconds. */
  timestamp: amount,
  /** The producer of the simulated block. */
  feeRecipient: Schema.NullOr(Address),
  /** The gas limit of the simulated block, gas. */
  gasLimit: amount,
  /** Whether it did the same as the world that the report's figures are from; null = could not be compared. */
  agrees: Schema.NullOr(Schema.Boolean),
});
export interface World extends Schema.Schema.Type<typeof World> {}

/** The rules that one transaction is bound by, and who says so. */
export const Rules = Schema.Struct({
  /** null = not known. */
  fork: Schema.NullOr(Fork),
  /**
   * `executed`: by opcodes that the witness tried in the simulated block. `header`: by the fields of that block.
   * `config`: by `eth_config`. `table`: by the table of chains, where nothing else told.
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
  /** The block that was asked for. */
  blockTag: BlockName,
  /** The block whose state was the base. */
  baseNumber: amount,
  /** The block that was simulated on top. */
  simulatedNumber: amount,
  /** The hash of the block that the simulated one stands on. */
  parentHash: Schema.NullOr(Hash),
  /** Epoch seconds of the simulated block. */
  timestamp: amount,
  /** The base fee of the simulated block, wei per gas. */
  baseFeePerGas: amount,
  /** The gas limit of the simulated block, gas. */
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
  /** How the outcome was learned: `simulate` = `eth_simulateV1`; `call` = `eth_call` and `eth_estimateGas`; `none`. */
  tier: Schema.Literals(["simulate", "call", "none"]),
  /** What `eth_simulateV1` did not take, or ignored, in the run that the figures are from; empty where it took everything. */
  leftOut: Schema.Array(SimulationPart),
  /** The rules in force, and how they are known. */
  rules: Rules,
  /**
   * What `eth_chainId` answered, at most ten minutes ago on the same connection, whatever the chain says of itself
   * inside the simulation.
   */
  namedChainId: Schema.NullOr(Schema.Int),
  /** Where the exact requests ran; empty until they were proven. */
  worlds: Schema.Array(World),
  /**
   * What the code that is called reads of its block, by its instructions: what is not named was not seen, which is no proof
   * that it is not read. Empty where no code runs, or none was looked at.
   */
  reads: Schema.Array(BlockRead),
  /**
   * Of how many transactions, from the first, a tracer told every slot that they change; of the others only the slots
   * that are known to say who acts were looked at.
   */
  traced: Schema.Int,
  /**
   * Epoch ms until which a clearance may hold where the transactions fail in a later block (`ClosesAt`); null = `maxAge`
   * alone bounds it.
   */
  until: Schema.NullOr(Schema.Finite),
});
export interface Observed extends Schema.Schema.Type<typeof Observed> {}

/** One transaction of the bundle, from what was asked to what should be signed. */
export const TransactionReport = Schema.Struct({
  input: Transaction,
  call: Schema.NullOr(DecodedCall),
  request: Schema.NullOr(Request),
  code: Parties,
  outcome: Outcome,
  gas: Gas,
  nonce: Nonce,
  fee: Fee,
}).annotate({ identifier: "TransactionReport" });
export interface TransactionReport extends Schema.Schema.Type<typeof TransactionReport> {
  /** What was asked for: every field present, null where it was left open. */
  readonly input: Transaction;
  /** What its calldata asks for, as data; null without calldata, and of a deployment. Nothing is decided by it. */
  readonly call: DecodedCall | null;
  /** What is to be signed; null while a field of it is not known. */
  readonly request: Request | null;
  /** Who sends and who receives. */
  readonly code: Parties;
  /** What the simulated call did. */
  readonly outcome: Outcome;
  /** How much gas it takes and is allowed. */
  readonly gas: Gas;
  /** Which nonce, and why. */
  readonly nonce: Nonce;
  /** What is paid per gas, in wei. */
  readonly fee: Fee;
}

/** What it took. */
export const Ledger = Schema.Struct({
  /** Network rounds, one after another. */
  rounds: Schema.Int,
  /** Every request that was sent, in order. */
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
      /** The rule that asked it; null for what is asked at first. */
      because: Schema.NullOr(AskRule),
      ms: Schema.Finite,
      bytes: Schema.Int,
      tries: Schema.Int,
    }),
  ),
  /** Wall time, ms. */
  ms: Schema.Finite,
});
export interface Ledger extends Schema.Schema.Type<typeof Ledger> {}

/** A chain in the words that a report is written in. */
export const ShownChain = Schema.Struct({
  /** null where nobody names it. */
  name: Schema.NullOr(Schema.String),
  /** Symbol of the native currency; escaped where it is shown. */
  symbol: Schema.String,
  /** Decimals of the native currency; its smallest unit is called wei here. */
  decimals: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 36 })),
});
export interface ShownChain extends Schema.Schema.Type<typeof ShownChain> {}

/** A chain's parameters in a report's words. */
export const inWords = ({ name, symbol, decimals }: Chain): ShownChain => ({
  name: name === unknownChain.name ? null : name,
  symbol,
  decimals,
});

/** One report over a bundle: plain data, JSON-safe through `Report.toJson`. */
export const Report = Schema.Struct({
  /** The version of the report's shape; another one is refused by `fromJson`. */
  version: Schema.Literal(reportVersion),
  /** What to do with the bundle; `ready` of this namespace works it out again. */
  verdict: VerdictName,
  /** The one reason for the verdict, in a sentence. */
  because: Schema.String,
  /** `scanned`: chosen and checked once. `proven`: the exact requests were simulated, too. */
  stage: Schema.Literals(["scanned", "proven"]),
  /** The chain; null where the node did not say. */
  chainId: Schema.NullOr(Schema.Int),
  /** What the caller's viem chain, the `Chains` layer or the table says of the chain; every rendering uses it. Absent from reports of older versions. */
  chain: Schema.optionalKey(ShownChain),
  /** The options of the run, complete. */
  options: ReportOptions,
  /** Which steps it was made with beside the built-in ones, and which of those were left out. */
  steps: Schema.Struct({
    /** Users' own, in their order; one that gave no answer has the finding `StepUnavailable`. */
    with: Schema.Array(OwnName),
    /** Built-in ones that were left out, in their order; each has the finding `LeftOut`. */
    without: Schema.Array(Schema.Literals(builtInSteps)),
  }),
  /** The state and block that the figures are from. */
  observed: Observed,
  /** The transactions, in order. */
  transactions: Schema.NonEmptyArray(TransactionReport).check(Schema.isMaxLength(maxTransactions)),
  /** What each payer has and needs. */
  funds: Schema.Array(Funds),
  /** What moves, in the order of the events. */
  transfers: Schema.Array(Transfer),
  /** What each account has more or less. */
  balanceChanges: Schema.Array(BalanceChange),
  /** Rights over tokens that were granted, changed or spent. */
  approvals: Schema.Array(Approval),
  /** What contracts could take beside what they do take; null where nothing was looked at, as in a scan. */
  exposure: nullable(Exposures),
  /** What changes in the slots that say who acts for accounts and contracts; empty until it is proven. */
  stateChanges: Schema.Array(StateChange),
  /** What the tokens say of themselves. */
  tokens: Schema.Array(TokenInfo),
  /** Accounts that pay or act, and name a sender as their owner. */
  owned: Schema.Array(OwnedAccount),
  /** What stands against sending, what could not be checked, warnings and information. */
  findings: Schema.Array(Finding),
  /** keccak256 over version, chain id, and per transaction its sender and signing hash; null while a request lacks its nonce, gas, fee or chain. */
  digest: Schema.NullOr(Hash),
  /** What it took: rounds, requests, time. */
  ledger: Ledger,
}).annotate({ identifier: "Report" });
export interface Report extends Schema.Schema.Type<typeof Report> {
  /** The caller's options, completed. */
  readonly options: ReportOptions;
  /** The chain's name and currency, for people. */
  readonly chain?: ShownChain;
  /** The state all of it was asked on. */
  readonly observed: Observed;
  /** In the order of the bundle. */
  readonly transactions: Arr.NonEmptyReadonlyArray<TransactionReport>;
  /** Whether every payer can pay. */
  readonly funds: ReadonlyArray<Funds>;
  /** What moves, native currency and tokens, in raw units. */
  readonly transfers: ReadonlyArray<Transfer>;
  /** What accounts held before and after the bundle, in raw units. */
  readonly balanceChanges: ReadonlyArray<BalanceChange>;
  /** Rights over somebody's tokens that are given or taken. */
  readonly approvals: ReadonlyArray<Approval>;
  /** What contracts could take beside what they do take, in raw units; null where nothing was looked at. */
  readonly exposure: Exposures | null;
  /** What changes in the slots that say who acts for accounts and contracts. */
  readonly stateChanges: ReadonlyArray<StateChange>;
  /** What the tokens say of themselves. */
  readonly tokens: ReadonlyArray<TokenInfo>;
  /** Accounts that pay or act, and name a sender as their owner. */
  readonly owned: ReadonlyArray<OwnedAccount>;
  /** What was found, in the order of the pipeline. */
  readonly findings: ReadonlyArray<Finding>;
  /** The requests that it took. */
  readonly ledger: Ledger;
}

/** One transaction that must be mined before a request is sent. */
const Wait = Schema.Struct({
  /** The request's place in the bundle, from 0. */
  transaction: Schema.Int,
  /** Whose transactions have to be mined. */
  account: Address,
  /** What `eth_getTransactionCount` of `account` on `latest` must have reached. */
  nonce: Schema.Int,
});
/** A transaction that must be mined before a request is sent. */
export interface Wait extends Schema.Schema.Type<typeof Wait> {}

/** Permission to sign exactly these requests until `expiresAt`. */
export const Clearance = Schema.Struct({
  /** What to sign, in order. */
  requests: Schema.NonEmptyArray(Request),
  /** Who signs each, in order. */
  senders: Schema.NonEmptyArray(Address),
  /** The report's digest, which binds it to these requests. */
  digest: Hash,
  /** Epoch ms. */
  expiresAt: Schema.Finite,
  /** What must be mined first, in the order of the requests; sent earlier, one may be dropped or do something else. */
  waits: Schema.Array(Wait),
}).annotate({ identifier: "Clearance" });
export interface Clearance extends Schema.Schema.Type<typeof Clearance> {
  /** What is to be signed, in order. */
  readonly requests: Arr.NonEmptyReadonlyArray<Request>;
  readonly waits: ReadonlyArray<Wait>;
}

export { AskRule, Request, RunName };
