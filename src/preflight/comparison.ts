/** The runs of a proof beside each other, and beside the earlier report. Pure. */
import * as Result from "effect/Result";
import type { AbiIndex } from "../abi/decodeRevert.js";
import { fromError, note, type Finding } from "../report/finding.js";
import { OutcomeChanged, SimulationDiverged } from "../errors/verdicts.js";
import type { Report } from "../report/schema.js";
import * as Approvals from "../steps/approvals.js";
import * as Assets from "../steps/assets.js";
import { differences, isSameShape, type Story } from "../steps/reading/differences.js";
import * as Simulate from "../steps/simulate.js";
import type * as Tokens from "../steps/reading/tokens.js";
import { filledOf, type Request } from "../transaction/request.js";
import type { Examined } from "./askProof.js";
import type { Measure } from "./measure.js";
import { comparableOf, gasPaid } from "./movements.js";

const where = { step: "proof" } as const;

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

/** A story, with the standards by which its movements were read. */
export interface Told extends Story {
  readonly standards: Tokens.Standards;
}

/** What one run of the requests tells. */
export const storyOf = (
  run: Simulate.Simulated,
  requests: ReadonlyArray<Request>,
  report: Report,
  measure: Measure,
  abis: AbiIndex,
): Told => {
  const readings = readingsOf(run, requests, report, abis);
  const outcomes = readings.map(({ outcome }) => outcome);
  const transactions = report.transactions.map(({ input }) => input);
  const priced = transactions.map(({ from }, index) => ({ from, ...filledOf(requests[index]) }));
  const paid = gasPaid(priced, outcomes, run.block.baseFeePerGas ?? 0n, run);
  return { outcomes, ...comparableOf({ transactions, readings, sight: run, asked: measure, paid }) };
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

/** The base fees of the two contexts differ by a sixteenth; what follows them differs by no more, with room for a constant part. */
const priceShare = 0.08;

/** What differs between the two runs; null where they cannot be compared. `isClose`: only in amounts, and as the base fee does. */
const between = (examined: Examined, report: Report, measure: Measure, abis: AbiIndex) => {
  const { facts, second, exam } = examined;
  if (Result.isFailure(facts.main) || Result.isFailure(second) || !isComparable(examined)) return null;
  const one = storyOf(facts.main.success, exam.requests, report, measure, abis);
  const other = storyOf(second.success, exam.requests, report, measure, abis);
  const tolerance = Math.max(report.options.tolerance, priceShare);
  return {
    found: differences(one, other, report.options.tolerance),
    isClose: isSameShape(one, other) && differences(one, other, tolerance).length === 0,
  };
};

/** Whether the runs do the same with other amounts: the base fee alone may be the reason, honest refunds and payouts follow it. */
export const mayFollowPrice = (examined: Examined, report: Report, measure: Measure, abis: AbiIndex): boolean => {
  const compared = between(examined, report, measure, abis);
  return compared !== null && compared.found.length > 0 && compared.isClose;
};

/** Whether the two runs agree. */
export const agree = (examined: Examined, report: Report, measure: Measure, abis: AbiIndex): boolean =>
  between(examined, report, measure, abis)?.found.length === 0;

/** What differs between the two runs of a proof, or why that is not known. */
export const diverged = (
  examined: Examined,
  story: Story,
  report: Report,
  measure: Measure,
  abis: AbiIndex,
): ReadonlyArray<Finding> => {
  const { facts, second } = examined;
  const { requests } = examined.exam;
  if (Result.isFailure(facts.main)) return [];
  if (examined.followsPrice) {
    return [
      note(
        "PriceDependent",
        "warning",
        {
          verdict: "amounts that move follow the gas price",
          remedy: "read them as those of this base fee; they will differ by as much as it moves",
        },
        where,
      ),
    ];
  }
  if (Result.isFailure(second)) return [fromError(second.failure, "unavailable", where)];
  const same = sameBase(facts.main.success, second.success);
  if (same !== true)
    return [notComparable(same === null ? "the witness did not answer" : "the base block moved between the two runs")];
  const found = differences(story, storyOf(second.success, requests, report, measure, abis), report.options.tolerance);
  return found.length === 0 ? [] : [fromError(new SimulationDiverged({ differences: found }), "blocker", where)];
};

/** What differs from the earlier report: on the same block the contract's doing, else the world's. */
export const changed = (examined: Examined, story: Told, report: Report): ReadonlyArray<Finding> => {
  const { facts } = examined;
  if (Result.isFailure(facts.main)) return [];
  if (report.observed.tier !== "simulate") {
    return [
      note(
        "EvidenceReduced",
        "warning",
        {
          verdict: "the earlier run learned no outcome that this one could be compared with",
          remedy: "run `prove` again",
        },
        where,
      ),
    ];
  }
  const earlier: Story = {
    outcomes: report.transactions.map(({ outcome }) => outcome),
    // why: a scan has only the shape of the events to go by
    transfers: Assets.settle(report.transfers, story.standards),
    balanceChanges: report.balanceChanges,
    approvals: report.approvals,
  };
  const found = differences(earlier, story, report.options.tolerance);
  if (found.length === 0) return [];
  // why: a scan runs without fees, so what follows the gas price was nothing in it
  if (examined.followsPrice && report.stage === "scanned" && isSameShape(earlier, story)) return [];
  const now = environmentOf(facts.main.success);
  const { simulatedNumber, parentHash } = report.observed;
  const sameBlock =
    now !== null && simulatedNumber !== null && now.number === simulatedNumber && now.parentHash === parentHash;
  return sameBlock && report.stage === "scanned" && examined.assumed === null
    ? [fromError(new SimulationDiverged({ differences: found }), "blocker", where)]
    : [fromError(new OutcomeChanged({ differences: found }), "warning", where)];
};

/** Parties and rights that no earlier run knew: they are not measured yet. */
export const firstSeen = (story: Story, report: Report, measure: Measure): ReadonlyArray<Finding> => {
  const known = new Set(measure.holdings.map(({ account, token }) => `${token}/${account}`));
  const fresh = story.transfers.flatMap(({ token, from, to }) =>
    [from, to].filter((account) => BigInt(account) !== 0n && !known.has(`${token}/${account}`)),
  );
  const transactions = report.transactions.map(({ input }) => input);
  const found = Approvals.rights(transactions, story.outcomes, Number.POSITIVE_INFINITY).kept;
  const granted = measure.cut > 0 ? [] : Approvals.newIn(measure.rights, found);
  const all = measure.cut > 0 ? [] : [...fresh, ...granted.map(({ spender }) => spender)];
  return all.length === 0
    ? []
    : [
        note(
          "FirstSeenInProof",
          "warning",
          {
            verdict: "parties appeared that the earlier run did not know",
            evidence: [...new Set(all)].slice(0, 8).join(", "),
            remedy: "run `prove` again to measure them too",
          },
          where,
        ),
      ];
};
