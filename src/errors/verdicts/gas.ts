/** Gas limits that cannot hold. */
import { gas, say, type Figure } from "../../primitives/statement.js";
import { stated } from "../stated.js";
import { amount, raw } from "./fields.js";

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
  (error) =>
    say(
      "the gas limit is below the transaction's intrinsic cost",
      [gas("has", error.have), gas("needs", error.want)],
      "raise the gas limit, or leave `gas` out",
    ),
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
  (error) =>
    say(
      "the call needs more gas than the node allows it",
      [gas("allowance", error.allowance)],
      "an allowance far below the gas given means the balance cannot pay the fee; otherwise raise the gas",
    ),
) {}

const limited = {
  /** The gas limit of the request, gas. */
  gas: amount,
  /** The most that is allowed, gas. */
  limit: amount,
  /** What the node said, as it came; null where our own rules decided. */
  raw,
};
const facts = (error: { readonly gas: bigint | null; readonly limit: bigint | null }): ReadonlyArray<Figure | null> => [
  gas("gas", error.gas),
  gas("limit", error.limit),
];

/** More gas than a block holds. */
export class BlockGasLimitExceeded extends stated<BlockGasLimitExceeded>()("BlockGasLimitExceeded", limited, (error) =>
  say("the transaction asks for more gas than a block holds", facts(error), "lower the gas limit or split the work"),
) {}

/** More gas than one transaction may ask for (EIP-7825: 2^24). */
export class TxGasLimitTooHigh extends stated<TxGasLimitTooHigh>()("TxGasLimitTooHigh", limited, (error) =>
  say(
    "the gas limit is above the chain's cap for one transaction",
    facts(error),
    "lower the gas limit or split the work",
  ),
) {}

/** Gas arithmetic overflowed 64 bits. */
export class GasUintOverflow extends stated<GasUintOverflow>()(
  "GasUintOverflow",
  {
    /** What the node said, as it came; null where our own rules decided. */
    raw,
  },
  () => say("the gas overflows 64 bits", [], "lower gas, fees or the size of the data"),
) {}
