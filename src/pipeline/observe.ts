/** Which state a report speaks of: its chain, its block, and whether it is the newest and the real one. Pure. */
import { ChainIdMismatch, WitnessesDisagree } from "../errors/verdicts.js";
import { count, text } from "../primitives/statement.js";
import { fromError, code, type Finding } from "../report/finding.js";
import { freshnessOf } from "../report/freshness.js";
import type { Observed, Report, ReportOptions } from "../report/schema.js";
import type { HeadSighting, Testimony } from "../rpc/index.js";
import type { Case, Filled } from "../steps/reading/bundle.js";
import { failureOf, successOf } from "../steps/reading/askResult.js";
import type { Run } from "../steps/simulate.js";
import type { Answers } from "./answers.js";
import { restsOnOthers } from "./worlds/compare.js";
import { leftOutOf } from "./endpoint/simulate.js";

/** Facts that the state is judged by beside the answers that tell it. */
export interface ObserveInput {
  /** Epoch ms. */
  readonly now: number;
  readonly worlds?: Observed["worlds"];
  /** Values of its block that the called code reads; absent = it was not looked at. */
  readonly reads?: Observed["reads"];
  /** Count of the transactions whose changes a tracer told; absent = none was asked. */
  readonly traced?: Observed["traced"];
  /** Slots that access lists name; absent = none were asked. */
  readonly named?: Observed["named"];
  /** Epoch ms until which a clearance may hold; absent = `maxAge` alone bounds it. */
  readonly until?: number | null;
  /** By all answers of the call. */
  readonly sighted: HeadSighting;
  /** The block whose state it was, where a scan of the same call saw it; null = what was simulated tells it. */
  readonly standsOn?: bigint | null;
  /** The latest block that an earlier report knew; null = there is none. */
  readonly since?: bigint | null;
  readonly stage: Report["stage"];
  /** True if what ran may have used what two forks have not in common; absent = it may. */
  readonly isForkUsed?: boolean;
}

/** That it is another chain than the one that is meant. */
const isAnother = (
  expected: number,
  actual: bigint | number,
  evidence: Finding["evidence"],
  transaction: number | null = null,
): Finding =>
  fromError(new ChainIdMismatch({ expected: BigInt(expected), actual: BigInt(actual) }), "blocker", {
    ...{ step: "chain", transaction, evidence },
  });

/**
 * A hard fork activates before the clearance expires. Gas and limits may differ on the other side of it.
 * @figures count("activates at", 1_796_291_351)
 */
export const ForkAhead = code("chain", ["warning"], "ForkAhead", [
  "a hard fork activates while an approval to sign would still hold",
  "run `prove` again after the fork",
]);

/**
 * The fork decides what the chain allows, such as the gas of one transaction.
 * @figures text("executed", "Amsterdam")
 * @warning where the transaction may use what differs between the forks
 */
export const RulesUncertain = code("chain", ["info", "warning"], "RulesUncertain", [
  "the node's signs of the active fork contradict each other (opcodes, block header, `eth_config`)",
  "use another endpoint",
]);

/** Checks that the rules are certain, and stay as long as a clearance would. */
const checkRules = (
  { rules: { agrees, nextFork }, run, forkInNext }: Answers,
  now: number,
  maxAgeMs: number,
  isForkUsed: boolean,
): ReadonlyArray<Finding> => {
  const executed = run?.before.environment?.fork ?? null;
  const isBetween = executed !== null && forkInNext !== null && executed !== forkInNext;
  const isPlanned = nextFork !== null && nextFork * 1000n <= BigInt(Math.ceil(now + maxAgeMs));
  const when = nextFork === null ? [] : [count("activates at", nextFork)];
  const uncertain = RulesUncertain[isForkUsed ? "warning" : "info"](
    { evidence: "measured" },
    executed === null ? null : text("executed", executed),
  );
  return [
    ...(agrees ? [] : [uncertain]),
    // guard: a fork ahead
    ...(isBetween || isPlanned ? [ForkAhead.warning({ evidence: isBetween ? "measured" : "estimated" }, ...when)] : []),
  ];
};

/** Most lines of what endpoints said that one finding holds. */
const mostSaid = 16;

/**
 * Too few of several endpoints gave the same answer in time.
 * @figures text("eth_simulateV1", "1 of 2")
 */
export const QuorumMissing = code("proof", ["unavailable"], "QuorumMissing", [
  "too few endpoints confirmed what was measured",
  "run `prove` again when all endpoints are at the newest block",
]);

/** Reports what other endpoints said of the same. */
const checkTestimonies = ({ testimonies: all }: HeadSighting): ReadonlyArray<Finding> => {
  const isProven = all.some(({ kind, run }) => kind === "confirmed" && run === "next");
  // why: where the sealed run is confirmed, and did the same, another's view of what is not sealed is not needed
  const testimonies = all.filter(
    ({ kind, isSealed, method }) => !(isProven && kind === "unconfirmed" && !isSealed && method === "eth_simulateV1"),
  );
  const linesOf = (kind: Testimony["kind"]) => {
    const about = testimonies.filter((testimony) => testimony.kind === kind);
    // why: they are told in the order in which endpoints answered
    return [...new Set(about.flatMap(({ lines }) => lines))].sort().slice(0, mostSaid);
  };
  const [pending, unconfirmed] = [linesOf("pending"), linesOf("unconfirmed")];
  const against = testimonies.filter((testimony) => testimony.kind === "disagreed");
  const disagreed = [...new Set(against.map(({ method }) => method))].sort().map((method) => {
    const about = against.filter((testimony) => testimony.method === method);
    const differences = [...new Set(about.flatMap(({ lines }) => lines))].sort().slice(0, mostSaid);
    const where = { step: "proof", evidence: "measured" } as const;
    return fromError(new WitnessesDisagree({ method, differences }), "blocker", where);
  });
  const texts = (lines: ReadonlyArray<string>) => lines.map((line) => text("", line));
  return [
    ...disagreed,
    ...(unconfirmed.length === 0
      ? []
      : [QuorumMissing.unavailable({ evidence: "unavailable" }, ...texts(unconfirmed))]),
    ...(pending.length === 0 ? [] : [restsOnOthers("warning", ...texts(pending))]),
  ];
};

/** The block that a run stands on: by its own header, else by what the witness read in it. */
const baseIn = ({ before, run, reader }: Answers, standsOn: bigint | null) => {
  const simulatedNumber = before.environment?.number ?? null;
  const ahead = BigInt(run?.plan.ahead?.length ?? 0);
  // why: a caller or a node may give the first block, which stands on none
  const simulatedBase = simulatedNumber === null || simulatedNumber <= ahead ? null : simulatedNumber - 1n - ahead;
  const base = standsOn ?? simulatedBase;
  // why: NUMBER may be another chain's, and the time one that we have set
  const { block: simulated = null, plan } = run ?? reader ?? {};
  return {
    ...{ simulatedNumber, ahead, base, isTimeOurs: plan?.blockOverrides?.time !== undefined },
    shown: standsOn !== null || simulated === null ? base : simulated.number - 1n - ahead,
  };
};

/** How old the state is that was asked; not known of what is no tag of the newest, or is pretended. */
const ageIn = (
  answers: Answers,
  { blockOverrides }: Pick<ReportOptions, "blockOverrides">,
  { now, sighted, since = null, stage }: ObserveInput,
  { shown, isTimeOurs }: ReturnType<typeof baseIn>,
): ReturnType<typeof freshnessOf> => {
  const { before, header, block, chain, chainId } = answers;
  if ((block !== "pending" && block !== "latest") || blockOverrides !== null)
    return { freshness: "unknown", findings: [] };
  const timestamp = before.environment?.timestamp ?? null;
  return freshnessOf({
    base: shown,
    head: header,
    // why: a proof is asked again until it stands on the latest block that was shown
    least: stage === "proven" ? (sighted.header ?? null) : null,
    highest: since === null || (sighted.block ?? -1n) > since ? sighted.block : since,
    timestamp: isTimeOurs ? null : timestamp,
    ...{ now, aheadMs: sighted.aheadMs, elapsedMs: now - answers.askedAt },
    hasAdvanced: since !== null && header !== null && header.number > since,
    ...{ heldMs: sighted.heldMs ?? 0, isShared: sighted.isShared ?? false },
    ...{ chain, chainId },
  });
};

/** The state that was asked, and what there is to say of its age. */
export const observe = (answers: Answers, options: ReportOptions, input: ObserveInput) => {
  const { before, header, block, rules, run, called } = answers;
  const { now, worlds = [], sighted, standsOn = null, isForkUsed = true, ...more } = input;
  const stood = baseIn(answers, standsOn);
  const { simulatedNumber, ahead, base } = stood;
  const { freshness, findings } = ageIn(answers, options, input, stood);
  const observed: Observed = {
    blockTag: block,
    baseNumber: base,
    simulatedNumber,
    // why: the hash of an empty block in front is nobody's
    parentHash: ahead === 0n ? (before.environment?.parentHash ?? null) : header?.number === base ? header.hash : null,
    timestamp: before.environment?.timestamp ?? null,
    baseFeePerGas: answers.simulatedBaseFee ?? answers.quote.baseFeePerGas,
    gasLimit: answers.blockGasLimit,
    latestNumber: header?.number ?? null,
    feeRecipient: header?.miner ?? null,
    at: now,
    freshness,
    tier: run !== null ? "simulate" : called !== null ? "call" : "none",
    leftOut: leftOutOf(run),
    rules,
    namedChainId: successOf(answers.namedChainId),
    worlds,
    reads: more.reads ?? [],
    ...{ traced: more.traced ?? 0, named: more.named ?? [] },
    until: more.until ?? null,
  };
  return {
    observed,
    findings: [...findings, ...checkTestimonies(sighted), ...checkRules(answers, now, options.maxAgeMs, isForkUsed)],
  };
};

/**
 * `eth_chainId` and the chain id inside the simulation differ, so the endpoint mixes chains.
 * @figures count("eth_chainId", 1), count("CHAINID", 8453)
 */
export const ChainIdDisagrees = code("chain", ["unavailable"], "ChainIdDisagrees", [
  "the node gives two different chain ids",
  "use another endpoint",
]);

/** Checks that it is the chain that was meant, and one chain. */
export const checkChain = (
  bundle: ReadonlyArray<Case & Pick<Filled, "request">>,
  { chainId, namedChainId }: Answers,
): ReadonlyArray<Finding> => {
  const [named, unnamed] = [successOf(namedChainId), failureOf(namedChainId)];
  const findings: Array<Finding> = [];
  if (unnamed !== null) {
    const where = { step: "chain", evidence: "unavailable" } as const;
    findings.push(fromError(unnamed, chainId === null ? "unavailable" : "info", where));
  }
  if (chainId === null) return findings;
  if (named !== null && named !== chainId) {
    const ids = [count("eth_chainId", named), count("CHAINID", chainId)];
    findings.push(ChainIdDisagrees.unavailable({ evidence: "measured" }, ...ids));
  }
  for (const { input, request, index } of bundle) {
    // why: a proof may run on another node than the scan, and its requests name the scan's chain
    const expected = input.chainId ?? request?.chainId ?? null;
    if (expected !== null && expected !== chainId) findings.push(isAnother(expected, chainId, "measured", index));
  }
  return findings;
};

/**
 * That a run was made on another chain than the report is of, by what the witness reads in it: what answers for several
 * chains has said nothing of one.
 */
export const checkRan = (chainId: number | null, runs: ReadonlyArray<Run | null>): ReadonlyArray<Finding> => {
  const strange = runs
    .map((run) => run?.before.environment?.chainId)
    .find((ran) => chainId !== null && ran !== undefined && ran !== BigInt(chainId));
  return chainId === null || strange === undefined ? [] : [isAnother(chainId, strange, "measured")];
};

/** That a report is of another chain than the connection it is proven on. */
export const checkConnection = (chainId: number | null, expected: number | null): ReadonlyArray<Finding> =>
  chainId === null || expected === null || chainId === expected ? [] : [isAnother(chainId, expected, "assumed")];

/**
 * You asked about a block other than the newest. What was true there may no longer be true.
 * @figures text("block", "23000000")
 */
export const BlockNotNewest = code("chain", ["warning"], "BlockNotNewest", [
  "the report is about a block other than the newest",
  "run it again without `block` to sign",
]);

/** It describes a block that will not exist. */
export const StatePretended = code("chain", ["warning"], "StatePretended", [
  "the report was made with state or block overrides",
  "run it again without overrides to sign",
]);

/** That the caller asked for another state than the newest and real one. */
export const checkOverrides = ({ blockTag }: Observed, options: ReportOptions): ReadonlyArray<Finding> => {
  const findings: Array<Finding> = [];
  if (blockTag !== "pending" && blockTag !== "latest")
    findings.push(BlockNotNewest.warning({ evidence: "assumed" }, text("block", String(blockTag))));
  if (options.stateOverrides !== null || options.blockOverrides !== null)
    findings.push(StatePretended.warning({ evidence: "assumed" }));
  return findings;
};
