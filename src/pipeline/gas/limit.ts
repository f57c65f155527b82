/**
 * Which gas limit is handed out where the chosen one may decide what the transactions do: the named runs
 * `gas`, asked only when something speaks for it. All of them stand in the block context of `exact`, and once more in
 * that of `next` where that run used its gas up; at the prices of the requests, with signers who could pay for any limit.
 */
import * as BigInts from "effect/BigInt";
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import * as Funds from "../../steps/funds.js";
import { eip7825Cap } from "../../chains/rules.js";
import { gas } from "../../primitives/statement.js";
import { code } from "../../report/finding.js";
import { Rpc } from "../../rpc/index.js";
import { capOf, isPlain } from "../../steps/estimate.js";
import type { Bundle, Filled } from "../../steps/reading/bundle.js";
import { failureOf, successOf, type AskResult } from "../../steps/reading/askResult.js";
import type { Run } from "../../steps/simulate.js";
import type { Answers } from "../answers.js";
import type { Limits } from "../choose.js";
import { isLimitTooLow, undoubted, unknownGas, type Gas } from "./doubt.js";
import { hasSameShape, isSame, type Result } from "../../steps/reading/sameOutcome.js";

/** The wider limit beside the chosen one, in percent on top of it. */
const widePercent = 50n;
/** Gas that a node has for one request where it was not seen to have less: what geth is installed with. */
const usualGasCap = 50_000_000n;
/** Gas that is kept for reading where the calls of a run stand, of what a node has for one request. */
const readGas = 100_000n;
/** Limits tried side by side when the wider one is not enough. */
const searched = 6;

/** The limits of one case, from the chosen one upwards. */
interface Rungs {
  readonly tight: bigint;
  /** Wider ones that could be handed out; as `tight` where the caller fixed the limit. */
  readonly wide: bigint;
  readonly most: bigint;
  /** The limit to compare with: the most that chain and block allow, whoever pays. */
  readonly ample: bigint;
}

/** How much more gas the payer of a case could pay for, beyond what the bundle takes; null = as much as there is. */
const affordable = (entry: Filled, bundle: Bundle<Filled>, funds: ReturnType<typeof Funds.read>): bigint | null => {
  const price = entry.fee.value.gasPrice ?? entry.fee.value.maxFeePerGas ?? 0n;
  if (price === 0n) return null;
  const { balance = null, required = null } = funds.find(({ account }) => account === entry.signer) ?? {};
  const spare = balance === null || required === null || balance < required ? 0n : balance - required;
  return spare / (price * BigInt(bundle.filter(({ signer }) => signer === entry.signer).length));
};

/** The limits of every case; null where no request can be run, where nothing is executed, or where there is no more gas to give. */
const ladderOf = (bundle: Bundle<Filled>, answers: Answers, gasCap: bigint) => {
  const funds = Funds.read(bundle, answers);
  const share = answers.blockGasLimit === null ? eip7825Cap : answers.blockGasLimit / BigInt(bundle.length);
  // why: of what a node has for one request, what calls use is gone, not what they may use
  const leftFor = ({ index }: Filled): bigint =>
    bundle
      .filter((entry) => entry.index < index)
      .reduce((left, { outcome }) => left - (outcome.gasUsed ?? 0n), gasCap - readGas);
  if (bundle.some(({ request }) => request === null)) return null;
  const ladder = Arr.map(bundle, (entry): Rungs => {
    const tight = entry.gas.value ?? 0n;
    const most = BigInts.min(capOf(entry.gas.estimate, answers) ?? eip7825Cap, share);
    // why: whether the receiver is new costs more than all the rest since Amsterdam, and others may make it so
    const ample =
      isPlain(entry.input, entry.code) && answers.rules.fork !== "amsterdam"
        ? tight
        : BigInts.max(tight, BigInts.min(most, leftFor(entry)));
    if (entry.gas.by === "caller") return { tight, wide: tight, most: tight, ample };
    const more = affordable(entry, bundle, funds);
    const payable = more === null ? ample : BigInts.min(ample, tight + more);
    return { tight, wide: BigInts.min((tight * (100n + widePercent)) / 100n, payable), most: payable, ample };
  });
  return ladder.every(({ tight, ample }) => tight === ample) ? null : ladder;
};

const triedIn = (result: AskResult<Run>): Tried | null => {
  const run = successOf(result);
  return run === null ? null : { block: run.block, outcomes: run.readings.map(({ outcome }) => outcome) };
};

/** Without an answer nothing is settled, and nothing is widened. */
const unanswered = (results: ReadonlyArray<AskResult<Run>>): Gas | null => {
  const failure = results.map(failureOf).find((one) => one !== null && !isLimitTooLow(one)) ?? null;
  return failure === null ? null : { ...undoubted, findings: [unknownGas(failure)] };
};

/**
 * `gasleft()` is an example.
 * @figures gas("limit", 61_400n), gas("compared with", 97_015n)
 */
export const GasDependent = code("estimate", ["warning"], "GasDependent", [
  "what the transaction returns or emits depends on its gas limit",
  "expect this outcome only with exactly this gas limit",
]);

/**
 * Contracts that catch failures may hide that an inner call ran out of gas.
 * @figures gas("limit", 120_000n), gas("compared with", 2_000_000n)
 */
export const GasHeadroomThin = code("estimate", ["warning"], "GasHeadroomThin", [
  "with more gas the transaction does something else; an inner call may run out of gas",
  "raise `gas`, or leave it out",
]);

const doubted = (doubt: typeof GasDependent | typeof GasHeadroomThin, ladder: Arr.NonEmptyReadonlyArray<Rungs>) => {
  const numbers = ladder.flatMap(({ tight, ample }) => [gas("limit", tight), gas("compared with", ample)]);
  return [doubt.warning({ evidence: "measured" }, ...numbers)];
};

/**
 * Asks at wider limits, and says which of them hold in every block context that is asked: one round, two where they
 * must be searched for.
 */
export const settleGas = Effect.fnUntraced(function* (
  bundle: Bundle<Filled>,
  answers: Answers,
  /** Runs the requests at these limits, in every block context that is asked for, by context. */
  askAt: (
    limits: ReadonlyArray<Limits>,
  ) => Effect.Effect<Arr.NonEmptyReadonlyArray<ReadonlyArray<AskResult<Run>>>, never, Rpc>,
): Effect.fn.Return<Gas, never, Rpc> {
  const { memory } = yield* Rpc;
  const ladder = ladderOf(bundle, answers, memory.recall("gasCap") ?? usualGasCap);
  if (ladder === null) return undoubted;
  const at = (rung: keyof Rungs): Limits => Arr.map(ladder, (rungs) => rungs[rung]);
  const isWider = (a: keyof Rungs, b: keyof Rungs): boolean => ladder.some((rungs) => rungs[a] > rungs[b]);
  const handed = [
    at("tight"),
    ...(isWider("wide", "tight") ? [at("wide")] : []),
    ...(isWider("most", "wide") ? [at("most")] : []),
  ];
  // why: ample gas is asked for once, as what is compared with; that it agrees with itself says nothing
  const isPayable = !isWider("ample", "most");
  const rows = yield* askAt(isPayable ? handed : [...handed, at("ample")]);
  const missing = unanswered(rows.flat());
  if (missing !== null) return missing;
  const contexts = rows.flatMap((row) => {
    const tried = row.map(triedIn);
    const ample = tried.at(-1) ?? null;
    return ample === null ? [] : [{ tried, ample }];
  });
  // why: refused for its gas even so, no limit helps
  if (contexts.length < rows.length) return undoubted;
  const hold: Gas = { ...undoubted, ample: successOf(rows[0].at(-1)) };
  const settled = contexts.map(({ tried, ample }) => settleLimit(tried.slice(0, -1), ample));
  if (settled.some(({ kind }) => kind === "dependent")) return { ...hold, findings: doubted(GasDependent, ladder) };
  const indexes = settled.flatMap((verdict) => (verdict.kind === "take" ? [verdict.index] : []));
  if (indexes.length === settled.length) {
    const index = Math.max(...indexes);
    return { ...hold, limits: index === 0 ? null : (handed.at(index) ?? null) };
  }
  if (!isPayable) return { ...hold, findings: doubted(GasHeadroomThin, ladder) };
  if (!isWider("most", "wide")) return { ...hold, limits: at("most") };
  const rungs = Arr.makeBy(searched, (rung) =>
    Arr.map(ladder, ({ wide, most: last }) => between(wide, last, searched)[rung] ?? last),
  );
  const furtherRows = yield* askAt(rungs);
  // why: the last rung is ample gas again, in the same block context as the others
  const found = Arr.zipWith(contexts, furtherRows, ({ tried, ample }, row) => {
    const again = row.map(triedIn);
    return firstThatHolds(again, again.at(-1) ?? ample, tried[0] ?? null);
  });
  return unanswered(furtherRows.flat()) ?? { ...hold, limits: rungs.at(Math.max(...found)) ?? null };
});

/** One run of the cases at some limits, in their order, and the block it was simulated in. */
export interface Tried {
  readonly block: { readonly number: bigint; readonly parentHash: string; readonly timestamp: bigint };
  readonly outcomes: ReadonlyArray<Result>;
}

/** True if both ran in the same simulated block, so that what differs is owed to the gas. */
const isSameBlock = ({ block: a }: Tried, { block: b }: Tried): boolean =>
  a.number === b.number && a.parentHash === b.parentHash && a.timestamp === b.timestamp;

/**
 * Which of the limits is handed out, the tightest first; null = that run was refused for its gas. `ample` ran
 * with as much gas as there is. `index` counts the limits tried, the tightest being 0.
 */
export const settleLimit = (
  tried: ReadonlyArray<Tried | null>,
  ample: Tried,
):
  | { readonly kind: "take"; readonly index: number }
  /** The values that the transactions return or emit follow the gas they are given: no limit agrees with another. */
  | { readonly kind: "dependent" }
  /** None of the limits does what ample gas does. */
  | { readonly kind: "wider" } => {
  const same = tried.findIndex((run) => run !== null && isSame(run.outcomes, ample.outcomes));
  if (same !== -1) return { kind: "take", index: same };
  const [tight = null, second = null] = tried;
  if (second === null) return { kind: "wider" };
  if (tight === null || !hasSameShape(tight.outcomes, ample.outcomes))
    return hasSameShape(second.outcomes, ample.outcomes) ? { kind: "take", index: 1 } : { kind: "wider" };
  if (!isSameBlock(tight, ample)) return { kind: "take", index: 0 };
  // the same events, but two limits agree with each other against ample gas: a threshold
  return isSame(tight.outcomes, second.outcomes) ? { kind: "wider" } : { kind: "dependent" };
};

/**
 * The first of a row of limits that does what ample gas does; the last is ample gas itself. Where only
 * that agrees in every value, the first with the same events, if the tight limit had others.
 */
export const firstThatHolds = (tried: ReadonlyArray<Tried | null>, ample: Tried, tight: Tried | null): number => {
  const last = tried.length - 1;
  const same = tried.findIndex((run) => run !== null && isSame(run.outcomes, ample.outcomes));
  if (same !== -1 && same < last) return same;
  const alike = tried.findIndex((run) => run !== null && hasSameShape(run.outcomes, ample.outcomes));
  return tight !== null && !hasSameShape(tight.outcomes, ample.outcomes) && alike !== -1 ? alike : last;
};

/** `count` limits from above `from` to `to`, each a constant factor above the one before. */
export const between = (from: bigint, to: bigint, count: number): ReadonlyArray<bigint> => {
  if (to <= from) return [];
  // why: a limit in a report from outside may be 0, of which no factor makes anything
  const least = Math.max(1, Number(from));
  const factor = Math.pow(Number(to) / least, 1 / count);
  return Array.from({ length: count }, (_, index) =>
    index === count - 1 ? to : BigInt(Math.ceil(least * Math.pow(factor, index + 1))),
  );
};
