/** What a proof adds to a report: the runs compared, the rights and tokens measured. Pure. */
import * as Result from "effect/Result";
import type { AbiIndex } from "../errors/decodeRevert.js";
import { fromError, note, type Finding } from "../errors/finding.js";
import type { Address } from "../errors/hex.js";
import { OutcomeChanged, SimulationDiverged } from "../errors/verdicts.js";
import { effectiveGasPrice } from "../chains/baseFee.js";
import type { Report } from "../report/schema.js";
import * as Approvals from "../steps/approvals.js";
import * as Assets from "../steps/assets.js";
import { differences, type Story } from "../steps/compare.js";
import * as Estimate from "../steps/estimate.js";
import * as Simulate from "../steps/simulate.js";
import * as Tokens from "../steps/tokens.js";
import type { Request } from "../transaction/request.js";
import type { Proof } from "./assemble.js";
import type { Examined, Measure } from "./askProof.js";

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

/** The requests with wider gas limits, to be run beside; null where none would help, or they were proven before. */
export const widerRequests = (report: Report, requests: ReadonlyArray<Request>): ReadonlyArray<Request> | null => {
  if (report.stage === "proven") return null;
  const limits = report.transactions.map(({ gas }) => Estimate.widerLimit(gas));
  return limits.every((limit) => limit === null)
    ? null
    : requests.map((request, index) => ({ ...request, gas: limits[index] ?? request.gas }));
};

const readingsOf = (
  run: Simulate.Simulated,
  requests: ReadonlyArray<Request>,
  report: Report,
  abis: AbiIndex,
): ReadonlyArray<Simulate.Reading> =>
  report.transactions.map(({ input }, index) => {
    const call = run.calls[index];
    return call === undefined
      ? Simulate.unread(null)
      : Simulate.readCall(call, requests[index]?.gas ?? 0n, input, abis, "measured");
  });

const storyOf = (
  run: Simulate.Simulated,
  requests: ReadonlyArray<Request>,
  report: Report,
  measure: Measure,
  abis: AbiIndex,
): Story => {
  const readings = readingsOf(run, requests, report, abis);
  const outcomes = readings.map(({ outcome }) => outcome);
  const transfers = Assets.transfers(readings);
  const baseFee = run.block.baseFeePerGas ?? 0n;
  const paid = new Map<Address, bigint>();
  report.transactions.forEach(({ input }, index) => {
    const request = requests[index];
    const price =
      request === undefined
        ? 0n
        : effectiveGasPrice(
            {
              gasPrice: request.gasPrice ?? null,
              maxFeePerGas: request.maxFeePerGas ?? null,
              maxPriorityFeePerGas: request.maxPriorityFeePerGas ?? null,
            },
            baseFee,
          );
    paid.set(input.from, (paid.get(input.from) ?? 0n) + (outcomes[index]?.gasUsed ?? 0n) * price);
  });
  return {
    outcomes,
    transfers,
    balanceChanges: Assets.decide(transfers, measure.holdings, run.before, run.after, paid).outputs,
    approvals: Approvals.decide(measure.rights, run.before, run.after).outputs,
  };
};

const environmentOf = (run: Simulate.Simulated) => {
  const answer = run.before({ kind: "environment" });
  return answer?.kind === "environment" ? answer : null;
};

/** Whether both runs stood on the same block: null = one of them cannot say. */
export const sameBase = (a: Simulate.Simulated, b: Simulate.Simulated): boolean | null => {
  const [one, other] = [environmentOf(a), environmentOf(b)];
  return one === null || other === null ? null : one.number === other.number && one.parentHash === other.parentHash;
};

/** Whether the two runs of a proof can be compared at all; if not, asking once more may help. */
export const isComparable = ({ facts, second }: Examined): boolean =>
  Result.isFailure(facts.main) || (Result.isSuccess(second) && sameBase(facts.main.success, second.success) === true);

const where = { step: "proof" } as const;

const notComparable = (evidence: string): Finding =>
  note(
    "BaseNotComparable",
    "unavailable",
    {
      verdict: "whether the outcome depends on being watched could not be checked",
      evidence,
      remedy: "run `prove` again",
    },
    where,
  );

const diverged = (
  examined: Examined,
  story: Story,
  report: Report,
  measure: Measure,
  abis: AbiIndex,
): ReadonlyArray<Finding> => {
  const { facts, second, requests } = examined;
  if (Result.isFailure(facts.main)) return [];
  if (Result.isFailure(second)) return [fromError(second.failure, "unavailable", where)];
  const same = sameBase(facts.main.success, second.success);
  if (same !== true)
    return [notComparable(same === null ? "the witness did not answer" : "the base block moved between the two runs")];
  const found = differences(story, storyOf(second.success, requests, report, measure, abis), report.options.tolerance);
  return found.length === 0 ? [] : [fromError(new SimulationDiverged({ differences: found }), "blocker", where)];
};

const changed = (examined: Examined, story: Story, report: Report): ReadonlyArray<Finding> => {
  const { facts } = examined;
  if (Result.isFailure(facts.main)) return [];
  const earlier: Story = {
    outcomes: report.transactions.map(({ outcome }) => outcome),
    transfers: report.transfers,
    balanceChanges: report.balanceChanges,
    approvals: report.approvals.length > 0 ? report.approvals : story.approvals,
  };
  const found = differences(earlier, story, report.options.tolerance);
  if (found.length === 0) return [];
  const now = environmentOf(facts.main.success);
  const { simulatedNumber, parentHash } = report.observed;
  const sameBlock =
    now !== null && simulatedNumber !== null && now.number === simulatedNumber && now.parentHash === parentHash;
  return sameBlock && report.stage === "scanned" && !examined.widened && !examined.assumed
    ? [fromError(new SimulationDiverged({ differences: found }), "blocker", where)]
    : [fromError(new OutcomeChanged({ differences: found }), "warning", where)];
};

const firstSeen = (story: Story, measure: Measure): ReadonlyArray<Finding> => {
  const known = new Set(measure.holdings.map(({ account, token }) => `${token}/${account}`));
  const fresh = story.transfers.flatMap(({ token, from, to }) =>
    [from, to].filter((account) => BigInt(account) !== 0n && !known.has(`${token}/${account}`)),
  );
  return fresh.length === 0
    ? []
    : [
        note(
          "FirstSeenInProof",
          "warning",
          {
            verdict: "parties appeared that the earlier run did not know",
            evidence: [...new Set(fresh)].slice(0, 8).join(", "),
            remedy: "run `prove` again to measure them too",
          },
          where,
        ),
      ];
};

/** Findings of the earlier report that nothing asks about again. */
const kept = (report: Report): ReadonlyArray<Finding> =>
  report.findings.filter(
    ({ step, error, code, severity }) =>
      (step === "estimate" && error !== null && severity !== "blocker" && code !== "TxGasLimitTooHigh") ||
      code === "PendingUnavailable" ||
      code === "OptionsRefused",
  );

/** The proof of a report out of what was examined. */
export const judge = (
  report: Report,
  examined: Examined,
  measure: Measure & { readonly cut: number },
  abis: AbiIndex,
): Proof => {
  const { facts, requests } = examined;
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
  if (examined.assumed) {
    findings.push(
      note(
        "PredecessorsNotSimulated",
        "warning",
        {
          verdict: "earlier transactions of the sender are not in the simulated state; the nonce was assumed",
          remedy: "prove again when they are mined",
        },
        { ...where, evidence: "assumed" },
      ),
    );
  }
  if (examined.widened)
    findings.push(
      note(
        "GasWitnessesDisagree",
        "info",
        { verdict: "the tighter gas limit failed in simulation; the wider one is handed out" },
        where,
      ),
    );
  if (measure.cut > 0) {
    findings.push(
      note(
        "PartiesCut",
        "warning",
        {
          verdict: "more parties and approvals are touched than are measured",
          evidence: `${measure.cut} not measured`,
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
