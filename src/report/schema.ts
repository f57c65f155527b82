/** The report, as a schema: what was asked, what is known and how, and what it means. */
import type * as Arr from "effect/Array";
import * as Rows from "effect/Record";
import * as Schema from "effect/Schema";
import { DecodedCall } from "../abi/calls.js";
import { ShownChain } from "./chain.js";
import { AskRule, OwnName, RunName, StepName, builtInSteps } from "../primitives/names.js";
import { Exposures, StateChange } from "./beside.js";
import { Finding } from "./finding.js";
import { Address, Hash, Hex, later } from "../primitives/hex.js";
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
import { Payee } from "./payees.js";
import { maxTransactions, Transaction } from "../transaction/fields.js";
import { ReportNames } from "./names.js";
import { Observed } from "./observed.js";
import { named, times } from "./options.js";
import { Request } from "../transaction/request.js";
import { SignatureRequest } from "../transaction/signature.js";
import { Signing } from "../signing/schema.js";

/** The version of the report's shape; part of the digest. */
export const reportVersion = 5;
/** The oldest version that `fromJson` reads. */
export const oldestVersion = 4;

/** `blocked`: do not send. `unknown`: something needed could not be checked. `caution`: ready, with warnings. */
const VerdictName = Schema.Literals(["ready", "caution", "unknown", "blocked"]);

/** How an option is decoded: as its row says, with what its row says where a report was made before there was the option. */
const decodedBy = <S extends Schema.Constraint>(row: { readonly schema: S; readonly absent: S["Type"] }) =>
  later<S>(row.schema, row.absent);

const keptTimes = {
  /** ms for a whole run. */
  deadlineMs: decodedBy(times.deadline),
  /** ms for which a clearance holds. */
  maxAgeMs: decodedBy(times.maxAge),
  /** True if the caller said how long a clearance is to hold; absent = the default stands. */
  isMaxAgeGiven: Schema.optionalKey(Schema.Boolean),
  /** How long the fee cap must hold under full blocks, seconds. */
  feeHorizonSeconds: decodedBy(times.feeHorizon),
} satisfies Record<(typeof times)[keyof typeof times]["kept"] | "isMaxAgeGiven", Schema.Constraint>;

/** The caller's options, as far as they can be written down; `prove` runs with them again. */
// why: annotated, so that declarations refer to the rows and keep their documentation
export const ReportOptions: Schema.Struct<
  {
    readonly [K in keyof typeof named]: Schema.withDecodingDefaultTypeKey<(typeof named)[K]["schema"]>;
  } & typeof keptTimes
> = Schema.Struct({
  ...(Rows.map<keyof typeof named, { readonly schema: Schema.Constraint; readonly absent: unknown }, unknown>(
    named,
    decodedBy,
  ) as { readonly [K in keyof typeof named]: Schema.withDecodingDefaultTypeKey<(typeof named)[K]["schema"]> }),
  ...keptTimes,
});
export interface ReportOptions extends Schema.Schema.Type<typeof ReportOptions> {}

/** One transaction of the bundle: the input, what it does, and the request to sign. */
export const TransactionReport = Schema.Struct({
  input: Transaction,
  /** The call as data, null without calldata. For its bigints, `JSON.stringify` the report, or use `Report.toJson`. */
  call: later(Schema.NullOr(DecodedCall), null),
  request: Schema.NullOr(Request),
  code: Parties,
  outcome: Outcome,
  gas: Gas,
  nonce: Nonce,
  fee: Fee,
}).annotate({ identifier: "TransactionReport" });
export interface TransactionReport extends Schema.Schema.Type<typeof TransactionReport> {
  /** The input: every field present, null where it was left open. */
  readonly input: Transaction;
  /** The call of its calldata, as data; null without calldata, and of a deployment. Nothing is decided by it. */
  readonly call: DecodedCall | null;
  /** The request to be signed; null while a field of it is not known. */
  readonly request: Request | null;
  /** The sender and the receiver. */
  readonly code: typeof Parties.Type;
  /** The outcome of the simulated call. */
  readonly outcome: Outcome;
  /** How much gas it takes and is allowed. */
  readonly gas: Gas;
  /** Which nonce, and why. */
  readonly nonce: Nonce;
  /** The price paid per gas, in wei. */
  readonly fee: Fee;
}

/** The rounds, requests and time that a report took. */
const Ledger = Schema.Struct({
  /** Network rounds, one after another. */
  rounds: Schema.Int,
  /** Every request that was sent, in order. */
  requests: Schema.Array(
    Schema.Struct({
      method: Schema.String,
      /** The run of `eth_simulateV1`; null for other methods. */
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

/** One report over a bundle: plain data, JSON-safe through `Report.toJson`. */
export const Report = Schema.Struct({
  /**
   * The version that made it: 5, or 4 of a stored one that `fromJson` read. `ready` refuses one of 4, `prove` makes one
   * of 5 of it. Any other is refused by `fromJson`.
   */
  version: Schema.Literals([oldestVersion, reportVersion]),
  /** The verdict: what to do with the bundle; `ready` of this namespace works it out again. */
  verdict: VerdictName,
  /** The one reason for the verdict, in a sentence. */
  because: Schema.String,
  /** `scanned`: chosen and checked once. `proven`: the exact requests were simulated, too. */
  stage: Schema.Literals(["scanned", "proven"]),
  /** The chain; null where the node did not say. */
  chainId: Schema.NullOr(Schema.Int),
  /**
   * The chain by the caller's viem chain, the `Chains` layer or the built-in table, as every rendering names it: its name
   * (null where it is not known), the symbol and the decimals of its currency. Absent from reports of older versions.
   */
  chain: Schema.optionalKey(ShownChain),
  options: ReportOptions,
  /** Steps of your own that it was made with, and built-in steps that were left out. */
  steps: Schema.Struct({
    /** Users' own, in their order; one that gave no answer has the finding `StepUnavailable`. */
    with: Schema.Array(OwnName),
    /** Built-in ones that were left out, in their order; each has the finding `LeftOut`. */
    without: Schema.Array(Schema.Literals(builtInSteps)),
  }),
  observed: Observed,
  transactions: Schema.Array(TransactionReport).check(Schema.isMaxLength(maxTransactions)),
  carriers: later(Schema.Array(TransactionReport).check(Schema.isMaxLength(maxTransactions)), []),
  signings: later(Schema.Array(Signing), []),
  /** The signature, where it is all that was asked about; absent where transactions or other signatures stand beside it. */
  signing: Schema.optionalKey(Signing),
  funds: Schema.Array(Funds),
  transfers: Schema.Array(Transfer),
  balanceChanges: Schema.Array(BalanceChange),
  approvals: Schema.Array(Approval),
  exposure: later(Schema.NullOr(Exposures), null),
  stateChanges: later(Schema.Array(StateChange), []),
  payees: later(Schema.Array(Payee), []),
  tokens: Schema.Array(TokenInfo),
  /**
   * Accounts that pay or act, and name a sender as their owner, which a contract may claim of anybody; nothing is decided
   * by it. `kind`: `safe` by the code of a Safe's proxy, and `isOwner`; `account` by `isOwner` or `owner`, an ERC-4337 or
   * ERC-1271 account.
   */
  owned: later(Schema.Array(OwnedAccount), []),
  /** Names from the caller's own sources (`names`, `descriptors`), for renderings; absent where there are none. */
  names: Schema.optionalKey(ReportNames),
  findings: Schema.Array(Finding),
  /** keccak256 over version, chain id, the number of signatures, of each its kind, signer and digest, then of each transaction its sender and signing hash; null while a request lacks its nonce, gas, fee or chain. */
  digest: Schema.NullOr(Hash),
  ledger: Ledger,
}).annotate({ identifier: "Report" });
export interface Report extends Schema.Schema.Type<typeof Report> {
  /** The options of the run, complete. */
  readonly options: ReportOptions;
  /** The state and block that the figures are from. */
  readonly observed: Observed;
  /** The transactions, in order; none where only a signature is asked for. */
  readonly transactions: ReadonlyArray<TransactionReport>;
  /** Transactions that were simulated for a signature, in order: they are not signed, and their senders are not "you". */
  readonly carriers: ReadonlyArray<TransactionReport>;
  /** Signatures that were asked about, in order. */
  readonly signings: ReadonlyArray<Signing>;
  /** The signature, where it is all that was asked about. */
  readonly signing?: Signing;
  /** Funds that each payer has and needs. */
  readonly funds: ReadonlyArray<Funds>;
  /** Transfers of native currency and tokens, in raw units, in the order of the events. */
  readonly transfers: ReadonlyArray<Transfer>;
  /** Amounts that accounts held before and after the bundle, in raw units. */
  readonly balanceChanges: ReadonlyArray<BalanceChange>;
  /** Rights over tokens that were granted, changed or spent. */
  readonly approvals: ReadonlyArray<Approval>;
  /** Amounts that contracts could take beside what they do take, raw units; null where not looked at, as in a scan. */
  readonly exposure: typeof Exposures.Type | null;
  /** Changes of the storage slots that say who controls accounts and contracts; empty until it is proven. */
  readonly stateChanges: ReadonlyArray<StateChange>;
  /** Accounts that get value, tokens or a right, and what each gets, by their addresses: the list to screen. Empty in a stored report of version 4. */
  readonly payees: ReadonlyArray<typeof Payee.Type>;
  /** Tokens as they describe themselves. */
  readonly tokens: ReadonlyArray<TokenInfo>;
  /** Names from the caller's own sources, for renderings; absent where there are none. */
  readonly names?: typeof ReportNames.Type;
  /** Findings: blockers, checks that could not be made, warnings and information. */
  readonly findings: ReadonlyArray<Finding>;
  /** The rounds, requests and time that it took. */
  readonly ledger: typeof Ledger.Type;
}

/** The report of a bundle, as every report of transactions is: there is at least one. */
export interface BundleReport extends Report {
  /** The transactions, in order. */
  readonly transactions: Arr.NonEmptyReadonlyArray<TransactionReport>;
}

/** A report that nobody reads yet: its findings are in no order, and lack those of policies and of users' steps. */
export type Draft<R extends Report = Report> = Omit<R, "verdict" | "because" | "digest" | "ledger">;

/** Everything that was simulated for a report: its transactions, then its carriers. */
export const simulatedIn = ({ transactions, carriers }: Report): ReadonlyArray<TransactionReport> => [
  ...transactions,
  ...carriers,
];

/** True of a report with a transaction. */
export const isOfBundle = (report: Report): report is BundleReport => report.transactions.length > 0;

/** One transaction that must be mined before a request is sent. */
const Wait = Schema.Struct({
  /** The request's place in the bundle, from 0. */
  transaction: Schema.Int,
  /** The account whose transactions have to be mined. */
  account: Address,
  /** The count that `eth_getTransactionCount` of `account` on `latest` must have reached. */
  nonce: Schema.Int,
});
/** A transaction that must be mined before a request is sent. */
export interface Wait extends Schema.Schema.Type<typeof Wait> {}

/** Permission to sign exactly these signatures and requests until `expiresAt`; at least one in both together. */
export const Clearance = Schema.Struct({
  /** Signatures to be given, in order; there are none yet. */
  signs: Schema.Array(SignatureRequest),
  /** Requests to be signed, in order. */
  requests: Schema.Array(Request),
  /** The signer of each request, in order. */
  senders: Schema.Array(Address),
  /** The chain that all of it is for. */
  chainId: Schema.Int,
  /** The report's digest, which binds it to these signatures and requests. */
  digest: Hash,
  /** Epoch ms. */
  expiresAt: Schema.Finite,
  /** Waits for what must be mined first, in order of the requests; sent earlier, one may be dropped or do otherwise. */
  waits: Schema.Array(Wait),
  /**
   * Bytes of transactions that came signed, in the order of `requests`, null for those to be signed: send these and sign
   * nothing for them. Absent where all are to be signed. Blobs that came beside them are not in it.
   */
  raw: Schema.optionalKey(Schema.Array(Schema.NullOr(Hex))),
})
  .check(
    Schema.makeFilter(({ signs, requests }) => signs.length + requests.length > 0 || "must have something to sign"),
  )
  .annotate({ identifier: "Clearance" });
/** Permission to sign the requests of a bundle: there is at least one. */
export interface BundleClearance extends Schema.Schema.Type<typeof Clearance> {
  /** Requests to be signed, in order. */
  readonly requests: Arr.NonEmptyReadonlyArray<Request>;
  readonly waits: ReadonlyArray<Wait>;
}
export type Clearance =
  | BundleClearance
  | (typeof Clearance.Type & { readonly signs: Arr.NonEmptyReadonlyArray<typeof SignatureRequest.Type> });

export { Observed, Request, RunName, SignatureRequest };
