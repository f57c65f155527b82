/**
 * The report: its verdict, the clearance to sign, the proof that what was signed is what was cleared,
 * the difference between two reports, and its written forms.
 */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import type { RpcError } from "./errors/rpc.js";
import { gap, NotProven, type Gap, type Verdict } from "./errors/verdicts.js";
import { statementText } from "./primitives/statement.js";
import { readSigned } from "./transaction/signed.js";
import { isRequestOf, type Request } from "./transaction/request.js";
import { digestOfReport, digestOfSignables, requestsOf } from "./report/digest.js";
import type { Finding } from "./report/finding.js";
import type { Clearance, Report } from "./report/schema.js";
import { verdictOf } from "./report/verdict.js";
import { waitsOf } from "./report/waits.js";

export type { AccountOverrideFields, BlockOverridesFields } from "./eth/overrides.js";
export { Gap } from "./errors/verdicts.js";
export { Figure, figureText, type Statement } from "./primitives/statement.js";
export { diff, type Difference } from "./report/diff.js";
export { Evidence, Finding, FindingCode, messageOf, NoteCode, Severity, StepName } from "./report/finding.js";
export { notes, type Note } from "./report/notes.js";
export { toHtml } from "./report/html.js";
export { fromJson, toJson } from "./report/json.js";
export { toMarkdown } from "./report/markdown.js";
export type { OptionRow } from "./report/options.js";
export {
  AccountCode,
  Approval,
  BalanceChange,
  By,
  Fee,
  Funds,
  FundsTerm,
  Gas,
  Nonce,
  Outcome,
  OutcomeLog,
  Parties,
  TokenInfo,
  Transfer,
} from "./report/parts.js";
export {
  Clearance,
  Ledger,
  Observed,
  Report,
  ReportOptions,
  type ReportOptionsFields,
  reportVersion,
  Request,
  RunName,
  Tier,
  TransactionReport,
  VerdictName,
  type Wait,
  World,
} from "./report/schema.js";
export { toText, type TextOptions } from "./report/text.js";
export type { RenderOptions } from "./report/compose.js";
export type { Price } from "./report/values.js";

/** Why there is no clearance: the first blocker as its own error, or what is missing. */
export type Blocker = Verdict | RpcError;

/** A check that a finding says could not be made, or that has no error to fail with. */
const gapOf = (finding: Finding): Gap =>
  gap("CheckUnavailable", statementText({ ...finding, remedy: "" }), finding.code);

/** Whether the report itself contradicts its requests, by its digest, its chain or its inputs: somebody changed it. */
const altered = (report: Report, requests: ReadonlyArray<Request>): boolean =>
  report.digest === null ||
  report.transactions.some(({ input, request }) => request !== null && !isRequestOf(input, request)) ||
  digestOfReport(report) !== report.digest ||
  requests.some(({ chainId }) => chainId !== report.chainId);

/** Facts of a report that no clearance can stand beside, whatever its findings say: they may have been cut. */
const contradictions = ({ transactions, funds, observed, verdict, findings }: Report): ReadonlyArray<Gap> => {
  const gaps: Array<Gap> = [];
  if (!transactions.every(({ outcome }) => outcome.status === "success"))
    gaps.push(gap("NotSuccessful", "a transaction does not succeed"));
  if (!funds.every(({ shortfall }) => shortfall === 0n))
    gaps.push(gap("FundsUnknown", "a payer's funds are not known to suffice"));
  if (!transactions.every(({ input }) => funds.some(({ account }) => account === input.from)))
    gaps.push(gap("FundsUnknown", "a payer's funds are missing"));
  if (observed.freshness === "stale") gaps.push(gap("Stale", "the state asked is not the newest"));
  if (observed.blockTag !== "pending" && observed.blockTag !== "latest")
    gaps.push(gap("BlockNotNewest", "the report speaks of another block than the newest"));
  if (verdict !== verdictOf(findings)) gaps.push(gap("Altered", "the verdict is not that of the findings"));
  return gaps;
};

/** What the report itself lacks for a clearance, beside the checks that its findings say are missing. */
const gapsIn = (report: Report, now: number): ReadonlyArray<Gap> => {
  const { observed, options, stage } = report;
  const requests = requestsOf(report);
  const gaps: Array<Gap> = [];
  if (stage !== "proven") gaps.push(gap("NotProven", "the report is only scanned, not proven"));
  if (requests === null)
    gaps.push(gap("RequestIncomplete", "a request has a hole: nonce, gas, fee or chain is not known"));
  if (requests !== null && altered(report, requests))
    gaps.push(gap("Altered", "the requests are not those of the report's digest"));
  if (options.stateOverrides !== null || options.blockOverrides !== null)
    gaps.push(gap("StatePretended", "the report describes a pretended state"));
  if (observed.tier !== "simulate") gaps.push(gap("NotSimulated", "the outcome was not simulated"));
  if (now > observed.at + options.maxAgeMs)
    gaps.push(gap("Expired", `the report is older than ${options.maxAgeMs} ms`));
  if (observed.at > now + 60_000) gaps.push(gap("DatedInTheFuture", "the report is dated in the future"));
  return [...gaps, ...contradictions(report)];
};

/**
 * Permission to sign exactly the report's requests, on `ready` and `caution`. Verdict, digest and age
 * are worked out again, nothing is taken on trust from the report's own words.
 *
 * Fails with the first blocker as its own tagged error, else with `NotProven { missing }`: every check
 * that could not be made, by the code of its finding, and whatever the report itself lacks: not proven,
 * overrides, older than `maxAge`, altered.
 */
export const ready: (report: Report) => Effect.Effect<Clearance, Blocker> = Effect.fn("Report.ready")(function* (
  report: Report,
) {
  const blocker = report.findings.find(({ severity }) => severity === "blocker");
  if (blocker !== undefined) return yield* blocker.error ?? new NotProven({ missing: [gapOf(blocker)] });
  const now = yield* Clock.currentTimeMillis;
  const unavailable = report.findings.filter(({ severity }) => severity === "unavailable");
  const missing = [...unavailable.map(gapOf), ...gapsIn(report, now)];
  const requests = requestsOf(report);
  const [sender, ...senders] = report.transactions.map(({ input }) => input.from);
  if (missing.length > 0 || requests === null || sender === undefined || report.digest === null)
    return yield* new NotProven({ missing });
  return {
    requests,
    senders: [sender, ...senders],
    digest: report.digest,
    expiresAt: report.observed.at + report.options.maxAgeMs,
    waits: waitsOf(report).map(({ transaction, account, nonce }) => ({ transaction, account, nonce })),
  };
});

/**
 * Whether these signed transactions are exactly what the clearance allows: every field, in order, and
 * signed by the senders it names. Anything else is false, never an exception.
 */
export const matches = (clearance: Clearance, signed: ReadonlyArray<string>): boolean => {
  const { requests, senders } = clearance;
  if (signed.length !== requests.length || senders.length !== requests.length) return false;
  const chainId = requests[0].chainId;
  const named = requests.flatMap((request, index) => {
    const from = senders[index];
    return from === undefined ? [] : [{ from, request }];
  });
  // why: the clearance may have been changed as well; its own words must give the same digest
  if (digestOfSignables(chainId, named) !== clearance.digest) return false;
  const signables = signed.flatMap((raw) => readSigned(raw) ?? []);
  return (
    signables.length === signed.length &&
    signables.every(({ from }, index) => from === senders[index]) &&
    digestOfSignables(chainId, signables) === clearance.digest
  );
};
