/** A scan, and the proof after it: what the doors of the pipeline run within one call. */
import * as Arr from "effect/Array";
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import * as Struct from "effect/Struct";
import { turn } from "../primitives/effects.js";
import { withJson } from "../primitives/json.js";
import { isTraced } from "../primitives/telemetry.js";
import * as Assets from "../steps/assets.js";
import * as Estimate from "../steps/estimate.js";
import * as Options from "./prepare.js";
import type { BundleReport, Draft, Report } from "../report/schema.js";
import { mostFindings } from "../report/bounded.js";
import { abisOf } from "../report/options.js";
import { phase } from "../report/telemetry.js";
import { chainsInUse } from "../eth/chains.js";
import { each, sent } from "../eth/round.js";
import { CurrentRun, Rpc } from "../rpc/index.js";
import { isCarrier } from "../steps/reading/bundle.js";
import { answersOf, figuresOf } from "./answers.js";
import { askUserSteps, rare } from "./later.js";
import { nothingAhead, remember, sendAhead, type Last } from "./ahead.js";
import { activeSteps } from "./steps.js";
import { choose, withGas, type Limits } from "./choose.js";
import { undoubted, widened } from "./gas/doubt.js";
import { inRound, ledgerSoFar, sightedSoFar, withRun } from "./rounds.js";
import { measureOf, MeasureLimits, wantedBy } from "./limits.js";
import { simulate } from "./endpoint/simulate.js";
import { namedIn, readNames } from "./accessLists.js";
import { gasPlan, type GasTrial } from "./proofPlans.js";
import { proveChosen } from "./prove.js";
import { makeDraft } from "./report.js";
import { CurrentSignings } from "./signings.js";
import { askScan } from "./scan.js";

type Prepared = Effect.Success<ReturnType<typeof Options.prepare>>;

/** True if the EVM undoes a transaction. */
const isStopped = (transaction: Report["transactions"][number] | undefined): boolean =>
  transaction?.outcome.status === "reverted" || transaction?.outcome.status === "halted";

/** True if a transaction fails while others of its sender are in flight. */
const mayBeSent = ({ transactions }: Report): boolean =>
  transactions.some((one) => isStopped(one) && one.nonce.inFlight !== null && one.nonce.inFlight > 0);

/** The report with what is asked only of what fails, where anybody is to look at that. */
export const withLast = <R extends Report>(report: R): Effect.Effect<R, never, Rpc> => {
  if (report.steps.without.includes("simulate")) return Effect.succeed(report);
  return Effect.flatMap(
    mayBeSent(report) ? Effect.flatMap(rare, ({ withSent }) => withSent(report)) : Effect.succeed(report),
    (searched) =>
      searched.options.traceReverts && isStopped(searched.transactions[0])
        ? Effect.flatMap(rare, ({ withTrace }) => withTrace(searched))
        : Effect.succeed(searched),
  );
};

/** The calls at other limits, all side by side in one round. */
const askAt = (trial: GasTrial) => (limits: ReadonlyArray<Limits>) => {
  const asks = each(limits, (set) => simulate(gasPlan(trial, set), abisOf(trial.options)));
  return inRound("doubtfulLimit", Effect.map(sent(asks), Arr.of));
};

/** True if fees of an earlier report may be too much for what stands against this one, or are of another chain. */
const isDear = ({ chainId, findings }: Pick<Report, "chainId" | "findings">, earlier: Last["report"]): boolean =>
  chainId !== earlier.chainId ||
  findings.some(
    ({ severity, step }) => severity !== "info" && (step === "fee" || step === "funds" || step === "policy"),
  );

/** A scan: the draft of its report, how that is made whole, and the answers that its proof need not ask for again. */
export const scanOnce = Effect.fnUntraced(function* (
  { bundle, options: given, policies }: Omit<Prepared, "sources" | "signed">,
  earlier: Report["steps"]["with"] = [],
  last: Last | null = null,
) {
  const chains = yield* chainsInUse;
  const limits = yield* Effect.service(MeasureLimits);
  const { memory } = yield* Rpc;
  const named = bundle[0].input.chainId;
  const chainId = named ?? memory.recall("chainId");
  const chain = chains(chainId);
  const block = given.block ?? chain.blockTag;
  const options = yield* Options.withTokens(given, block);
  const inputs = Arr.map(bundle, ({ input }) => input);
  const own = yield* askUserSteps(inputs, { chainId, block, stage: "scan" }, null, earlier);
  const steps = yield* activeSteps;
  const wanted = wantedBy(policies, bundle, limits, steps);
  // why: of what is simulated for nobody nothing is read
  const signings = bundle.some(isCarrier) ? yield* Effect.service(CurrentSignings) : null;
  const looks = [...Options.withPretended(own.looks, options), ...(signings?.looks ?? [])];
  const subject = { bundle, options, chain, wanted, looks, steps };
  const round = yield* askScan(subject, block);
  yield* turn;
  const make = Effect.fnUntraced(function* (fees: NonNullable<Last["fees"]> | null) {
    const answers = answersOf({ ...round, earlier: fees }, chains, options, named);
    const chosen = choose(bundle, answers);
    const trial: GasTrial = {
      ...{ bundle: chosen, options, block: answers.block, ahead: [] },
      ...{ context: options.blockOverrides, room: answers.blockGasLimit, baseFee: answers.simulatedBaseFee },
    };
    const settled =
      steps.has("simulate") && chosen.some(Estimate.isLimitDoubtful)
        ? yield* (yield* rare).settleGas(chosen, answers, askAt(trial))
        : undoubted;
    const filled = settled.limits === null ? chosen : withGas(chosen, settled.limits);
    // why: a clearance is no younger than our own answers, however long users' steps take
    const now = yield* Clock.currentTimeMillis;
    const check = yield* own.judge;
    const measure = measureOf(filled, Assets.transfers(filled), policies, limits, steps);
    const { draft, whole } = yield* makeDraft(
      filled,
      answers,
      {
        ...{ options, policies, now, sighted: yield* sightedSoFar, stage: "scanned" },
        ...{ measure, own: { names: own.names, check } },
        named: readNames(namedIn(round.listed ?? [], answers.chainId)),
        findings: [...settled.findings, ...(settled.limits === null ? [] : [widened()])],
      },
      null,
    );
    yield* turn;
    const made = Effect.map(ledgerSoFar, whole);
    return { draft, made, fees: Struct.pick(answers.quote, ["tip", "maxFeePerGas"]) };
  });
  const kept = yield* make(last?.fees ?? null);
  const isFree = last === null || !isDear(policies.length === 0 ? kept.draft : yield* kept.made, last.report);
  const { draft, made, fees } = isFree ? kept : yield* make(null);
  return { draft, round, fees, whole: Effect.flatMap(made, withLast) };
});

/**
 * True if proving could not change the verdict: the node does not simulate, or something is against the
 * transaction already. A violated policy is no such thing: what a scan only logged, a proof measures.
 */
const isSettled = ({ observed, findings, steps }: Draft): boolean =>
  observed.tier === "call" ||
  steps.without.includes("simulate") ||
  findings.some(({ severity, step }) => severity === "blocker" && step !== "policy");

/** True if all that a proof takes of a scan stands in its draft: users' steps have a say in the whole, and so has what fails. */
const isEnough = (draft: Draft): boolean =>
  !isSettled(draft) &&
  draft.steps.with.length === 0 &&
  draft.findings.length + draft.options.policies.length <= mostFindings &&
  draft.transactions.every(({ request, outcome }) => request !== null && outcome.status === "success");

/** A scan and its proof; `scope` = for how long requests of the proof that are sent beside the scan may be under way; null = none are. */
const provedIn = Effect.fnUntraced(function* <E, R>(
  prepared: Prepared,
  choose: ((scanned: BundleReport) => Effect.Effect<BundleReport, E, R>) | null,
  scope: Scope.Scope | null,
): Effect.fn.Return<BundleReport, E, Rpc | R> {
  const { last, ahead } = scope === null ? nothingAhead : yield* sendAhead(prepared, scope);
  const scanning = Effect.withFiber(
    Effect.fnUntraced(function* (fiber) {
      const scan = yield* scanOnce(prepared, [], last);
      const isOver = (yield* Clock.currentTimeMillis) >= (fiber.getRef(CurrentRun).deadline ?? Infinity);
      const isRead = isOver || isTraced(fiber) || choose !== null || !isEnough(scan.draft);
      return { ...scan, isOver, report: isRead ? yield* scan.whole : null };
    }),
  );
  const { draft, whole, round, fees, isOver, report } = yield* phase("Preflight.scan", scanning, (scan) => scan.report);
  // why: a proof without any time says no more than that, in front of what took the time
  if (report !== null && (isSettled(report) || (isOver && report.verdict === "unknown"))) {
    if (ahead === null) return report;
    yield* ahead.end;
    return withJson({ ...report, ledger: yield* ledgerSoFar });
  }
  const chosen = report === null || choose === null ? report : yield* choose(report);
  const known = {
    ...Struct.pick(round, ["askedAt", "codes", "header", "noFeeOracle", "listed"]),
    run: figuresOf(round),
  };
  if (scope !== null) yield* remember(prepared, { report: chosen ?? draft, scanned: known, fees });
  const proving = proveChosen(chosen ?? draft, {
    ...{ policies: prepared.policies, found: [], scanned: { ...known, ahead } },
    whole: chosen === null ? whole : Effect.succeed(chosen),
  });
  return yield* phase("Preflight.prove", Effect.flatMap(proving, withLast), (made) => made);
});

/**
 * Runs `use` with the deadline of its options and the caller's sources of names, on a node that takes what is yet to be signed of
 * its inputs. `earlier`, `names`: the ledger and the names of the report that is proven.
 */
export const runOn = <P extends Omit<Prepared, "policies">, A extends Report, E, R>(
  prepared: P,
  use: (prepared: P) => Effect.Effect<A, E, R>,
  earlier: Report["ledger"] | null = null,
  names?: Report["names"],
): Effect.Effect<A, E, R | Rpc> =>
  withRun(
    prepared.options.deadlineMs,
    () => {
      const asking = (inMode: P) =>
        inMode.sources.names == null && inMode.sources.descriptors == null && names === undefined
          ? use(inMode)
          : Effect.flatMap(rare, ({ withSources }) => withSources(inMode, use(inMode), names));
      return prepared.bundle[0].input.origin?.batch === "open"
        ? Effect.flatMap(rare, ({ withBatch }) => withBatch(prepared, (sends) => Options.assuming(sends, asking)))
        : Options.assuming(prepared, asking);
    },
    earlier,
  );

/**
 * A scan, and its proof of what `choose` makes of it; null = nobody chooses. A scan that is settled is the answer; of any
 * other the report is made only where somebody reads it. Where it `speculates`, the proof's requests go out beside the scan,
 * as the last one of the same call would be proven now.
 */
export const proveScanned = <E = never, R = never>(
  prepared: Prepared,
  choose: ((scanned: BundleReport) => Effect.Effect<BundleReport, E, R>) | null,
  speculates = false,
): Effect.Effect<BundleReport, E, Rpc | R> =>
  runOn(prepared, (inMode) =>
    // why: what is pretended is found in front of the scan, and nothing can be sent beside it
    speculates && inMode.options.tokenOverrides === null && inMode.signed === null
      ? Effect.scopedWith((scope) => provedIn(inMode, choose, scope))
      : provedIn(inMode, choose, null),
  );
