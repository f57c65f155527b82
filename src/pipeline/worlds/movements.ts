/** Movements and grants of one run, as its logs say and as the witness measured. Pure. */
import * as BigInts from "effect/BigInt";
import * as Arr from "effect/Array";
import * as Approvals from "../../steps/approvals.js";
import * as Assets from "../../steps/assets.js";
import * as Exposure from "../../steps/reading/exposure.js";
import * as Holdings from "../../steps/reading/holdings.js";
import * as Owners from "../../steps/reading/owners.js";
import * as Rights from "../../steps/reading/rights.js";
import * as Tokens from "../../steps/reading/tokens.js";
import { isContradicted } from "../../steps/reading/secondReading.js";
import { checkStranded } from "../../steps/reading/tokenShortfall.js";
import type { Finding } from "../../report/finding.js";
import type { Report } from "../../report/schema.js";
import { ownAccounts, type Filled } from "../../steps/reading/bundle.js";
import { type Effects, isAmount, isSameFlow, type Terms } from "../../steps/reading/compare.js";
import { within } from "../../steps/reading/sameOutcome.js";
import type { OutcomeDifference } from "../../primitives/difference.js";
import type { Policy } from "../../report/policy.js";
import type { Standards } from "../../effects/movements.js";
import { effectsIn } from "../../effects/effects.js";
import type { Run } from "../../steps/simulate.js";
import { heldIn } from "../../steps/reading/proxies.js";
import { either, unseen } from "../../witness/view.js";
import { isFree, type ActiveSteps } from "../answers.js";
import type { Measure } from "../limits.js";
import type { BalanceChange, Transfer } from "../../report/parts.js";
import { isSameBalance } from "../../steps/reading/holdings.js";

/** Effects of a run; the standards are those that the tokens answered to in the run. */
export interface RunEffects extends Effects {
  readonly standards: Standards;
  /** Names of the tokens that were asked, as they call themselves. */
  readonly tokens: Report["tokens"];
  /** The effects as they are, where those that are compared lack what follows the base fee; absent = they lack nothing. */
  readonly shown?: RunEffects;
}

/** Returns what was paid for gas, none where none is charged, and for blobs. */
const paidIn = (bundle: ReadonlyArray<Filled>, run: Run, transfers: Effects["transfers"]) => {
  const executed = run.before.environment?.baseFeePerGas ?? null;
  // why: without validation a header may name a base fee that nobody is charged
  const headerBaseFee = run.plan.without?.has("validation") === true ? executed : run.block.baseFeePerGas;
  const baseFee = headerBaseFee ?? executed ?? 0n;
  return Assets.withBlobs(isFree(run) ? new Map() : Assets.gasPaid(bundle, baseFee, run), bundle, transfers, run);
};

/** Returns what contracts could take behind a run; null where nothing of it was read. Of most worlds nobody asks. */
export const exposureOf = (
  bundle: ReadonlyArray<Filled>,
  { exposed }: Measure,
  run: Run | null,
  sights: Pick<Exposure.ExposureFacts, "standards" | "transfers">,
  traces: Exposure.ExposureFacts["traces"] = [],
): Report["exposure"] =>
  run === null || exposed === null
    ? null
    : Exposure.read(exposed, bundle, {
        ...sights,
        ...{ before: run.before, after: run.after, traces },
        evidence: run.plan.pretended ? "assumed" : "measured",
      });

/** Collects sources of balances and rights: the witness's words in a run, what it moves, and what was paid for it. */
const sightsOf = (
  bundle: ReadonlyArray<Filled>,
  run: Run | null,
  measure: Measure,
  effects: Pick<RunEffects, "standards" | "transfers"> | null,
) => {
  const { before, after } = run ?? { before: unseen, after: unseen };
  // why: a token may come into being in the run
  const words = either(before, after);
  const standards = effects?.standards ?? Tokens.standards(measure.tokens, words);
  const transfers = effects?.transfers ?? Assets.transfers(bundle, standards);
  return {
    ...{ before, after, words, standards, transfers },
    paid: run === null ? new Map<never, never>() : paidIn(bundle, run, transfers),
    operator: Assets.operatorFees(bundle, run?.plan.calls ?? []),
    deposits: Assets.depositsIn(bundle),
    signers: new Set(ownAccounts(bundle)),
    isContradicted: (holding: Holdings.Holding) => run !== null && isContradicted(run, holding),
  };
};

/** Reads what one run did: `bundle` with its readings, and everything that was measured, unchanged balances too. */
export const effectsOf = (bundle: ReadonlyArray<Filled>, run: Run, measure: Measure): RunEffects => {
  const sights = sightsOf(bundle, run, measure, null);
  const { words, standards, transfers } = sights;
  return {
    outcomes: bundle.map(({ outcome }) => outcome),
    transfers,
    balanceChanges: Assets.measure(measure.holdings, { ...sights, evidence: "measured" }),
    approvals: Approvals.read(measure.rights, sights),
    tokens: Tokens.answered(measure.tokens, words, measure.named),
    producer: run.before.environment?.feeRecipient ?? null,
    held: heldIn(bundle, run),
    standards,
  };
};

/** Movements and grants of one run, for a report, and what was found where they were read. */
export interface Movements extends Pick<
  Report,
  "transfers" | "balanceChanges" | "approvals" | "exposure" | "tokens" | "owned"
> {
  readonly assets: ReadonlyArray<Finding>;
  readonly rights: ReadonlyArray<Finding>;
}

/** Returns what moves and is granted, without what is of a step that was left out. */
export const withoutLeftOut = <
  M extends Partial<Pick<Report, "transfers" | "balanceChanges" | "approvals" | "exposure">>,
>(
  moved: M,
  steps: ActiveSteps,
): M => ({
  ...moved,
  ...(steps.has("assets") ? {} : { transfers: [], balanceChanges: [] }),
  ...(steps.has("approvals") ? {} : { approvals: [], exposure: null }),
});

/** The names of the chain's best known tokens, too, as far as they could be taken. */
const withKnown = (tokens: Report["tokens"], exposure: Report["exposure"], { exposed }: Measure): Report["tokens"] => {
  const met = new Set([...(exposure?.rows ?? []).map(({ token }) => token)]);
  const isNew = (token: string) => !tokens.some((info) => info.token === token);
  const known = (exposed?.known ?? []).filter(({ address }) => met.has(address) && isNew(address));
  return [...tokens, ...known.map(({ address: token, symbol, decimals }) => ({ token, name: null, symbol, decimals }))];
};

/**
 * Reads one run for a report: what it tells of beyond what was asked stays `logged`. `effects` = those of the run, where
 * they are known.
 */
export const movementsOf = (
  bundle: ReadonlyArray<Filled>,
  run: Run | null,
  measure: Measure,
  chainId: number | null,
  effects: RunEffects | null = null,
  traces: Exposure.ExposureFacts["traces"] = [],
): Movements => {
  const sights = sightsOf(bundle, run, measure, effects);
  const { words, transfers } = sights;
  const all = Number.POSITIVE_INFINITY;
  // why: by the shape of the events alone, so that what was measured is found again
  const holdings = Holdings.union(measure.holdings, Holdings.holdings([], Assets.transfers(bundle), all).kept);
  const sums = effectsIn(bundle, "sum");
  const evidence = run?.plan.pretended === true ? "assumed" : "measured";
  const balances = Assets.read(holdings, { ...sights, evidence }, sums);
  const rights = Rights.union(measure.rights, Rights.rights(bundle, all).kept);
  const approvals = Approvals.read(rights, sights);
  const exposure = exposureOf(bundle, measure, run, sights, traces);
  return {
    transfers,
    balanceChanges: balances.changes,
    approvals,
    exposure,
    tokens: withKnown(Tokens.read(measure.tokens, words, measure.named), exposure, measure),
    owned: Owners.read(bundle, measure.payers, words),
    assets: [...balances.findings, ...checkStranded(bundle, transfers)],
    rights: Approvals.check(approvals, bundle, { ...sights, chainId }),
  };
};

/** The same, where tokens call themselves the same in every other world; what they do otherwise is told. */
export const settledTokens = <M extends Movements>(moved: M, worlds: ReadonlyArray<Pick<Report, "tokens">>): M =>
  worlds.reduce<M>((here, there) => {
    const { tokens, findings } = Tokens.settleInfos(here.tokens, there.tokens);
    return { ...here, tokens, assets: [...here.assets, ...findings] };
  }, moved);

/**
 * `here`, with the least that reaches each of `whose` in either world, and the most that leaves them. Only where both
 * worlds have the same movements in the same order: parts of two outcomes would be none that can happen.
 */
export const worseOf = <M extends Pick<Effects, "transfers" | "balanceChanges">>(
  here: M,
  there: Pick<Effects, "transfers" | "balanceChanges">,
  whose: ReadonlySet<string>,
): M => {
  const pairs = Arr.zip(here.transfers, there.transfers);
  const isAlike =
    here.transfers.length === there.transfers.length && pairs.every(([transfer, other]) => isSameFlow(transfer, other));
  if (!isAlike) return here;
  const worse = (transfer: Transfer, { amount }: Transfer): Transfer =>
    whose.has(transfer.from) === whose.has(transfer.to)
      ? transfer
      : { ...transfer, amount: (whose.has(transfer.to) ? BigInts.min : BigInts.max)(transfer.amount, amount) };
  const transfers = pairs.map(([transfer, other]) => worse(transfer, other));
  const balanceChanges = here.balanceChanges.map((change): BalanceChange => {
    const other = whose.has(change.account)
      ? there.balanceChanges.find((its) => isSameBalance(change, its))
      : undefined;
    const isWorse = other?.evidence === "measured" && change.evidence === "measured" && other.delta < change.delta;
    return isWorse ? other : change;
  });
  return { ...here, transfers, balanceChanges };
};

/** True if a policy bounds a change of a balance from the side that can hurt; one that names nobody speaks of the senders. */
const isWithin = (
  { account, token, delta }: Pick<BalanceChange, "account" | "token" | "delta">,
  bounds: NonNullable<Policy["balances"]>,
  senders: ReadonlySet<string>,
): boolean =>
  bounds.some(
    (bounded) =>
      bounded.token === token &&
      (bounded.account === null ? senders.has(account) : bounded.account === account) &&
      bounded.bound === (delta < 0n ? "spent" : "received"),
  );

/**
 * True if only amounts differ, and every one of `whose` is bounded by a policy from the side that can hurt:
 * what leaves by the most that may, what arrives by the least. What strangers move among themselves is bounded by that.
 */
export const isBounded = (
  found: ReadonlyArray<OutcomeDifference>,
  effects: Effects,
  other: Effects,
  {
    whose,
    senders,
    bounds,
    tolerance,
  }: Pick<Terms, "whose" | "tolerance"> & {
    readonly senders: ReadonlySet<string>;
    readonly bounds: NonNullable<Policy["balances"]>;
  },
): boolean => {
  if (found.some((its) => !isAmount(its) || (its.kind !== "movement" && its.kind !== "balance"))) return false;
  const mine = effects.balanceChanges.flatMap((change) => {
    const { account, delta } = change;
    const there = other.balanceChanges.find((its) => isSameBalance(its, change));
    return whose.has(account) ? [{ ...change, deltas: [delta, there?.delta ?? 0n] as const }] : [];
  });
  const isMeasured = [...effects.transfers, ...other.transfers].every(({ from, to, token }) =>
    [from, to].every(
      (party) => !whose.has(party) || mine.some(({ account, token: its }) => account === party && its === token),
    ),
  );
  const differing = mine.filter(({ deltas: [here, there] }) => !within(here, there, tolerance));
  const holds = ({ deltas, ...change }: (typeof mine)[number]) =>
    change.tokenId === null && deltas.every((delta) => isWithin({ ...change, delta }, bounds, senders));
  // guard: bounds of a policy
  return isMeasured && differing.length > 0 && differing.every(holds);
};
