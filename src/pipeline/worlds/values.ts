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
export const leastCap = (signed: ReadonlyArray<{ readonly request: Request }>): bigint =>
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

/** Gas by which a builder moves the limit from one block to the next, up or down: as far as the protocol allows. */
const stepOf = (limit: bigint): bigint => limit / 1_024n - 1n;

/**
 * The gas limit of another builder's block: off by a builder's step where that is an odd number, else by any odd number
 * below it. Null where it is not known, or would leave no room for the calls.
 */
const otherGasLimit = ({ gasLimit: limit, taken }: Ground, chance: bigint): bigint | null => {
  if (limit === null || limit < 4_096n) return null;
  const whole = stepOf(limit);
  const step = whole % 2n === 1n ? whole : 1n + 2n * ((chance / 2n) % (whole / 2n));
  return chance % 2n === 0n && limit - step > 2n * taken ? limit - step : limit + step;
};

/** Gas: what builders aim at is a round number, and a limit that is one stays. */
const roundGasLimit = 1_000_000n;

/** The gas limit a block later, by a step towards a round number, and no further. */
const steppedGasLimit = (limit: bigint, isUp: boolean): bigint => {
  const over = limit % roundGasLimit;
  const distance = isUp ? roundGasLimit - over : over;
  const step = stepOf(limit);
  const change = over !== 0n && distance < step ? distance : step;
  return isUp ? limit + change : limit - change;
};

/**
 * The gas limit after so many blocks of builders that aim at the same. In the last world one that rests stays, as it most
 * often does, and any other may; in front of it all move.
 */
const builtGasLimit = ({ gasLimit: limit, blocks, taken, isLast }: Ground, dice: bigint): bigint | null => {
  if (limit === null || (isLast && (limit % roundGasLimit === 0n || dice % 3n === 0n))) return limit;
  let built = limit;
  for (let block = 0; block < blocks; block++) {
    if (block > 0 && built % roundGasLimit === 0n) break;
    built = steppedGasLimit(built, (dice / 3n) % 2n === 0n);
  }
  return built > 2n * taken && built > 0n ? built : limit;
};

/** The circumstances for which the values of a block are drawn. */
interface Ground {
  /** The producer of most blocks; null = not known. */
  readonly usual: Address | null;
  readonly gasLimit: bigint | null;
  /** The next block's base fee, wei per gas. */
  readonly baseFee: bigint | null;
  /** How many blocks after the latest. */
  readonly blocks: number;
  /** Gas of the requests. */
  readonly taken: bigint;
  readonly signed: ReadonlyArray<{ readonly request: Request }>;
  /** True if no world stands behind it. */
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

/** Draws one of the next blocks as any of them may be: nobody can tell it from others. `luck` = 40 bytes of chance. */
export const ordinaryBlock = (ground: Ground, luck: Hex): DrawnBlock => {
  const drawn = (from: number): bigint => BigInt(`0x${luck.slice(from, from + 10)}`);
  const feeRecipient: Address = `0x${luck.slice(2, 42)}`;
  return {
    values: {
      feeRecipient,
      gasLimit: builtGasLimit(ground, drawn(52)),
      baseFeePerGas: nearBaseFee(ground, drawn(62)),
    },
    state: { [feeRecipient]: { balance: 10n ** 16n + (drawn(42) % 10n ** 19n), nonce: 1n + (drawn(72) % 500n) } },
  };
};

/** The contrary of the next block's in every value: no single bit of the producer's ends, the limit or the price is the same. */
export const contraryBlock = (ground: Ground, luck: Hex): DrawnBlock => {
  const [dice, wealth] = [BigInt(`0x${luck.slice(42, 62)}`), BigInt(`0x${luck.slice(62)}`)];
  const feeRecipient = otherProducer(ground.usual, luck);
  return {
    values: {
      feeRecipient,
      gasLimit: otherGasLimit(ground, dice),
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
