/** Reports without Effect. */
import * as Effect from "effect/Effect";
import { fromJson as decode } from "../report/json.js";
import type { BundleClearance, BundleReport, Clearance, Report } from "../report/index.js";
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

/** `Report.fromJson` of the main door: the report, or a rejection with `ReportVersion` or `SchemaError`. */
export const fromJson = (json: unknown): Promise<Report> => Effect.runPromise(decode(json));
