/** What the EVM did with the call: reverted, halted, ran dry. */
import * as Schema from "effect/Schema";
import { Hex, nullable } from "../../primitives/hex.js";
import { Revert } from "../../abi/revert.js";
import { describeRevert } from "../../abi/revertText.js";
import { quoteText } from "../../primitives/text.js";
import { address, gas, quote, say } from "../../primitives/statement.js";
import { stated } from "../stated.js";
import { account, amount, raw } from "./fields.js";

/** The call reverted; `revert` is what the contract said, decoded as far as the ABIs reach. */
export class ExecutionReverted extends stated<ExecutionReverted>()(
  "ExecutionReverted",
  {
    /** The revert bytes; null when the node lost them. */
    data: nullable(Hex),
    /** What the revert says, decoded; null where the node gave no data. */
    revert: nullable(Revert),
    /** The node's own words, unescaped and bounded; may be the contract's text. Escape before showing. */
    text: nullable(Schema.String),
    /** The contract that was called; null where it is not known. */
    to: account,
    /** What the node said, as it came; null where our own rules decided. */
    raw,
  },
  ({ data, revert, text, to }) => {
    const said = revert !== null ? describeRevert(revert) : text === null ? null : quoteText(text);
    return say(
      said === null ? "the call reverts" : `the call reverts with ${said}`,
      [address("to", to)],
      revert === null && data === null
        ? "the node gave no revert data; another node may"
        : "do not sign; the contract refuses this call in this state",
    );
  },
) {}

/** The EVM stopped: invalid opcode, bad jump, stack. */
export class VmHalt extends stated<VmHalt>()(
  "VmHalt",
  {
    /** The node's name for it, unescaped and bounded. */
    halt: nullable(Schema.String),
    /** What the node said, as it came; null where our own rules decided. */
    raw,
  },
  (error) => say("the EVM halts", [quote("", error.halt)], "do not sign; the contract cannot execute this call"),
) {}

/** The gas ran out. */
export class OutOfGas extends stated<OutOfGas>()(
  "OutOfGas",
  {
    /** The gas limit it ran with, gas; null where it is not known. */
    gasLimit: amount,
    /** What the node said, as it came; null where our own rules decided. */
    raw,
  },
  (error) =>
    say(
      "the gas runs out",
      [gas("gas limit", error.gasLimit)],
      "raise the gas limit, or leave `gas` out to have it chosen",
    ),
) {}
