/**
 * Which of several gas limits to hand out: the smallest whose outcome is that of ample gas. Pure.
 *
 * A call hands on 63/64 of its gas, and contracts may swallow an inner failure or read `gasleft`: too
 * tight a limit then looks like success and does something else. So outcomes are compared whole: status,
 * return data, and every log.
 */
import type * as Eth from "../../Eth.js";

/** One run of the same transactions, as far as it is compared. */
export interface Run {
  readonly block: Pick<Eth.SimulatedBlock, "number" | "parentHash" | "timestamp">;
  readonly calls: ReadonlyArray<
    Pick<Eth.CallResult, "status" | "returnData"> & {
      readonly logs: ReadonlyArray<Pick<Eth.Log, "address" | "topics" | "data">>;
    }
  >;
}

type Call = Run["calls"][number];

const logsOf = (call: Call, whole: boolean): string =>
  call.status !== "success"
    ? ""
    : call.logs
        .map(({ address, topics, data }) =>
          whole
            ? `${address}:${topics.join(",")}:${data}`
            : `${address}:${topics[0] ?? ""}:${topics.length}:${data.length}`,
        )
        .join(" ")
        .toLowerCase();

const everyCall = (a: Run, b: Run, test: (one: Call, other: Call) => boolean): boolean =>
  a.calls.length === b.calls.length &&
  a.calls.every((one, index) => {
    const other = b.calls[index];
    return other !== undefined && one.status === other.status && test(one, other);
  });

/** Equal in status, return data and logs, call by call. */
export const isSame = (a: Run, b: Run): boolean =>
  everyCall(
    a,
    b,
    (one, other) =>
      one.returnData.toLowerCase() === other.returnData.toLowerCase() && logsOf(one, true) === logsOf(other, true),
  );

/** Equal but for values: the same statuses and sizes, and the same events by the same contracts in the same order. */
export const hasSameShape = (a: Run, b: Run): boolean =>
  everyCall(
    a,
    b,
    (one, other) => one.returnData.length === other.returnData.length && logsOf(one, false) === logsOf(other, false),
  );

/** Whether a call of the run took all the gas it was given and failed: with more it might not. */
export const isExhausted = (
  calls: ReadonlyArray<Pick<Eth.CallResult, "status" | "gasUsed">>,
  limits: ReadonlyArray<bigint>,
): boolean =>
  calls.some(({ status, gasUsed }, index) => status !== "success" && gasUsed >= (limits[index] ?? gasUsed + 1n));

/** Whether both ran in the same simulated block, so that what differs is owed to the gas. */
const isSameBlock = ({ block: a }: Run, { block: b }: Run): boolean =>
  a.number === b.number && a.parentHash === b.parentHash && a.timestamp === b.timestamp;

/** What to do. `index` counts the candidates, the tightest being 0. */
export type Choice =
  | { readonly kind: "take"; readonly index: number }
  /** The values that the transactions return or emit follow the gas they are given: no limit agrees with another. */
  | { readonly kind: "dependent" }
  /** None of the candidates does what ample gas does. */
  | { readonly kind: "wider" };

/**
 * Chooses among the candidates, the tightest first; null = that run got no answer. `reference` ran with
 * ample gas; null = there is none, and the first that succeeds is taken.
 */
export const choose = (candidates: ReadonlyArray<Run | null>, reference: Run | null): Choice => {
  const [tight] = candidates;
  if (tight === null || tight === undefined) return { kind: "take", index: 0 };
  if (reference === null) {
    const working = candidates.findIndex((run) => run?.calls.every(({ status }) => status === "success") === true);
    return { kind: "take", index: Math.max(0, working) };
  }
  const same = candidates.findIndex((run) => run !== null && isSame(run, reference));
  if (same !== -1) return { kind: "take", index: same };
  const second = candidates[1] ?? null;
  if (second === null) return { kind: "wider" };
  if (!hasSameShape(tight, reference))
    return hasSameShape(second, reference) ? { kind: "take", index: 1 } : { kind: "wider" };
  if (!isSameBlock(tight, reference)) return { kind: "take", index: 0 };
  // the same events, but two limits agree with each other against ample gas: a threshold
  return isSame(tight, second) ? { kind: "wider" } : { kind: "dependent" };
};

/**
 * The first of a row of limits that does what ample gas does; `rungs` ends with ample gas itself. Where
 * only that agrees in every value, the first with the same events, if the tight limit had others.
 */
export const settle = (rungs: ReadonlyArray<Run | null>, reference: Run, tight: Run | null): number => {
  const last = rungs.length - 1;
  const same = rungs.findIndex((run) => run !== null && isSame(run, reference));
  if (same !== -1 && same < last) return same;
  const alike = rungs.findIndex((run) => run !== null && hasSameShape(run, reference));
  return tight !== null && !hasSameShape(tight, reference) && alike !== -1 ? alike : last;
};

/** `count` limits from above `from` to `to`, each a constant factor above the one before. */
export const between = (from: bigint, to: bigint, count: number): ReadonlyArray<bigint> => {
  if (to <= from) return [];
  const factor = Math.pow(Number(to) / Number(from), 1 / count);
  return Array.from({ length: count }, (_, index) =>
    index === count - 1 ? to : BigInt(Math.ceil(Number(from) * Math.pow(factor, index + 1))),
  );
};
