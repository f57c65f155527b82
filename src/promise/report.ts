/** Reports without Effect. */
import * as Effect from "effect/Effect";
import { fromJson as decode } from "../report/json.js";
import {
  withAuthorizations as signedBy,
  type BundleClearance,
  type BundleReport,
  type Clearance,
  type Report,
} from "../report/index.js";
import { clearing } from "./given.js";

export { toJson } from "../report/json.js";
export type { BundleClearance, BundleReport, Clearance, Report } from "../report/index.js";
export { summary } from "../report/summary.js";
export { toText } from "../report/text.js";

/**
 * `Report.ready` of the main door: what to sign, or a rejection with the first blocker. A client's own `ready` also refuses
 * what lacks one of its steps.
 */
export const ready = <R extends Report>(report: R): Promise<R extends BundleReport ? BundleClearance : Clearance> =>
  Effect.runPromise(clearing(report));

/** `Report.withAuthorizations` of the main door: the report with signatures, to be proven again, or a rejection with `InvalidTransaction`. */
export const withAuthorizations = <R extends Report>(
  report: R,
  signatures: Parameters<typeof signedBy>[1],
): Promise<R> => Effect.runPromise(signedBy(report, signatures));

/** `Report.fromJson` of the main door: the report, or a rejection with `ReportVersion` or `SchemaError`. */
export const fromJson = (json: unknown): Promise<Report> => Effect.runPromise(decode(json));
