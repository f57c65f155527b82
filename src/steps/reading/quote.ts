/** The fees of a transaction without fee fields, by recent blocks, receipts and the simulated block. Pure. */
import * as Arr from "effect/Array";
import type { Chain } from "../../Chains.js";
import { growBaseFee, nextBaseFee, parametersOf, type BaseFeeParameters } from "../../chains/baseFee.js";
import type { FeeHistory } from "../../eth/block.js";
import type * as Eth from "../../eth/index.js";
import type { Fee } from "../../report/parts.js";
import type { ReportOptions } from "../../report/schema.js";
import { failureOf, successOf, type Failure, type AskResult } from "./askResult.js";

/** The node's answers about fees; each stands for itself, null = not asked. */
export interface FeeFacts {
  readonly history: AskResult<typeof FeeHistory.Type> | null;
  readonly receipts: AskResult<ReadonlyArray<Pick<Eth.Receipt, "effectiveGasPrice" | "type">>> | null;
  readonly header: AskResult<Eth.Block> | null;
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
const tipFromReceipts = (
  receipts: ReadonlyArray<Pick<Eth.Receipt, "effectiveGasPrice" | "type">>,
  baseFee: bigint,
): bigint | null =>
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

/** The quote before any caller's wish: what a transaction without fee fields would get. */
export interface Quote extends Pick<Fee, "tipSource" | "tipNamed" | "evidence"> {
  /**
   * The largest that any source gives: what is proposed must hold under all of them. A fee history counts up to one full
   * block above the rest, where the formula is known.
   */
  readonly baseFeePerGas: bigint | null;
  /** The node's own figure; the formula's only where it names none. A caller's cap below it cannot be mined. */
  readonly leastFeePerGas: bigint | null;
  /** Base fees of the same block by simulation and by the chain's formula, where they differ; wei per gas. */
  readonly disagreement: { readonly simulated: bigint; readonly computed: bigint } | null;
  readonly tip: bigint;
  /** The smallest that is ever proposed: block builders leave out what gives less. */
  readonly leastTip: bigint;
  readonly maxFeePerGas: bigint | null;
  /** Seconds of full blocks that `maxFeePerGas` outlives. */
  readonly horizonSeconds: number;
  /** How the base fee moves, and the ms of one block. */
  readonly parameters: BaseFeeParameters;
  readonly blockTimeMs: number;
  /** Sources that did not answer. */
  readonly failures: ReadonlyArray<Failure>;
}

/** The largest that is known. */
export const largest = (...values: ReadonlyArray<bigint | null>): bigint | null =>
  values.reduce((most, value) => (most === null || (value !== null && value > most) ? value : most), null);

/** The base fee of the block behind a history, wei per gas; no more than `most`, for only one endpoint says it. */
const announcedIn = (history: typeof FeeHistory.Type | null, most: bigint | null): bigint | null => {
  const announced = history?.baseFeePerGas.at(-1) ?? null;
  return announced !== null && most !== null && announced > most ? most : announced;
};

/** Decides base fee, tip and cap of the next block from everything that was asked. */
export const quoteOf = (facts: FeeFacts, context: FeeContext): Quote => {
  const history = successOf(facts.history);
  const receipts = successOf(facts.receipts);
  const header = successOf(facts.header);
  const parameters = parametersOf(context.chain, header);
  const computed = header === null ? null : nextBaseFee(header, parameters);
  const sameBlock = header !== null && header.hash !== null && header.hash === context.parentHash;
  const disagreement =
    sameBlock && computed !== null && context.simulatedBaseFee !== null && computed !== context.simulatedBaseFee
      ? { simulated: context.simulatedBaseFee, computed }
      : null;
  // why: a formula that the node's own simulation contradicts, or that nobody knows to be the chain's, bounds nothing
  const isBound =
    computed !== null && disagreement === null && (context.chain.known || context.simulatedBaseFee !== null);
  const seen = isBound ? largest(context.simulatedBaseFee, computed, header?.baseFeePerGas ?? null) : null;
  const announced = announcedIn(history, seen === null ? null : growBaseFee(seen, 1, parameters).baseFeePerGas);
  const baseFeePerGas = largest(context.simulatedBaseFee, computed, announced);
  const fromHistory = history === null ? null : tipFromHistory(history, context.level);
  const fromReceipts =
    receipts === null || baseFeePerGas === null
      ? null
      : tipFromReceipts(receipts, header?.baseFeePerGas ?? baseFeePerGas);
  const sampled = fromHistory ?? fromReceipts;
  const { minTip, blockTimeMs } = context.chain;
  const bounded = sampled === null || sampled < minTip ? minTip : sampled;
  const maxTip = context.chain.maxTip < minTip ? minTip : context.chain.maxTip;
  const tip = bounded > maxTip ? maxTip : bounded;
  const tipSource = fromHistory !== null ? "feeHistory" : fromReceipts !== null ? "receipts" : "minimum";
  const blocks = Math.max(1, Math.ceil((context.horizonSeconds * 1000) / blockTimeMs));
  const grown = baseFeePerGas === null ? null : growBaseFee(baseFeePerGas, blocks, parameters);
  return {
    baseFeePerGas,
    leastFeePerGas: largest(context.simulatedBaseFee, announced) ?? baseFeePerGas,
    disagreement,
    tip,
    leastTip: minTip,
    tipNamed: tip < bounded ? bounded : null,
    tipSource,
    maxFeePerGas: grown === null ? null : grown.baseFeePerGas + tip,
    horizonSeconds:
      grown === null || grown.blocks === blocks ? context.horizonSeconds : (grown.blocks * blockTimeMs) / 1000,
    parameters,
    blockTimeMs,
    evidence: context.simulatedBaseFee !== null ? "measured" : baseFeePerGas !== null ? "estimated" : "unavailable",
    failures: [facts.history, facts.receipts, facts.header].map(failureOf).filter((failure) => failure !== null),
  };
};
