/**
 * The codes of findings that are no errors of their own, collected from the files that declare them. The core knows this
 * list by its type alone, so that whoever reads a report does not load what makes one.
 */
import * as answers from "./pipeline/answers.js";
import * as userSteps from "./pipeline/userSteps.js";
import * as batches from "./pipeline/batches.js";
import * as checkProof from "./pipeline/checkProof.js";
import * as endpoint from "./pipeline/endpoint/simulate.js";
import * as trace from "./pipeline/extras/trace.js";
import * as doubt from "./pipeline/gas/doubt.js";
import * as limit from "./pipeline/gas/limit.js";
import * as observe from "./pipeline/observe.js";
import * as operationJudgement from "./pipeline/operationJudgement.js";
import * as operationOutcome from "./pipeline/operationOutcome.js";
import * as prepare from "./pipeline/prepare.js";
import * as prove from "./pipeline/prove.js";
import * as judged from "./pipeline/report.js";
import * as safeJudgement from "./pipeline/safeJudgement.js";
import * as signatures from "./pipeline/signatureJudgement.js";
import * as steps from "./pipeline/steps.js";
import * as compare from "./pipeline/worlds/compare.js";
import * as bounded from "./report/bounded.js";
import * as descriptors from "./report/descriptors.js";
import * as freshness from "./report/freshness.js";
import * as nodeNamedByPage from "./report/nodeNamedByPage.js";
import * as approvals from "./steps/approvals.js";
import * as assets from "./steps/assets.js";
import * as code from "./steps/code.js";
import * as estimate from "./steps/estimate.js";
import * as fee from "./steps/fee.js";
import * as funds from "./steps/funds.js";
import * as nonce from "./steps/nonce.js";
import * as control from "./steps/reading/control.js";
import * as delegateCalls from "./steps/reading/delegateCalls.js";
import * as falseAnswers from "./steps/reading/falseAnswers.js";
import * as inner from "./steps/reading/inner.js";
import * as l1Fee from "./steps/reading/l1Fee.js";
import * as lookalikes from "./steps/reading/lookalikes.js";
import * as nobodyCalled from "./steps/reading/nobodyCalled.js";
import * as outcome from "./steps/reading/outcome.js";
import * as overrides from "./steps/reading/overrides.js";
import * as pool from "./steps/reading/pool.js";
import * as pretended from "./steps/reading/pretended.js";
import * as secondReading from "./steps/reading/secondReading.js";
import * as stateChanges from "./steps/reading/stateChanges.js";
import * as tokenShortfall from "./steps/reading/tokenShortfall.js";
import * as tokens from "./steps/reading/tokens.js";
import * as unexplained from "./steps/reading/unexplained.js";
import * as simulate from "./steps/simulate.js";
import type { Code, Severity } from "./report/finding.js";

/** The files that declare codes: each exports a code by its name. */
const makers = [
  ...[answers, userSteps, checkProof, endpoint, trace, doubt, limit, observe, prepare, prove, judged, steps, compare],
  ...[bounded, descriptors, freshness, approvals, assets, code, estimate, fee, funds, nonce, simulate, control],
  ...[delegateCalls, falseAnswers, inner, l1Fee, outcome, pool, secondReading, stateChanges, tokenShortfall],
  ...[tokens, unexplained, overrides, nodeNamedByPage, nobodyCalled, lookalikes, pretended, signatures, batches],
  ...[operationJudgement, operationOutcome, safeJudgement],
] as const;

/** A code of our own findings that are no errors. */
// why: only names in PascalCase are looked at, for the types of the other exports lead back to the type of a finding
export type NoteCode = (typeof makers)[number] extends infer Maker
  ? Maker extends unknown
    ? keyof {
        [
          Name in Extract<keyof Maker, Capitalize<string>> as Maker[Name] extends { readonly code: Name } ? Name : never
        ]: Name;
      }
    : never
  : never;

const isCode = (value: unknown): value is Code<NoteCode, Severity> =>
  typeof value === "object" && value !== null && "severities" in value;

/** Every code by its name. */
export const codes = Object.fromEntries(
  makers.flatMap((maker) =>
    Object.values(maker)
      .filter(isCode)
      .map((code) => [code.code, code]),
  ),
) as Readonly<Record<NoteCode, Code<NoteCode, Severity>>>;
