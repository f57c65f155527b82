/**
 * The steps of a pipeline. The built-in ones are a list: what each asks in the first round of a scan, what it has the
 * witness read, what it chooses and tells, and what it finds; what a pipeline leaves out is not walked. Users' own are
 * begun here, where there are any.
 */
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import { memoize } from "effect/Function";
import * as Approvals from "../steps/approvals.js";
import * as Code from "../steps/code.js";
import * as Estimate from "../steps/estimate.js";
import * as Fee from "../steps/fee.js";
import * as Funds from "../steps/funds.js";
import * as Nonce from "../steps/nonce.js";
import * as L1Fee from "../steps/reading/l1Fee.js";
import * as Owners from "../steps/reading/owners.js";
import * as FalseAnswers from "../steps/reading/falseAnswers.js";
import * as NobodyCalled from "../steps/reading/nobodyCalled.js";
import * as Shortfall from "../steps/reading/tokenShortfall.js";
import { checkLookalikes } from "../steps/reading/lookalikes.js";
import { checkPool } from "../steps/reading/pool.js";
import { checkInner, harmlessBy } from "../steps/reading/inner.js";
import { checkUnsupported } from "./endpoint/simulate.js";
import type { AbiIndex } from "../abi/abiIndex.js";
import { callIn } from "../abi/calls.js";
import type { Chain } from "../Chains.js";
import { known, mapped, type Ask } from "../eth/round.js";
import type { Address } from "../primitives/hex.js";
import { builtInSteps, type BuiltInStep } from "../primitives/names.js";
import { memoizeList } from "../primitives/record.js";
import { text } from "../primitives/statement.js";
import { code, type Finding } from "../report/finding.js";
import type { Policy } from "../report/policy.js";
import type { BundleReport, Report, ReportOptions, TransactionReport } from "../report/schema.js";
import { isCarrier, signers, type Bundle, type Case, type Filled, type Reading } from "../steps/reading/bundle.js";
import { delegateCallAccounts, delegateCallQueries, checkDelegateCalls } from "../steps/reading/delegateCalls.js";
import type { Holding } from "../steps/reading/holdings.js";
import { bareCall } from "../transaction/request.js";
import type { Query } from "../witness/queries.js";
import { checkOutcomes, outcomeOf, type Answers, type Round, type ActiveSteps } from "./answers.js";
import type { Movements } from "./worlds/movements.js";
import * as Ready from "../report/ready.js";
import { OwnSteps } from "./own.js";

/** All of them. */
export const everyStep: ActiveSteps = new Set(["chain", "reader", ...builtInSteps]);

/** The subject of a scan. */
export interface Subject {
  readonly bundle: Bundle;
  readonly options: ReportOptions;
  /** The chain's parameters as far as the input names the chain. */
  readonly chain: Chain;
  /** Balances that somebody wants measured before it is known what moves. */
  readonly wanted: ReadonlyArray<Holding>;
  /** Queries that users' own steps have the witness read. */
  readonly looks: ReadonlyArray<Query>;
  readonly steps: ActiveSteps;
}

/** A built-in step, in the shape of a user's: what the witness reads for it, what it asks, chooses and tells, and what it finds. */
export interface BuiltIn {
  readonly name: BuiltInStep;
  /** Read in front of and behind the transactions. */
  readonly looks?: (bundle: ReadonlyArray<Case>) => ReadonlyArray<Query>;
  /** Read between them, right in front of the one in this place. */
  readonly between?: (bundle: ReadonlyArray<Case>, place: number) => ReadonlyArray<Query>;
  readonly ask?: (scan: {
    readonly subject: Subject;
    readonly tag: Round["block"];
    /** The transactions simulated, or called where that is refused. */
    readonly runs: Ask<Pick<Round, "runs" | "called">>;
    /** True if the endpoint is known to tell tips in its fee history. */
    readonly tellsTip: boolean;
  }) => Ask<Partial<Round>>;
  /** Returns what its answers show of a case, in a scan and in a proof. */
  readonly show?: (entry: Filled, bundle: Bundle<Filled>, answers: Answers) => Partial<Filled>;
  /** Returns what it chooses for a case, in a scan alone. */
  readonly choose?: (entry: Filled, bundle: Bundle<Filled>, answers: Answers) => Partial<Filled>;
  /** Returns what a report says of a case. */
  readonly read?: (entry: Filled, bundle: Bundle<Filled>, answers: Answers) => Partial<TransactionReport>;
  /** Finds problems in the bundle with every choice made, its answers, and what was read out of them. */
  readonly check: (
    draft: Pick<Report, "transactions" | "funds" | "observed" | "stage" | "approvals" | "payees"> & {
      readonly bundle: Bundle<Filled>;
      readonly answers: Answers;
      readonly delegateTargets: ReadonlyArray<Address>;
      /** The caller's names of addresses. */
      readonly knownAddresses: Readonly<Record<string, string>>;
      /** Findings made where it was read what moves and who gets rights. */
      readonly moved: Pick<Movements, "assets" | "rights">;
      /** The cases in the other worlds. */
      readonly readings: ReadonlyArray<ReadonlyArray<Reading>>;
      readonly policies: ReadonlyArray<Policy>;
    },
  ) => ReadonlyArray<Finding>;
}

const accountsOf = (addresses: ReadonlyArray<Address>): ReadonlyArray<Query> =>
  addresses.map((address) => ({ kind: "account", address }));

/** Reductions to what the payers of a bundle can pay, worked out once for all of its cases. */
const reductions = memoizeList(Funds.reductions);

/** The lower price of a case whose payer lacks funds; one that cannot be lowered for every transaction of a payer is lowered for none. */
const affordable = ({ signer, fee }: Filled, bundle: Bundle<Filled>, answers: Answers): Filled["fee"] => {
  const reduction = reductions(bundle, answers).get(signer);
  if (reduction === undefined) return fee;
  const lower = (entry: Filled) => Fee.shorten(entry.fee, reduction, answers.quote);
  return bundle.some((entry) => entry.signer === signer && lower(entry) === null)
    ? fee
    : (Fee.shorten(fee, reduction, answers.quote) ?? fee);
};

/** In the order in which one chooses by what another has chosen. */
export const builtIns: ReadonlyArray<BuiltIn> = [
  {
    name: "simulate",
    looks: FalseAnswers.queries,
    ask: ({ runs }) => runs,
    show: (entry, bundle, answers) => outcomeOf(entry, bundle, answers),
    read: ({ outcome }) => ({ outcome }),
    check: ({ bundle, answers, readings, approvals, policies }) => {
      const isHarmless = harmlessBy(approvals, policies);
      return [
        ...checkOutcomes(bundle, answers),
        ...checkUnsupported(bundle, answers.run),
        ...FalseAnswers.checkFalse(bundle, answers),
        ...FalseAnswers.checkSilence(bundle, { ...answers, isHarmless }),
        ...checkInner(bundle, readings, isHarmless),
      ];
    },
  },
  {
    name: "nonce",
    ask: ({ subject: { bundle } }) => mapped(Nonce.ask(bundle), (counts) => ({ counts })),
    choose: (entry, bundle, answers) => ({ nonce: Nonce.choose(entry, answers, bundle) }),
    read: (entry, bundle, answers) => ({ nonce: Nonce.read(entry, answers, bundle) }),
    check: ({ bundle, answers }) => bundle.flatMap((entry) => Nonce.check(entry, answers, bundle)),
  },
  {
    name: "code",
    looks: (bundle) => [...accountsOf(Code.accounts(bundle)), ...NobodyCalled.queries(bundle)],
    between: Code.queriesBetween,
    ask: ({ subject: { bundle }, tag }) => mapped(Code.ask(bundle, tag), (codes) => ({ codes })),
    show: (entry, bundle, answers) => ({
      code: answers.steps.has("code") ? Code.read(entry, answers, bundle) : Code.unlooked(entry),
    }),
    read: ({ code }) => ({ code }),
    check: ({ bundle, answers, readings, payees, knownAddresses }) => [
      ...bundle.flatMap((entry) => Code.check(entry, answers)),
      ...NobodyCalled.check(bundle, answers),
      ...checkLookalikes(bundle, readings, payees, knownAddresses),
    ],
  },
  {
    name: "estimate",
    ask: ({ subject: { bundle, options }, tag }) =>
      isCarrier(bundle[0])
        ? known({})
        : mapped(Estimate.ask(bareCall(bundle[0].input, null), tag, options), (estimate) => ({
            estimate,
          })),
    show: (entry, _, answers) => Estimate.witnessed(entry, answers),
    choose: (entry, _, answers) => ({
      gas: answers.steps.has("estimate") ? Estimate.choose(entry, answers) : Estimate.unestimated(entry),
    }),
    read: (entry, _, answers) => ({ gas: Estimate.read(entry, answers) }),
    check: ({ bundle, answers }) => bundle.flatMap((entry) => Estimate.check(entry, answers)),
  },
  {
    name: "fee",
    ask: ({ subject: { bundle }, tellsTip }) => (bundle.every(isCarrier) ? known({}) : Fee.ask(!tellsTip)),
    choose: (entry, _, answers) => ({
      fee: answers.steps.has("fee") ? Fee.choose(entry, Fee.quoteFor(entry, answers)) : Fee.unquoted(entry),
    }),
    read: (entry, _, answers) => ({ fee: Fee.read(entry, answers.steps.has("fee") ? answers.quote : null) }),
    check: ({ bundle, answers }) => [
      ...Fee.checkSources(answers.quote),
      ...bundle.flatMap((entry) => Fee.check(entry, answers.quote)),
    ],
  },
  { name: "assets", looks: Owners.queries, check: ({ moved }) => moved.assets },
  {
    name: "approvals",
    looks: (bundle) => [...accountsOf(delegateCallAccounts(bundle)), ...delegateCallQueries(bundle)],
    check: ({ bundle, answers, moved, delegateTargets }) => [
      ...moved.rights,
      ...Approvals.checkCalls(bundle, answers),
      ...checkDelegateCalls(bundle, { ...answers, targets: delegateTargets }),
    ],
  },
  {
    name: "funds",
    looks: (bundle) => accountsOf(signers(bundle)),
    show: (entry, _, answers) => ({ charged: L1Fee.read(entry, answers) }),
    choose: (entry, bundle, answers) => (answers.steps.has("funds") ? { fee: affordable(entry, bundle, answers) } : {}),
    check: (draft) => {
      const { bundle, answers, funds } = draft;
      return [
        ...bundle.flatMap((entry) => entry.charged.findings),
        ...funds.flatMap((payer) => Funds.check(payer, bundle)),
        ...checkPool(bundle, draft, answers.chain),
        ...bundle.flatMap((entry) => Shortfall.check(entry, answers, bundle)),
      ];
    },
  },
];

/** The cases with what every step shows of them, and chooses where `isChosen`; nothing is chosen for a step that was left out. */
export const walked = (bundle: Bundle, answers: Answers, isChosen: boolean): Bundle<Filled> => {
  // a step reads of a case only what those before it in the list have made
  let cases = bundle as Bundle<Filled>;
  for (const { show, choose } of builtIns)
    for (const part of isChosen ? [show, choose] : [show]) {
      const before = cases;
      if (part !== undefined) cases = Arr.map(before, (entry) => ({ ...entry, ...part(entry, before, answers) }));
    }
  return cases;
};

/** Returns what a report says of each case, by every step. */
export const readIn = (bundle: Bundle<Filled>, answers: Answers, abis: AbiIndex): BundleReport["transactions"] =>
  Arr.map(bundle, (entry) => {
    const { input, request } = entry;
    const { to: address, data, value, item } = input;
    const { call = address === null ? null : callIn(data, abis, { address, value, item }) } = entry;
    const told: object = { input, call, request };
    for (const { read } of builtIns) Object.assign(told, read?.(entry, bundle, answers));
    // each part is read by the step that it is of
    return told as TransactionReport;
  });

/** Those that take part. */
export const taking = memoize((steps: ActiveSteps): ReadonlyArray<BuiltIn> =>
  builtIns.filter(({ name }) => steps.has(name)),
);

/** Lists what the witness reads for the steps that take part, each account once; worked out once for all plans of a bundle. */
export const everyLook = memoizeList((bundle: ReadonlyArray<Case>, steps: ActiveSteps): ReadonlyArray<Query> => {
  const met = new Set<string>();
  return taking(steps)
    .flatMap(({ looks }) => looks?.(bundle) ?? [])
    .filter((query) => query.kind !== "account" || (!met.has(query.address) && met.add(query.address)));
});

/** Those that do not, in their order. why: it is handed out in a report, and not remembered */
export const leftOutOf = (steps: ActiveSteps): ReadonlyArray<BuiltInStep> =>
  builtInSteps.filter((name) => !steps.has(name));

/** Lists what the witness reads between the transactions for the steps that take part. */
export const everyLookBetween =
  (steps: ActiveSteps, bundle: ReadonlyArray<Case>) =>
  (place: number): ReadonlyArray<Query> =>
    taking(steps).flatMap(({ between }) => between?.(bundle, place) ?? []);

/**
 * Nothing of that step was checked.
 * @figures text("step", "approvals")
 * @warning for `assets` and `approvals`, and for `estimate` where you fix every gas limit
 */
export const LeftOut = code("policy", ["unavailable", "warning"], "LeftOut", [
  "a step was left out of the pipeline",
  "check it with a pipeline that has the step before you sign",
]);

/** Reports each step left out, and how bad it is: where every gas limit is the caller's, nobody has to estimate. */
export const checkLeftOut = (steps: ActiveSteps, bundle: ReadonlyArray<Pick<Case, "input">>) => {
  const mild = new Set([
    "assets",
    "approvals",
    ...(bundle.every(({ input }) => input.gas !== null) ? ["estimate"] : []),
  ]);
  return leftOutOf(steps).map((name) => ({
    ...LeftOut[mild.has(name) ? "warning" : "unavailable"]({ evidence: "unavailable" }, text("step", name)),
    step: name,
  }));
};

const partOf = memoize(
  ({ without: omitted }: { readonly without: ReadonlyArray<string> }): ActiveSteps =>
    // why: who has nothing simulated has not the witness simulated either
    new Set([...everyStep].filter((name) => !omitted.includes(name === "reader" ? "simulate" : name))),
);

/** The steps of the pipeline in use that take part. */
export const activeSteps: Effect.Effect<ActiveSteps> = Effect.map(Effect.service(OwnSteps), partOf);

/** `Report.ready`, of a report that was made with every step of the pipeline; others are `NotProven`, `StepMissing`. */
export const ready = <R extends Report>(report: R): ReturnType<typeof Ready.ready<R>> =>
  Effect.flatMap(Effect.service(OwnSteps), ({ steps, without }) =>
    Ready.readyWith(
      report,
      steps.map(({ name }) => name),
      builtInSteps.filter((name) => !without.includes(name)),
    ),
  );
