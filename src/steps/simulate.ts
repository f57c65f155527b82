/**
 * Simulates the transactions: one `eth_simulateV1` request with the witness before and after them, read once when it
 * arrives.
 *
 * In one block where pending state may be ordered before us: on Flashblocks nodes its overlay is applied again to every
 * further one, so that only empty blocks stand in front.
 */
import * as Arr from "effect/Array";
import * as BigInts from "effect/BigInt";
import * as Effect from "effect/Effect";
import { turn } from "../primitives/effects.js";
import type { AbiIndex } from "../abi/abiIndex.js";
import { wordOf } from "../abi/words.js";
import { DeploymentNotSimulated, MalformedResponse, refusedPart, RpcError } from "../errors/rpc.js";
import { explain } from "../eth/call.js";
import type * as Eth from "../eth/index.js";
import * as Questions from "../eth/questions.js";
import { one, sightBlock, spanned, type Ask } from "../eth/round.js";
import { readSimulation } from "../eth/simulation.js";
import type { Address, Hash } from "../primitives/hex.js";
import type { SimulationPart } from "../primitives/names.js";
import { text, type Statement } from "../primitives/statement.js";
import { fromError, code, type Evidence, type Finding } from "../report/finding.js";
import type { RunName } from "../report/schema.js";
import type { RunContext } from "../rpc/index.js";
import { isUnsigned } from "../transaction/fields.js";
import { namedQuery, placementIn, readers, slotQueries, type Placement } from "../witness/placement.js";
import { gasFor, type Query } from "../witness/queries.js";
import { seenIn, unseen, type View } from "../witness/view.js";
import type { Case, Ran, Reading } from "./reading/bundle.js";
import type { Plan } from "./reading/plan.js";
import { withInner } from "./reading/inner.js";
import { burns, onlyReads, readCall, unread } from "./reading/outcome.js";
import { successOf, type AskResult, type Failure } from "./reading/askResult.js";
import { cutIn, gasCapIn, isLarge } from "./reading/granted.js";
import { answersIn, layoutOf, queriesBefore, readerCall } from "./reading/layout.js";
import { ignoring, overrideReader } from "./reading/overrides.js";
import { isNativeReporter } from "../effects/movements.js";

export type { Plan, Spacing } from "./reading/plan.js";

/** A run, read: one reading per call of the plan, in their order. */
export interface Run {
  readonly name: RunName;
  /** As it was asked, but for calls that ran with less gas and count all the same: theirs is what they had. */
  readonly plan: Plan;
  /** The first call of the user's that does not count, by its place, for it may have run with too little gas; null = all count. */
  readonly cut: number | null;
  /** Gas that the node has for one request; null = no call was seen to get less than it asked for. */
  readonly gasCap: bigint | null;
  /** Gas that all calls used. */
  readonly spent: bigint;
  /** The placement of the witness; null = not known. */
  readonly at: Placement | null;
  /** True if the account of the witness had no code. */
  readonly isCodeless: boolean;
  readonly block: Eth.SimulatedBlock;
  /** The first of the empty blocks in front; null where there was none. */
  readonly ahead: Eth.SimulatedBlock | null;
  readonly readings: ReadonlyArray<Reading>;
  readonly before: View;
  readonly after: View;
  /** The state that each call met: for the first call, the state before all. */
  readonly met: ReadonlyArray<View>;
  /** The readings that accounts made themselves. */
  readonly second: View;
  /** True if the witness answered wherever it was asked. */
  readonly witnessed: boolean;
  /** True if events reported native movements wherever there were some; without any, if the run asked for them. */
  readonly traced: boolean;
  /** The proxy slots behind the block; null where they were not seen, or not as the calls left them. */
  readonly slots: View | null;
}

/** Wei that the last call of the block carries to the witness; the entry behind it finds them if entries chain. */
const mark = 1n;

/** The entry that reads the proxy slots as the block left them. */
const lensEntry = (
  at: Placement,
  contracts: ReadonlyArray<Address>,
  queries: ReadonlyArray<Query>,
  without: Pick<ReadonlySet<SimulationPart>, "has">,
): Eth.Simulation["blocks"][number] => {
  const gasLimit = gasFor(queries);
  return {
    calls: [readerCall(at, queries)],
    stateOverrides: { ...at.override, ...readers(contracts) },
    // why: the block before may have room for no more than its own calls, and op-geth finds no base fee behind it
    ...(without.has("blockOverrides") ? {} : { blockOverrides: { gasLimit, baseFeePerGas: 0n } }),
  };
};

/** A word of its own for each block that comes `count` after another. */
export const nthWord = (word: Hash, count: number): Hash => wordOf(BigInt(word) ^ BigInt(count));

/** The block that comes `count` after: no value that tells blocks from each other is the same, but for the producer. */
const later = (
  { number, time, prevRandao, beaconRoot, ...rest }: Eth.BlockOverrides,
  count: number,
  seconds: bigint = 0n,
): Eth.BlockOverrides => ({
  ...rest,
  ...(number == null ? {} : { number: BigInt(number) + BigInt(count) }),
  ...(time == null ? {} : { time: BigInt(time) + seconds * BigInt(count) }),
  ...(prevRandao == null ? {} : { prevRandao: nthWord(prevRandao, count) }),
  ...(beaconRoot == null ? {} : { beaconRoot: nthWord(beaconRoot, count) }),
});

/** True if each call that moved native currency has an event of such a movement; null = none moved any. */
const tellsMoves = (answers: ReturnType<typeof answersIn>["all"]): boolean | null => {
  const payments = answers.filter(({ slot: { request }, result }) => {
    const { from, to, value } = request;
    return result.status === "success" && BigInt(value ?? 0) > 0n && from !== to;
  });
  // guard: native movements unseen
  return payments.length === 0
    ? null
    : payments.every(({ result }) => result.logs.some(({ address }) => isNativeReporter(address.toLowerCase())));
};

/** A run in a span of its own: which it was, and the first status that is no success. */
const traced = (ask: Ask<AskResult<Run>>, { name }: Plan): typeof ask => {
  const statusOf = ({ readings }: Run) =>
    readings.map(({ outcome }) => outcome.status).find((each) => each !== "success");
  const named = () => ({ "preflight.run": name });
  return spanned(ask, `run ${name}`, named, (result) => {
    const run = successOf(result);
    return run === null ? {} : { "preflight.status": statusOf(run) ?? "success" };
  });
};

/** The request of a run: the plan's blocks, with the witness's code in them and the slots' reader behind; it `looks` where there is one. */
const askedOf = (given: Plan, at: Placement) => {
  const { lens = [], named = [] } = given;
  const { queries } = overrideReader(given, at);
  const [first, ...others] = given.before;
  const plan =
    first === undefined || queries.length === 0 ? given : { ...given, before: [first, ...queries, ...others] };
  const marker: Query = { kind: "account", address: at.address };
  const looks = lens.length === 0 ? [] : [marker, ...slotQueries(lens), ...named.map(namedQuery)];
  return { plan, at, layout: layoutOf(plan, at, lens.length === 0 ? null : mark), looks };
};
type AskedRun = ReturnType<typeof askedOf>;

/** True if a plan pretends that gas costs nothing. */
const isFreeOfBaseFee = ({ blockOverrides }: Plan): boolean => blockOverrides?.baseFeePerGas === 0n;

const requestOf = ({ plan, at, layout, looks }: AskedRun): Parameters<typeof Eth.simulateV1>[0] => {
  const { lens = [], named = [], apart = null, full = isLarge(plan.calls.map(({ gas }) => gas)) } = plan;
  const omitted = plan.without ?? new Set<never>();
  const context = omitted.has("blockOverrides") ? null : plan.blockOverrides;
  // why: without validation there is no base fee where none can be asked for
  const isFree = (context === null || omitted.has("baseFeePerGas")) && isFreeOfBaseFee(plan);
  const overridesAt = (index: number) =>
    context === null ? {} : { blockOverrides: index === 0 ? context : later(context, index, apart?.seconds) };
  const state = { ...plan.stateOverrides, ...overrideReader(plan, at).state, ...at.override };
  return {
    blocks: [
      ...(plan.ahead ?? []).map((blockOverrides) => ({ calls: [], blockOverrides })),
      ...layout.map((slots, index) => ({
        calls: slots.map(({ request }) => request),
        ...(index === 0 ? { stateOverrides: state } : {}),
        ...overridesAt(index),
      })),
      ...(lens.length === 0 ? [] : [lensEntry(at, [...lens, ...named.map(({ address }) => address)], looks, omitted)]),
    ],
    ...(omitted.has("validation") || isFree ? {} : { validation: true }),
    ...(omitted.has("traceTransfers") ? {} : { traceTransfers: true }),
    ...(full ? { returnFullTransactions: true } : {}),
    block: plan.block,
  };
};

/** Reads the answers to the user's own calls, with what failed inside them; `before` = what the witness saw before all. */
const readingsOf = (
  answers: ReadonlyArray<readonly [Plan["calls"][number], { readonly result: Eth.CallResult }]>,
  before: View | null,
  evidence: Evidence,
  abis: AbiIndex,
) =>
  Effect.forEach(answers, ([call, { result }], transaction) =>
    Effect.flatMap(explain(result.failure, call.input.to, abis), (failure) => {
      const read = readCall({ ...result, failure }, call, { transaction, abis, evidence });
      return withInner(read, call.input, transaction, before, abis);
    }),
  );

/** The proxy slots as the reader behind the block saw them; null where it does not stand on what the calls left. */
const slotsBehind = ({ plan, at, looks }: AskedRun, block: Eth.SimulatedBlock | undefined): View | null => {
  const slots = seenIn(looks, block?.calls[0]);
  const isBehind = looks.length === 0 || plan.calls.length === 0 || slots?.account(at.address)?.balance === mark;
  return isBehind ? slots : null;
};

/** The run that the blocks tell of; null where they do not hold it. */
const runOf = Effect.fnUntraced(function* (asked: AskedRun, blocks: ReadonlyArray<Eth.SimulatedBlock>, abis: AbiIndex) {
  const { plan, at, layout, looks } = asked;
  const { ahead = [] } = plan;
  // why: a node may put blocks of its own in front, up to a number that the caller pretends
  const end = blocks.length - Number(looks.length > 0);
  const own = blocks.slice(Math.max(0, end - layout.length), end);
  const [block] = own;
  if (block === undefined) return null;
  const answers = answersIn(plan, layout, own);
  const { before, after } = answers;
  // why: what an authorisation does before it is signed; what is read on that state is measured
  const isAssumed = plan.pretended || plan.calls[0]?.input.authorizationList?.some(isUnsigned) === true;
  const evidence = isAssumed ? ("assumed" as const) : ("measured" as const);
  const transactions = Arr.zip(plan.calls, answers.of("transaction"));
  const ran = transactions.map(([call, { granted, result }]) => ({
    ...{ call, granted, isSuccess: result.status === "success" },
    ...{ gas: call.gas, least: call.least ?? call.gas },
  }));
  const gas = answers.all.map((answer) => answer.gas);
  const readings = yield* readingsOf(transactions, before, evidence, abis);
  return {
    name: plan.name,
    plan: { ...plan, calls: ran.map(({ call, granted }) => (granted < call.gas ? { ...call, gas: granted } : call)) },
    at,
    isCodeless: answers.of("before").some(({ result }) => result.status === "success" && result.returnData === "0x"),
    ...{ cut: cutIn(ran), gasCap: gasCapIn(gas), spent: BigInts.sumAll(gas.map(({ used }) => used)) },
    // why: its logs are in the readings, and thousands are not held twice
    block: { ...block, calls: [] },
    ahead: ahead.length === 0 ? null : (blocks[0] ?? null),
    readings,
    before: before ?? unseen,
    after: after ?? unseen,
    second: answers.second,
    met: plan.calls.map((_, place) => (place === 0 ? before : answers.between(place)) ?? unseen),
    witnessed: before !== null && after !== null,
    traced: tellsMoves(answers.measured) ?? plan.without?.has("traceTransfers") !== true,
    slots: slotsBehind(asked, blocks.at(-1)),
  };
});

/** A refusal that is no doing of the caller's: of our own reader or price, which overrides were to allow, or of all deployments. */
const explained = ({ plan, at }: AskedRun, failure: Failure): Failure => {
  const { calls } = plan;
  if (failure._tag === "InsufficientFunds" && (calls.length === 0 || failure.account?.toLowerCase() === at.sender))
    return ignoring(["balance"]);
  if (failure._tag === "FeeCapTooLow" && isFreeOfBaseFee(plan) && (plan.second ?? []).length === 0)
    return ignoring(["baseFeePerGas"]);
  const isDeployment = refusedPart(failure) === "deployment" && calls.some(({ input }) => input.to === null);
  if (failure._tag !== "RpcError" || !isDeployment) return failure;
  const { detail, httpStatus, code, raw } = failure.reason;
  return new RpcError({
    method: failure.method,
    reason: new DeploymentNotSimulated({ detail, httpStatus, code, raw }),
  });
};

/** Reads the answer to a run. */
const readAnswer = Effect.fnUntraced(function* (
  asked: AskedRun,
  request: ReturnType<typeof requestOf>,
  answer: AskResult<unknown>,
  sighted: RunContext["sighted"],
  abis: AbiIndex,
): Effect.fn.Return<Run, Failure> {
  const { plan } = asked;
  const blocks = yield* Effect.fromResult(answer).pipe(
    Effect.flatMap((result) => readSimulation(result, request)),
    Effect.mapError((failure) => explained(asked, failure)),
  );
  // why: a number that was asked for says nothing of the blocks that there are
  const isNumbered = plan.without?.has("blockOverrides") !== true && plan.blockOverrides?.number !== undefined;
  const [first] = blocks;
  if (first !== undefined && !isNumbered) sightBlock(sighted, first.number - 1n, plan.block === "latest");
  yield* turn;
  const run = yield* runOf(asked, blocks, abis);
  if (run !== null) return run;
  return yield* new RpcError({
    method: "eth_simulateV1",
    reason: new MalformedResponse({ path: "result[0]", detail: "" }),
  });
});

/**
 * Asks for one run and reads it. Fails with the request's error: one invalid user call fails the whole
 * request, by the protocol. JSON-RPC: `eth_simulateV1`.
 */
export const ask = (plan: Plan, abis: AbiIndex): Ask<AskResult<Run>> =>
  traced((asking, hear) => {
    const planned = askedOf(plan, placementIn(asking.context));
    const request = requestOf(planned);
    const run = { ...asking.run, step: "simulate", run: plan.name } as const;
    one(Questions.simulation(request))({ ...asking, run }, (answer) =>
      asking.begin(Effect.result(readAnswer(planned, request, answer, run.sighted, abis)), run, hear),
    );
  }, plan);

/** The gas the witness may take in a plan. */
export const witnessGas = (
  plan: Pick<Plan, "before" | "after" | "between"> & { readonly calls: ReadonlyArray<unknown> },
): bigint =>
  [plan.before, ...plan.calls.map((_, place) => queriesBefore(plan, place)), plan.after].reduce(
    (sum, queries) => (queries.length === 0 ? sum : sum + gasFor(queries)),
    0n,
  );

/** Returns a case with its reading in a run; nothing is known where there is none. */
export const ranIn = <C extends Case>(run: Run | null, entry: C): C & Ran => ({
  ...entry,
  ...(run?.readings[entry.index] ?? unread(null)),
});

/** No simulation shows whether the transaction succeeds. */
export const OutcomeUnknown = code("simulate", ["unavailable"], "OutcomeUnknown", [
  "the outcome is not known",
  "use a node that supports `eth_simulateV1`",
]);

/**
 * The function is `view` or `pure`, so a transaction only costs gas. Its result is shown.
 * @figures text("function", "balanceOf"), text("returns", "25000000")
 */
export const ReadOnlyCall = code("simulate", ["info"], "ReadOnlyCall", [
  "the function only reads, so it needs no transaction",
  "read it with `eth_call`",
]);

/** The findings of an outcome: its failure is a blocker, in the words of a `likely` cause; an unknown one is `unavailable`. */
export const check = (ran: Ran, likely: Statement | null = null): ReadonlyArray<Finding> => {
  const { index, input, outcome, transfers } = ran;
  const { failure, status, evidence } = outcome;
  const where = { step: "simulate", transaction: index, evidence } as const;
  if (failure !== null) return [fromError(failure, "blocker", where, likely ?? failure.statement)];
  if (status === "unknown") return [OutcomeUnknown.unavailable(where)];
  const didMore =
    input.value > 0n || outcome.logs.length > 0 || transfers.length > 0 || (input.authorizationList?.length ?? 0) > 0;
  const read = didMore ? null : onlyReads(input, outcome.returnData ?? "0x");
  if (read === null) return burns(ran);
  // why: a selector is no promise of what the code does
  const how = { ...where, evidence: read.isGuess ? ("assumed" as const) : evidence };
  return [ReadOnlyCall.info(how, text("function", read.name), text("returns", read.result))];
};
