/** How the base fee moves: EIP-1559 with a chain's own parameters, Holocene's and Jovian's included. Pure. */
import * as BigInts from "effect/BigInt";

/** The parameters of the formula; `minBaseFeePerGas` in wei per gas. */
export interface BaseFeeParameters {
  readonly elasticity: bigint;
  readonly denominator: bigint;
  readonly minBaseFeePerGas: bigint;
  /** True if the header's blob gas is the data footprint, which counts like gas (Jovian). */
  readonly metersData?: boolean;
}

/** Ethereum's own (EIP-1559). */
const ethereum = { elasticity: 2n, denominator: 8n };

const uintAt = (hex: string, byte: number, bytes: number): bigint =>
  BigInt(`0x${hex.slice(2 + byte * 2, 2 + (byte + bytes) * 2)}`);

/**
 * The parameters in force: from the header's `extraData` on OP-stack chains (Holocene: version 0,
 * denominator u32, elasticity u32; Jovian: version 1 and minBaseFee u64 after them), else the chain's.
 */
export const parametersOf = (
  chain: BaseFeeParameters & { readonly feeModel: unknown },
  header: { readonly extraData: string | null } | null,
): BaseFeeParameters => {
  const { minBaseFeePerGas } = chain;
  const { elasticity, denominator } = chain.elasticity > 0n && chain.denominator > 0n ? chain : ethereum;
  const own = { elasticity, denominator, minBaseFeePerGas };
  const extra = header?.extraData ?? null;
  if (extra === null || (chain.feeModel !== "opstack" && chain.feeModel !== "detect")) return own;
  const size = (extra.length - 2) / 2;
  const version = size === 9 ? 0n : size === 17 ? 1n : null;
  if (version === null || uintAt(extra, 0, 1) !== version) return own;
  const read = { denominator: uintAt(extra, 1, 4), elasticity: uintAt(extra, 5, 4), minBaseFeePerGas };
  if (read.denominator === 0n || read.elasticity === 0n) return own;
  return version === 1n ? { ...read, minBaseFeePerGas: uintAt(extra, 9, 8), metersData: true } : read;
};

/** Base fee of the child of `parent` (EIP-1559; Jovian meters the larger of gas and blob gas, and has a floor); null before London. */
export const nextBaseFee = (
  parent: {
    readonly baseFeePerGas: bigint | null;
    readonly gasUsed: bigint;
    readonly gasLimit: bigint;
    readonly blobGasUsed: bigint | null;
  },
  { elasticity, denominator, minBaseFeePerGas, metersData = false }: BaseFeeParameters,
): bigint | null => {
  const base = parent.baseFeePerGas;
  if (base === null) return null;
  const target = parent.gasLimit / elasticity;
  if (target === 0n) return base;
  const blobGas = metersData ? (parent.blobGasUsed ?? 0n) : 0n;
  const metered = BigInts.max(parent.gasUsed, blobGas);
  const change = (base * BigInts.abs(metered - target)) / target / denominator;
  const next = metered > target ? base + BigInts.max(change, 1n) : BigInts.max(base - change, 0n);
  return BigInts.max(next, minBaseFeePerGas);
};

/** Above any price that was ever paid; keeps every sum far below 256 bits. */
const mostBaseFee = 1n << 96n;
const mostBlocks = 100_000;

/**
 * The target is the limit ÷ elasticity rounded down, so a full block may be a little above elasticity
 * times the target: by less than this share, for any target above 10,000 gas.
 */
const roundingShare = 10_000n;

const afterFullBlock = (fee: bigint, { elasticity, denominator }: BaseFeeParameters): bigint => {
  const divisor = denominator * roundingShare;
  const rise = (fee * (elasticity - 1n) * (roundingShare + 1n) + divisor - 1n) / divisor;
  return fee + BigInts.max(rise, 1n);
};

/**
 * The base fee after full blocks, as long as it is at most `limit`, in wei per gas; and how many it outlives: those asked
 * for, unless the fee went beyond the limit before.
 */
const grown = (base: bigint, blocks: number, parameters: BaseFeeParameters, limit: bigint) => {
  let fee = BigInts.max(base, parameters.minBaseFeePerGas);
  let reached = 0;
  while (reached < Math.min(blocks, mostBlocks)) {
    const next = afterFullBlock(fee, parameters);
    if (next > limit) break;
    fee = next;
    reached++;
  }
  return { baseFeePerGas: fee, blocks: reached };
};

/** The base fee after `blocks` full blocks: an upper bound for any use of them. */
export const growBaseFee = (base: bigint, blocks: number, parameters: BaseFeeParameters) =>
  grown(base, blocks, parameters, mostBaseFee);

/** How many full blocks from `base` a cap without tip outlives, at most `blocks`; −1 = not even the next. */
export const blocksWithin = (base: bigint, cap: bigint, blocks: number, parameters: BaseFeeParameters): number =>
  BigInts.max(base, parameters.minBaseFeePerGas) > cap ? -1 : grown(base, blocks, parameters, cap).blocks;

/** Base fees behind so many blocks in a row that are all empty, all half full, all full, in wei per gas. */
export const baseFeesBehind = (base: bigint, blocks: number, parameters: BaseFeeParameters): ReadonlyArray<bigint> =>
  // why: by shares of a limit that every elasticity divides
  [0n, parameters.elasticity, 2n * parameters.elasticity].map((gasUsed) => {
    const parent = { gasUsed, gasLimit: 2n * parameters.elasticity, blobGasUsed: null };
    let fee = base;
    for (let block = 0; block < blocks; block++)
      fee = nextBaseFee({ ...parent, baseFeePerGas: fee }, parameters) ?? fee;
    return fee;
  });

/** Wei per gas that a transaction really pays in a block with `baseFee`. */
export const effectiveGasPrice = (
  fee: {
    readonly gasPrice: bigint | null;
    readonly maxFeePerGas: bigint | null;
    readonly maxPriorityFeePerGas: bigint | null;
  },
  baseFee: bigint,
): bigint => {
  if (fee.gasPrice !== null) return fee.gasPrice;
  return BigInts.min(fee.maxFeePerGas ?? 0n, baseFee + (fee.maxPriorityFeePerGas ?? 0n));
};
