/** The runs of a proof beside each other, and beside the earlier report. Pure. */
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
import * as Simulate from "../steps/simulate.js";
import type { Request } from "../transaction/request.js";
import type { Examined, Measure } from "./askProof.js";

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

/** What one run of the requests tells. */
export const storyOf = (
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
  if (Result.isFailure(second)) return [fromError(second.failure, "unavailable", where)];
  const same = sameBase(facts.main.success, second.success);
  if (same !== true)
    return [notComparable(same === null ? "the witness did not answer" : "the base block moved between the two runs")];
  const found = differences(story, storyOf(second.success, requests, report, measure, abis), report.options.tolerance);
  return found.length === 0 ? [] : [fromError(new SimulationDiverged({ differences: found }), "blocker", where)];
};

/** What differs from the earlier report: on the same block the contract's doing, else the world's. */
export const changed = (examined: Examined, story: Story, report: Report): ReadonlyArray<Finding> => {
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
    transfers: report.transfers,
    balanceChanges: report.balanceChanges,
    // a scan measures none
    approvals: report.stage === "proven" ? report.approvals : story.approvals,
  };
  const found = differences(earlier, story, report.options.tolerance);
  if (found.length === 0) return [];
  const now = environmentOf(facts.main.success);
  const { simulatedNumber, parentHash } = report.observed;
  const sameBlock =
    now !== null && simulatedNumber !== null && now.number === simulatedNumber && now.parentHash === parentHash;
  return sameBlock && report.stage === "scanned" && !examined.exam.widened && examined.assumed === null
    ? [fromError(new SimulationDiverged({ differences: found }), "blocker", where)]
    : [fromError(new OutcomeChanged({ differences: found }), "warning", where)];
};

const rightKey = ({ standard, token, owner, spender, tokenId, operator }: Approvals.Right): string =>
  `${standard}/${token}/${owner}/${spender}/${tokenId ?? ""}/${operator}`;

/** Parties and rights that no earlier run knew: they are not measured yet. */
export const firstSeen = (story: Story, measure: Measure): ReadonlyArray<Finding> => {
  const known = new Set(measure.holdings.map(({ account, token }) => `${token}/${account}`));
  const fresh = story.transfers.flatMap(({ token, from, to }) =>
    [from, to].filter((account) => BigInt(account) !== 0n && !known.has(`${token}/${account}`)),
  );
  const looked = new Set(measure.rights.map(rightKey));
  const granted = Approvals.rights(story.outcomes, Number.POSITIVE_INFINITY).kept.filter(
    (right) => !looked.has(rightKey(right)),
  );
  const all = [...fresh, ...granted.map(({ spender }) => spender)];
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
