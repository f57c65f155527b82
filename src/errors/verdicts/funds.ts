/** Who cannot pay. */
import * as Schema from "effect/Schema";
import { facts, maybe, sentence, type Parts } from "../../primitives/sentence.js";
import { formatGas, formatWei } from "../../primitives/units.js";
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
  get parts(): Parts {
    return {
      verdict:
        this.shortfall === null ? "the sender cannot pay" : `the sender is short by ${formatWei(this.shortfall)}`,
      evidence: facts(
        ["account", this.account],
        ["has", maybe(this.have, formatWei)],
        ["needs up to", maybe(this.want, formatWei)],
        ["for", maybe(this.gas, formatGas)],
      ),
      remedy:
        this.shortfall === null
          ? "fund the account, or lower value, gas or fees"
          : `fund the account with at least ${this.shortfall} wei, or lower value, gas or fees`,
    };
  }
  override get message() {
    return sentence(this.parts);
  }
}
