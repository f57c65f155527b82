/** The values of blocks that may come: contrary to those of the next one, or as any ordinary block has them. Pure. */
import type * as Eth from "../../eth/index.js";
import type { Address, Hash, Hex } from "../../primitives/hex.js";
import type { Request } from "../../transaction/request.js";

/** Every bit another: no test of any single one can tell both runs the same. */
export const complement = (hash: Hex): Hash => `0x${BigInt.asUintN(256, ~BigInt(hash)).toString(16).padStart(64, "0")}`;

/** Whoever else may produce: nobody's address, whose first and last byte have no bit of the usual producer's. */
const otherProducer = (usual: Address | null, chance: Hex): Address => {
  const contrary = complement(usual ?? "0x0").slice(-40);
  return `0x${contrary.slice(0, 2)}${chance.slice(4, 40)}${contrary.slice(38)}`;
};

/** The most per gas that every request pays, wei. */
const leastCap = (signed: ReadonlyArray<{ readonly request: Request }>): bigint =>
  signed
    .map(({ request: { gasPrice, maxFeePerGas } }) => gasPrice ?? maxFeePerGas ?? 0n)
    .reduce((a, b) => (a < b ? a : b));

/** A base fee off by this, above where the requests can pay it, else below; null = neither. */
const shifted = (base: bigint, share: bigint, signed: ReadonlyArray<{ readonly request: Request }>): bigint | null => {
  const least = leastCap(signed);
  if (base + share <= least) return base + share;
  return base > share ? base - share : base <= least ? base : null;
};

/** A base fee a sixteenth off, or half of that in front of the last world, by an odd number. */
const otherBaseFee = ({ baseFee, signed, isLast }: Ground): bigint | null =>
  baseFee === null ? null : shifted(baseFee, (baseFee / (isLast ? 16n : 32n)) | 1n, signed);

/**
 * A base fee that some block close by may have. What follows the price differs by more than what follows the time, and by
 * the most in the last world: nothing that pays by it does in front of that what it does not do there.
 */
const nearBaseFee = ({ baseFee, signed, isLast }: Ground, dice: bigint): bigint | null =>
  baseFee === null
    ? null
    : shifted(baseFee, 1n + (baseFee * (dice % 256n)) / 16_384n + (baseFee * (isLast ? 3n : 2n)) / 64n, signed);

/**
 * The gas limit of another builder's block: off by up to a 1,024th, as the protocol lets it move from one block to
 * the next, and by an odd number. Null where it is not known, or would leave no room for the calls.
 */
const otherGasLimit = (limit: bigint | null, taken: bigint, chance: bigint): bigint | null => {
  if (limit === null || limit < 2_048n) return null;
  const step = 1n + 2n * ((chance / 2n) % (limit / 2_048n));
  return chance % 2n === 0n && limit - step > 2n * taken ? limit - step : limit + step;
};

/** Gas: what builders aim at is a round number, and a limit that is one stays. */
const roundGasLimit = 1_000_000n;

/** The gas limit a block later, by a builder's whole step up or down as the protocol allows it, and no further than a round number. */
const steppedGasLimit = (limit: bigint, isUp: boolean): bigint => {
  const over = limit % roundGasLimit;
  if (over === 0n) return limit;
  const step = limit / 1_024n - 1n;
  const left = isUp ? roundGasLimit - over : over;
  const moved = step < left ? step : left;
  return isUp ? limit + moved : limit - moved;
};

/** The gas limit after so many blocks of builders that aim at the same; now and then what it is. */
const builtGasLimit = (limit: bigint, blocks: number, taken: bigint, dice: bigint): bigint => {
  const way = dice % 3n;
  let built = limit;
  for (let block = 0; block < blocks && way !== 0n; block++) built = steppedGasLimit(built, way === 1n);
  return built > 2n * taken && built > 0n ? built : limit;
};

/** What the values of a block are drawn for. */
interface Ground {
  /** Who produces most blocks; null = not known. */
  readonly usual: Address | null;
  readonly gasLimit: bigint | null;
  /** Of the next block, wei per gas. */
  readonly baseFee: bigint | null;
  /** How many blocks after the latest. */
  readonly blocks: number;
  /** Gas of the requests. */
  readonly taken: bigint;
  readonly signed: ReadonlyArray<{ readonly request: Request }>;
  /** Whether no world stands behind it. */
  readonly isLast: boolean;
}

/** Values of a block, and what its producer is given: who has nothing is known by that. */
export interface DrawnBlock {
  readonly values: {
    readonly feeRecipient: Address;
    readonly gasLimit: bigint | null;
    readonly baseFeePerGas: bigint | null;
  };
  readonly state: Eth.StateOverrides;
}

/** What one of the next blocks may have as any of them has it: nobody can tell it from others. `luck` = 40 bytes of chance. */
export const ordinaryBlock = (ground: Ground, luck: Hex): DrawnBlock => {
  const { gasLimit, blocks, taken } = ground;
  const drawn = (from: number): bigint => BigInt(`0x${luck.slice(from, from + 10)}`);
  const feeRecipient: Address = `0x${luck.slice(2, 42)}`;
  return {
    values: {
      feeRecipient,
      gasLimit: gasLimit === null ? null : builtGasLimit(gasLimit, blocks, taken, drawn(52)),
      baseFeePerGas: nearBaseFee(ground, drawn(62)),
    },
    state: { [feeRecipient]: { balance: 10n ** 16n + (drawn(42) % 10n ** 19n), nonce: 1n + (drawn(72) % 500n) } },
  };
};

/** The contrary of the next block's in every value: no single bit of the producer's ends, the limit or the price is the same. */
export const contraryBlock = (ground: Ground, luck: Hex): DrawnBlock => {
  const { usual, gasLimit, taken } = ground;
  const [dice, wealth] = [BigInt(`0x${luck.slice(42, 62)}`), BigInt(`0x${luck.slice(62)}`)];
  const feeRecipient = otherProducer(usual, luck);
  return {
    values: {
      feeRecipient,
      gasLimit: otherGasLimit(gasLimit, taken, dice),
      baseFeePerGas: otherBaseFee(ground),
    },
    // why: code that takes payments is what some producers have, and most have not
    state: {
      [feeRecipient]: {
        ...{ balance: 10n ** 17n + (wealth % 10n ** 19n), nonce: 1n + (dice % 1_000n) },
        code: `0x00${luck.slice(2)}`,
      },
    },
  };
};
