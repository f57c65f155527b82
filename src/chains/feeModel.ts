/**
 * How a chain charges beyond gas × price, as one object: what the witness reads inside the simulated
 * block, and what follows from it. Both halves are pure. {@link Chains.layerWith} takes one for a chain
 * of the caller's own.
 */
import * as BigInts from "effect/BigInt";
import * as Rows from "effect/Record";
import { hexToBytes } from "../primitives/bytes.js";
import type { Address, Hex } from "../primitives/hex.js";
import { readBool, readUint256 } from "../witness/answers.js";
import { getL1Fee, getOperatorFee, isFjord, isIsthmus, staticCall, type Look } from "../witness/queries.js";
import type { View } from "../witness/view.js";

/** A fee model. */
export interface FeeModel {
  /** The model's name, for people. */
  readonly name: string;
  /** Queries of the witness for these transactions. Calls go out with the gas cap that they carry. */
  readonly queries: (subjects: ReadonlyArray<Parameters<FeeModel["decide"]>[0]>) => ReadonlyArray<Look>;
  /**
   * Decides the charges of one of them, by what the witness saw. `gas.used` = that of the simulation, null = not known;
   * `gas.limit` = the limit to sign; `horizonSeconds` = how long the fees shall hold.
   */
  readonly decide: (
    /**
     * `unsigned`: unsigned EIP-2718 bytes, of the very transaction in a proof, a little longer ones in a scan. `gasLimit`:
     * its gas limit, gas.
     */
    subject: { readonly unsigned: Hex; readonly gasLimit: bigint },
    gas: { readonly used: bigint | null; readonly limit: bigint },
    view: View,
    horizonSeconds: number,
  ) =>
    | {
        /** Fees beyond gas × price, wei. `…AtMost` is what the payer must hold for them. */
        readonly fees: {
          /** Expected cost of publishing on L1, wei. */
          readonly l1Fee: bigint;
          /** The most that publishing on L1 may cost until inclusion, wei. */
          readonly l1FeeAtMost: bigint;
          /** Expected charge of the chain's operator, wei. */
          readonly operatorFee: bigint;
          /** The most that the operator may charge at the gas limit, wei. */
          readonly operatorFeeAtMost: bigint;
        };
        /** The L1 fee by your own formula, where it differs from the chain's answer; wei. */
        readonly disagrees?: { readonly chain: bigint; readonly own: bigint };
        /** Gas that the data takes from the block's limit, where the chain limits it. */
        readonly dataGas?: bigint;
      }
    /** The chain charges, but did not say how much: never zero. In words. */
    | { readonly unreadable: string };
}

/** The transaction that fees are computed for. */
export type FeeSubject = Parameters<FeeModel["decide"]>[0];

/** No fees beyond gas × price. */
export const noExtraFees = { l1Fee: 0n, l1FeeAtMost: 0n, operatorFee: 0n, operatorFeeAtMost: 0n };

/** Chains that charge gas × price and nothing else, and those whose L1 cost is inside the gas (Arbitrum). */
export const gasOnly = (name: string): FeeModel => ({
  name,
  queries: () => [],
  decide: () => ({ fees: noExtraFees }),
});

/*
 * Charges of an OP-stack chain beyond gas: the L1 data fee and the operator fee.
 *
 * The L1 fee is `GasPriceOracle.getL1Fee` over the unsigned bytes of the real transaction type (the
 * oracle adds the signature), checked against the Fjord formula computed here; only data too large for
 * the oracle to compress within a call is priced by the formula alone. The operator fee is read at gas 0
 * and at the limit, for it is linear in gas, whatever the fork. Source: OP-stack specs, Fjord, Isthmus
 * and Jovian.
 */

/** The L1 attributes predeploy: present on every OP-stack chain beside the oracle. */
export const l1Block = "0x4200000000000000000000000000000000000015";

/** The account to which nodes credit the operator fee, in simulations too. */
export const operatorVault = "0x420000000000000000000000000000000000001b";

/** The two predeploys whose code says that a chain is one of the OP stack. */
export const predeploys = (oracle: Address): ReadonlyArray<Address> => [oracle, l1Block];

const parameterQueries = (oracle: Address) => ({
  l1BaseFee: staticCall(oracle, "0x519b4bd3"),
  blobBaseFee: staticCall(oracle, "0xf8206140"),
  baseFeeScalar: staticCall(oracle, "0xc5985918"),
  blobBaseFeeScalar: staticCall(oracle, "0x68d5dca6"),
});

/** `L1Block.daFootprintGasScalar()` (Jovian). */
const footprintScalar = staticCall(l1Block, "0xfe3d5710");
/** Its value where the contract holds 0. */
const defaultFootprintScalar = 400n;

/*
 * The length of FastLZ (level 1) output, without producing it. Greedy matching with the details that the chain's rules
 * fix: a hash table of 8,192 three-byte hashes, distances up to 8,191, runs of at most 32 literals (one byte of
 * overhead), matches of at most 264 bytes (two or three bytes), and no match beginning in the last 13 bytes.
 */

const literalRun = 32;
const longestMatch = 262;
const mostDistance = 8191;
const tableBits = 13;
/** No match begins in these last bytes, and none reaches into the last 4. */
const tail = 13;
const matchTail = 4;

const literalsLength = (count: number): number =>
  Math.floor(count / literalRun) * (literalRun + 1) + (count % literalRun === 0 ? 0 : (count % literalRun) + 1);

/** Bytes that encode a match of `length` + 1 bytes beyond its first two. */
const matchLength = (length: number): number => {
  const rest = length - 1;
  return Math.floor(rest / longestMatch) * 3 + (rest % longestMatch >= 6 ? 3 : 2);
};

/** Bytes of `data` after FastLZ compression. Linear in its size. */
export const compressedLength = (data: Uint8Array): number => {
  const table = new Int32Array(1 << tableBits);
  const at = (index: number): number => data[index] ?? 0;
  const three = (index: number): number => at(index) | (at(index + 1) << 8) | (at(index + 2) << 16);
  // Knuth's multiplicative hash, its upper 13 bits
  const hash = (value: number): number => (Math.imul(value, 2_654_435_769) >>> 19) & ((1 << tableBits) - 1);
  const limit = data.length < tail ? 0 : data.length - tail;
  const matchEnd = limit + tail - matchTail;
  let length = 0;
  let anchor = 0;
  let position = 2;
  while (position < limit) {
    let reference = -1;
    for (; position < limit; position++) {
      const bytes = three(position);
      const slot = hash(bytes);
      const earlier = table[slot] ?? 0;
      table[slot] = position;
      if (position - earlier <= mostDistance && three(earlier) === bytes) {
        reference = earlier;
        break;
      }
    }
    // a match at the last position before the limit does not count
    if (reference === -1 || position + 1 >= limit) break;
    length += literalsLength(position - anchor);
    let more = 0;
    while (position + 3 + more < matchEnd && at(reference + 3 + more) === at(position + 3 + more)) more++;
    // the comparison counts the byte at which it stops
    const matched = position + 3 + more < matchEnd ? more + 1 : more;
    length += matchLength(matched);
    position += matched;
    table[hash(three(position))] = position;
    table[hash(three(position + 1))] = position + 1;
    position += 2;
    anchor = position;
  }
  return length + literalsLength(data.length - anchor);
};

/** Bytes that a signature adds to the unsigned ones, as the oracle counts it. */
const signatureBytes = 68;

/** Fjord's estimate of a transaction's compressed size from its FastLZ length, in millionths of a byte. */
export const estimatedSize = (fastLzLength: number): bigint =>
  BigInts.max(100_000_000n, 836_500n * BigInt(fastLzLength) - 42_585_600n);

/**
 * Fjord's L1 fee in wei: size × (16 · base fee scalar · L1 base fee + blob scalar · blob base fee) ÷ 10^12. The prices are
 * those that the chain holds, wei per gas, and the scalars are millionths.
 */
export const fjordL1Fee = (
  fastLzLength: number,
  parameters: { readonly [K in keyof ReturnType<typeof parameterQueries>]: bigint },
): bigint => {
  const { l1BaseFee, blobBaseFee, baseFeeScalar, blobBaseFeeScalar } = parameters;
  const price = 16n * baseFeeScalar * l1BaseFee + blobBaseFeeScalar * blobBaseFee;
  return (estimatedSize(fastLzLength) * price) / 10n ** 12n;
};

/** Jovian's data footprint of one transaction, in gas of the block. */
export const dataFootprint = (fastLzLength: number, scalar: bigint): bigint =>
  (estimatedSize(fastLzLength) / 1_000_000n) * scalar;

/** The FastLZ length that the oracle reckons with, for the unsigned bytes of a transaction. */
export const oracleLength = (unsigned: Hex): number => compressedLength(hexToBytes(unsigned)) + signatureBytes;

/** Bytes above which the oracle is not asked: compressing them in a contract takes more gas than nodes give a call. */
const mostOracleBytes = 24_576;
const isLarge = ({ unsigned }: FeeSubject): boolean => (unsigned.length - 2) / 2 > mostOracleBytes;

/** Seconds of an L1 block. */
const l1BlockSeconds = 12;
const mostL1Blocks = 20;

/**
 * Returns wei to hold for an L1 fee that may rise until inclusion: the L1 base fee may grow by an eighth with
 * every L1 block of the horizon (EIP-1559; the blob base fee grows slower), rounded up. The L1 fee is not
 * bounded by `maxFeePerGas`.
 */
export const atMostWithin = (l1Fee: bigint, horizonSeconds: number): bigint => {
  const blocks = Math.min(mostL1Blocks, Math.max(1, Math.ceil(horizonSeconds / l1BlockSeconds)));
  let fee = l1Fee;
  for (let block = 0; block < blocks; block++) fee += (fee + 7n) / 8n;
  return fee;
};

const parametersIn = (oracle: Address, view: View): Parameters<typeof fjordL1Fee>[1] | null => {
  if (readBool(view.call(isFjord(oracle))) !== true) return null;
  const { l1BaseFee, blobBaseFee, baseFeeScalar, blobBaseFeeScalar } = Rows.map(parameterQueries(oracle), (query) =>
    readUint256(view.call(query)),
  );
  return l1BaseFee === null || blobBaseFee === null || baseFeeScalar === null || blobBaseFeeScalar === null
    ? null
    : { l1BaseFee, blobBaseFee, baseFeeScalar, blobBaseFeeScalar };
};

/** The fee read at two points; null with the reason where it could not be read. */
const operatorFee = (oracle: Address, subject: FeeSubject, view: View): ((gas: bigint) => bigint) | "unreadable" => {
  const atLimit = readUint256(view.call(getOperatorFee(subject.gasLimit, oracle)));
  const atZero = readUint256(view.call(getOperatorFee(0n, oracle)));
  if (atLimit !== null && atZero !== null && atLimit >= atZero && atLimit < 1n << 128n)
    return subject.gasLimit === 0n
      ? () => atLimit
      : (gas) => atZero + ((atLimit - atZero) * gas + subject.gasLimit - 1n) / subject.gasLimit;
  // before Isthmus there is no operator fee, and no function to ask for it
  const isthmus = view.call(isIsthmus(oracle));
  const before = isthmus !== null && readBool(isthmus) !== true && (atLimit === null || atZero === null);
  return before ? () => 0n : "unreadable";
};

/** Gas of the block that data of this length takes, where the chain limits it. */
const dataGasOf = (length: number | null, scalar: bigint | null) =>
  length === null || scalar === null || scalar > 0xffffn
    ? {}
    : { dataGas: dataFootprint(length, scalar === 0n ? defaultFootprintScalar : scalar) };

/** The L1 fee by the oracle, and by the formula computed here; the larger counts. */
const l1FeeOf = (oracle: Address, subject: FeeSubject, view: View, own: bigint | null) => {
  const answer = isLarge(subject) ? null : view.call(getL1Fee(subject.unsigned, oracle));
  const chain = readUint256(answer);
  // an oracle that failed is an error; one that was not asked, or had no gas left to answer, is replaced
  if (chain === null && (own === null || answer !== null))
    return { unreadable: "the chain's L1 fee could not be read from its oracle" };
  const l1Fee = BigInts.max(chain ?? 0n, own ?? 0n);
  // no chain asks for more than there is of its currency; the formulas below stay far from 256 bits
  if (l1Fee >= 1n << 128n) return { unreadable: "the chain's oracle names an L1 fee that nobody could pay" };
  return { l1Fee, ...(chain === null || own === null || chain === own ? {} : { disagrees: { chain, own } }) };
};

const decideWith =
  (oracle: Address): FeeModel["decide"] =>
  (subject, gas, view, horizonSeconds) => {
    const parameters = parametersIn(oracle, view);
    const scalar = readUint256(view.call(footprintScalar));
    const length = parameters !== null || scalar !== null ? oracleLength(subject.unsigned) : null;
    const own = parameters === null || length === null ? null : fjordL1Fee(length, parameters);
    const read = l1FeeOf(oracle, subject, view, own);
    if (!("l1Fee" in read)) return read;
    const { l1Fee, ...more } = read;
    const operator = operatorFee(oracle, subject, view);
    if (operator === "unreadable") return { unreadable: "the chain's operator fee could not be read from its oracle" };
    return {
      fees: {
        ...{ l1Fee, l1FeeAtMost: atMostWithin(l1Fee, horizonSeconds) },
        ...{ operatorFee: operator(gas.used ?? gas.limit), operatorFeeAtMost: operator(gas.limit) },
      },
      ...more,
      ...dataGasOf(length, scalar),
    };
  };

/** The model of OP-stack chains, with their `GasPriceOracle` at `oracle`. */
export const opStack = (oracle: Address): FeeModel => ({
  name: "opstack",
  queries: (subjects) => [
    ...predeploys(oracle).map((address): Look => ({ kind: "account", address })),
    isIsthmus(oracle),
    isFjord(oracle),
    getOperatorFee(0n, oracle),
    ...Object.values(parameterQueries(oracle)),
    footprintScalar,
    ...subjects.flatMap((subject) => [
      ...(isLarge(subject) ? [] : [getL1Fee(subject.unsigned, oracle)]),
      getOperatorFee(subject.gasLimit, oracle),
    ]),
  ],
  decide: decideWith(oracle),
});
