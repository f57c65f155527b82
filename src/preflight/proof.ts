/** What a proof adds to a report: the runs compared, the rights and tokens measured. Pure. */
import * as Result from "effect/Result";
import type { AbiIndex } from "../abi/decodeRevert.js";
import { fromError, note, type Finding } from "../report/finding.js";
import { NotProven } from "../errors/verdicts.js";
import type { Report } from "../report/schema.js";
import type { Simulated } from "../steps/simulate.js";
import { isRequestOf, type Request } from "../transaction/request.js";
import type { Proof } from "./material.js";
import { measureQueries, type Measure } from "./measure.js";
import type { Examined } from "./askProof.js";
import { changed, diverged, firstSeen, storyOf } from "./comparison.js";

const where = { step: "proof" } as const;

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
    // what failed once is told also where it was asked again, or another source made up for it
    if (error?._tag === "RpcError" && code !== "PendingUnavailable")
      return [fromError(error, "info", { step, transaction: finding.transaction })];
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

/**
 * A run with another gas limit that got no answer costs a comparison; the scan, which ran with ample gas,
 * is compared all the same.
 */
const lostBeside = ({ beside }: Examined): ReadonlyArray<Finding> => {
  const runs = beside === null ? [] : [...beside.candidates, ...(beside.reference === null ? [] : [beside.reference])];
  const failures = runs.flatMap((run) =>
    Result.isFailure(run) && run.failure._tag === "RpcError" ? [run.failure] : [],
  );
  return failures.slice(0, 1).map((failure) => fromError(failure, "info", { ...where, evidence: "unavailable" }));
};

/** Balances and rights that the witness had no gas left to read. */
const starvedIn = (run: Simulated | null, measure: Measure): number =>
  run === null
    ? 0
    : measureQueries({ ...measure, tokens: [] }).filter(
        (query) => run.before(query)?.kind === "unavailable" || run.after(query)?.kind === "unavailable",
      ).length;

/** The proof of a report out of what was examined. */
export const judge = (report: Report, examined: Examined, measure: Measure, abis: AbiIndex): Proof => {
  const { facts, exam } = examined;
  const { requests } = exam;
  const run = Result.isSuccess(facts.main) ? facts.main.success : null;
  const story = run === null ? null : storyOf(run, requests, report, measure, abis);
  const findings: Array<Finding> = [...kept(report), ...lostBeside(examined)];
  if (story !== null)
    findings.push(
      ...diverged(examined, story, report, measure, abis),
      ...changed(examined, story, report),
      ...firstSeen(story, report, measure),
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
  const unmeasured = measure.cut + examined.unmeasured + starvedIn(run, measure);
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
    measure,
    findings,
    delegateHasCode: (delegate) => {
      const seen = run?.after({ kind: "account", address: delegate });
      return seen?.kind === "account" ? seen.codeSize > 0n : null;
    },
  };
};
