/**
 * The price to pay per gas: the base fee of the next block, a tip, and a fee cap that holds for a stated time.
 *
 * Asks `eth_feeHistory` (10 blocks, reward percentiles 20, 50, 80) and `eth_getBlockByNumber` on `latest`;
 * `eth_getBlockReceipts` only where the history may not tell a tip, for a full block is long. Each may be
 * missing at the cost of a level of evidence. A proof measures the base fee inside the simulation.
 */
import type { Facts } from "./reading/answers.js";
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import * as Struct from "effect/Struct";
import type * as Eth from "../eth/index.js";
import { blocksWithin, effectiveGasPrice, growBaseFee } from "../chains/baseFee.js";
import { FeeCapTooLow } from "../errors/verdicts.js";
import * as Questions from "../eth/questions.js";
import { asked, each, goingOn, known, mapped, one, sighting, sightingHead, together, type Ask } from "../eth/round.js";
import { seconds, weiPerGas } from "../primitives/statement.js";
import { fromError, code, type Finding } from "../report/finding.js";
import type { By, Fee } from "../report/parts.js";
import type { Transaction } from "../Transaction.js";
import type { Case, Filled, Numbered, Price } from "./reading/bundle.js";
import { successOf, type AskResult } from "./reading/askResult.js";
import { raised } from "./reading/pool.js";
import type { FeeFacts, Quote } from "./reading/quote.js";

const percentiles = [20, 50, 80];
const blockCount = 10;

const askHistory = sighting(
  one(Questions.feeHistory({ blockCount, newestBlock: "latest", rewardPercentiles: percentiles })),
  ({ oldestBlock, gasUsedRatio }) => oldestBlock + BigInt(gasUsedRatio.length) - 1n,
);

/** The latest block's receipts; never fails. */
export const askReceipts: Ask<FeeFacts["receipts"]> = asked(
  { step: "fee" },
  sighting(
    goingOn(one(Questions.receipts({ block: "latest" })), (answer) =>
      Result.isSuccess(answer)
        ? Effect.result(Effect.as(Questions.checkReceipts(answer.success), answer.success))
        : null,
    ),
    ([first]) => first?.blockNumber ?? null,
  ),
);

/** The history, and the receipts where they may be needed, at once; never fails. */
export const ask = (needsReceipts: boolean): Ask<Omit<FeeFacts, "header">> =>
  asked({ step: "fee" }, together({ history: askHistory, receipts: needsReceipts ? askReceipts : known(null) }));

/** The latest header, whose age and base fee count in a scan and in a proof. Never fails. */
export const askHeader: Ask<AskResult<Eth.Block>> = asked(
  { step: "chain" },
  sightingHead(one(Questions.block({ block: "latest" }))),
);

/** How often it is asked at once where an answer named a later block: the nodes behind one address are not at one height. */
const askedAtOnce = 4;

/** Returns the header with the higher number; where neither is higher, the second. */
export const laterOf = (a: AskResult<Eth.Block>, b: AskResult<Eth.Block>): AskResult<Eth.Block> =>
  (successOf(a)?.number ?? -1n) > (successOf(b)?.number ?? -1n) ? a : b;

/** The latest of some headers. Never fails. */
export const askLatestHeader: Ask<AskResult<Eth.Block>> = mapped(
  each(
    Arr.makeBy(askedAtOnce, () => askHeader),
    (ask) => ask,
  ),
  (headers) => headers.reduce(laterOf),
);

/** Returns who chooses the cap of a transaction. */
export const chooserOf = ({ gasPrice, maxFeePerGas }: Transaction): By =>
  gasPrice === null && maxFeePerGas === null ? "us" : "caller";

/**
 * The quote of a transaction: raised where it replaces one in flight and would not be enough, but to no tip that is never
 * proposed, for what is in flight is a node's word.
 */
export const quoteFor = (
  { nonce, signer, input: { maxPriorityFeePerGas: own } }: Numbered,
  answers: Pick<Facts, "quote" | "pools" | "replacing"> & { readonly chain: Pick<Facts["chain"], "maxTip"> },
): Quote => {
  const { quote, pools, replacing, chain } = answers;
  const old = nonce.value === null ? undefined : pools.get(signer)?.transactions.get(nonce.value);
  if (old === undefined || replacing.priceBump === 0) return quote;
  const { cap, tip } = raised({ cap: quote.maxFeePerGas, tip: quote.tip }, old, replacing);
  if (own === null && tip > chain.maxTip) return { ...quote, tipNamed: tip };
  // why: a caller's own tip below ours takes the cap down with it, and pools compare that, too
  const spared = own !== null && own < tip ? tip - own : 0n;
  return { ...quote, tip, maxFeePerGas: quote.maxFeePerGas === null ? null : cap + spared };
};

const priceOf = ({ gasPrice, maxFeePerGas, maxPriorityFeePerGas }: Transaction, quoted: Quote): Price => {
  if (gasPrice !== null) return { gasPrice, maxFeePerGas: null, maxPriorityFeePerGas: null };
  if (maxFeePerGas !== null) {
    const tip = maxPriorityFeePerGas ?? (quoted.tip < maxFeePerGas ? quoted.tip : maxFeePerGas);
    return { gasPrice: null, maxFeePerGas, maxPriorityFeePerGas: tip };
  }
  const tip = maxPriorityFeePerGas ?? quoted.tip;
  const cap = quoted.maxFeePerGas === null ? null : quoted.maxFeePerGas - quoted.tip + tip;
  return { gasPrice: null, maxFeePerGas: cap, maxPriorityFeePerGas: tip };
};

/** The quote, with what the caller fixed left as it is. */
export const choose = ({ input }: Case, quoted: Quote): Filled["fee"] => {
  const value = priceOf(input, quoted);
  const isTipFixed = input.gasPrice !== null || input.maxPriorityFeePerGas !== null;
  const by = chooserOf(input);
  return {
    value,
    by,
    evidence: quoted.evidence,
    tipSource: isTipFixed ? "caller" : quoted.tipSource,
    tipNamed: isTipFixed ? null : quoted.tipNamed,
    horizonSeconds: by === "caller" || value.maxFeePerGas === null ? null : quoted.horizonSeconds,
    shortenedFrom: null,
  };
};

/** The fees that the caller fixed and nothing else, where no fee is quoted. */
export const unquoted = ({ input }: Case): Filled["fee"] => ({
  value: Struct.pick(input, ["gasPrice", "maxFeePerGas", "maxPriorityFeePerGas"]),
  by: chooserOf(input),
  evidence: chooserOf(input) === "caller" ? "assumed" : "unavailable",
  ...{ tipSource: input.maxPriorityFeePerGas === null && input.gasPrice === null ? "unknown" : "caller" },
  ...{ tipNamed: null, horizonSeconds: null, shortenedFrom: null },
});

/**
 * A choice whose cap is lower by `reduction` wei per gas, with the horizon that it still outlives; null
 * where it would not even hold for the next block. What is not ours to choose stays.
 */
export const shorten = (fee: Filled["fee"], reduction: bigint, quoted: Quote): Filled["fee"] | null => {
  const { maxFeePerGas, maxPriorityFeePerGas: tip } = fee.value;
  const { horizonSeconds } = fee;
  if (fee.by !== "us") return fee;
  if (maxFeePerGas === null || tip === null || horizonSeconds === null || quoted.baseFeePerGas === null) return null;
  const cap = maxFeePerGas - reduction - tip;
  const { blockTimeMs, parameters } = quoted;
  const blocks = blocksWithin(quoted.baseFeePerGas, cap, Math.ceil((horizonSeconds * 1000) / blockTimeMs), parameters);
  return blocks < 0
    ? null
    : {
        ...fee,
        value: { ...fee.value, maxFeePerGas: maxFeePerGas - reduction },
        horizonSeconds: Math.min(horizonSeconds, (blocks * blockTimeMs) / 1000),
        shortenedFrom: { maxFeePerGas, horizonSeconds },
      };
};

/** The chosen price beside the base fee; null = no fee was quoted. */
export const read = ({ fee: { value, ...how } }: Filled, quote: Quote | null): Fee => ({
  ...how,
  ...value,
  baseFeePerGas: quote?.baseFeePerGas ?? null,
  evidence: quote?.evidence ?? how.evidence,
});

/**
 * The formula is that of EIP-1559, or of the chain's entry, from the parent block.
 * @figures weiPerGas("simulated", 12n * gwei), weiPerGas("computed", 11n * gwei)
 */
export const BaseFeeDisagrees = code("fee", ["info"], "BaseFeeDisagrees", [
  "the simulated base fee differs from the chain's formula; the larger one is used",
]);

/** Reports failures and disagreements of the quote's sources, for no transaction in particular. */
export const checkSources = ({ failures, disagreement }: Quote): ReadonlyArray<Finding> => {
  const findings = failures.map((failure) => fromError(failure, "info", { step: "fee", evidence: "unavailable" }));
  if (disagreement === null) return findings;
  const numbers = [weiPerGas("simulated", disagreement.simulated), weiPerGas("computed", disagreement.computed)];
  return [...findings, BaseFeeDisagrees.info({ evidence: "measured" }, ...numbers)];
};

/**
 * The fee cap is yours, and covers the next block.
 * @figures weiPerGas("max fee", 11n * gwei), weiPerGas("after one full block", 12n * gwei)
 */
export const FeeCapShort = code("fee", ["info"], "FeeCapShort", [
  "the fee cap is below the base fee after one full block, so the transaction may wait long",
  "raise `maxFeePerGas` (or `gasPrice`), with room for the base fee to grow",
]);

/**
 * It is below what blocks of this chain have included lately.
 * @figures weiPerGas("tip in the next block", 1n), weiPerGas("at least", gwei)
 */
export const TipLow = code("fee", ["info"], "TipLow", [
  "the tip is low, so block builders may leave the transaction out",
  "raise `maxPriorityFeePerGas`, and `maxFeePerGas` (or `gasPrice`) with it",
]);

/** Reports a price of the caller's that is unlikely to be mined soon, though pools take it. */
const checkStay = ({ index, fee: { value, by } }: Filled, { baseFeePerGas: base, parameters, leastTip }: Quote) => {
  const cap = value.gasPrice ?? value.maxFeePerGas;
  if (by !== "caller" || base === null || cap === null || cap < base) return [];
  const where = { transaction: index, evidence: "estimated" } as const;
  const { baseFeePerGas: grown } = growBaseFee(base, 1, parameters);
  const tip = effectiveGasPrice(value, base) - base;
  const short = FeeCapShort.info(where, weiPerGas("max fee", cap), weiPerGas("after one full block", grown));
  const low = TipLow.info(where, weiPerGas("tip in the next block", tip), weiPerGas("at least", leastTip));
  return [...(cap < grown ? [short] : []), ...(tip < leastTip ? [low] : [])];
};

/**
 * A usual fee cap outlives several full blocks.
 * @figures seconds("holds through full blocks for", 24), seconds("instead of", 72), weiPerGas("at most", 14n * gwei),
 *   weiPerGas("instead of", 25n * gwei)
 */
export const FeeHorizonShort = code("fee", ["warning"], "FeeHorizonShort", [
  "the balance is too low for the usual fee cap, so a lower one was chosen",
  "send it soon, or fund the account",
]);

/** @figures weiPerGas("named", 900n * gwei), weiPerGas("proposed", 5n * gwei) */
export const TipCapped = code("fee", ["warning"], "TipCapped", [
  "the node suggests a tip above the most that is proposed on this chain; a lower one is used",
  "ask another node, or give `maxPriorityFeePerGas` yourself",
]);

const checkChoice = ({ index, fee: { value, tipNamed, horizonSeconds, shortenedFrom } }: Filled): Array<Finding> => {
  const where = { transaction: index, evidence: "estimated" } as const;
  const findings: Array<Finding> = [];
  if (tipNamed !== null) {
    const numbers = [weiPerGas("named", tipNamed), weiPerGas("proposed", value.maxPriorityFeePerGas)];
    findings.push(TipCapped.warning(where, ...numbers));
  }
  if (shortenedFrom !== null) {
    const horizon = seconds("holds through full blocks for", horizonSeconds);
    const fullHorizon = seconds("instead of", shortenedFrom.horizonSeconds);
    const [cap, uncut] = [value.maxFeePerGas, shortenedFrom.maxFeePerGas];
    const caps = [weiPerGas("at most", cap), weiPerGas("instead of", uncut)];
    findings.push(FeeHorizonShort.warning(where, horizon, fullHorizon, ...caps));
  }
  return findings;
};

/** The fee cap could not be judged. */
export const BaseFeeUnknown = code("fee", ["unavailable"], "BaseFeeUnknown", [
  "the base fee of the next block is not known",
  "use a node that simulates or gives block headers",
]);

/** Reports problems of a chosen price. Blocker: `FeeCapTooLow`. */
export const check = (entry: Filled, quoted: Quote): ReadonlyArray<Finding> => {
  const cap = entry.fee.value.gasPrice ?? entry.fee.value.maxFeePerGas;
  const { baseFeePerGas: base, leastFeePerGas: least, evidence } = quoted;
  const where = { step: "fee", transaction: entry.index, evidence } as const;
  const findings = [...checkChoice(entry), ...checkStay(entry, quoted)];
  if (base === null) return [...findings, BaseFeeUnknown.unavailable(where)];
  if (cap === null || cap >= base) return findings;
  const tooLow = new FeeCapTooLow({ account: entry.signer, maxFeePerGas: cap, baseFeePerGas: base });
  // why: the formula's parameters may be another chain's; against the node's own word it only warns
  return [...findings, fromError(tooLow, least !== null && cap >= least ? "warning" : "blocker", where)];
};
