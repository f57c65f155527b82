/** The report, its parts and renderings: the door of this room. */
export { isApart, isInVain, isRefused, isReplacement, isReservedAhead } from "./byCode.js";
export { withAuthorizations } from "./authorizations.js";
export { digestOfReport } from "./ready.js";
export type { Evidence } from "./finding.js";
export { headLimitsOf, minesOnDemand } from "./freshness.js";
export { mismatch } from "./matches.js";
export { BlockName, named, times } from "./options.js";
export { type Blocker, decidingSeverity, expiryOf, ready, verdictOf } from "./ready.js";
export { namedByPage } from "./nodeNamedByPage.js";
export { Clearance } from "./schema.js";
export type { BundleClearance, BundleReport, Report, Request, TransactionReport, Wait } from "./schema.js";
export type { ReportEvent } from "./telemetry.js";
