/** What no payer, block or node would take: funds, fees and gas limits. */
import type * as Schema from "effect/Schema";
import { address, gas, wei, weiPerGas } from "../../primitives/statement.js";
import { account, amount, raw, stated } from "../stated.js";

/** The payer cannot cover `want`. */
export class InsufficientFunds extends stated<InsufficientFunds>()(
  "InsufficientFunds",
  {
    /** The account; null where it is not known. */
    account,
    /** Balance, wei. */
    have: amount,
    /** Required at most, wei. */
    want: amount,
    /** `want − have`, wei. */
    shortfall: amount,
    /** The gas the node multiplied with the fee, when it said so. */
    gas: amount,
    /** What the node said, as it came; null where our own rules decided. */
    raw,
  },
  "the sender cannot pay",
  (error) => [
    wei("short by", error.shortfall),
    address("account", error.account),
    wei("has", error.have),
    wei("needs up to", error.want),
    gas("for", error.gas),
  ],
  "fund the account with what it is short by, or lower value, gas or fees",
) {}

/** `maxFeePerGas` below the base fee. */
export class FeeCapTooLow extends stated<FeeCapTooLow>()(
  "FeeCapTooLow",
  {
    /** The account; null where it is not known. */
    account,
    /** The fee cap of the request, wei per gas. */
    maxFeePerGas: amount,
    /** The base fee that it has to reach, wei per gas. */
    baseFeePerGas: amount,
    /** What the node said, as it came; null where our own rules decided. */
    raw,
  },
  "the fee cap is below the base fee",
  (error) => [weiPerGas("max fee", error.maxFeePerGas), weiPerGas("base fee", error.baseFeePerGas)],
  "raise maxFeePerGas (or gasPrice) above the base fee, with room for it to grow",
) {}

/** `maxPriorityFeePerGas` above `maxFeePerGas`. */
export class TipAboveFeeCap extends stated<TipAboveFeeCap>()(
  "TipAboveFeeCap",
  {
    /** The tip of the request, wei per gas. */
    maxPriorityFeePerGas: amount,
    /** The fee cap of the request, wei per gas. */
    maxFeePerGas: amount,
    /** What the node said, as it came; null where our own rules decided. */
    raw,
  },
  "the tip is above the fee cap",
  (error) => [weiPerGas("tip", error.maxPriorityFeePerGas), weiPerGas("max fee", error.maxFeePerGas)],
  "lower maxPriorityFeePerGas or raise maxFeePerGas",
) {}

/** The gas limit does not even cover the transaction's intrinsic cost. */
export class IntrinsicGasTooLow extends stated<IntrinsicGasTooLow>()(
  "IntrinsicGasTooLow",
  {
    /** The gas limit of the request, gas. */
    have: amount,
    /** The least that the transaction costs before anything runs, gas. */
    want: amount,
    /** What the node said, as it came; null where our own rules decided. */
    raw,
  },
  "the gas limit is below the transaction's intrinsic cost",
  (error) => [gas("has", error.have), gas("needs", error.want)],
  "raise the gas limit, or leave `gas` out",
) {}

/** `eth_estimateGas` found no limit within what the balance or the node's cap allows. */
export class GasAllowanceExceeded extends stated<GasAllowanceExceeded>()(
  "GasAllowanceExceeded",
  {
    /** The least of: gas given, node's cap, balance ÷ fee cap. */
    allowance: amount,
    /** What the node said, as it came; null where our own rules decided. */
    raw,
  },
  "the call needs more gas than the node allows it",
  (error) => [gas("allowance", error.allowance)],
  "an allowance far below the gas given means the balance cannot pay the fee; otherwise raise the gas",
) {}

const limited = {
  /** The gas limit of the request, gas. */
  gas: amount,
  /** The most that is allowed, gas. */
  limit: amount,
  /** What the node said, as it came; null where our own rules decided. */
  raw,
};
const limits = (error: Schema.Struct<typeof limited>["Type"]) => [gas("gas", error.gas), gas("limit", error.limit)];

/** More gas than a block holds. */
export class BlockGasLimitExceeded extends stated<BlockGasLimitExceeded>()(
  "BlockGasLimitExceeded",
  limited,
  "the transaction asks for more gas than a block holds",
  limits,
  "lower the gas limit or split the work",
) {}

/** More gas than one transaction may ask for (EIP-7825: 2^24). */
export class TxGasLimitTooHigh extends stated<TxGasLimitTooHigh>()(
  "TxGasLimitTooHigh",
  limited,
  "the gas limit is above the chain's cap for one transaction",
  limits,
  "lower the gas limit or split the work",
) {}

/** Gas arithmetic overflowed 64 bits. */
export class GasUintOverflow extends stated<GasUintOverflow>()(
  "GasUintOverflow",
  {
    /** What the node said, as it came; null where our own rules decided. */
    raw,
  },
  "the gas overflows 64 bits",
  () => [],
  "lower gas, fees or the size of the data",
) {}
