/** Which policies a run evaluates: those given now, else those the report holds, as far as they can be rebuilt. */
import { fromData } from "../Policy.js";
import type { Policy } from "../report/policy.js";
import type { ReportOptions } from "../report/schema.js";

export const policiesOf = (given: ReadonlyArray<Policy> | undefined, options: ReportOptions): ReadonlyArray<Policy> =>
  given ?? options.policies.flatMap((data) => fromData(data) ?? []);
