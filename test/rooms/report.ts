/** What tests take from `src/report`: a file that moves inside it is followed here, and in no test. */
export { digestOf, digestOfReport, requestsOf } from "../../src/report/ready.js";
export { left, right, type Cell, type Column } from "../../src/report/document.js";
export { bounded } from "../../src/report/bounded.js";
export { Finding, FindingCode, fromError, messageOf, type StepName } from "../../src/report/finding.js";
export { freshnessOf, minesOnDemand, type FreshnessOptions } from "../../src/report/freshness.js";
export { payeesOf } from "../../src/report/payees.js";
export { toHtml } from "../../src/report/html.js";
export { fromJson, toJson, upgrade } from "../../src/report/json.js";
export { toMarkdown } from "../../src/report/markdown.js";
export { painter, toText, tableLines } from "../../src/report/text.js";
export type {
  AccountCode,
  Approval,
  BalanceChange,
  By,
  Funds,
  Outcome,
  OutcomeLog,
  Parties,
  Transfer,
} from "../../src/report/parts.js";
export {
  Report,
  reportVersion,
  type BundleReport,
  type ReportOptions,
  type RunName,
  type TransactionReport,
} from "../../src/report/schema.js";
export { summary } from "../../src/report/summary.js";
export { toSvg } from "../../src/report/svg.js";
export { namesFor } from "../../src/report/amounts.js";
export { sentencesByCode } from "../../src/report/byCode.js";
export { detailsOf } from "../../src/report/reason.js";
export { becauseOf, verdictOf } from "../../src/report/ready.js";
export { costUpTo, waitsOf } from "../../src/report/waits.js";
export { checkDescriptors, type Described } from "../../src/report/descriptors.js";
export type { ReportNames } from "../../src/report/names.js";
