/** A scan: its first round of requests, and the rules for further rounds. */
import * as Effect from "effect/Effect";
import * as Fee from "../steps/fee.js";
import * as Nonce from "../steps/nonce.js";
import * as L1Fee from "../steps/reading/l1Fee.js";
import type * as Simulate from "../steps/simulate.js";
import { eip7825Cap, mostGas } from "../chains/rules.js";
import { refusedPart } from "../errors/rpc.js";
import type { Verdict } from "../errors/verdicts.js";
import { unknownForks } from "../primitives/names.js";
import { fromError } from "../report/finding.js";
import { isFast } from "../report/freshness.js";
import type { Observed } from "../report/schema.js";
import { each, sent, together, when } from "../eth/round.js";
import type { Rpc } from "../rpc/index.js";
import { blockReads } from "../steps/reading/blockReads.js";
import { signers } from "../steps/reading/bundle.js";
import { failureOf, successOf, type Failure } from "../steps/reading/askResult.js";
import { lacksTip } from "../steps/reading/quote.js";
import { answersOf, figuresOf, isFree, withAnswers, refusalOf, type Answers, type Round } from "./answers.js";
import { isFailed, hasRunBelowEstimate } from "./gas/doubt.js";
import { isDisproved, learn, seenIn } from "./endpoint/known.js";
import { rare } from "./later.js";
import { inRound, rounds, rule, type Rule } from "./rounds.js";
import { askPooled, inFlightOf } from "../steps/reading/pool.js";
import { fundedPlan, pricedPlan, widerPlan } from "./scanPlans.js";
import type { Subject } from "./steps.js";
import { isForm, isNoPending } from "./endpoint/simulate.js";
import { askByEthCall, askChainId, askPlan, begin, refusalIn, type Scanning } from "./scanRound.js";

const isRefusal = (failure: Failure | null): boolean =>
  failure?._tag === "RpcError" &&
  (failure.reason._tag === "MethodNotSupported" || failure.reason._tag === "MethodNotPermitted");

/**
 * True if `eth_call` may answer in place of a refused run: the node does not simulate, refuses the run's form or
 * deployments, or its block is too small and cannot be enlarged.
 */
const isCallable = ({ subject: { options }, round, memory }: Scanning): boolean => {
  const failure = refusalOf(round);
  return (
    isRefusal(failure) ||
    ((isForm(failure) || (failure !== null && refusedPart(failure) === "deployment")) &&
      options.stateOverrides === null &&
      options.blockOverrides === null) ||
    (failure?._tag === "BlockGasLimitExceeded" && memory.recall("lacks")?.has("blockOverrides") === true)
  );
};

/** The senders' in-flight transactions, by their counts. */
const inFlightIn = ({ subject: { bundle }, round }: Scanning): ReturnType<typeof inFlightOf> =>
  signers(bundle).flatMap((account) => inFlightOf(account, Nonce.inFlightCounts(account, round)));

/** Tells which answers the first round left out or failed to get, where no other answer replaces them. */
const lackingIn = (scan: Scanning) => {
  const { plans, subject, round, flying } = scan;
  const { bundle, steps } = subject;
  const { called, history } = round;
  const isBlind = plans.isFamiliar && seenIn(round).environment === null;
  return {
    // why: history and header show the node's own base fee; a formula alone may be another chain's
    reader:
      !round.runs.has("readerOnly") &&
      (isBlind ||
        (plans.isFamiliar && (failureOf(history) !== null || successOf(round.header)?.baseFeePerGas == null))),
    chainId: isBlind,
    receipts: history !== null && round.receipts === null && lacksTip(history, subject.options.feeLevel),
    calls: steps.has("simulate") && called === null && isCallable(scan),
    // why: the proof reads the pool of senders who replace nothing
    pools: flying.length === 0 && Nonce.replaces(bundle, round),
  };
};

/** True if the scan may begin again on the latest block. */
const isMovable = ({ round, subject: { options } }: Scanning): boolean =>
  round.block === "pending" && options.block === null;

const noPendingIn = ({ round }: Scanning): Failure | null =>
  [figuresOf(round), round.runs.get("readerOnly"), round.called?.first].map(failureOf).find(isNoPending) ?? null;

/** The finished round. */
const roundIn = ({ subject, round, memory }: Scanning): Round => {
  const { gasPriceOracle } = subject.chain;
  return {
    ...round,
    forks: memory.recall("forks") ?? unknownForks,
    noFeeOracle: L1Fee.livesAt(gasPriceOracle, seenIn(round)) === false ? gasPriceOracle : null,
  };
};

const answersIn = (scan: Scanning): Answers =>
  answersOf(roundIn(scan), scan.chains, scan.subject.options, scan.subject.bundle[0].input.chainId);

/** Verdicts of a call that simply lacked gas. */
const lacksGas: ReadonlySet<string> = new Set<Verdict["_tag"]>(["OutOfGas", "VmHalt", "GasAllowanceExceeded"]);

/** The plan of the run again, with the most gas that the fork allows; null = the run had enough. */
const widerIn = (scan: Scanning): Simulate.Plan | null => {
  const run = successOf(figuresOf(scan.round));
  if (run === null || !hasRunBelowEstimate(run, successOf(scan.round.estimate))) return null;
  const { chain, blockGasLimit } = answersIn(scan);
  const most = mostGas(chain, blockGasLimit);
  return most > eip7825Cap ? widerPlan(run.plan, most, blockGasLimit) : null;
};

/** The gas for the call again, the most that the fork allows; null = the call had enough. */
const widerCall = (scan: Scanning): bigint | null => {
  const { called, estimate } = scan.round;
  if (called === null || successOf(figuresOf(scan.round)) !== null || scan.subject.bundle[0].input.gas !== null)
    return null;
  const failure = failureOf(called.first);
  const isShort = failure !== null && (lacksGas.has(failure._tag) || (successOf(estimate) ?? 0n) > eip7825Cap);
  if (!isShort) return null;
  const { chain, blockGasLimit } = answersIn(scan);
  const most = mostGas(chain, blockGasLimit);
  return most > eip7825Cap ? most : null;
};

/** True if code that may run reads the block's gas limit. */
const mayReadGasLimit = ({ subject, round }: Scanning): boolean =>
  blockReads(subject.bundle, round.codes, new Set()).some((read) => read === "gaslimit" || read === "others");

/**
 * The plan of the run at a real gas price and gas limit, which a contract may require; null = no failure that these could
 * explain.
 */
const pricedIn = (scan: Scanning): Simulate.Plan | null => {
  const run = successOf(figuresOf(scan.round));
  if (run === null || !isFree(run) || !isFailed(run)) return null;
  const answers = answersIn(scan);
  const { baseFeePerGas } = answers.quote;
  return baseFeePerGas === null || (baseFeePerGas === 0n && !mayReadGasLimit(scan))
    ? null
    : pricedPlan(run.plan, scan.subject.bundle, scan.subject.options, answers);
};

/** The scan with further answers. */
const withMore = (scan: Scanning, more: Partial<Scanning["round"]>): Scanning => ({
  ...scan,
  round: { ...scan.round, ...more, runs: withAnswers(scan.round.runs, more.runs) },
});

/** The scan with a further run and `more`, if that run got an answer; else the scan unchanged. */
const withRun = (scan: Scanning, plan: Simulate.Plan, more: Parameters<typeof withMore>[1] = {}) =>
  Effect.map(sent(askPlan(scan.subject, plan)), (runs) =>
    successOf(runs.get(plan.name)) === null ? scan : withMore(scan, { ...more, runs }),
  );

/** For rules that begin again on the latest block: once, and once more after the endpoint changed. */
const anew = { isAnew: true, most: () => 2 } as const;

/** The rules for further rounds of a scan. Each round uses the first rule that applies. */
export const scanRules: ReadonlyArray<Rule<Scanning, Rpc>> = [
  rule({
    because: "unsupportedPart",
    // why: parts that were refused by name are left out already
    applies: (scan) => {
      const refusal = refusalOf(scan.round);
      return (
        isForm(refusal) && refusedPart(refusal) !== "deployment" && refusalIn(scan.memory, scan.subject.bundle) === null
      );
    },
    ask: (scan) =>
      Effect.flatMap(rare, ({ bisectUnsupported }) =>
        Effect.map(bisectUnsupported(scan.subject, scan.plans.bare, scan.plans.reader), (runs) =>
          withMore(scan, { runs }),
        ),
      ),
  }),
  rule({
    because: "replacement",
    ...anew,
    // why: the pending state already holds what a replacement takes away; the mined state does not
    applies: (scan) => isMovable(scan) && Nonce.replaces(scan.subject.bundle, scan.round),
    ask: (scan) => begin(scan.subject, "latest", inFlightIn(scan)),
  }),
  rule({
    because: "noPending",
    ...anew,
    applies: (scan) => isMovable(scan) && noPendingIn(scan) !== null,
    ask: (scan) =>
      Effect.map(begin(scan.subject, "latest"), (again) => {
        const refused = noPendingIn(scan);
        const findings =
          refused === null ? [] : [fromError(refused, "info", { step: "simulate", evidence: "unavailable" })];
        return withMore(again, { findings });
      }),
  }),
  rule({
    because: "endpointChanged",
    isAnew: true,
    applies: ({ plans, subject, round }) => isDisproved(plans.known, subject, round),
    ask: ({ subject, memory, chains }) =>
      Effect.suspend(() => {
        memory.forget();
        // why: chain and tag came from the facts that were just forgotten
        const chain = chains(subject.bundle[0].input.chainId);
        return begin({ ...subject, chain }, subject.options.block ?? chain.blockTag);
      }),
  }),
  rule({
    because: "missingAnswer",
    applies: (scan) => Object.values(lackingIn(scan)).includes(true),
    ask: (scan) => {
      const { subject, plans, round } = scan;
      const lacks = lackingIn(scan);
      return Effect.map(
        sent(
          together({
            runs: when(lacks.reader, askPlan(subject, plans.reader), round.runs),
            namedChainId: when(lacks.chainId, askChainId, round.namedChainId),
            receipts: when(lacks.receipts, Fee.askReceipts, round.receipts),
            called: when(lacks.calls, askByEthCall(subject, round.block, plans.reader), round.called),
            pools: when(lacks.pools, askPooled(inFlightIn(scan)), round.pools),
          }),
        ),
        (found) => ({ ...withMore(scan, found), isNamed: scan.isNamed || lacks.chainId }),
      );
    },
  }),
  rule({
    because: "unfunded",
    applies: (scan) => refusalOf(scan.round)?._tag === "InsufficientFunds",
    ask: (scan) => {
      const { subject, plans, round } = scan;
      const plan = fundedPlan(plans.bare, subject.bundle, round.runs.get("readerOnly") ?? null);
      return withRun(scan, plan, { unfunded: refusalOf(round) });
    },
  }),
  rule({
    because: "starved",
    applies: (scan) => widerIn(scan) !== null || widerCall(scan) !== null,
    ask: (scan) => {
      const [plan, gas] = [widerIn(scan), widerCall(scan)];
      const { called, block } = scan.round;
      if (plan !== null) return withRun(scan, plan);
      return gas === null || called === null
        ? Effect.succeed(scan)
        : Effect.flatMap(rare, ({ askFirst }) =>
            Effect.map(sent(askFirst(scan.subject, block, gas)), (first) =>
              withMore(scan, { called: { ...called, first } }),
            ),
          );
    },
  }),
  rule({
    because: "unpriced",
    applies: (scan) => pricedIn(scan) !== null,
    ask: (scan) => {
      const { subject, plans, round } = scan;
      const plan = pricedIn(scan);
      if (plan === null) return Effect.succeed(scan);
      // why: the priced run pretends the balances
      const asks = [plan, ...(round.runs.has("readerOnly") ? [] : [plans.reader])];
      return Effect.map(sent(each(asks, (one) => askPlan(subject, one))), (answers) => {
        const runs = new Map(answers.flatMap((each) => [...each]));
        const priced = successOf(runs.get(plan.name));
        // why: a run that fails at a price, too, changes nothing; else the estimate without a price is a false failure
        return priced === null || isFailed(priced) ? scan : withMore(scan, { runs, estimate: null });
      });
    },
  }),
  rule({
    because: "headMoved",
    // why: the nodes behind one address of a fast chain are never at one height
    applies: ({ sealed, round, subject }) =>
      !isFast(subject.chain) && (sealed ?? -1n) > (successOf(round.header)?.number ?? sealed ?? 0n),
    ask: (scan) =>
      Effect.map(sent(Fee.askLatestHeader), (latest) =>
        withMore(scan, { header: scan.round.header && Fee.laterOf(scan.round.header, latest) }),
      ),
  }),
];

/**
 * Sends the requests of a scan's steps, all at once in one network round. Known facts of the endpoint save some of them.
 * `scanRules` decides about every further round.
 */
export const askScan = (subject: Subject, tag: Observed["blockTag"]): Effect.Effect<Round, never, Rpc> =>
  Effect.map(
    Effect.flatMap(inRound(null, begin(subject, tag)), (first) => rounds(first, scanRules)),
    (scan) => {
      const round = roundIn(scan);
      learn(scan.memory, scan.subject, round, scan.isNamed);
      return round;
    },
  );
