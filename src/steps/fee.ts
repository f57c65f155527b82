/**
 * What to pay per gas: the base fee of the next block, a tip, and a fee cap that holds for a stated time.
 *
 * Asks `eth_feeHistory` (10 blocks, reward percentiles 20, 50, 80), `eth_getBlockReceipts` and
 * `eth_getBlockByNumber` on `latest`, all at once; each may be missing at the cost of a level of
 * evidence. The base fee itself is measured inside the simulation.
 */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { Chain } from "../Chains.js";
import * as Eth from "../Eth.js";
import { fromError, note, type Finding } from "../report/finding.js";
import type { RpcError } from "../errors/rpc.js";
import { FeeCapTooLow, type Verdict } from "../errors/verdicts.js";
import { formatGasPrice } from "../primitives/units.js";
import type { Rpc } from "../Rpc.js";
import type { Transaction } from "../Transaction.js";
import { blocksWithin, growBaseFee, nextBaseFee, parametersOf, type BaseFeeParameters } from "../chains/baseFee.js";
import type { Fee } from "../report/parts.js";

type Failure = RpcError | Verdict;

/** What a receipt says about the price paid. */
export interface Priced {
  /** Wei per gas. */
  readonly effectiveGasPrice: bigint | null;
  /** EIP-2718 type. */
  readonly type: string | null;
}

/** What the node said about fees; each answer stands for itself. */
export interface FeeFacts {
  /** null = not asked. */
  readonly history: Result.Result<Eth.FeeHistory, Failure> | null;
  /** null = not asked. */
  readonly receipts: Result.Result<ReadonlyArray<Priced>, Failure> | null;
  readonly header: Result.Result<Eth.Block, Failure>;
}

const percentiles = [20, 50, 80];
const blockCount = 10;

/** All sources at once; never fails. */
export const ask: Effect.Effect<FeeFacts, never, Rpc> = Effect.all(
  {
    history: Effect.result(Eth.feeHistory({ blockCount, newestBlock: "latest", rewardPercentiles: percentiles })),
    receipts: Effect.result(Eth.getBlockReceipts({ block: "latest" })),
    header: Effect.result(Eth.getBlock({ block: "latest" })),
  },
  { concurrency: "unbounded" },
);

/** The latest header alone, for a proof: its fees are fixed, only the base fee moves. Never fails. */
export const askHeader: Effect.Effect<FeeFacts, never, Rpc> = Effect.map(
  Effect.result(Eth.getBlock({ block: "latest" })),
  (header) => ({ history: null, receipts: null, header }),
);

/** How much of a hurry the caller is in: which percentile of recent tips is proposed. */
export type FeeLevel = "slow" | "normal" | "fast";

const columnOf: Readonly<Record<FeeLevel, number>> = { slow: 0, normal: 1, fast: 2 };

const median = (values: ReadonlyArray<bigint>): bigint | null => {
  const sorted = [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return sorted[sorted.length >> 1] ?? null;
};

const tipFromHistory = (history: Eth.FeeHistory, level: FeeLevel): bigint | null =>
  median(
    (history.reward ?? []).flatMap((row, index) => {
      const tip = row[columnOf[level]];
      return tip !== undefined && tip > 0n && (history.gasUsedRatio[index] ?? 0) > 0 ? [tip] : [];
    }),
  );

const depositType = "0x7e";
const tipFromReceipts = (receipts: ReadonlyArray<Priced>, baseFee: bigint): bigint | null =>
  median(
    receipts.flatMap(({ effectiveGasPrice, type }) =>
      effectiveGasPrice === null || type === depositType || effectiveGasPrice <= baseFee
        ? []
        : [effectiveGasPrice - baseFee],
    ),
  );

/** What the pipeline already knows when fees are decided. */
export interface FeeContext {
  readonly chain: Chain;
  readonly level: FeeLevel;
  /** Seconds the fee cap must outlive full blocks. */
  readonly horizonSeconds: number;
  /** Base fee measured in the simulation of the next block, wei per gas; null when nothing was simulated. */
  readonly simulatedBaseFee: bigint | null;
  /** The simulated block's parent, to tell whether the header speaks of the same block. */
  readonly parentHash: string | null;
}

/** The quote before any caller's wish: what a transaction without fee fields would get. */
export interface Quote {
  /** The largest that any source gives: what is proposed must hold under all of them. */
  readonly baseFeePerGas: bigint | null;
  /** What the node itself says; the formula's only where it says nothing. A caller's cap below it cannot be mined. */
  readonly leastFeePerGas: bigint | null;
  readonly tip: bigint;
  readonly tipSource: Fee["tipSource"];
  readonly maxFeePerGas: bigint | null;
  /** Seconds of full blocks that `maxFeePerGas` outlives. */
  readonly horizonSeconds: number;
  /** How the base fee moves, and the ms of one block. */
  readonly parameters: BaseFeeParameters;
  readonly blockTimeMs: number;
  readonly evidence: Fee["evidence"];
  readonly findings: ReadonlyArray<Finding>;
}

const successOf = <A>(result: Result.Result<A, Failure> | null): A | null =>
  result !== null && Result.isSuccess(result) ? result.success : null;

const failuresOf = (results: ReadonlyArray<Result.Result<unknown, Failure> | null>): ReadonlyArray<Failure> =>
  results.flatMap((result) => (result !== null && Result.isFailure(result) ? [result.failure] : []));

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** Decides base fee, tip and cap of the next block from everything that was asked. */
export const quote = (facts: FeeFacts, context: FeeContext): Quote => {
  const where = { step: "fee" } as const;
  const findings = failuresOf([facts.history, facts.receipts, facts.header]).map((failure): Finding =>
    fromError(failure, "info", where),
  );
  const history = successOf(facts.history);
  const receipts = successOf(facts.receipts);
  const header = successOf(facts.header);
  const parameters = parametersOf(context.chain, header);
  const computed = header === null ? null : nextBaseFee(header, parameters);
  const announced = history === null ? null : (history.baseFeePerGas[history.baseFeePerGas.length - 1] ?? null);
  const known = [context.simulatedBaseFee, computed, announced].filter((fee): fee is bigint => fee !== null);
  const baseFeePerGas = known.length === 0 ? null : known.reduce((a, b) => (a > b ? a : b));
  const sameBlock = header !== null && header.hash !== null && header.hash === context.parentHash;
  if (sameBlock && computed !== null && context.simulatedBaseFee !== null && computed !== context.simulatedBaseFee) {
    findings.push(
      note(
        "BaseFeeDisagrees",
        "info",
        {
          verdict: "the simulated base fee is not what the chain's formula gives; the larger one is used",
          evidence: `simulated ${formatGasPrice(context.simulatedBaseFee)}, computed ${formatGasPrice(computed)}`,
        },
        where,
      ),
    );
  }
  const fromHistory = history === null ? null : tipFromHistory(history, context.level);
  const fromReceipts =
    receipts === null || baseFeePerGas === null
      ? null
      : tipFromReceipts(receipts, header?.baseFeePerGas ?? baseFeePerGas);
  const sampled = fromHistory ?? fromReceipts;
  const { minTip, blockTimeMs } = context.chain;
  const maxTip = larger(context.chain.maxTip, minTip);
  const wanted = sampled === null ? minTip : larger(sampled, minTip);
  const tip = wanted > maxTip ? maxTip : wanted;
  if (tip < wanted) {
    findings.push(
      note(
        "TipCapped",
        "warning",
        {
          verdict: "the node names a tip above what is ever proposed on this chain; it is not followed",
          evidence: `named ${formatGasPrice(wanted)}, proposed ${formatGasPrice(tip)}`,
          remedy: "ask another node, or give `maxPriorityFeePerGas` yourself",
        },
        where,
      ),
    );
  }
  const tipSource = fromHistory !== null ? "feeHistory" : fromReceipts !== null ? "receipts" : "minimum";
  const blocks = Math.max(1, Math.ceil((context.horizonSeconds * 1000) / blockTimeMs));
  const grown = baseFeePerGas === null ? null : growBaseFee(baseFeePerGas, blocks, parameters);
  const said = [context.simulatedBaseFee, announced].filter((fee): fee is bigint => fee !== null);
  return {
    baseFeePerGas,
    leastFeePerGas: said.length === 0 ? baseFeePerGas : said.reduce((a, b) => (a > b ? a : b)),
    tip,
    tipSource,
    maxFeePerGas: grown === null ? null : grown.baseFeePerGas + tip,
    horizonSeconds:
      grown === null || grown.blocks === blocks ? context.horizonSeconds : (grown.blocks * blockTimeMs) / 1000,
    parameters,
    blockTimeMs,
    evidence: context.simulatedBaseFee !== null ? "measured" : baseFeePerGas !== null ? "estimated" : "unavailable",
    findings,
  };
};

/** Whether the cap of a transaction is ours to choose. */
export const isAutomatic = ({ gasPrice, maxFeePerGas }: Transaction): boolean =>
  gasPrice === null && maxFeePerGas === null;

/**
 * A fee whose cap is lower by `reduction` wei per gas, with the horizon that it still outlives; null
 * where it would not even hold for the next block.
 */
export const shorten = (fee: Fee, reduction: bigint, given: Quote): Fee | null => {
  const { maxFeePerGas, maxPriorityFeePerGas: tip, horizonSeconds } = fee;
  if (maxFeePerGas === null || tip === null || horizonSeconds === null || given.baseFeePerGas === null) return null;
  const cap = maxFeePerGas - reduction - tip;
  const { blockTimeMs, parameters } = given;
  const blocks = blocksWithin(given.baseFeePerGas, cap, Math.ceil((horizonSeconds * 1000) / blockTimeMs), parameters);
  return blocks < 0
    ? null
    : {
        ...fee,
        maxFeePerGas: maxFeePerGas - reduction,
        horizonSeconds: Math.min(horizonSeconds, (blocks * blockTimeMs) / 1000),
      };
};

/** The fee of one transaction: the quote, with what the caller fixed left as it is. Blocker: `FeeCapTooLow`. */
export const decide = (
  transaction: Transaction,
  index: number,
  given: Quote,
): { readonly output: Fee; readonly findings: ReadonlyArray<Finding> } => {
  const where = { step: "fee", transaction: index } as const;
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = transaction;
  const base = given.baseFeePerGas;
  const common = { baseFeePerGas: base, evidence: given.evidence } as const;
  const output: Fee = ((): Fee => {
    if (gasPrice !== null) {
      return {
        ...common,
        maxFeePerGas: null,
        maxPriorityFeePerGas: null,
        gasPrice,
        tipSource: "caller",
        horizonSeconds: null,
      };
    }
    if (maxFeePerGas !== null) {
      const tip = maxPriorityFeePerGas ?? (given.tip < maxFeePerGas ? given.tip : maxFeePerGas);
      return {
        ...common,
        maxFeePerGas,
        maxPriorityFeePerGas: tip,
        gasPrice: null,
        tipSource: maxPriorityFeePerGas === null ? given.tipSource : "caller",
        horizonSeconds: null,
      };
    }
    const tip = maxPriorityFeePerGas ?? given.tip;
    const cap = given.maxFeePerGas === null ? null : given.maxFeePerGas - given.tip + tip;
    return {
      ...common,
      maxFeePerGas: cap,
      maxPriorityFeePerGas: tip,
      gasPrice: null,
      tipSource: maxPriorityFeePerGas === null ? given.tipSource : "caller",
      horizonSeconds: cap === null ? null : given.horizonSeconds,
    };
  })();
  const cap = output.gasPrice ?? output.maxFeePerGas;
  if (base === null) {
    return {
      output,
      findings: [
        note(
          "EvidenceReduced",
          "unavailable",
          {
            verdict: "the base fee of the next block is not known",
            remedy: "use a node that simulates or gives block headers",
          },
          where,
        ),
      ],
    };
  }
  if (cap !== null && cap < base) {
    return {
      output,
      findings: [
        fromError(
          new FeeCapTooLow({ account: transaction.from, maxFeePerGas: cap, baseFeePerGas: base }),
          // why: the formula's parameters may be another chain's; against the node's own word it only warns
          given.leastFeePerGas !== null && cap >= given.leastFeePerGas ? "warning" : "blocker",
          where,
        ),
      ],
    };
  }
  return { output, findings: [] };
};
