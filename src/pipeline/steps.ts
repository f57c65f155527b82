/**
 * The built-in steps as a list: what each asks in the first round of a scan, what it has the witness read, and what it
 * finds. What a pipeline leaves out is not walked. What they choose is chosen by `choose`, in the order of what they need.
 */
import { checkPool } from "../steps/reading/pool.js";
import { checkInner } from "../steps/reading/inner.js";
import { checkTaken } from "./endpoint/taken.js";
import * as Effect from "effect/Effect";
import type { AbiIndex } from "../abi/abiIndex.js";
import type { Chain } from "../Chains.js";
import type { Address } from "../primitives/hex.js";
import { builtInSteps, type BuiltInStep } from "../primitives/names.js";
import { text } from "../primitives/statement.js";
import { note, type Finding } from "../report/finding.js";
import type { Policy } from "../report/policy.js";
import type { Report, ReportOptions } from "../report/schema.js";
import type { Rpc } from "../rpc/index.js";
import * as Code from "../steps/code.js";
import * as Estimate from "../steps/estimate.js";
import * as Fee from "../steps/fee.js";
import * as Funds from "../steps/funds.js";
import * as Nonce from "../steps/nonce.js";
import { signers, type Bundle, type Case, type Filled, type Reading } from "../steps/reading/bundle.js";
import { delegateCallAccounts, delegateCallQueries, checkDelegateCalls } from "../steps/reading/delegateCalls.js";
import type { Holding } from "../steps/reading/holdings.js";
import type { FeeFacts } from "../steps/reading/quote.js";
import * as TokenShortfall from "../steps/reading/tokenShortfall.js";
import { bareCall } from "../transaction/request.js";
import type { Query } from "../witness/queries.js";
import { checkOutcomes, type Answers, type Round, type Taking } from "./answers.js";
import type { Movements } from "./worlds/movements.js";

/** All of them. */
export const everyStep: Taking = new Set(["chain", ...builtInSteps]);

/** What a scan is asked about. */
export interface Subject {
  readonly bundle: Bundle;
  readonly options: ReportOptions;
  /** The chain's parameters as far as the input names the chain. */
  readonly chain: Chain;
  /** Balances that somebody wants measured before it is known what moves. */
  readonly wanted: ReadonlyArray<Holding>;
  readonly abis: AbiIndex;
  /** What users' own steps have the witness read. */
  readonly looks: ReadonlyArray<Query>;
  readonly steps: Taking;
  /** Whether the witness may be simulated, by itself where the transactions are not. */
  readonly isWitnessed: boolean;
}

/** What the first round of a scan brings home. */
export type Asked = Pick<Round, "codes" | "run" | "alone" | "called" | "estimate" | "counts"> & FeeFacts;

/** What the first round of a scan asks with. */
export interface Questions {
  readonly subject: Subject;
  readonly tag: Round["block"];
  /** The transactions simulated, or called where that is refused. */
  readonly runs: Effect.Effect<Pick<Asked, "run" | "called">, never, Rpc>;
  /** Whether the endpoint is known to tell tips in its fee history. */
  readonly tellsTip: boolean;
}

/** What is checked: the bundle with every choice made, its answers, and what was read out of them. */
export interface Draft extends Pick<Report, "transactions" | "funds" | "observed" | "stage" | "approvals"> {
  readonly bundle: Bundle<Filled>;
  readonly answers: Answers;
  readonly delegateTargets: ReadonlyArray<Address>;
  /** What was found where it was read what moves and who gets rights. */
  readonly moved: Pick<Movements, "assets" | "rights">;
  /** The cases in the other worlds. */
  readonly readings: ReadonlyArray<ReadonlyArray<Reading>>;
  readonly policies: ReadonlyArray<Policy>;
}

/** A built-in step, in the shape of a user's: a name, what the witness reads for it, what it asks, and what it finds. */
export interface BuiltIn {
  readonly name: BuiltInStep;
  /** Read in front of and behind the transactions. */
  readonly looks?: (bundle: ReadonlyArray<Case>) => ReadonlyArray<Query>;
  readonly ask?: (questions: Questions) => Effect.Effect<Partial<Asked>, never, Rpc>;
  readonly check: (draft: Draft) => ReadonlyArray<Finding>;
}

const accountsOf = (addresses: ReadonlyArray<Address>): ReadonlyArray<Query> =>
  addresses.map((address) => ({ kind: "account", address }));

/** In the order of their findings. */
export const builtIns: ReadonlyArray<BuiltIn> = [
  {
    name: "code",
    looks: (bundle) => accountsOf(Code.accounts(bundle)),
    ask: ({ subject: { bundle }, tag }) => Effect.map(Code.ask(bundle, tag), (codes) => ({ codes })),
    check: ({ bundle, answers }) => bundle.flatMap((one) => Code.check(one, { ...answers, bundle })),
  },
  {
    name: "simulate",
    ask: ({ runs }) => runs,
    check: ({ bundle, answers, readings, approvals, policies }) => [
      ...checkOutcomes(bundle, answers),
      ...checkTaken(bundle, answers.run),
      ...checkInner(bundle, readings, approvals, policies),
    ],
  },
  {
    name: "estimate",
    ask: ({ subject: { bundle, options }, tag }) =>
      Effect.map(Estimate.ask(bareCall(bundle[0].input, null), tag, options.stateOverrides), (estimate) => ({
        estimate,
      })),
    check: ({ bundle, answers }) => bundle.flatMap((one) => Estimate.check(one, answers)),
  },
  {
    name: "nonce",
    ask: ({ subject: { bundle } }) => Effect.map(Nonce.ask(bundle), (counts) => ({ counts })),
    check: ({ bundle, answers }) => bundle.flatMap((one) => Nonce.check(one, { ...answers, bundle })),
  },
  {
    name: "fee",
    ask: ({ tellsTip }) => Fee.ask(!tellsTip),
    check: ({ bundle, answers }) => [...Fee.checkSources(answers), ...bundle.flatMap((one) => Fee.check(one, answers))],
  },
  { name: "assets", check: ({ moved }) => moved.assets },
  {
    name: "approvals",
    looks: (bundle) => [...accountsOf(delegateCallAccounts(bundle)), ...delegateCallQueries(bundle)],
    check: ({ bundle, answers, moved, delegateTargets }) => [
      ...moved.rights,
      ...checkDelegateCalls(bundle, { ...answers, targets: delegateTargets }),
    ],
  },
  {
    name: "funds",
    looks: (bundle) => accountsOf(signers(bundle)),
    check: (draft) => {
      const { bundle, answers, funds } = draft;
      return [
        ...bundle.flatMap((one) => one.charged.findings),
        ...funds.flatMap((payer) => Funds.check(payer, bundle)),
        ...checkPool(bundle, draft, answers.chain),
        ...bundle.flatMap((one) => TokenShortfall.check(one, answers)),
      ];
    },
  },
];

/** Those that take part. */
export const taking = (steps: Taking): ReadonlyArray<BuiltIn> => builtIns.filter(({ name }) => steps.has(name));

/** What the witness reads for the steps that take part, each account once. */
export const everyLook = (steps: Taking, bundle: ReadonlyArray<Case>): ReadonlyArray<Query> => {
  const met = new Set<string>();
  return taking(steps)
    .flatMap(({ looks }) => looks?.(bundle) ?? [])
    .filter((query) => query.kind !== "account" || (!met.has(query.address) && met.add(query.address)));
};

type Inputs = ReadonlyArray<Pick<Case, "input">>;

/** How bad it is that a step was left out: where every gas limit is the caller's, nobody has to estimate. */
const severityOf = (name: BuiltInStep, bundle: Inputs): "warning" | "unavailable" =>
  name === "assets" || name === "approvals" || (name === "estimate" && bundle.every(({ input }) => input.gas !== null))
    ? "warning"
    : "unavailable";

/** Those that do not, in their order. */
export const leftOutOf = (steps: Taking): ReadonlyArray<BuiltInStep> => builtInSteps.filter((name) => !steps.has(name));

/** What was left out, each step by its name. */
export const checkLeftOut = (steps: Taking, bundle: Inputs): ReadonlyArray<Finding> =>
  leftOutOf(steps).map((name) => ({
    ...note("LeftOut", severityOf(name, bundle), { evidence: "unavailable" }, text("step", name)),
    step: name,
  }));
