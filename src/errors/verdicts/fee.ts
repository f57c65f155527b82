/** Fees that no block would take. */
import { say, weiPerGas } from "../../primitives/statement.js";
import { stated } from "../stated.js";
import { account, amount, raw } from "./fields.js";

/** `maxFeePerGas` below the base fee. */
export class FeeCapTooLow extends stated<FeeCapTooLow>()(
  "FeeCapTooLow",
  { account, maxFeePerGas: amount, baseFeePerGas: amount, raw },
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
  { maxPriorityFeePerGas: amount, maxFeePerGas: amount, raw },
  (error) =>
    say(
      "the tip is above the fee cap",
      [weiPerGas("tip", error.maxPriorityFeePerGas), weiPerGas("max fee", error.maxFeePerGas)],
      "lower maxPriorityFeePerGas or raise maxFeePerGas",
    ),
) {}
