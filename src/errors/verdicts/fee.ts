/** Fees that no block would take. */
import * as Schema from "effect/Schema";
import { facts, maybe, sentence, type Parts } from "../../primitives/sentence.js";
import { formatGasPrice } from "../../primitives/units.js";
import { account, amount, raw } from "./fields.js";

/** `maxFeePerGas` below the base fee. */
export class FeeCapTooLow extends Schema.TaggedError<FeeCapTooLow>()("FeeCapTooLow", {
  account,
  maxFeePerGas: amount,
  baseFeePerGas: amount,
  raw,
}) {
  get parts(): Parts {
    return {
      verdict: "the fee cap is below the base fee",
      evidence: facts(
        ["max fee", maybe(this.maxFeePerGas, formatGasPrice)],
        ["base fee", maybe(this.baseFeePerGas, formatGasPrice)],
      ),
      remedy: "raise maxFeePerGas (or gasPrice) above the base fee, with room for it to grow",
    };
  }
  override get message() {
    return sentence(this.parts);
  }
}

/** `maxPriorityFeePerGas` above `maxFeePerGas`. */
export class TipAboveFeeCap extends Schema.TaggedError<TipAboveFeeCap>()("TipAboveFeeCap", {
  maxPriorityFeePerGas: amount,
  maxFeePerGas: amount,
  raw,
}) {
  get parts(): Parts {
    return {
      verdict: "the tip is above the fee cap",
      evidence: facts(
        ["tip", maybe(this.maxPriorityFeePerGas, formatGasPrice)],
        ["max fee", maybe(this.maxFeePerGas, formatGasPrice)],
      ),
      remedy: "lower maxPriorityFeePerGas or raise maxFeePerGas",
    };
  }
  override get message() {
    return sentence(this.parts);
  }
}
