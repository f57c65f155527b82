/** What a scan need not ask, because its endpoint is known; when the answers disprove that, and what they teach. */
import type { Address } from "../primitives/hex.js";
import type { Memory } from "../Rpc.js";
import { successOf } from "../steps/reading/heard.js";
import * as L1Fee from "../steps/reading/l1Fee.js";
import { lacksTip } from "../steps/reading/quote.js";
import { either, unseen, type View } from "../witness/view.js";
import type { Round } from "./answers.js";
import type { Subject } from "./scanPlans.js";

/** What is believed of an endpoint; nothing on the first call. */
export interface Known {
  /** null = to be asked. */
  readonly chainId: number | null;
  /** Whether the fee history tells a tip, so that no receipts need be read. */
  readonly tellsTip: boolean;
  /** Where no fee oracle lives; null = not known. */
  readonly noFeeOracle: Address | null;
}

export const knownOf = (memory: Memory): Known => ({
  chainId: memory.recall("chainId"),
  tellsTip: memory.recall("tellsTip") ?? false,
  noFeeOracle: memory.recall("noFeeOracle"),
});

/** What the witness saw before the calls, in whichever run it looked. */
export const seenIn = ({ alone, run }: Pick<Round, "alone" | "run">): View =>
  either(successOf(alone)?.before ?? unseen, successOf(run)?.before ?? unseen);

/** Whether the witness saw another chain than the one believed, or a fee oracle where none was. */
export const isDisproved = ({ chainId, noFeeOracle }: Known, round: Pick<Round, "alone" | "run">): boolean => {
  const seen = seenIn(round);
  const { environment } = seen;
  return (
    (chainId !== null && environment !== null && environment.chainId !== BigInt(chainId)) ||
    (noFeeOracle !== null && L1Fee.livesAt(noFeeOracle, seen) === true)
  );
};

/** Keeps what a round showed of the endpoint. */
export const learn = (memory: Memory, { chain, options }: Pick<Subject, "chain" | "options">, round: Round): void => {
  const seen = seenIn(round);
  const named = successOf(round.namedChainId);
  if (named !== null && seen.environment?.chainId === BigInt(named)) memory.learn("chainId", named);
  if (L1Fee.livesAt(chain.gasPriceOracle, seen) === false) memory.learn("noFeeOracle", chain.gasPriceOracle);
  if (round.fees.history !== null) memory.learn("tellsTip", !lacksTip(round.fees.history, options.feeLevel));
};
