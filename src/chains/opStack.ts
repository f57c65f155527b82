/**
 * What an OP-stack chain charges beyond gas: the L1 data fee and the operator fee.
 *
 * The L1 fee is `GasPriceOracle.getL1Fee` over the unsigned bytes of the real transaction type (the
 * oracle adds the signature), checked against the Fjord formula computed here; only data too large for
 * the oracle to compress within a call is priced by the formula alone. The operator fee is read at gas 0
 * and at the limit, for it is linear in gas, whatever the fork. Source: OP-stack specs, Fjord, Isthmus
 * and Jovian.
 */
import type { Address, Hex } from "../primitives/hex.js";
import { readBool, readUint256 } from "../witness/answers.js";
import { getL1Fee, getOperatorFee, isFjord, isIsthmus, staticCall, type Query } from "../witness/queries.js";
import type { View } from "../witness/view.js";
import { compressedLength } from "./fastLz.js";
import type { FeeDecision, FeeGas, FeeModel, FeeSubject } from "./feeModel.js";

/** The L1 attributes predeploy: present on every OP-stack chain beside the oracle. */
export const l1Block = "0x4200000000000000000000000000000000000015";

/** Where nodes credit the operator fee, in simulations too. */
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

/** The L1 prices a chain holds, wei per gas, and its scalars in millionths. */
export interface L1Parameters {
  readonly l1BaseFee: bigint;
  readonly blobBaseFee: bigint;
  readonly baseFeeScalar: bigint;
  readonly blobBaseFeeScalar: bigint;
}

/** What a signature adds to the unsigned bytes, as the oracle counts it. */
const signatureBytes = 68;

const largest = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** Fjord's estimate of a transaction's compressed size from its FastLZ length, in millionths of a byte. */
export const estimatedSize = (fastLzLength: number): bigint =>
  largest(100_000_000n, 836_500n * BigInt(fastLzLength) - 42_585_600n);

/** Fjord's L1 fee in wei: size × (16 · base fee scalar · L1 base fee + blob scalar · blob base fee) ÷ 10^12. */
export const fjordL1Fee = (fastLzLength: number, parameters: L1Parameters): bigint => {
  const { l1BaseFee, blobBaseFee, baseFeeScalar, blobBaseFeeScalar } = parameters;
  const price = 16n * baseFeeScalar * l1BaseFee + blobBaseFeeScalar * blobBaseFee;
  return (estimatedSize(fastLzLength) * price) / 10n ** 12n;
};

/** Jovian's data footprint of one transaction, in gas of the block. */
export const dataFootprint = (fastLzLength: number, scalar: bigint): bigint =>
  (estimatedSize(fastLzLength) / 1_000_000n) * scalar;

const bytesOf = (hex: Hex): Uint8Array =>
  Uint8Array.from({ length: (hex.length - 2) >> 1 }, (_, index) =>
    Number.parseInt(hex.slice(2 + index * 2, 4 + index * 2), 16),
  );

/** The FastLZ length that the oracle reckons with, for the unsigned bytes of a transaction. */
export const oracleLength = (unsigned: Hex): number => compressedLength(bytesOf(unsigned)) + signatureBytes;

/** Bytes above which the oracle is not asked: compressing them in a contract takes more gas than nodes give a call. */
const mostOracleBytes = 24_576;
const isLarge = ({ unsigned }: FeeSubject): boolean => (unsigned.length - 2) / 2 > mostOracleBytes;

/** Seconds of an L1 block. */
const l1BlockSeconds = 12;
const mostL1Blocks = 20;

/**
 * What to hold for an L1 fee that may rise until inclusion: the L1 base fee may grow by an eighth with
 * every L1 block of the horizon (EIP-1559; the blob base fee grows slower), rounded up. The L1 fee is not
 * bounded by `maxFeePerGas`.
 */
export const atMostWithin = (l1Fee: bigint, horizonSeconds: number): bigint => {
  const blocks = Math.min(mostL1Blocks, Math.max(1, Math.ceil(horizonSeconds / l1BlockSeconds)));
  let fee = l1Fee;
  for (let block = 0; block < blocks; block++) fee += (fee + 7n) / 8n;
  return fee;
};

const parametersIn = (oracle: Address, view: View): L1Parameters | null => {
  const asked = parameterQueries(oracle);
  if (readBool(view.call(isFjord(oracle))) !== true) return null;
  const [l1BaseFee, blobBaseFee, baseFeeScalar, blobBaseFeeScalar] = [
    readUint256(view.call(asked.l1BaseFee)),
    readUint256(view.call(asked.blobBaseFee)),
    readUint256(view.call(asked.baseFeeScalar)),
    readUint256(view.call(asked.blobBaseFeeScalar)),
  ];
  return l1BaseFee === null || blobBaseFee === null || baseFeeScalar === null || blobBaseFeeScalar === null
    ? null
    : { l1BaseFee, blobBaseFee, baseFeeScalar, blobBaseFeeScalar };
};

/** The fee read at two points; null with the reason where it could not be read. */
const operatorFee = (oracle: Address, subject: FeeSubject, view: View): ((gas: bigint) => bigint) | "unreadable" => {
  const atLimit = readUint256(view.call(getOperatorFee(subject.gasLimit, oracle)));
  const atZero = readUint256(view.call(getOperatorFee(0n, oracle)));
  if (atLimit !== null && atZero !== null && atLimit >= atZero && atLimit < 1n << 128n) {
    return subject.gasLimit === 0n
      ? () => atLimit
      : (gas) => atZero + ((atLimit - atZero) * gas + subject.gasLimit - 1n) / subject.gasLimit;
  }
  // before Isthmus there is no operator fee, and no function to ask for it
  const isthmus = view.call(isIsthmus(oracle));
  const before = isthmus !== null && readBool(isthmus) !== true && (atLimit === null || atZero === null);
  return before ? () => 0n : "unreadable";
};

const decideWith =
  (oracle: Address) =>
  (subject: FeeSubject, gas: FeeGas, view: View, horizonSeconds: number): FeeDecision => {
    const parameters = parametersIn(oracle, view);
    const scalar = readUint256(view.call(footprintScalar));
    const length = parameters !== null || scalar !== null ? oracleLength(subject.unsigned) : null;
    const own = parameters === null || length === null ? null : fjordL1Fee(length, parameters);
    const answer = isLarge(subject) ? null : view.call(getL1Fee(subject.unsigned, oracle));
    const said = readUint256(answer);
    // an oracle that failed is an error; one that was not asked, or had no gas left to answer, is replaced
    const replaceable = own !== null && answer === null;
    if (said === null && !replaceable) return { unreadable: "the chain's L1 fee could not be read from its oracle" };
    const l1Fee = largest(said ?? 0n, own ?? 0n);
    // no chain asks for more than there is of its currency; the formulas below stay far from 256 bits
    if (l1Fee >= 1n << 128n) return { unreadable: "the chain's oracle names an L1 fee that nobody could pay" };
    const operator = operatorFee(oracle, subject, view);
    if (operator === "unreadable") return { unreadable: "the chain's operator fee could not be read from its oracle" };
    return {
      fees: {
        l1Fee,
        l1FeeAtMost: atMostWithin(l1Fee, horizonSeconds),
        operatorFee: operator(gas.used ?? gas.limit),
        operatorFeeAtMost: operator(gas.limit),
      },
      ...(said === null || own === null || said === own ? {} : { disagrees: { chain: said, own } }),
      ...(scalar === null || scalar > 0xffffn || length === null
        ? {}
        : { dataGas: dataFootprint(length, scalar === 0n ? defaultFootprintScalar : scalar) }),
    };
  };

/** The model of OP-stack chains, with their `GasPriceOracle` at `oracle`. */
export const opStack = (oracle: Address): FeeModel => ({
  name: "opstack",
  queries: (subjects) => [
    ...predeploys(oracle).map((address): Query => ({ kind: "account", address })),
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
