/** The report, its parts and renderings: the door of this room. */
export { isInVain, isReplacement, isReservedAhead } from "./byCode.js";
export { digestOfReport } from "./ready.js";
export type { Evidence } from "./finding.js";
export { headLimitsOf, minesOnDemand } from "./freshness.js";
export { mismatch } from "./matches.js";
export { BlockName, named, times } from "./options.js";
export { type Blocker, decidingSeverity, expiryOf, ready, verdictOf } from "./ready.js";
export { namedByPage } from "./nodeNamedByPage.js";
export {
  type BundleClearance,
  type BundleReport,
  Clearance,
  type Report,
  type Request,
  type TransactionReport,
  type Wait,
} from "./schema.js";
export type { ReportEvent } from "./telemetry.js";
