/** Which state a report speaks of: its chain, its block, and whether it is the newest and the real one. Pure. */
import { ChainIdMismatch } from "../errors/verdicts.js";
import { count, text } from "../primitives/statement.js";
import { fromError, note, type Finding } from "../report/finding.js";
import { freshnessOf } from "../report/freshness.js";
import type { Observed, ReportOptions } from "../report/schema.js";
import type { Case, Filled } from "../steps/reading/bundle.js";
import { failureOf, successOf } from "../steps/reading/heard.js";
import type { Answers } from "./answers.js";

/** The state that was asked, at epoch ms `now`. */
export const observe = (
  answers: Answers,
  { blockOverrides }: ReportOptions,
  now: number,
  worlds: Observed["worlds"],
): Observed => {
  const { before, header, block, chain, chainId, run, called } = answers;
  const simulatedNumber = before.environment?.number ?? null;
  const ahead = run?.plan.ahead == null ? 0n : 1n;
  const base = simulatedNumber === null ? null : simulatedNumber - 1n - ahead;
  const timestamp = before.environment?.timestamp ?? null;
  const latest = header?.number ?? null;
  const isCurrent = (block === "pending" || block === "latest") && blockOverrides === null;
  return {
    blockTag: block,
    baseNumber: base,
    simulatedNumber,
    // why: the hash of an empty block in front is nobody's
    parentHash: ahead === 0n ? (before.environment?.parentHash ?? null) : header?.number === base ? header.hash : null,
    timestamp,
    baseFeePerGas: answers.simulatedBaseFee ?? answers.quote.baseFeePerGas,
    gasLimit: answers.blockGasLimit,
    latestNumber: latest,
    feeRecipient: header?.miner ?? null,
    at: now,
    freshness: isCurrent ? freshnessOf({ base, latest, timestamp, now, chain, chainId }) : "unknown",
    tier: run !== null ? "simulate" : called !== null ? "call" : "none",
    namedChainId: successOf(answers.namedChainId),
    worlds,
  };
};

/** Whether it is the chain that was meant, and one chain. */
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
    findings.push(note("ChainIdDisagrees", "unavailable", { evidence: "measured" }, ...ids));
  }
  for (const { input, request, index } of bundle) {
    // why: a proof may run on another node than the scan, and its requests name the scan's chain
    const meant = input.chainId ?? request?.chainId ?? null;
    if (meant === null || meant === chainId) continue;
    const mismatch = new ChainIdMismatch({ expected: BigInt(meant), actual: BigInt(chainId) });
    findings.push(fromError(mismatch, "blocker", { step: "chain", transaction: index, evidence: "measured" }));
  }
  return findings;
};

/** What the state itself gives reason to say: that it is old, or pretended. */
export const checkState = (observed: Observed, options: ReportOptions): ReadonlyArray<Finding> => {
  const { freshness, blockTag, baseNumber, latestNumber, timestamp } = observed;
  const findings: Array<Finding> = [];
  if (freshness === "stale") {
    const blocks = [count("base block", baseNumber), count("latest block", latestNumber)];
    const evidence = "measured";
    findings.push(note("PendingStale", "unavailable", { evidence }, ...blocks, count("timestamp", timestamp)));
  }
  if (blockTag !== "pending" && blockTag !== "latest")
    findings.push(note("BlockNotNewest", "warning", { evidence: "assumed" }, text("block", String(blockTag))));
  if (options.stateOverrides !== null || options.blockOverrides !== null)
    findings.push(note("StatePretended", "warning", { evidence: "assumed" }));
  return findings;
};
