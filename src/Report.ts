/**
 * The report: its verdict, the clearance to sign, the proof that the signed request is the cleared one,
 * the difference between two reports, and its written forms.
 */
export type { OverrideFields } from "./eth/parameters.js";
export type { Difference, OutcomeDifference } from "./primitives/difference.js";
export { Figure, type Statement } from "./primitives/statement.js";
export { diff, diffText } from "./report/diff.js";
export { Finding, FindingCode, messageOf, type NoteCode, StepName } from "./report/finding.js";
export { settle } from "./settle/settle.js";
export type {
  Comparison,
  MinedOutcome,
  Hindsight,
  MinedSettlement,
  SentTransaction,
  Settled,
} from "./settle/settlement.js";
export { settledText } from "./settle/text.js";
export { withAuthorizations } from "./report/authorizations.js";
export { matches, mismatch } from "./report/matches.js";
export { ready, type Blocker } from "./report/ready.js";
export { toHtml } from "./report/html.js";
export { fromJson, toJson } from "./report/json.js";
export { toMarkdown } from "./report/markdown.js";
export {
  Approval,
  BalanceChange,
  Fee,
  Funds,
  Gas,
  Nonce,
  Outcome,
  OutcomeLog,
  TokenInfo,
  Transfer,
} from "./report/parts.js";
export { CallFrame, StateChange } from "./report/beside.js";
export {
  type BundleClearance,
  type BundleReport,
  Clearance,
  Observed,
  Report,
  ReportOptions,
  Request,
  RunName,
  TransactionReport,
  type Wait,
} from "./report/schema.js";
export type {
  Eip1559Request,
  Eip2930Request,
  Eip4844Request,
  Eip7702Request,
  LegacyRequest,
} from "./transaction/request.js";
export { summary } from "./report/summary.js";
export { Signing } from "./signing/schema.js";
export { toSvg } from "./report/svg.js";
export { toText } from "./report/text.js";
export type { AmountOptions, RenderOptions } from "./report/amounts.js";
