/**
 * From answers to a report, for a scan and a proof alike: every case read and checked, then, where it is read, the
 * findings in their order and the whole judged. Pure.
 */
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import { turn } from "../primitives/effects.js";
import * as Funds from "../steps/funds.js";
import { type Chain, lookup } from "../Chains.js";
import { PolicyViolation } from "../errors/verdicts.js";
import { lazyCopyOf } from "../primitives/copy.js";
import type { BuiltInStep, StepName } from "../primitives/names.js";
import { count, text } from "../primitives/statement.js";
import { digestOfReport, becauseOf, subjectOf, verdictOf } from "../report/ready.js";
import { abisOf } from "../report/options.js";
import { bounded } from "../report/bounded.js";
import { fromError, inOrder, code, type Finding } from "../report/finding.js";
import type { Policy, PolicyResult } from "../report/policy.js";
import { inOwnCurrency, inWords, type ShownChain } from "../report/chain.js";
import { payeesOf } from "../report/payees.js";
import { reportVersion, type BundleReport, type Draft, type Report, type ReportOptions } from "../report/schema.js";
import * as Simulate from "../steps/simulate.js";
import { ownAccounts, type Bundle, type Filled } from "../steps/reading/bundle.js";
import { checkPretended } from "../steps/reading/pretended.js";
import type { Origin } from "../transaction/fields.js";
import { isUnbound } from "../transaction/request.js";
import type { Answers } from "./answers.js";
import type { Measure } from "./limits.js";
import type { Own } from "./own.js";
import { CurrentSources, type Sources } from "./sources.js";
import { byUsers, CurrentSignings, parted, withoutSending, type Signings } from "./signings.js";
import {
  exposureOf,
  movementsOf,
  settledTokens,
  type Movements,
  type RunEffects,
  withoutLeftOut,
  worseOf,
} from "./worlds/movements.js";
import { leftOutOf, taking, checkLeftOut, readIn } from "./steps.js";
import { observe, type ObserveInput, checkChain, checkRan, checkOverrides } from "./observe.js";

/** Contents of a report beside its cases and answers; what is absent, a scan has not. */
interface About extends ObserveInput {
  readonly options: ReportOptions;
  readonly policies: ReadonlyArray<Policy>;
  /** The chain in an earlier report's words, for where nobody describes it here. */
  readonly described?: ShownChain | null;
  readonly measure: Measure;
  /** The names of users' own steps, and what these find. */
  readonly own: Pick<Own, "names"> & { readonly check: Effect.Success<Own["judge"]> };
  /** The other worlds, in their order: every policy has to hold in each, and a call inside may fail in one alone. */
  readonly others?: ReadonlyArray<{
    readonly run: Simulate.Run;
    /** Movements in it; null = it was not compared. */
    readonly moved: RunEffects | null;
  }>;
  readonly stateChanges?: Report["stateChanges"];
  /** The check of the caller's descriptors. */
  readonly intents?: ReturnType<Sources["intents"]>;
  /** The signatures of the run; absent = it has none. */
  readonly signings?: Signings | null;
  /** Findings from comparing runs. */
  readonly findings: ReadonlyArray<Finding>;
  /** Findings of what an earlier report could not learn, for this one to tell unless it tells the same itself. */
  readonly earlier?: ReadonlyArray<Finding>;
}

/**
 * Skips what a blocker makes moot: the sum of a payer whose transaction fails anyway, and the node's
 * refusal, of a whole request or to estimate a transaction, where our own rule says the same with its evidence.
 */
const withoutMoot = (findings: ReadonlyArray<Finding>): ReadonlyArray<Finding> => {
  const blockers = findings.filter(({ severity }) => severity === "blocker");
  const fails = blockers.some(({ step }) => step === "simulate");
  return findings.filter(({ code, step, severity, transaction, error }) => {
    if (fails && step === "funds" && severity === "unavailable") return false;
    const isSame = (other: Finding) => other.code === code && other.step !== step && other.transaction === transaction;
    if (step === "estimate" && error !== null && blockers.some(isSame)) return false;
    return !(
      step === "simulate" &&
      (severity === "blocker" || severity === "unavailable") &&
      blockers.some((other) => other.code === code && other.step !== step)
    );
  });
};

/** Nonce, gas, a fee or the chain id is missing, so there is nothing exact to sign. */
export const RequestIncomplete = code("proof", ["unavailable"], "RequestIncomplete", [
  "a request field is not known",
  "give nonce, gas, fees and chain id, or use another node",
]);

/** Why a batch is no one transaction. */
const whyApart: Readonly<Record<NonNullable<Origin["batch"]>, string>> = {
  open: "it stands among other transactions, or was not asked about",
  made: "it is more than one transaction",
  plain: "the account has no code that makes calls, and no delegate is named",
  unknown: "the form in which the account's code takes calls is not known",
  unread: "the node did not tell how the account's code takes calls",
  fields: "a call has no receiver, or fields of a transaction",
  ineffective:
    "the authorisation is another account's, not for the nonce behind the account's next one, or for another chain",
};

/**
 * The batch demands that all of its calls succeed or none is made, which only the account's own contract can do. The calls
 * were simulated as one transaction each.
 * @figures text("because", "the account has no code that makes calls, and no delegate is named")
 */
export const AtomicNotProven = code("proof", ["unavailable"], "AtomicNotProven", [
  "the calls were proven one by one, not as one transaction",
  "name the account's `delegate`, give an `authorization`, leave `atomicRequired` out, or give the transaction itself",
]);

/** The wallet may let a paymaster pay, which may take tokens for it. Nobody simulated that. */
export const PaymasterNotSimulated = code("funds", ["warning"], "PaymasterNotSimulated", [
  "a paymaster that may pay for the batch was not simulated",
  "leave `paymasterService` out, or look at what the paymaster takes",
]);

/** The signed bytes bind no chain (before EIP-155): anybody can send them on every chain, and many nodes refuse them. */
export const ChainUnbound = code("proof", ["warning"], "ChainUnbound", [
  "the signed bytes are valid on every chain, and nodes such as geth refuse to send them",
  "sign it again with a chain id, unless it is meant for every chain",
]);

/** Findings of what the form of an input says. */
const checkForms = (bundle: Bundle): ReadonlyArray<Finding> => {
  // why: plain fields say nothing, and are most
  const formed = bundle.filter(({ input }) => input.origin !== undefined);
  const atomic = formed.find(({ input }) => input.origin?.isAtomic === true);
  const isSponsored = formed.some(({ input }) => input.origin?.isSponsored === true);
  const unbound = formed.filter(({ input }) => isUnbound(input));
  return [
    ...(atomic === undefined
      ? []
      : [
          AtomicNotProven.unavailable(
            { evidence: "unavailable" },
            text("because", whyApart[atomic.input.origin?.batch ?? "open"]),
          ),
        ]),
    ...(isSponsored ? [PaymasterNotSimulated.warning({ evidence: "unavailable" })] : []),
    ...unbound.map(({ index }) => ChainUnbound.warning({ transaction: index, evidence: "measured" })),
  ];
};

const isHeld = (findings: ReadonlyArray<Finding>): boolean =>
  findings.some(({ severity }) => severity === "blocker" || severity === "unavailable");

/** A request with a hole says so, where nothing else did: nothing can be proven of it. */
const checkHoles = (bundle: Bundle<Filled>, findings: ReadonlyArray<Finding>): ReadonlyArray<Finding> =>
  isHeld(findings)
    ? []
    : bundle.flatMap(({ request, index }) =>
        request !== null ? [] : [RequestIncomplete.unavailable({ transaction: index, evidence: "unavailable" })],
      );

/** Parts of a report that are empty where a step was left out. */
const partsOf: Partial<Record<BuiltInStep, ReadonlyArray<keyof Report>>> = {
  assets: ["transfers", "balanceChanges", "payees"],
  approvals: ["approvals", "exposure", "payees"],
};

/** Evaluates a policy on a report; the policy cannot tell where it reads what was left out. */
const evaluate = (policy: Policy, report: Report): PolicyResult => {
  const missed = new Set<BuiltInStep>();
  // why: tokens are told of both, and by those that fail for what was looked at
  const [omitted, named] = [report.steps.without.filter((step) => partsOf[step] !== undefined), new Set<BuiltInStep>()];
  const looked = (part: PropertyKey) => {
    for (const step of omitted) {
      if (partsOf[step]?.some((each) => each === part) === true) missed.add(step);
      if (part === "tokens") named.add(step);
    }
  };
  // why: a report that its own policies change
  const result = policy.evaluate(lazyCopyOf(report, looked));
  const all = result._tag === "Pass" ? new Set([...missed, ...named]) : missed;
  return all.size === 0
    ? result
    : { _tag: "Unknown", reason: `the report was made without the step ${[...all].join(", ")}` };
};

/**
 * A function decides the policy, and the function was not given to the proof.
 * @figures text("policy", "acme/limit")
 */
export const PolicyLost = code("policy", ["unavailable"], "PolicyLost", [
  "a policy of the report could not be evaluated again",
  "give it again in the options of `prove`",
]);

/**
 * The policy's subject was not measured, so the policy does not count as fulfilled.
 * @figures text("policy", "maxSpent"), text("because", "the report was made without the step assets")
 */
export const PolicyUnknown = code("policy", ["unavailable"], "PolicyUnknown", [
  "whether a policy holds is not known",
  "remove the cause that it names, and ask again",
]);

/** Returns the findings of the policies on a report. */
const checkPolicies = (report: Report, policies: ReadonlyArray<Policy>): ReadonlyArray<Finding> => {
  const findings = policies.flatMap((policy): ReadonlyArray<Finding> => {
    const result = evaluate(policy, report);
    if (result._tag === "Pass") return [];
    if (result._tag === "Unknown") {
      const why = [text("policy", policy.name), text("because", result.reason)];
      return [PolicyUnknown.unavailable({ evidence: "unavailable" }, ...why)];
    }
    const violation = new PolicyViolation({ policy: policy.name, detail: result.detail });
    return [fromError(violation, "blocker", { step: "policy", evidence: "measured" })];
  });
  // why: one that is written down in the report but was not rebuilt is unknown, never passed
  const all = report.options.policies.length;
  if (policies.length >= all) return findings;
  const numbers = [count("lost", all - policies.length), count("of", all)];
  return [...findings, PolicyLost.unavailable({ evidence: "unavailable" }, ...numbers)];
};

/** `earlier`, as far as the new round does not tell the same itself. */
const untold = (earlier: ReadonlyArray<Finding>, found: ReadonlyArray<Finding>): ReadonlyArray<Finding> => {
  const keyOf = ({ code, step, transaction, error }: Finding) =>
    `${code}/${step}/${transaction}/${error?._tag === "RpcError" ? error.method : ""}`;
  const keys = new Set(found.map(keyOf));
  return earlier.filter((finding) => {
    const isNew = !keys.has(keyOf(finding));
    keys.add(keyOf(finding));
    return isNew;
  });
};

/** The report with these findings, in their order, and what they amount to. */
export const judged = <R extends Report>(report: R, findings: ReadonlyArray<Finding>): R => {
  const ordered = inOrder(findings);
  return inOwnCurrency({
    ...report,
    findings: ordered,
    verdict: verdictOf(ordered),
    because: becauseOf(ordered, report.stage, subjectOf(report)),
  });
};

/** A report with nothing whole to prove: what it says stays, but no word of its own that it may be signed. */
export const unprovable = (report: Report): Report =>
  judged({ ...report, version: reportVersion, stage: "scanned" }, [
    ...report.findings,
    ...(isHeld(report.findings) ? [] : [RequestIncomplete.unavailable({ evidence: "unavailable" })]),
  ]);

/** The chain as it is described here, else as it was. */
const shownChain = (chain: Chain, chainId: number | null, earlier: ShownChain | null): ShownChain => {
  const own = inWords(chain);
  return chain.known || own.name !== null || own.symbol !== lookup(chainId).symbol ? own : (earlier ?? own);
};

/** The one signature that is all that a report is about. */
const aloneIn = ({ transactions, signings }: Pick<Report, "transactions" | "signings">): Pick<Report, "signing"> => {
  const [only, ...others] = signings;
  return transactions.length === 0 && only !== undefined && others.length === 0 ? { signing: only } : {};
};

/** The balances without those of bundlers that are made up, and of who pays them. */
const withoutPaid = (balanceChanges: Movements["balanceChanges"], { paid }: Signings) =>
  balanceChanges.filter(({ account, token }) => token !== null || !paid.has(account));

/** The draft of the report on `bundle`, every choice of it made, out of one round's answers; and how it is made whole. */
export const draftOf = (
  bundle: Bundle<Filled>,
  answers: Answers,
  about: About,
  moved: Movements = movementsOf(bundle, answers.run, about.measure, answers.chainId),
) => {
  const { options, measure, described = null, others = [], stateChanges = [], earlier = [] } = about;
  const { steps, traces } = answers;
  const transactions = readIn(bundle, answers, abisOf(options));
  const there = others.flatMap((world) => world.moved ?? []);
  const { assets, rights, ...seen } = settledTokens(moved, there);
  const whose = new Set<string>([...ownAccounts(bundle), ...measure.parties]);
  const movements = withoutLeftOut(
    there.reduce<typeof seen>((here, other) => worseOf(here, other, whose), seen),
    steps,
  );
  const payeesIn = (parts: Pick<Movements, "transfers" | "balanceChanges" | "approvals">) =>
    payeesOf({ transactions, stateChanges, ...(about.signings == null ? parts : byUsers(parts, about.signings)) });
  const payees = payeesIn(movements);
  // why: what a bundler gets is told as the cost of its operation
  const unpaid = ({ balanceChanges }: Pick<Movements, "balanceChanges">) =>
    about.signings == null ? {} : { balanceChanges: withoutPaid(balanceChanges, about.signings) };
  const isJudged = about.policies.length > 0 || about.own.names.length > 0;
  const elsewhere = (isJudged ? others : []).map(({ run, moved: other }) => {
    const ran = Arr.map(bundle, (entry) => Simulate.ranIn(run, entry));
    const { tokens } = movements;
    const read = other && { ...other, exposure: exposureOf(ran, measure, run, other, traces), tokens };
    const moves = read && withoutLeftOut(read, steps);
    return {
      ...{ before: run.before, after: run.after, isCompared: other !== null },
      told: {
        ...parted({
          ...(moves && { ...moves, ...unpaid(moves), payees: payeesIn(moves) }),
          transactions: Arr.zipWith(transactions, ran, (transaction, { outcome }) => ({ ...transaction, outcome })),
        }),
      },
    };
  });
  const funds = steps.has("funds") ? Funds.read(bundle, answers) : [];
  const { observed, findings: aged } = observe(answers, options, about);
  const checked = {
    ...{ bundle, answers, transactions, funds, observed, stage: about.stage, approvals: movements.approvals, payees },
    ...{ moved: { assets, rights }, readings: others.map(({ run }) => run.readings), policies: about.policies },
    ...{ delegateTargets: options.delegateTargets, knownAddresses: options.knownAddresses },
  };
  const out = new Set<StepName>(leftOutOf(steps));
  const isTaken = ({ step }: Finding) => !out.has(step);
  const isMeasured = answers.run !== null && !out.has("assets") && !out.has("approvals");
  const now = withoutMoot([
    ...answers.findings,
    ...checkChain(bundle, answers),
    ...checkRan(answers.chainId, [answers.run, answers.reader]),
    ...taking(steps)
      .flatMap(({ check }) => check(checked))
      .filter(isTaken),
    ...aged,
    ...checkOverrides(observed, options),
    ...checkPretended(options, answers.before),
    ...checkForms(bundle),
    ...((isMeasured ? about.intents?.({ transactions, options, payees, ...movements }) : null) ?? []),
    // why: what comparing runs showed is no less true for the step that its code is told under
    ...about.findings,
  ]);
  const every = [...checkLeftOut(steps, bundle), ...untold(earlier.filter(isTaken), now), ...now];
  const signed = about.signings?.judge({
    ...{
      bundle,
      stage: about.stage,
      transactions,
      before: answers.before,
      after: answers.after,
      chainId: answers.chainId,
      traces: traces ?? [],
      found: withoutSending(bundle, every),
    },
  });
  const { signings = [], findings: found = every } = signed ?? {};
  const draft: Draft<BundleReport> = {
    ...{ version: reportVersion, stage: about.stage, chainId: answers.chainId },
    chain: shownChain(answers.chain, answers.chainId, described),
    ...{ options, steps: { with: [...about.own.names], without: leftOutOf(steps) } },
    ...{ observed, transactions, carriers: [], signings, funds, ...movements, stateChanges, payees },
    ...unpaid(movements),
    findings: [...found, ...checkHoles(bundle, found)],
  };
  const whole = (ledger: Report["ledger"]): BundleReport => {
    const { version, ...said } = signings.length === 0 ? draft : parted(draft);
    const digest = digestOfReport(said);
    const usual = judged<BundleReport>(
      {
        version,
        verdict: "unknown",
        because: "",
        ...said,
        ...(signings.length === 1 ? aloneIn(said) : {}),
        digest,
        ledger,
      },
      said.findings,
    );
    const own = about.own.check(usual, [{ told: {}, before: answers.before, after: answers.after }, ...elsewhere]);
    const all = own.length === 0 ? usual : judged(usual, [...usual.findings, ...own]);
    const here = checkPolicies(all, about.policies);
    const compared = elsewhere.filter(({ isCompared }) => isCompared);
    const beside = compared.flatMap(({ told }) => checkPolicies({ ...all, ...told }, about.policies));
    // why: policies judge by every finding, readers get no more than a budget
    return judged(all, bounded([...all.findings, ...here, ...untold(beside, here)]));
  };
  return { draft, whole };
};

/**
 * The same in two stretches of the event loop: there may be thousands of movements. `effects` = those of the run, where
 * they are known.
 */
export const makeDraft = Effect.fnUntraced(function* (
  bundle: Bundle<Filled>,
  answers: Answers,
  about: About,
  effects: RunEffects | null,
): Effect.fn.Return<ReturnType<typeof draftOf>> {
  yield* turn;
  const moved = movementsOf(bundle, answers.run, about.measure, answers.chainId, effects, answers.traces);
  yield* turn;
  const sources = yield* Effect.service(CurrentSources);
  const signings = yield* Effect.service(CurrentSignings);
  if (signings !== null) yield* signings.further(bundle);
  if (sources === null) return draftOf(bundle, answers, { ...about, signings }, moved);
  yield* sources.heard;
  const made = draftOf(bundle, answers, { ...about, signings, intents: sources.intents() }, moved);
  sources.ask(made.draft);
  return made;
});
