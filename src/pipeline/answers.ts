/**
 * Answers of a round of requests: every answer standing for itself, what they say together, and the outcome
 * of each case out of whichever of them told it. Pure.
 */
import type { Facts } from "../steps/reading/answers.js";
import * as Result from "effect/Result";
import type * as Eth from "../eth/index.js";
import * as Simulate from "../steps/simulate.js";
import { decodeResult } from "../abi/decodeLogs.js";
import type { lookup } from "../Chains.js";
import { rulesOf, type Rules } from "../chains/rules.js";
import type { Address, Hash, Hex } from "../primitives/hex.js";
import type { BuiltInStep, Fork, unknownForks, WorldName } from "../primitives/names.js";
import { fromError, code, type Finding } from "../report/finding.js";
import type { Outcome } from "../report/parts.js";
import type { Observed, ReportOptions } from "../report/schema.js";
import { authorizationInFlight, inFlightCounts, isUsedByAuthorization } from "../steps/nonce.js";
import { signers, type Case, type Ran } from "../steps/reading/bundle.js";
import { failureOf, successOf, type Failure, type AskResult } from "../steps/reading/askResult.js";
import { withIntrinsic } from "../steps/estimate.js";
import { likelyCause } from "../steps/reading/likelyCause.js";
import { failedOutcome, unknownOutcome, unread } from "../steps/reading/outcome.js";
import { quoteOf, type FeeFacts } from "../steps/reading/quote.js";
import type { Listing } from "../eth/call.js";
import { either, unseen, type View } from "../witness/view.js";

/**
 * The steps that take part in a round, `chain` where the endpoint's own id and its newest block are asked, and `reader` where
 * the witness may be simulated by itself.
 */
export type ActiveSteps = ReadonlySet<BuiltInStep | "chain" | "reader">;

/** Answers of runs, by key. */
export type RunAnswers = ReadonlyMap<WorldName, AskResult<Simulate.Run>>;

/** Answers with further ones. */
export const withAnswers = (runs: RunAnswers, more: RunAnswers = new Map()): RunAnswers => new Map([...runs, ...more]);

/** The run that the report's figures are from: `reserved` where a state does not agree with the node's own counts; null = none was asked. */
export const figuresOf = ({ runs }: Pick<Round, "runs">): AskResult<Simulate.Run> | null =>
  runs.get("reserved") ?? runs.get("exact") ?? runs.get("atNextFee") ?? runs.get("funded") ?? runs.get("ample") ?? null;

/** Every answer of one round; null = not asked. */
export interface Round
  extends Pick<Facts, "codes" | "counts" | "pools" | "traces" | "estimate" | "subjectOf">, FeeFacts {
  /** The steps that were asked; of the others there is nothing. */
  readonly steps: ActiveSteps;
  readonly block: Observed["blockTag"];
  /** Epoch ms when its first question went out: nothing in it is newer for certain. */
  readonly askedAt: number;
  /** By `eth_chainId`. */
  readonly namedChainId: AskResult<number> | null;
  /** The answers of every run that was asked. */
  readonly runs: RunAnswers;
  /** Answers of a node without simulation through `eth_call`; null where it simulates. */
  readonly called: {
    /** The first transaction's answer, its revert explained; the others depend on it and could not be asked. */
    readonly first: AskResult<Hex>;
    /** The witness's answers; null when it could not be injected. */
    readonly view: View | null;
  } | null;
  /** The refusal for want of funds that was answered by giving the senders some; null when there was none. */
  readonly unfunded: Failure | null;
  /** Address at which no fee oracle was seen to live, so that it need not be asked; null = not known. */
  readonly noFeeOracle: Address | null;
  /** Access lists, by the transaction's place in the bundle; null = the node told none. Absent = none was asked. */
  readonly listed?: ReadonlyArray<{ readonly index: number; readonly list: Listing | null }>;
  /** The endpoint's answer about forks, where it was asked. */
  readonly forks: typeof unknownForks;
  /** Findings made on the way: sources that had to be replaced. */
  readonly findings: ReadonlyArray<Finding>;
}

/** The round, and what it says of the world, whichever request said it. */
export interface Answers extends Omit<Round, "header">, Facts {
  readonly run: Simulate.Run | null;
  /** Why there is no run; null when there is one, or none was asked. */
  readonly refused: Failure | null;
  readonly reader: Simulate.Run | null;
  /** Why the witness alone got no answer. */
  readonly readerRefused: Failure | null;
  readonly rules: Rules;
  /** By what executes in the block that comes next; null in a scan, and where it was not seen. */
  readonly forkInNext: Fork | null;
  readonly chainId: number | null;
  /** The latest block. */
  readonly header: Eth.Block | null;
  /** Base fee of the simulated block, wei per gas: the real one, for a run may pretend none. */
  readonly simulatedBaseFee: bigint | null;
}

const safe = (value: bigint | undefined): number | null =>
  value !== undefined && value > 0n && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : null;

/** True if a run pretends that gas is free: it says nothing of base fee, the block's gas limit, or what gas cost. */
export const isFree = ({ name }: Simulate.Run): boolean => name === "ample" || name === "funded";

/** A node may name no hash of what it simulates (anvil: zero); the block in front then stands on the latest. */
const knownHash = (hash: Hash, header: Eth.Block | null): Hash | null =>
  BigInt(hash) === 0n ? (header?.hash ?? null) : hash;

/**
 * Why there is no run. Where the witness alone, whose sender is given all that it pays, is refused for that, the node
 * ignores what it was given, and a refusal of the run for want of funds is none of the caller's.
 */
export const refusalOf = (round: Pick<Round, "runs">): Failure | null => {
  const [refused, own] = [failureOf(figuresOf(round)), failureOf(round.runs.get("readerOnly"))];
  const isIgnored = own?._tag === "RpcError" && own.reason._tag === "OverrideIgnored";
  return refused?._tag === "InsufficientFunds" && isIgnored ? own : refused;
};

/** The runs of a round, each null where it got no answer. */
type RoundRuns = Readonly<Record<"run" | "reader" | "next", Simulate.Run | null>>;

/** The block of the runs as the witness read it where its values are real. */
const realIn = ({ run, reader, next }: RoundRuns): View["environment"] => {
  const own = run === null || isFree(run) ? null : run.before.environment;
  return reader?.before.environment ?? next?.before.environment ?? own;
};

/** The empty block in front of the run, where it is the one that comes next. */
const comingIn = ({ run, next }: RoundRuns): Simulate.Run["ahead"] =>
  // why: behind a pending block that is itself the next one, the first empty block is a later one
  next === null || run?.ahead?.number === next.block.number ? (run?.ahead ?? null) : null;

/** Base fee of the simulated block, wei per gas; `isPretended` = the caller pretends one. */
const baseFeeIn = (runs: RoundRuns, isPretended: boolean): bigint | null => {
  const { run, reader } = runs;
  // why: without validation a block has no base fee but one that is pretended
  if (!isPretended && (run ?? reader)?.plan.without?.has("validation") === true) return null;
  // why: the empty block in front is none that the caller pretends
  const coming = isPretended ? null : comingIn(runs);
  const ofBlock = coming?.baseFeePerGas ?? realIn(runs)?.baseFeePerGas ?? reader?.block.baseFeePerGas;
  return reader?.before.environment?.baseFeePerGas ?? ofBlock ?? null;
};

/** The parent of the block that the base fee was read in. */
const parentHashIn = (runs: RoundRuns, before: View, header: Eth.Block | null): Hash | null => {
  const { reader, next } = runs;
  const coming = comingIn(runs);
  return reader === null && coming !== null
    ? knownHash(coming.parentHash, header)
    : (((reader ?? next)?.before ?? before).environment?.parentHash ?? null);
};

/** The chain and its rules: by what executes, what a header shows and what `eth_config` says. */
const chainIn = (
  { forks, namedChainId }: Round,
  { run, reader }: RoundRuns,
  { environment }: View,
  header: Eth.Block | null,
  describe: (chainId: number | null) => ReturnType<typeof lookup>,
) => {
  const chainId = safe(environment?.chainId) ?? safe(BigInt(successOf(namedChainId) ?? 0));
  const blocks = [(run ?? reader)?.block ?? null, header];
  const shown = {
    executed: environment?.fork ?? null,
    header: blocks.find((block) => block !== null && block.requestsHash !== null) ?? null,
    config: forks.fork,
  };
  // why: what is remembered may have come to pass
  const coming = header !== null && header.timestamp >= (forks.next ?? 0n) ? null : forks.next;
  return { chainId, ...rulesOf(describe(chainId), shown, coming) };
};

/** Returns what the witness saw in the runs, and where none was made, in a call. */
const viewsIn = ({ run, reader }: RoundRuns, called: Round["called"]) => {
  const [ran, lone] = [run?.before ?? unseen, reader?.before ?? unseen];
  const call = called?.view ?? unseen;
  const before = either(either(ran, lone), call);
  const honest = run?.plan.pretended === true ? lone : before;
  return {
    ...{ before, after: run?.after ?? unseen, met: run?.met ?? [], oracles: either(either(lone, ran), call) },
    balanceOf: (account: Address) => honest.account(account)?.balance ?? null,
    granted: (index: number) => run?.plan.calls.at(index)?.gas ?? null,
  };
};

/**
 * Reads the answers of a round; the run in the block that comes next, at its own base fee, a scan does not have. `named` =
 * the chain that the input names.
 */
export const answersOf = (
  round: Round,
  chains: typeof lookup,
  options: ReportOptions,
  named: number | null,
): Answers => {
  const [reader, next] = [round.runs.get("readerOnly"), round.runs.get("next")];
  const runs = { run: successOf(figuresOf(round)), reader: successOf(reader), next: successOf(next) };
  const header = successOf(round.header);
  const views = viewsIn(runs, round.called);
  const { chainId, chain, rules } = chainIn(round, runs, views.before, header, (id) => chains(id ?? named));
  const simulatedBaseFee = baseFeeIn(runs, options.blockOverrides?.baseFeePerGas !== undefined);
  const horizonSeconds = options.feeHorizonSeconds;
  const parentHash = parentHashIn(runs, views.before, header);
  return {
    ...round,
    ...views,
    ...{ run: runs.run, reader: runs.reader, chainId, chain, rules, header, simulatedBaseFee, horizonSeconds },
    refused: refusalOf(round),
    readerRefused: failureOf(reader),
    forkInNext: runs.next?.before.environment?.fork ?? null,
    blockGasLimit: realIn(runs)?.gasLimit ?? runs.reader?.block.gasLimit ?? header?.gasLimit ?? null,
    quote: quoteOf(round, { chain, simulatedBaseFee, level: options.feeLevel, horizonSeconds, parentHash }),
    flying: (account) => inFlightCounts(account, round),
    replacing: {
      priceBump: options.priceBump ?? chain.priceBump,
      isKnown: options.priceBump !== null || chain.known,
    },
  };
};

/** True if the measured balances agree that somebody cannot even pay the values. */
const isReallyShort = (bundle: ReadonlyArray<Case>, { balanceOf }: Answers): boolean =>
  signers(bundle).some((account) => {
    const values = bundle.reduce((sum, { signer, input }) => (signer === account ? sum + input.value : sum), 0n);
    return (balanceOf(account) ?? -1n) < values;
  });

/** Outcome of the tier without simulation: status and return value, nothing more. */
const calledOutcome = ({ first }: NonNullable<Round["called"]>, { input }: Case, { rules }: Answers): Outcome => {
  if (Result.isSuccess(first)) {
    const data = first.success;
    const result = input.item === null ? null : decodeResult(data, input.item);
    return { ...unknownOutcome(null), status: "success", returnData: data, result, evidence: "estimated" };
  }
  const { failure } = first;
  if (failure._tag === "RpcError") return unknownOutcome(null);
  const known = withIntrinsic(failure, input, rules.fork === "amsterdam");
  return failedOutcome(known, known._tag === "ExecutionReverted" ? known.data : null);
};

/**
 * How bad it is that the whole run was refused: a verdict is a blocker, unless our own sum of the funds, or the counts of
 * nonces, stand against it.
 */
const refusalSeverity = (bundle: ReadonlyArray<Case>, answers: Answers): "blocker" | "unavailable" => {
  const { refused } = answers;
  const disputed =
    (refused?._tag === "InsufficientFunds" && !isReallyShort(bundle, answers)) ||
    isUsedByAuthorization(refused, bundle, answers);
  return refused === null || refused._tag === "RpcError" || disputed ? "unavailable" : "blocker";
};

/** A case with what it did, as far as anybody could say. */
export const outcomeOf = <C extends Case>(entry: C, bundle: ReadonlyArray<Case>, answers: Answers): C & Ran => {
  const { run, called, refused } = answers;
  if (run !== null) return Simulate.ranIn(run, entry);
  if (called !== null)
    return entry.index === 0
      ? { ...entry, outcome: calledOutcome(called, entry, answers), transfers: [] }
      : { ...entry, ...unread(null) };
  const isItsOwn =
    bundle.length === 1 &&
    refused !== null &&
    refused._tag !== "RpcError" &&
    refusalSeverity(bundle, answers) === "blocker";
  return {
    ...entry,
    ...unread(isItsOwn ? withIntrinsic(refused, entry.input, answers.rules.fork === "amsterdam") : null),
  };
};

/** The contract that reads balances inside the simulation did not answer. */
export const WitnessUnavailable = code("simulate", ["warning"], "WitnessUnavailable", [
  "balances could not be measured inside the simulation",
  "use another node; the movements shown come from events alone",
]);

/** Finds what stood in the way of learning the outcomes, and what the outcomes themselves say. */
export const checkOutcomes = (bundle: ReadonlyArray<Ran>, answers: Answers): ReadonlyArray<Finding> => {
  const { run, called, refused, unfunded, readerRefused } = answers;
  const where = { step: "simulate", evidence: "unavailable" } as const;
  const checkOutcome = (ran: Ran) => Simulate.check(ran, likelyCause(ran, bundle, answers));
  if (run === null && called !== null)
    return [
      ...(refused === null ? [] : [fromError(refused, "unavailable", where)]),
      ...(Result.isFailure(called.first) && called.first.failure._tag === "RpcError"
        ? [fromError(called.first.failure, "unavailable", { ...where, transaction: 0 })]
        : []),
      ...bundle.filter(({ outcome }) => outcome.failure !== null).flatMap(checkOutcome),
    ];
  // why: the witness alone costs a source when it fails, not the report: what it alone could say is missing where it is needed
  const unanswered = readerRefused === null || called !== null ? [] : [fromError(readerRefused, "info", where)];
  if (run !== null) {
    // why: where our own sum finds nothing missing, a refusal for want of funds stands against it
    const disputed =
      unfunded !== null && !isReallyShort(bundle, answers) ? [fromError(unfunded, "unavailable", where)] : [];
    const blind = run.witnessed ? [] : [WitnessUnavailable.warning(where)];
    return [...unanswered, ...disputed, ...bundle.flatMap(checkOutcome), ...blind];
  }
  if (refused === null) return [];
  if (isUsedByAuthorization(refused, bundle, answers)) return [...unanswered, authorizationInFlight(refused)];
  const severity = refusalSeverity(bundle, answers);
  const evidence = severity === "blocker" ? "estimated" : "unavailable";
  const transaction = bundle.length === 1 ? 0 : null;
  // why: the only transaction's own failure has the numbers that the node left out
  const failure = (transaction === 0 ? bundle[0]?.outcome.failure : null) ?? refused;
  return [...unanswered, fromError(failure, severity, { step: "simulate", transaction, evidence })];
};
