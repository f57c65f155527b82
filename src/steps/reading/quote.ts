/** The fees of a transaction without fee fields, by recent blocks, receipts and the simulated block. Pure. */
import * as Arr from "effect/Array";
import * as BigInts from "effect/BigInt";
import type { Chain } from "../../Chains.js";
import { blocksWithin, growBaseFee, nextBaseFee, parametersOf, type BaseFeeParameters } from "../../chains/baseFee.js";
import type { FeeHistory } from "../../eth/block.js";
import type * as Eth from "../../eth/index.js";
import type { Evidence } from "../../report/finding.js";
import type { ReportOptions } from "../../report/schema.js";
import { failureOf, successOf, type AskResult } from "./askResult.js";

/** The node's answers about fees; each stands for itself, null = not asked. */
export interface FeeFacts {
  readonly history: AskResult<typeof FeeHistory.Type> | null;
  readonly receipts: AskResult<ReadonlyArray<Pick<Eth.Receipt, "effectiveGasPrice" | "type">>> | null;
  readonly header: AskResult<Eth.Block> | null;
  /** The fees of an earlier quote, kept while they are good enough; none = it is quoted anew. */
  readonly earlier?: { readonly tip: bigint; readonly maxFeePerGas: bigint | null } | null;
}

/** Which column of the reward history is proposed. */
const columnOf: Readonly<Record<FeeContext["level"], number>> = { slow: 0, normal: 1, fast: 2 };

const median = (values: ReadonlyArray<bigint>): bigint | null => {
  const sorted = [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return sorted[sorted.length >> 1] ?? null;
};

const tipFromHistory = (history: typeof FeeHistory.Type, level: FeeContext["level"]): bigint | null =>
  median(
    Arr.zip(history.reward ?? [], history.gasUsedRatio).flatMap(([row, used]) => {
      const tip = row[columnOf[level]];
      return tip !== undefined && tip > 0n && used > 0 ? [tip] : [];
    }),
  );

/** True if the history leaves the tip to be learned from the latest block's receipts, where that block has any. */
export const lacksTip = (result: AskResult<typeof FeeHistory.Type>, level: FeeContext["level"]): boolean => {
  const history = successOf(result);
  return history === null || (tipFromHistory(history, level) === null && history.gasUsedRatio.at(-1) !== 0);
};

const depositType = "0x7e";
const tipFromReceipts = (receipts: ReadonlyArray<Pick<Eth.Receipt, "effectiveGasPrice" | "type">>, baseFee: bigint) =>
  median(
    receipts.flatMap(({ effectiveGasPrice, type }) =>
      effectiveGasPrice === null || type === depositType || effectiveGasPrice <= baseFee
        ? []
        : [effectiveGasPrice - baseFee],
    ),
  );

/** The facts by which fees are decided. */
export interface FeeContext {
  readonly chain: Chain;
  readonly level: ReportOptions["feeLevel"];
  /** Seconds the fee cap must outlive full blocks. */
  readonly horizonSeconds: number;
  /** Base fee measured in the simulation of the next block, wei per gas; null when nothing was simulated. */
  readonly simulatedBaseFee: bigint | null;
  /** The simulated block's parent, to tell whether the header speaks of the same block. */
  readonly parentHash: string | null;
}

/** The largest that is known. */
export const largest = (...values: ReadonlyArray<bigint | null>): bigint | null =>
  values.reduce((most, value) => (most === null || (value !== null && value > most) ? value : most), null);

/** The base fee of the block behind a history, wei per gas; no more than `most`, for only one endpoint says it. */
const announcedIn = (history: typeof FeeHistory.Type | null, most: bigint | null): bigint | null => {
  const announced = history?.baseFeePerGas.at(-1) ?? null;
  return announced !== null && most !== null && announced > most ? most : announced;
};

/** Base fees of the same block by simulation and by the chain's formula, where they differ; wei per gas. */
const disagreementOf = (header: Eth.Block | null, computed: bigint | null, context: FeeContext) => {
  const { simulatedBaseFee: simulated, parentHash } = context;
  const isSameBlock = header?.hash != null && header.hash === parentHash;
  if (!isSameBlock || computed === null || simulated === null || computed === simulated) return null;
  return { simulated, computed };
};

/** The base fee of the next block, by everything that tells of it. */
const baseFeesOf = (
  history: typeof FeeHistory.Type | null,
  header: Eth.Block | null,
  context: FeeContext,
  parameters: BaseFeeParameters,
) => {
  const { chain, simulatedBaseFee: simulated } = context;
  const computed = header === null ? null : nextBaseFee(header, parameters);
  const disagreement = disagreementOf(header, computed, context);
  // why: a formula that the node's own simulation contradicts, or that nobody knows to be the chain's, bounds nothing
  const isBound = computed !== null && disagreement === null && (chain.known || simulated !== null);
  const seen = isBound ? largest(simulated, computed, header?.baseFeePerGas ?? null) : null;
  const announced = announcedIn(history, seen === null ? null : growBaseFee(seen, 1, parameters).baseFeePerGas);
  const baseFeePerGas = largest(simulated, computed, announced);
  return {
    /**
     * The largest that any source gives: what is proposed must hold under all of them. A fee history counts up to one full
     * block above the rest, where the formula is known.
     */
    baseFeePerGas,
    /** The node's own figure; the formula's only where it names none. A caller's cap below it cannot be mined. */
    leastFeePerGas: largest(simulated, announced) ?? baseFeePerGas,
    disagreement,
  };
};

/** The tip that recent blocks tell of, within what the chain takes; builders leave out what gives less than the least. */
const tipsOf = (
  history: typeof FeeHistory.Type | null,
  { receipts }: FeeFacts,
  { level, chain: { minTip, maxTip } }: FeeContext,
  baseFee: bigint | null,
) => {
  const prices = baseFee === null ? null : successOf(receipts);
  const fromHistory = history === null ? null : tipFromHistory(history, level);
  const fromReceipts = prices === null ? null : tipFromReceipts(prices, baseFee ?? 0n);
  const wanted = BigInts.max(fromHistory ?? fromReceipts ?? minTip, minTip);
  const tip = BigInts.min(wanted, BigInts.max(maxTip, minTip));
  const tipSource = fromHistory !== null ? "feeHistory" : fromReceipts !== null ? "receipts" : "minimum";
  return { tip, leastTip: minTip, tipNamed: tip < wanted ? wanted : null, tipSource } as const;
};

/**
 * How many full blocks the fees of an earlier quote outlive, at most `blocks`; null where they are not kept: they hold for
 * less than half of that, the tip is more than twice or less than half of what is proposed now, or the cap is more by half.
 */
const blocksOfEarlier = (
  { earlier = null }: FeeFacts,
  { tip, leastTip }: ReturnType<typeof tipsOf>,
  {
    base,
    cap,
    blocks,
    parameters,
  }: {
    readonly base: bigint | null;
    readonly cap: bigint | null;
    readonly blocks: number;
    readonly parameters: BaseFeeParameters;
  },
): number | null => {
  if (base === null || cap === null || earlier === null || earlier.maxFeePerGas === null) return null;
  const { maxFeePerGas, tip: paid } = earlier;
  const isUsual = paid >= leastTip && 2n * paid >= tip && paid <= 2n * tip && 2n * maxFeePerGas <= 3n * cap;
  const held = blocksWithin(base, maxFeePerGas - paid, blocks, parameters);
  return isUsual && 2 * held >= blocks ? held : null;
};

/** Decides base fee, tip and cap of the next block from everything that was asked. */
export const quoteOf = (facts: FeeFacts, context: FeeContext) => {
  const [history, header] = [successOf(facts.history), successOf(facts.header)];
  const { blockTimeMs } = context.chain;
  const parameters = parametersOf(context.chain, header);
  const baseFees = baseFeesOf(history, header, context, parameters);
  const { baseFeePerGas } = baseFees;
  const paid = baseFeePerGas === null ? null : (header?.baseFeePerGas ?? baseFeePerGas);
  const tips = tipsOf(history, facts, context, paid);
  const blocks = Math.max(1, Math.ceil((context.horizonSeconds * 1000) / blockTimeMs));
  const grown = baseFeePerGas === null ? null : growBaseFee(baseFeePerGas, blocks, parameters);
  const evidence: Evidence =
    context.simulatedBaseFee !== null ? "measured" : baseFeePerGas !== null ? "estimated" : "unavailable";
  const cap = grown === null ? null : grown.baseFeePerGas + tips.tip;
  const kept = blocksOfEarlier(facts, tips, { base: baseFeePerGas, cap, blocks, parameters });
  const held = kept ?? grown?.blocks ?? blocks;
  return {
    ...{ ...baseFees, ...tips, parameters, blockTimeMs, evidence },
    maxFeePerGas: cap,
    ...(kept === null ? {} : facts.earlier),
    /** Seconds of full blocks that `maxFeePerGas` outlives. */
    horizonSeconds: held === blocks ? context.horizonSeconds : (held * blockTimeMs) / 1000,
    /** Sources that did not answer. */
    failures: [facts.history, facts.receipts, facts.header].map(failureOf).filter((failure) => failure !== null),
  };
};
/** The quote before any caller's wish: what a transaction without fee fields would get. */
export type Quote = ReturnType<typeof quoteOf>;
