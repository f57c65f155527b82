/** Who cannot pay. */
import * as Schema from "effect/Schema";
import { address, figures, gas, statementText, wei, type Statement } from "../../primitives/statement.js";
import { account, amount, raw } from "./fields.js";

/** The payer cannot cover `want`. */
export class InsufficientFunds extends Schema.TaggedError<InsufficientFunds>()("InsufficientFunds", {
  account,
  /** Balance, wei. */
  have: amount,
  /** Required at most, wei. */
  want: amount,
  /** `want − have`, wei. */
  shortfall: amount,
  /** The gas the node multiplied with the fee, when it said so. */
  gas: amount,
  raw,
}) {
  get statement(): Statement {
    return {
      sentence: "the sender cannot pay",
      numbers: figures(
        wei("short by", this.shortfall),
        address("account", this.account),
        wei("has", this.have),
        wei("needs up to", this.want),
        gas("for", this.gas),
      ),
      remedy:
        this.shortfall === null
          ? "fund the account, or lower value, gas or fees"
          : `fund the account with at least ${this.shortfall} wei, or lower value, gas or fees`,
    };
  }
  override get message() {
    return statementText(this.statement);
  }
}
