/**
 * Simulates the transactions: one `eth_simulateV1` request with the witness before and after them, read once when it
 * arrives.
 *
 * The transactions share one block where pending state may be ordered before ours, with only empty blocks in front:
 * Flashblocks nodes apply their overlay of pending state again to every further block.
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
  /** The plan as it was requested. Calls that got less gas, and still count, have the gas that they got. */
  readonly plan: Plan;
  /** The place of the first user call that may have run with too little gas, and so does not count; null = all count. */
  readonly cut: number | null;
  /** The gas that the node allows one request; null = no call got less than it requested. */
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
  /** The answers to queries that accounts made themselves, in the second reading. */
  readonly second: View;
  /** True if the witness answered wherever it was asked. */
  readonly witnessed: boolean;
  /** True if each native movement had an event; in a run without any movement, if the run requested such events. */
  readonly traced: boolean;
  /** The proxy slots behind the block; null where they were not seen, or not as the calls left them. */
  readonly slots: View | null;
}

/** Wei that the last call sends to the witness. The next block entry finds it if the node runs entries one on another. */
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

/** Another word for each block that comes `count` after the first. */
export const nthWord = (word: Hash, count: number): Hash => wordOf(BigInt(word) ^ BigInt(count));

/** The overrides of the block that comes `count` after. All values that tell blocks apart differ, but for the producer. */
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

/** The run in a span of its own, with its name and its first status other than success. */
const traced = (ask: Ask<AskResult<Run>>, { name }: Plan): typeof ask => {
  const statusOf = ({ readings }: Run) =>
    readings.map(({ outcome }) => outcome.status).find((each) => each !== "success");
  const named = () => ({ "preflight.run": name });
  return spanned(ask, `run ${name}`, named, (result) => {
    const run = successOf(result);
    return run === null ? {} : { "preflight.status": statusOf(run) ?? "success" };
  });
};

/** A run as it is requested: its plan, the layout of the calls, and `looks`, the queries of the slots' reader behind the block. */
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
  // why: where the base fee cannot be overridden, a run without validation charges none
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

/** The proxy slots as the reader behind the block saw them; null where it did not run on the state that the calls left. */
const slotsBehind = ({ plan, at, looks }: AskedRun, block: Eth.SimulatedBlock | undefined): View | null => {
  const slots = seenIn(looks, block?.calls[0]);
  const isBehind = looks.length === 0 || plan.calls.length === 0 || slots?.account(at.address)?.balance === mark;
  return isBehind ? slots : null;
};

/** The run, read from the answered blocks; null where its own block is missing. */
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
  // why: an unsigned authorisation is only assumed; readings on that state are measured
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

/** Names refusals that the caller did not cause: the node ignores our override of a balance or base fee, or refuses deployments. */
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
  // why: a block number that we set does not show the chain's head
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

/** Returns a case with its reading in a run; without one, its outcome is unknown. */
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
