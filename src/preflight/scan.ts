/** Round 1, everything at once: the questions of a scan, and what is asked where they were not enough. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { AbiIndex } from "../abi/abiIndex.js";
import { Chains, eip7825Cap } from "../Chains.js";
import { refusedPart } from "../errors/refusedPart.js";
import type { RpcError } from "../errors/rpc.js";
import type { FeeSubject } from "../chains/feeModel.js";
import { asking } from "../eth/ask.js";
import * as Eth from "../Eth.js";
import { unknownForks } from "../primitives/forks.js";
import { later } from "../primitives/later.js";
import type { AskRule, StepName } from "../primitives/names.js";
import { fromError } from "../report/finding.js";
import type { Observed } from "../report/schema.js";
import { Rpc, type Memory } from "../Rpc.js";
import * as Code from "../steps/code.js";
import * as Estimate from "../steps/estimate.js";
import * as Fee from "../steps/fee.js";
import * as Nonce from "../steps/nonce.js";
import { signers, type Case } from "../steps/reading/bundle.js";
import { failureOf, successOf, type Failure, type Heard } from "../steps/reading/heard.js";
import * as L1Fee from "../steps/reading/l1Fee.js";
import { lacksTip } from "../steps/reading/quote.js";
import * as Simulate from "../steps/simulate.js";
import { bareCall } from "../transaction/request.js";
import { gasFor } from "../witness/queries.js";
import type { Round } from "./answers.js";
import { isFailed, isStarved } from "./gas/doubt.js";
import { isDisproved, knownOf, learn, seenIn } from "./endpoint/known.js";
import { inRound } from "./ledger.js";
import { askPooled, inFlightOf, type InFlight } from "./endpoint/pooled.js";
import { alonePlan, barePlan, fundedPlan, roughSubject, type Subject } from "./scanPlans.js";
import { isForm, isNoPending, simulate } from "./endpoint/taken.js";

/** The steps that ask in a scan. */
export type Asking = Extract<StepName, "chain" | "code" | "simulate" | "estimate" | "nonce" | "fee">;
const everyStep: ReadonlySet<Asking> = new Set(["chain", "code", "simulate", "estimate", "nonce", "fee"]);

/** The gas that questions at the fee oracles may take of `bare`; larger ones are left to the witness alone. */
const oracleRoom = eip7825Cap;

/** The refusal of a run that is remembered: of the method, of how all of ours are asked, or of its deployments. */
const refusalIn = (memory: Memory, calls: ReadonlyArray<Pick<Case, "input">>): RpcError | null => {
  const lacks = memory.recall("lacks");
  const isDeploying = calls.some(({ input }) => input.to === null);
  return (
    memory.refused("eth_simulateV1") ?? lacks?.get("any") ?? (isDeploying ? lacks?.get("deployment") : null) ?? null
  );
};

/**
 * How the first round of a scan is asked; `isFamiliar` = `bare` and the latest header tell what else the witness alone
 * would, on a chain that is known. `subjects` is what the chain's fees hang on, empty where there are no such fees.
 */
const questionsOf = (subject: Subject, tag: Observed["blockTag"], steps: ReadonlySet<Asking>, memory: Memory) => {
  const { bundle, options, chain } = subject;
  const known = knownOf(memory);
  const needsBytes = L1Fee.needsBytes(chain, known.noFeeOracle);
  const subjects: ReadonlyMap<number, FeeSubject | null> = new Map(
    needsBytes ? bundle.map(({ index, input }) => [index, roughSubject(input)]) : [],
  );
  const rough = [...subjects.values()].filter((one) => one !== null);
  const oracles = L1Fee.queries(chain, needsBytes ? rough : null);
  const isFamiliar =
    known.chainId !== null &&
    // why: the latest header says nothing of the base fee of another block, or of one that is pretended
    (tag === "pending" || tag === "latest") &&
    options.blockOverrides === null &&
    gasFor(oracles) <= oracleRoom &&
    // why: a model of the caller's own may ask what depends on the base fee, and `bare` has none
    typeof chain.feeModel !== "object" &&
    steps.has("simulate") &&
    steps.has("fee") &&
    refusalIn(memory, bundle) === null &&
    ["eth_getBlockByNumber", "eth_feeHistory"].every((method) => memory.refused(method) === null);
  return {
    ...{ subject, tag, steps, known, isFamiliar, subjects },
    bare: barePlan(subject, tag, isFamiliar ? oracles : [], L1Fee.earnings(needsBytes)),
    alone: alonePlan(options, tag, [...Code.queries(bundle), ...oracles]),
  };
};

type Questions = ReturnType<typeof questionsOf>;

const askChainId = asking({ step: "chain" }, Effect.result(Eth.chainId));

/** One run; the refusal itself, where the node refused simulations before. */
const askRun = (plan: Simulate.Plan, abis: AbiIndex): Effect.Effect<Heard<Simulate.Run>, never, Rpc> =>
  Effect.flatMap(Rpc, ({ memory }) => {
    const refused = refusalIn(memory, plan.calls);
    return refused === null ? Effect.result(simulate(plan, abis)) : Effect.succeed(Result.fail(refused));
  });

/** `ask` where it is wanted, else `otherwise`. */
const when = <A, B>(
  isWanted: boolean,
  ask: Effect.Effect<A, never, Rpc>,
  otherwise: B,
): Effect.Effect<A | B, never, Rpc> => (isWanted ? ask : Effect.succeed(otherwise));

const calling = later(() => import("./endpoint/called.js"));
const askCalled = (subject: Subject, tag: Observed["blockTag"]) =>
  Effect.flatMap(calling, ({ askCalls }) => askCalls(subject, tag));

/** All the questions at once. */
const askAtOnce = Effect.fnUntraced(function* (
  { subject, tag, steps, known, isFamiliar, bare, alone }: Questions,
  flying: ReadonlyArray<InFlight>,
) {
  const { bundle, options, abis } = subject;
  const isRefused = refusalIn((yield* Rpc).memory, bundle) !== null;
  const call = bareCall(bundle[0].input, null);
  return yield* Effect.all(
    {
      codes: when(steps.has("code"), Code.ask(bundle, tag), new Map<never, never>()),
      run: when(steps.has("simulate"), askRun(bare, abis), null),
      alone: when(!isFamiliar && (steps.has("simulate") || steps.has("fee")), askRun(alone, abis), null),
      called: when(isRefused && steps.has("simulate"), askCalled(subject, tag), null),
      estimate: when(steps.has("estimate"), Estimate.ask(call, tag, options.stateOverrides), null),
      counts: when(steps.has("nonce"), Nonce.ask(bundle), new Map<never, never>()),
      fees: when(steps.has("fee"), Fee.ask(known.tellsTip !== true), { history: null, receipts: null, header: null }),
      namedChainId: isFamiliar
        ? Effect.succeed(known.chainId === null ? null : Result.succeed(known.chainId))
        : when(steps.has("chain"), askChainId, null),
      pools: askPooled(flying),
    },
    { concurrency: "unbounded" },
  );
});
type Asked = Effect.Success<ReturnType<typeof askAtOnce>>;

const isRefusal = (failure: Failure | null): boolean =>
  failure?._tag === "RpcError" &&
  (failure.reason._tag === "MethodNotSupported" || failure.reason._tag === "MethodNotPermitted");

/** Whether `eth_call` may say what a refused run does not: of a deployment, of a block that nobody can make larger, of any of ours. */
const isCallable = ({ subject: { options } }: Questions, failure: Failure | null, memory: Memory): boolean =>
  isRefusal(failure) ||
  (isForm(failure) && options.stateOverrides === null && options.blockOverrides === null) ||
  (failure?._tag === "BlockGasLimitExceeded" && memory.recall("lacks")?.has("blockOverrides") === true);

const lacksBaseFee = (header: Heard<Eth.Block> | null): boolean => (successOf(header)?.baseFeePerGas ?? null) === null;

/** What the first round left out, or asked in vain, and nothing in it makes up for. */
const lacking = (questions: Questions, asked: Asked, memory: Memory) => {
  const { isFamiliar, subject } = questions;
  const { run, alone, called, fees } = asked;
  const isBlind = isFamiliar && seenIn({ run, alone }).environment === null;
  return {
    // why: both name the node's own base fee; a formula alone may be another chain's
    alone: isBlind || (isFamiliar && (failureOf(fees.history) !== null || lacksBaseFee(fees.header))),
    chainId: isBlind,
    receipts: fees.history !== null && fees.receipts === null && lacksTip(fees.history, subject.options.feeLevel),
    calls: called === null && isCallable(questions, failureOf(run), memory),
  };
};

const omitting = later(() => import("./endpoint/less.js"));
const repeating = later(() => import("./gas/again.js"));

/** What was heard, with what is asked once more where what failed may be owed to what the run pretended. */
const withAgain = (subject: Subject, heard: Round, alone: Simulate.Plan) => {
  const run = successOf(heard.run);
  const isEnough = run === null ? heard.called === null : !isFailed(run) && !isStarved(run, successOf(heard.estimate));
  return isEnough
    ? Effect.succeed(heard)
    : Effect.flatMap(repeating, ({ askAgain }) => askAgain(subject, heard, alone));
};

/**
 * What the steps of a scan ask, all at once in one network round; `steps` leaves some out, and what is known of the
 * endpoint others. What turns out to be lacking costs one round more: the witness `alone` where `bare` got no answer,
 * the receipts where the history tells no tip, `eth_call` on nodes without `eth_simulateV1` (none where the refusal
 * is remembered). So does a sender who cannot pay, to learn what a payable transaction would need; and everything is
 * asked again of a node without pending state, and of an endpoint that is no longer what it was. Of a replacement the
 * mined state is asked, and what is replaced (`flying`), for a replacement has to pay more.
 */
export const askScan = Effect.fnUntraced(function* (
  subject: Subject,
  tag: Observed["blockTag"],
  because: AskRule | null,
  steps: ReadonlySet<Asking> = everyStep,
  flying: ReadonlyArray<InFlight> = [],
): Effect.fn.Return<Round, never, Rpc> {
  const { bundle, chain, options, abis } = subject;
  const { memory } = yield* Rpc;
  const questions = questionsOf(subject, tag, steps, memory);
  const { bare, alone, known, subjects } = questions;
  const askedAt = yield* Clock.currentTimeMillis;
  const first = yield* inRound(because, askAtOnce(questions, flying));
  const refusal = failureOf(first.run);
  // why: what is refused by its name is left out already
  const isUnclear = isForm(refusal) && refusedPart(refusal) !== "deployment" && refusalIn(memory, bundle) === null;
  const less = isUnclear ? yield* inRound("unsupportedPart", (yield* omitting).askLess(subject, bare, alone)) : null;
  const asked = { ...first, ...less };
  const inFlight = signers(bundle).flatMap((account) => inFlightOf(account, Nonce.flying(account, asked)));
  const isMovable = tag === "pending" && options.block === null;
  // why: the pending state already holds what a replacement takes away; the mined state does not
  if (isMovable && Nonce.replaces(bundle, asked))
    return yield* askScan(subject, "latest", "replacement", steps, inFlight);
  const noPending = [asked.run, asked.alone].map(failureOf).find(isNoPending) ?? null;
  if (isMovable && noPending !== null) {
    const again = yield* askScan(subject, "latest", "noPending", steps);
    const told = fromError(noPending, "info", { step: "simulate", evidence: "unavailable" });
    return { ...again, findings: [...again.findings, told] };
  }
  if (isDisproved(known, subject, asked)) {
    memory.forget();
    // why: chain and tag were those of what was believed
    const named = (yield* Effect.service(Chains))(bundle[0].input.chainId);
    const tagged = options.block ?? named.blockTag;
    return yield* askScan({ ...subject, chain: named }, tagged, "endpointChanged", steps);
  }
  const lacks = lacking(questions, asked, memory);
  // why: of what replaces nothing the proof asks
  const wantsPools = flying.length === 0 && Nonce.replaces(bundle, asked);
  const isLacking = wantsPools || Object.values(lacks).includes(true);
  const more = Effect.all(
    {
      alone: when(lacks.alone, askRun(alone, abis), asked.alone),
      namedChainId: when(lacks.chainId, askChainId, asked.namedChainId),
      receipts: when(lacks.receipts, Fee.askReceipts, asked.fees.receipts),
      called: when(lacks.calls, askCalled(subject, tag), asked.called),
      pools: when(wantsPools, askPooled(inFlight), asked.pools),
    },
    { concurrency: "unbounded" },
  );
  const { receipts, pools, ...found } = yield* isLacking ? inRound("missingAnswer", more) : more;
  const heard: Round = {
    ...asked,
    ...found,
    askedAt,
    fees: { ...asked.fees, receipts },
    pools,
    block: tag,
    next: null,
    forks: memory.recall("forks") ?? unknownForks,
    noFeeOracle:
      L1Fee.livesAt(chain.gasPriceOracle, seenIn({ ...asked, ...found })) === false ? chain.gasPriceOracle : null,
    unfunded: null,
    findings: [],
    subjectOf: ({ index }) => subjects.get(index) ?? null,
  };
  learn(memory, subject, heard, !questions.isFamiliar || lacks.chainId);
  const failure = failureOf(asked.run);
  if (failure?._tag !== "InsufficientFunds") return yield* withAgain(subject, heard, alone);
  const funded = yield* inRound("unfunded", Effect.result(simulate(fundedPlan(bare, bundle, found.alone), abis)));
  return Result.isSuccess(funded)
    ? yield* withAgain(subject, { ...heard, run: funded, unfunded: failure }, alone)
    : heard;
});
