/** What a report is made of, before anything is decided. */
import type { Lookup as ChainLookup } from "../Chains.js";
import type { Finding } from "../report/finding.js";
import type { Address } from "../primitives/hex.js";
import type { Policy } from "../report/policy.js";
import type { Report, ReportOptions } from "../report/schema.js";
import type { Request } from "../transaction/request.js";
import type { Transaction } from "../transaction/schema.js";
import type { Facts } from "./facts.js";
import type { Limits, Measure } from "./measure.js";

/** What a report is made of. */
export interface Material {
  readonly transactions: ReadonlyArray<Transaction>;
  readonly options: ReportOptions;
  readonly chains: ChainLookup;
  readonly policies: ReadonlyArray<Policy>;
  readonly facts: Facts;
  /** Epoch ms. */
  readonly now: number;
  readonly limits: Limits;
  readonly ledger: Report["ledger"];
  /** The report that is being proven and the requests that were run; null for a scan. */
  readonly proof: Proof | null;
}

/** What only a proof knows. */
export interface Proof {
  readonly previous: Report;
  readonly requests: ReadonlyArray<Request>;
  readonly measure: Measure;
  readonly findings: ReadonlyArray<Finding>;
  readonly delegateHasCode: (delegate: Address) => boolean | null;
}
