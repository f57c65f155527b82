/** Fees that no block would take. */
import * as Schema from "effect/Schema";
import { figures, statementText, weiPerGas, type Statement } from "../../primitives/statement.js";
import { account, amount, raw } from "./fields.js";

/** `maxFeePerGas` below the base fee. */
export class FeeCapTooLow extends Schema.TaggedError<FeeCapTooLow>()("FeeCapTooLow", {
  account,
  maxFeePerGas: amount,
  baseFeePerGas: amount,
  raw,
}) {
  get statement(): Statement {
    return {
      sentence: "the fee cap is below the base fee",
      numbers: figures(weiPerGas("max fee", this.maxFeePerGas), weiPerGas("base fee", this.baseFeePerGas)),
      remedy: "raise maxFeePerGas (or gasPrice) above the base fee, with room for it to grow",
    };
  }
  override get message() {
    return statementText(this.statement);
  }
}

/** `maxPriorityFeePerGas` above `maxFeePerGas`. */
export class TipAboveFeeCap extends Schema.TaggedError<TipAboveFeeCap>()("TipAboveFeeCap", {
  maxPriorityFeePerGas: amount,
  maxFeePerGas: amount,
  raw,
}) {
  get statement(): Statement {
    return {
      sentence: "the tip is above the fee cap",
      numbers: figures(weiPerGas("tip", this.maxPriorityFeePerGas), weiPerGas("max fee", this.maxFeePerGas)),
      remedy: "lower maxPriorityFeePerGas or raise maxFeePerGas",
    };
  }
  override get message() {
    return statementText(this.statement);
  }
}
