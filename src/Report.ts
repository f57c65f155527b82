/**
 * The report: its verdict, the clearance to sign, the proof that what was signed is what was cleared,
 * the difference between two reports, and its written forms.
 */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import type { RpcError } from "./errors/rpc.js";
import { NotProven, type Verdict } from "./errors/verdicts.js";
import { readSigned } from "./transaction/signed.js";
import { digestOf, isRequestOf, type Request } from "./transaction/request.js";
import { Report, reportVersion, type Clearance } from "./report/schema.js";
import { verdictOf } from "./report/verdict.js";

export { Clearance, Report, Request } from "./report/schema.js";
export { Finding, type Evidence, type Severity } from "./report/finding.js";
export { diff, type Difference } from "./report/diff.js";
export { fromJson, toJson } from "./report/json.js";
export { toHtml } from "./report/html.js";
export { toMarkdown } from "./report/markdown.js";
export { toText } from "./report/text.js";

/** Why there is no clearance: the first blocker as its own error, or what is missing. */
export type Blocker = Verdict | RpcError;

const requestsIn = (report: Report): ReadonlyArray<Request> | null => {
  const requests = report.transactions.flatMap(({ request }) => (request === null ? [] : [request]));
  return requests.length === report.transactions.length ? requests : null;
};

/** Whether the report itself contradicts its requests, by its digest, its chain or its inputs: somebody changed it. */
const altered = (report: Report, requests: ReadonlyArray<Request>): boolean => {
  const signables = report.transactions.map(({ input }, index) => ({ from: input.from, request: requests[index] }));
  const complete = signables.flatMap(({ from, request }) => (request === undefined ? [] : [{ from, request }]));
  return (
    report.chainId === null ||
    report.digest === null ||
    report.transactions.some(({ input, request }) => request !== null && !isRequestOf(input, request)) ||
    digestOf(reportVersion, report.chainId, complete) !== report.digest ||
    requests.some(({ chainId }) => chainId !== report.chainId)
  );
};

/** Facts of a report that no clearance can stand beside, whatever its findings say: they may have been cut. */
const contradictions = ({ transactions, funds, observed, verdict, findings }: Report): ReadonlyArray<string> => [
  ...(transactions.every(({ outcome }) => outcome.status === "success") ? [] : ["a transaction does not succeed"]),
  ...(funds.every(({ shortfall }) => shortfall === 0n) ? [] : ["a payer's funds are not known to suffice"]),
  ...(transactions.every(({ input }) => funds.some(({ account }) => account === input.from))
    ? []
    : ["a payer's funds are missing"]),
  ...(observed.freshness === "stale" ? ["the state asked is not the newest"] : []),
  ...(observed.blockTag === "pending" || observed.blockTag === "latest"
    ? []
    : ["the report speaks of another block than the newest"]),
  ...(verdict === verdictOf(findings) ? [] : ["the verdict is not that of the findings"]),
];

/**
 * Permission to sign exactly the report's requests, on `ready` and `caution`. Verdict, digest and age
 * are worked out again, nothing is taken on trust from the report's own words.
 *
 * Fails with the first blocker as its own tagged error, else with what could not be checked, else with
 * `NotProven { missing }`: not proven, overrides, older than `maxAge`, altered.
 */
export const ready: (report: Report) => Effect.Effect<Clearance, Blocker> = Effect.fn("Report.ready")(function* (
  report: Report,
) {
  const blocker = report.findings.find(({ severity }) => severity === "blocker");
  if (blocker !== undefined) return yield* blocker.error ?? new NotProven({ missing: [blocker.message] });
  const now = yield* Clock.currentTimeMillis;
  const unavailable = report.findings.filter(({ severity }) => severity === "unavailable");
  const missing = unavailable.map(({ message }) => message);
  const requests = requestsIn(report);
  if (report.stage !== "proven") missing.push("the report is only scanned, not proven");
  if (requests === null) missing.push("a request has a hole: nonce, gas, fee or chain is not known");
  if (requests !== null && altered(report, requests)) missing.push("the requests are not those of the report's digest");
  if (report.options.stateOverrides !== null || report.options.blockOverrides !== null)
    missing.push("the report describes a pretended state");
  if (report.observed.tier !== "simulate") missing.push("the outcome was not simulated");
  const expiresAt = report.observed.at + report.options.maxAgeMs;
  if (now > expiresAt) missing.push(`the report is older than ${report.options.maxAgeMs} ms`);
  if (report.observed.at > now + 60_000) missing.push("the report is dated in the future");
  missing.push(...contradictions(report));
  const verdict = verdictOf(report.findings);
  if (verdict !== "ready" && verdict !== "caution" && missing.length === 0) missing.push(`the verdict is ${verdict}`);
  const [first, ...others] = requests ?? [];
  const [sender, ...senders] = report.transactions.map(({ input }) => input.from);
  if (missing.length > 0 || first === undefined || sender === undefined || report.digest === null)
    return yield* new NotProven({ missing });
  return { requests: [first, ...others], senders: [sender, ...senders], digest: report.digest, expiresAt };
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
  if (digestOf(reportVersion, chainId, named) !== clearance.digest) return false;
  const signables = signed.flatMap((raw) => readSigned(raw) ?? []);
  return (
    signables.length === signed.length &&
    signables.every(({ from }, index) => from === senders[index]) &&
    digestOf(reportVersion, chainId, signables) === clearance.digest
  );
};
