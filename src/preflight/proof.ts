/** What a proof adds to a report: the runs compared, the rights and tokens measured. Pure. */
import * as Result from "effect/Result";
import type { AbiIndex } from "../errors/decodeRevert.js";
import { fromError, note, type Finding } from "../errors/finding.js";
import type { Address } from "../errors/hex.js";
import { NotProven } from "../errors/verdicts.js";
import type { Report } from "../report/schema.js";
import * as Approvals from "../steps/approvals.js";
import * as Assets from "../steps/assets.js";
import * as Tokens from "../steps/tokens.js";
import { isRequestOf, type Request } from "../transaction/request.js";
import type { Proof } from "./material.js";
import type { Examined, Measure } from "./askProof.js";
import { changed, diverged, firstSeen, storyOf } from "./comparison.js";

const where = { step: "proof" } as const;

/** How many holdings, rights and tokens one proof measures. */
export const measureLimits = { holdings: 256, rights: 64, tokens: 32 };

/** What to measure: everything the report knows of, from its last run and the ones before. */
export const measureOf = (report: Report): Measure & { readonly cut: number } => {
  const senders = [...new Set(report.transactions.map(({ input }) => input.from))];
  const held = Assets.holdings(senders, report.transfers, measureLimits.holdings);
  const granted = Approvals.rights(
    report.transactions.map(({ outcome }) => outcome),
    measureLimits.rights,
  );
  const tokens = Tokens.tokens(report.transfers, granted.kept, measureLimits.tokens);
  const delegates = report.transactions.flatMap(({ code }) =>
    [code.from, code.to].flatMap((account) => (account?.delegate == null ? [] : [account.delegate])),
  );
  return {
    holdings: held.kept,
    rights: granted.kept,
    tokens,
    delegates: [...new Set(delegates)],
    cut: held.cut + granted.cut,
  };
};

/** The requests of a report; null while one has a hole. */
export const requestsOf = (report: Report): ReadonlyArray<Request> | null => {
  const requests = report.transactions.flatMap(({ request }) => (request === null ? [] : [request]));
  return requests.length === report.transactions.length ? requests : null;
};

/** Our own rules about gas; they are applied again. */
const gasRules = ["TxGasLimitTooHigh", "BlockGasLimitExceeded", "OutOfGas"];

/**
 * Findings of the earlier report that nothing asks about again. A node that named two chain ids is not
 * believed until a new scan; an estimate that failed is no blocker beside a proof, but stays in sight.
 */
const kept = (report: Report): ReadonlyArray<Finding> =>
  report.findings.flatMap((finding) => {
    const { step, error, code, severity } = finding;
    if (step === "estimate" && error !== null && !gasRules.includes(code))
      return [severity === "blocker" ? fromError(error, "warning", finding) : finding];
    const stays =
      (step === "chain" && code === "NodeDisagrees") ||
      ["PendingUnavailable", "OptionsRefused", "FeeHorizonShort", "TipCapped", "GasHeadroomThin"].includes(code);
    return stays ? [finding] : [];
  });

/**
 * Whether the signed nonce is ahead of the state that was simulated on. A state other than `pending`
 * holds nothing of the pool, also where the node does not check nonces.
 */
const isAhead = ({ exam, facts, assumed }: Examined): boolean =>
  assumed !== null ||
  (facts.block !== "pending" &&
    exam.report.transactions.some(({ input }, index, all) => {
      const answer = facts.counts.get(input.from)?.latest;
      const first = all.findIndex((other) => other.input.from === input.from) === index;
      const nonce = exam.requests[index]?.nonce ?? 0;
      return first && answer !== undefined && Result.isSuccess(answer) && nonce > answer.success;
    }));

/** The proof of a report out of what was examined. */
export const judge = (
  report: Report,
  examined: Examined,
  measure: Measure & { readonly cut: number },
  abis: AbiIndex,
): Proof => {
  const { facts, exam } = examined;
  const { requests } = exam;
  const run = Result.isSuccess(facts.main) ? facts.main.success : null;
  const approvals =
    run === null ? { outputs: [], findings: [] } : Approvals.decide(measure.rights, run.before, run.after);
  const story = run === null ? null : storyOf(run, requests, report, measure, abis);
  const findings: Array<Finding> = [...kept(report), ...approvals.findings];
  if (story !== null)
    findings.push(
      ...diverged(examined, story, report, measure, abis),
      ...changed(examined, story, report),
      ...firstSeen(story, measure),
    );
  if (report.transactions.some(({ input }, index) => !isRequestOf(input, requests[index] ?? ({} as Request)))) {
    const missing = ["the requests are not those of the report's inputs"];
    findings.push(fromError(new NotProven({ missing }), "unavailable", where));
  }
  if (isAhead(examined)) {
    findings.push(
      note(
        "PredecessorsNotSimulated",
        "warning",
        examined.assumed?._tag === "NonceTooLow"
          ? {
              verdict: "the simulated state holds a transaction with this nonce already; the nonce was assumed",
              remedy: "use the next nonce, unless it shall be replaced",
            }
          : {
              verdict: "earlier transactions of the sender are not in the simulated state; the nonce was assumed",
              remedy: "prove again when they are mined",
            },
        { ...where, evidence: "assumed" },
      ),
    );
  }
  if (exam.widened)
    findings.push(
      note(
        "GasWitnessesDisagree",
        "info",
        { verdict: "the tighter gas limit did not do the same in simulation; the wider one is handed out" },
        where,
      ),
    );
  const unmeasured = measure.cut + examined.unmeasured;
  if (unmeasured > 0) {
    findings.push(
      note(
        "PartiesCut",
        "warning",
        {
          verdict: "more parties and approvals are touched than are measured",
          evidence: `${unmeasured} not measured`,
          remedy: "those rest on events alone",
        },
        where,
      ),
    );
  }
  return {
    previous: report,
    requests,
    holdings: measure.holdings,
    approvals: approvals.outputs,
    tokens: run === null ? report.tokens : Tokens.decide(measure.tokens, run.before),
    findings,
    delegateHasCode: (delegate) => {
      const seen = run?.after({ kind: "account", address: delegate });
      return seen?.kind === "account" ? seen.codeSize > 0n : null;
    },
  };
};
