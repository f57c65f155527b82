/** Fees that no block would take. */
import { say, weiPerGas } from "../../primitives/statement.js";
import { stated } from "../stated.js";
import { account, amount, raw } from "./fields.js";

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
  (error) =>
    say(
      "the fee cap is below the base fee",
      [weiPerGas("max fee", error.maxFeePerGas), weiPerGas("base fee", error.baseFeePerGas)],
      "raise maxFeePerGas (or gasPrice) above the base fee, with room for it to grow",
    ),
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
  (error) =>
    say(
      "the tip is above the fee cap",
      [weiPerGas("tip", error.maxPriorityFeePerGas), weiPerGas("max fee", error.maxFeePerGas)],
      "lower maxPriorityFeePerGas or raise maxFeePerGas",
    ),
) {}
