/**
 * Parts that an endpoint's simulations do not take are left out of ours: found out once, by its words or by trying, and
 * remembered; and what the report then lacks.
 */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { AbiIndex } from "../../abi/abiIndex.js";
import type * as Eth from "../../eth/index.js";
import { refusedPart, refusesFullTransactions, refusesPart, refusesRoot, type RpcError } from "../../errors/rpc.js";
import type { Verdict } from "../../errors/verdicts.js";
import { SimulationPart } from "../../primitives/names.js";
import { code, type Finding } from "../../report/finding.js";
import { each, goingOn, mapped, sent, type Ask } from "../../eth/round.js";
import type { Memory, Rpc } from "../../rpc/index.js";
import { learnLack } from "../../rpc/memory.js";
import { isPlain } from "../../steps/estimate.js";
import type { Filled } from "../../steps/reading/bundle.js";
import { failureOf, successOf, type AskResult, type Failure } from "../../steps/reading/askResult.js";
import * as Simulate from "../../steps/simulate.js";
import { isLarge } from "../../steps/reading/granted.js";
import { inBranch, inRound, rounds, rule, type Rule } from "../rounds.js";
import { askFitting, leftFor } from "./fitting.js";

/** A part that an endpoint may be found not to take. */
type Lack = SimulationPart | "entries" | "baseFeePerGas" | "beaconRoot" | "deployment";

/** The plan in several blocks, where the one that it is faithful to has no room for its limits; null = it is not that. */
const withRoom = (plan: Simulate.Plan, failure: Failure): Simulate.Plan | null => {
  const { spread = null, apart = null } = plan;
  return failure._tag === "BlockGasLimitExceeded" && spread !== null && apart === null
    ? { ...plan, apart: spread }
    : null;
};

/** Parts that may be left out. */
export const parts = SimulationPart.literals;
const omissible = [...parts, "baseFeePerGas"] as const;

const withoutRoot = (block: Eth.BlockOverrides): Eth.BlockOverrides => {
  const { beaconRoot: _, ...rest } = block;
  return rest;
};

/** The plan as an endpoint takes it that lacks these parts; blocks in front, which are nothing but overrides, go with them. */
export const adapt = (plan: Simulate.Plan, lacks: Pick<ReadonlySet<Lack>, "has">): Simulate.Plan => {
  const omitted = omissible.filter((part) => plan.without?.has(part) || lacks.has(part));
  const isRootless = lacks.has("beaconRoot");
  const { ahead = [], blockOverrides } = plan;
  return {
    ...plan,
    ...(omitted.length === 0 ? {} : { without: new Set(omitted) }),
    ahead: omitted.includes("blockOverrides") ? [] : isRootless ? ahead.map(withoutRoot) : ahead,
    lens: lacks.has("entries") ? [] : (plan.lens ?? []),
    blockOverrides: isRootless && blockOverrides !== null ? withoutRoot(blockOverrides) : blockOverrides,
  };
};

/** A refusal of what was asked, not of the caller; a bare HTTP status is a gateway in trouble. */
export const isForm = (failure: Failure | null): failure is RpcError =>
  failure?._tag === "RpcError" &&
  failure.reason._tag === "InvalidParams" &&
  (failure.reason.code !== null || failure.reason.httpStatus === null);

const isRooted = ({ blockOverrides }: Simulate.Plan): boolean => blockOverrides?.beaconRoot !== undefined;
const isReadTwice = ({ second = [] }: Simulate.Plan): boolean => second.length > 0;
const isLensed = ({ lens = [] }: Simulate.Plan): boolean => lens.length > 0;

/** Failures that the lens may cause: of a refused form, or left too little of the gas that a node gives one request. */
const mayRefuse: ReadonlySet<string> = new Set<Verdict["_tag"] | RpcError["reason"]["_tag"]>([
  ...(["InvalidParams", "SimBlockOrder", "NodeLimitExceeded", "MalformedResponse", "InternalError"] as const),
  ...(["IntrinsicGasTooLow", "BlockGasLimitExceeded"] as const),
]);
/** Failures that a second reading may cause, which an account pays for. */
const mayRefuseReading: ReadonlySet<string> = new Set<Verdict["_tag"]>([
  ...(["InsufficientFunds", "SenderNotEoa", "FeeCapTooLow"] as const),
]);
/** Refusals that say so of every request, whatever its calls do. */
const refuses: ReadonlySet<string> = new Set<RpcError["reason"]["_tag"]>(["InvalidParams", "SimBlockOrder"]);

/** True if a run without a base fee was refused for its price: without validation there is none. */
const isUnpriced = ({ without }: Simulate.Plan, failure: Failure): boolean =>
  failure._tag === "RpcError" &&
  failure.reason._tag === "OverrideIgnored" &&
  failure.reason.overrides.includes("baseFeePerGas") &&
  without?.has("baseFeePerGas") !== true;

/**
 * Finds what a refused plan may omit: the part that the refusal names, or a root or the entry of the lens where that
 * may be to blame; null = nothing helps. `isLasting` = of that kind no request is taken.
 */
export const learn = (
  plan: Simulate.Plan,
  failure: Failure,
): { readonly part: Lack | "second"; readonly isNamed: boolean; readonly isLasting: boolean } | null => {
  const part = refusedPart(failure);
  // why: some say the same words whatever they refuse
  if (isUnpriced(plan, failure)) return { part: "baseFeePerGas", isNamed: true, isLasting: true };
  const isLeftOut = part !== null && part !== "deployment" && plan.without?.has(part) === true;
  if (part !== null && !isLeftOut) return { part, isNamed: true, isLasting: true };
  if (isRooted(plan) && isForm(failure) && refusesRoot.test(failure.reason.detail))
    return { part: "beaconRoot", isNamed: true, isLasting: true };
  const tag = failure._tag === "RpcError" ? failure.reason._tag : failure._tag;
  if (isReadTwice(plan) && (mayRefuse.has(tag) || mayRefuseReading.has(tag)) && tag !== "SimBlockOrder")
    return { part: "second", isNamed: false, isLasting: false };
  // why: a number that we have set is refused where the head moved, not for the further entry
  const isMoved = tag === "SimBlockOrder" && plan.blockOverrides?.number !== undefined;
  if (isLensed(plan) && mayRefuse.has(tag) && !isMoved)
    return { part: "entries", isNamed: false, isLasting: refuses.has(tag) };
  // why: nodes that do not know it ignore it, but for a few, and these in as many words
  return isRooted(plan) && isForm(failure) && !refusesPart.test(failure.reason.detail)
    ? { part: "beaconRoot", isNamed: false, isLasting: true }
    : null;
};

/** True if a node had too little gas for a run, or may have had. */
const isCapped = ({ plan, result, less }: Trial): boolean =>
  less === null && (successOf(result)?.cut != null || leftFor(plan, failureOf(result)) !== null);

/** True if an answer cannot be read, or is refused, for the transactions that were asked in full. */
const refusesFull = (plan: Simulate.Plan, failure: Failure): boolean =>
  plan.full !== false &&
  failure._tag === "RpcError" &&
  ((failure.reason._tag === "MalformedResponse" && failure.reason.path.includes("transactions")) ||
    (isForm(failure) && refusesFullTransactions.test(failure.reason.detail)));

/** True if fewer parts are asked than before. */
const isLess = (less: Simulate.Plan, plan: Simulate.Plan): boolean =>
  less.without?.size !== plan.without?.size ||
  isLensed(less) !== isLensed(plan) ||
  isRooted(less) !== isRooted(plan) ||
  isReadTwice(less) !== isReadTwice(plan);

/** A plan as it was asked, and what became of it. */
interface Trial {
  readonly plan: Simulate.Plan;
  readonly result: AskResult<Simulate.Run>;
  /** The plan that is asked instead; null = it was taken, or nothing helps. */
  readonly less: Simulate.Plan | null;
  /** The part left out of that to find out whether it is to blame, and the refusal that made it doubtful. */
  readonly doubted: { readonly part: Lack; readonly refusal: RpcError } | null;
}

/** Judges what became of a plan, and remembers what its answer says of the endpoint. */
const judgeTrial = (plan: Simulate.Plan, doubted: Trial["doubted"], result: Trial["result"], memory: Memory): Trial => {
  if (Result.isSuccess(result)) {
    if (doubted !== null) learnLack(memory, doubted.part, doubted.refusal);
    const { cut, gasCap } = result.success;
    if (gasCap !== null) memory.learn("gasCap", gasCap);
    const isUnshown = plan.full === undefined && !isLarge(plan.calls.map(({ gas }) => gas));
    return { plan, result, less: cut !== null && isUnshown ? { ...plan, full: true } : null, doubted: null };
  }
  const { failure } = result;
  const other = refusesFull(plan, failure) ? { ...plan, full: false } : withRoom(plan, failure);
  if (other !== null) return { plan, result, less: other, doubted };
  if (leftFor(plan, failure) !== null) return { plan, result, less: null, doubted };
  const lack = learn(plan, failure);
  if (lack === null) return { plan, result, less: null, doubted };
  const { part, isNamed, isLasting } = lack;
  const less = part === "second" ? { ...plan, second: [] } : adapt(plan, new Set([part]));
  const lasting = isLasting && part !== "second" && failure._tag === "RpcError" ? { part, refusal: failure } : null;
  if (isNamed && lasting !== null) learnLack(memory, lasting.part, lasting.refusal);
  return { plan, result, less: isLess(less, plan) ? less : null, doubted: isNamed ? doubted : lasting };
};

/** Asks a plan, and judges what became of it. */
const attempt = (plan: Simulate.Plan, doubted: Trial["doubted"], abis: AbiIndex): Ask<Trial> =>
  mapped(Simulate.ask(plan, abis), (result, { rpc: { memory } }) => judgeTrial(plan, doubted, result, memory));

/** Rounds in which what was refused is asked otherwise. */
const furtherTrials = (abis: AbiIndex): ReadonlyArray<Rule<Trial, Rpc>> => [
  rule<Trial, Rpc>({
    because: "unsupportedPart",
    // why: each leaves a part out for good
    most: () => Number.POSITIVE_INFINITY,
    applies: ({ less }) => less !== null,
    ask: ({ plan, less, doubted }) => sent(attempt(less ?? plan, doubted, abis)),
  }),
  {
    because: "gasCapped",
    applies: isCapped,
    ask: (trial) => {
      const askBeside = (plans: ReadonlyArray<Simulate.Plan>) =>
        inRound("gasCapped", sent(each(plans, (plan) => Simulate.ask(plan, abis))));
      return Effect.map(askFitting(trial.plan, trial.result, askBeside), (result) => ({ ...trial, result }));
    },
  },
];

/** A run, of what the endpoint takes. JSON-RPC: `eth_simulateV1`, in one more round for each part that it refuses. */
export const simulate =
  (input: Simulate.Plan, abis: AbiIndex): Ask<AskResult<Simulate.Run>> =>
  (asking, hear) => {
    const first = attempt(adapt(input, asking.rpc.memory.recall("lacks") ?? new Set()), null, abis);
    const last = goingOn(first, (trial) =>
      trial.less === null && !isCapped(trial) ? null : inBranch(rounds(trial, furtherTrials(abis))),
    );
    mapped(last, ({ plan, result }): AskResult<Simulate.Run> =>
      isLensed(input) && !isLensed(plan) ? Result.map(result, (run) => ({ ...run, slots: null })) : result,
    )(asking, hear);
  };

/** The node has no pending state. */
export const isNoPending = (failure: Failure | null): failure is RpcError =>
  failure?._tag === "RpcError" && failure.reason._tag === "PendingUnavailable";

/** Refusals of a block that is no longer the head, not known to the node (yet), or without its state by now. */
const gone: ReadonlySet<string> = new Set<RpcError["reason"]["_tag"]>([
  ...(["SimBlockOrder", "BlockNotFound", "StateUnavailable", "HistoryPruned"] as const),
]);

/** True if a run is refused for its block, which another one may not be. */
export const isGone = (failure: Failure | null): boolean =>
  failure?._tag === "RpcError" && gone.has(failure.reason._tag);

/** Returns the parts that were left out of a run, or had no effect in it. */
export const leftOutOf = (run: Simulate.Run | null): ReadonlyArray<SimulationPart> =>
  run === null
    ? []
    : parts.filter((part) => run.plan.without?.has(part) === true || (part === "traceTransfers" && !run.traced));

/** The transaction was simulated in one block only, so nothing is proven. */
export const BlockNotPretended = code("simulate", ["unavailable"], "BlockNotPretended", [
  "the node does not support block overrides",
  "use a node that supports block overrides",
]);

/**
 * The node did not apply `traceTransfers`. Native amounts are known from balances only.
 * @info where nothing but plain transfers is sent
 */
export const NativeMovesUnseen = code("simulate", ["warning", "info"], "NativeMovesUnseen", [
  "the node did not trace native transfers",
  "rely on the balances, or use a node that traces transfers",
]);

/** The node did not apply `validation`. The library's own rules decided nonce, fees and funds. */
export const NotValidated = code("simulate", ["warning"], "NotValidated", [
  "the node checked neither nonce nor fees nor funds",
  "use a node that simulates with validation",
]);

/** Reports what a run could not show, for what was left out of it. */
export const checkUnsupported = (bundle: ReadonlyArray<Filled>, run: Simulate.Run | null): ReadonlyArray<Finding> => {
  const omitted = leftOutOf(run);
  const where = { evidence: "unavailable" } as const;
  const isQuiet = bundle.every(({ input, code }) => isPlain(input, code) && code.from.kind !== "delegated");
  return [
    // guard: no validation is told
    ...(omitted.includes("validation") ? [NotValidated.warning(where)] : []),
    // why: where nothing is executed, nothing moves but what is sent
    ...(run?.traced === false ? [NativeMovesUnseen[isQuiet ? "info" : "warning"](where)] : []),
    ...(omitted.includes("blockOverrides") ? [BlockNotPretended.unavailable(where)] : []),
  ];
};
