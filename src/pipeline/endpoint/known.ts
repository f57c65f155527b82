/** Facts that a scan need not ask of a known endpoint; when the answers disprove them, and what the answers teach. */
import * as Clock from "effect/Clock";
import * as Context from "effect/Context";
import * as Result from "effect/Result";
import { forksIn, unknownForks } from "../../primitives/names.js";
import * as Questions from "../../eth/questions.js";
import { asked, one, type Ask } from "../../eth/round.js";
import type { Memory } from "../../rpc/index.js";
import { successOf } from "../../steps/reading/askResult.js";
import * as L1Fee from "../../steps/reading/l1Fee.js";
import { lacksTip } from "../../steps/reading/quote.js";
import { either, unseen, type View } from "../../witness/view.js";
import { figuresOf, type Round } from "../answers.js";
import type { Subject } from "../steps.js";

/** Returns beliefs about an endpoint, null = none: chain, if fee history tells a tip, where no fee oracle lives. */
export const endpointFactsOf = (memory: Memory) => ({
  chainId: memory.recall("chainId"),
  tellsTip: memory.recall("tellsTip"),
  noFeeOracle: memory.recall("noFeeOracle"),
});

/**
 * Asks what the endpoint says of forks, once; remembered until the next one has come, refusals too. JSON-RPC:
 * `eth_config`.
 */
export const askForks: Ask<typeof unknownForks> = (asking, hear) => {
  const { memory } = asking.rpc;
  const now = Context.get(asking.context, Clock.Clock).currentTimeMillisUnsafe();
  const last = memory.recall("forks");
  if (last !== null && (last.next === null || last.next * 1_000n > BigInt(now))) return hear(last);
  return asked({ step: "chain" }, one(Questions.config))(asking, (config) => {
    const forks = Result.isSuccess(config) ? forksIn(config.success) : unknownForks;
    const why = Result.isFailure(config) && config.failure._tag === "RpcError" ? config.failure.reason._tag : null;
    // why: these pass; whoever never answers is not waited for again
    if (why !== "Transport" && why !== "RateLimited") memory.learn("forks", forks);
    hear(forks);
  });
};

/** Returns what the witness saw before the calls, in whichever run it looked. */
export const seenIn = (round: Pick<Round, "runs">): View =>
  either(successOf(round.runs.get("readerOnly"))?.before ?? unseen, successOf(figuresOf(round))?.before ?? unseen);

/** True if the latest header has the number of the run's block but is not it: another chain, or branch, answers. */
const isForeign = (round: Pick<Round, "runs" | "header">): boolean => {
  const { environment } = seenIn(round);
  const header = successOf(round.header);
  return (
    environment !== null &&
    header !== null &&
    header.hash !== null &&
    header.number + 1n === environment.number &&
    // why: a node that knows no such hash says zero
    BigInt(environment.parentHash) !== 0n &&
    header.hash !== environment.parentHash
  );
};

/** True if the witness saw another chain or a fee oracle that was not believed, or answers are not of one chain. */
export const isDisproved = (
  { chainId, noFeeOracle }: Pick<ReturnType<typeof endpointFactsOf>, "chainId" | "noFeeOracle">,
  { options }: Pick<Subject, "options">,
  round: Parameters<typeof isForeign>[0],
): boolean => {
  if (chainId === null || options.stateOverrides !== null) return false;
  const view = seenIn(round);
  const { environment } = view;
  return (
    // guard: another branch answers
    isForeign(round) ||
    // guard: a remembered chain is checked
    (environment !== null && environment.chainId !== BigInt(chainId)) ||
    (noFeeOracle !== null && L1Fee.livesAt(noFeeOracle, view) === true)
  );
};

/** Keeps what a round showed of the endpoint, but nothing of a state that is pretended, or long gone. */
export const learn = (
  memory: Memory,
  { chain, options }: Pick<Subject, "chain" | "options">,
  round: Round,
  isNamed: boolean,
): void => {
  const isNewest = round.block === "pending" || round.block === "latest";
  if (options.stateOverrides !== null || !isNewest || isForeign(round)) return;
  const view = seenIn(round);
  const named = successOf(round.namedChainId);
  // why: heard now, not believed from before, or a stranger behind the endpoint would never be asked again
  if (isNamed && named !== null && view.environment?.chainId === BigInt(named)) memory.learn("chainId", named);
  if (L1Fee.livesAt(chain.gasPriceOracle, view) === false) memory.learn("noFeeOracle", chain.gasPriceOracle);
  if (round.history !== null) memory.learn("tellsTip", !lacksTip(round.history, options.feeLevel));
};
