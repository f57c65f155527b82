/** Rounds made by hand: what a node could have answered about a bundle, without any node. */
import { unknownForks, type Address } from "../../rooms/primitives.js";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { lookup } from "../../../src/Chains.js";
import type * as Eth from "../../../src/Eth.js";
import {
  answersOf,
  choose,
  everyStep,
  Prepare as Options,
  draftOf,
  type Answers,
  type Measure,
  type Round,
} from "../../rooms/pipeline.js";
import type { BundleReport, ReportOptions, RunName } from "../../rooms/report.js";
import { transfersOf } from "../../rooms/effects.js";
import { type Bundle, type Filled, type AskResult, type Plan, type Reading, type Run } from "../../rooms/steps.js";
import type { Transaction } from "../../../src/Transaction.js";
import type { View } from "../../rooms/witness.js";
import { account, alice, bob, bundle, environment, hexOf, outcome, seeing } from "../../steps/parts.js";
import { header, history } from "../../steps/reading/facts.js";

export const options: ReportOptions = Effect.runSync(Options.prepare({ from: alice, to: bob }, {})).options;
export const rich = 10n ** 30n;

/** Everybody has no code, and this much. */
export const holding = (balance: bigint, changed: Parameters<typeof environment>[0] = {}): View => ({
  ...seeing([{ kind: "environment" }, environment(changed)]),
  account: () => account("0x", balance),
});

export const plan = (changed: Partial<Plan> = {}): Plan => ({
  ...{ name: "ample", calls: [], before: [], after: [], block: "latest", stateOverrides: null, blockOverrides: null },
  ...{ pretended: false },
  ...changed,
});

/** The fields of a simulated block that a run is judged by. */
const blockOf = ({ environment: seen }: View): Eth.SimulatedBlock =>
  ({
    ...{ number: seen?.number ?? 0n, parentHash: seen?.parentHash ?? "0x", timestamp: seen?.timestamp ?? 0n },
    ...{ baseFeePerGas: seen?.baseFeePerGas ?? null, gasLimit: seen?.gasLimit ?? 0n, calls: [] },
    ...{ requestsHash: null, blockAccessListHash: null, slotNumber: null },
  }) as unknown as Eth.SimulatedBlock;

/** A run in which these cases did this; the witness saw the same before and after, unless more is said. */
export const run = (readings: ReadonlyArray<Reading>, changed: Partial<Run> = {}): Run => {
  const before = changed.before ?? holding(rich);
  return {
    ...{
      name: "ample",
      plan: plan(),
      block: blockOf(before),
      ahead: null,
      readings,
      after: before,
      met: [],
      witnessed: true,
      traced: true,
      second: { environment: null, account: () => null, call: () => null },
      ...{ slots: null, at: null, isCodeless: false },
      ...{ cut: null, gasCap: null, spent: 0n },
    },
    ...changed,
    before,
  };
};
export const named = (name: RunName, readings: ReadonlyArray<Reading>, changed: Partial<Run> = {}): Run =>
  run(readings, { name, plan: plan({ name }), ...changed });

/** A case that did this, and told of nothing beside its logs. */
export const did = (changed: Parameters<typeof outcome>[0] = {}): Reading => {
  const made = outcome(changed);
  return { outcome: made, transfers: transfersOf(made.logs, 0, made.evidence) };
};

/** Who has sent how much. */
export const counted = (...rows: ReadonlyArray<readonly [Address, latest: number, pending: number]>): Round["counts"] =>
  new Map(
    rows.map(([address, latest, pending]) => [
      address,
      { latest: Result.succeed(latest), pending: Result.succeed(pending) },
    ]),
  );

/** A round with its runs side by side; null = it was not asked. */
export type Told = Omit<Round, "runs"> &
  Readonly<Record<"run" | "reader", AskResult<Run> | null>> & { readonly next?: AskResult<Run> };

/** The round that it is. */
export const heard = ({ run: figures, reader, next, ...round }: Told): Round => {
  const runs = {
    [figures !== null && Result.isSuccess(figures) ? figures.success.name : "ample"]: figures,
    readerOnly: reader,
    next,
  };
  return { ...round, runs: new Map(Object.entries(runs).filter(([, run]) => run != null)) as unknown as Round["runs"] };
};

/** Every answer of a scan in which nothing went wrong; `changed` is what did. */
export const roundOf = (cases: Bundle, changed: Partial<Told> = {}): Told => ({
  steps: everyStep,
  block: "latest",
  namedChainId: Result.succeed(1),
  codes: new Map(
    [...new Set(cases.flatMap(({ input: { from, to } }) => (to === null ? [from] : [from, to])))].map((one) => [
      one,
      Result.succeed(hexOf("0x")),
    ]),
  ),
  counts: counted([alice, 4, 4], [bob, 0, 0]),
  pools: new Map(),
  ...{ history: history([[0.5, [1n, 2n, 3n]]]), receipts: null, header: header({ number: 100n }) },
  estimate: Result.succeed(55_000n),
  run: Result.succeed(run(cases.map(() => did()))),
  reader: Result.succeed(named("readerOnly", [])),
  called: null,
  forks: unknownForks,
  unfunded: null,
  subjectOf: () => null,
  noFeeOracle: null,
  askedAt: 1_790_000_000_900,
  findings: [],
  ...changed,
});

export interface Given {
  readonly chains?: typeof lookup;
  readonly options?: ReportOptions;
  readonly named?: number | null;
}
export const answersTo = (round: Told, given: Given = {}): Answers =>
  answersOf(heard(round), given.chains ?? lookup, given.options ?? options, given.named ?? null);

export const nothing: Measure = {
  holdings: [],
  rights: [],
  tokens: [],
  named: [],
  doubtful: [],
  payers: [],
  owners: [],
  accounts: [],
  parties: [],
  exposed: null,
  cut: 0,
};

type About = Parameters<typeof draftOf>[2];

/** The whole report, by whatever ledger. */
export const reportOf = (...of: Parameters<typeof draftOf>): BundleReport =>
  draftOf(...of).whole({ rounds: 1, requests: [], ms: 1 });

export const about = (changed: Partial<About> = {}): About => ({
  ...{
    options,
    described: null,
    policies: [],
    stage: "scanned",
    measure: nothing,
    worlds: [],
  },
  ...{ now: 1_790_000_001_000, findings: [], earlier: [] },
  ...{ own: { names: [], check: () => [] }, others: [], stateChanges: [] },
  ...{ sighted: { block: null, aheadMs: null, testimonies: [] }, since: null, standsOn: null, isForkUsed: true },
  ...changed,
});

/** A scan out of answers: what was chosen, and the report on it. */
export interface Scanned {
  readonly cases: Bundle;
  readonly answers: Answers;
  readonly filled: Bundle<Filled>;
  readonly report: BundleReport;
}
export const scanned = (
  inputs: ReadonlyArray<Partial<Transaction>> = [{}],
  changed: Partial<Told> = {},
  said: Partial<About> = {},
): Scanned => {
  const cases = bundle(...inputs);
  const answers = answersTo(roundOf(cases, changed), { options: said.options ?? options });
  const filled = choose(cases, answers);
  return { cases, answers, filled, report: reportOf(filled, answers, about(said)) };
};
