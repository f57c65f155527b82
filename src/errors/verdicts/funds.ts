/** Who cannot pay. */
import { address, gas, say, wei } from "../../primitives/statement.js";
import { stated } from "../stated.js";
import { account, amount, raw } from "./fields.js";

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
  (error) =>
    say(
      "the sender cannot pay",
      [
        wei("short by", error.shortfall),
        address("account", error.account),
        wei("has", error.have),
        wei("needs up to", error.want),
        gas("for", error.gas),
      ],
      "fund the account with what it is short by, or lower value, gas or fees",
    ),
) {}
