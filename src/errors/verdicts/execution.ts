/** What the EVM did with the call: reverted, halted, ran dry. */
import * as Schema from "effect/Schema";
import { Hex, nullable } from "../../primitives/hex.js";
import { Revert } from "../../abi/revert.js";
import { describeRevert } from "../../abi/print.js";
import { quoteText } from "../../primitives/text.js";
import { address, figures, gas, quote, statementText, type Statement } from "../../primitives/statement.js";
import { account, amount, raw } from "./fields.js";

/** The call reverted; `revert` is what the contract said, decoded as far as the ABIs reach. */
export class ExecutionReverted extends Schema.TaggedError<ExecutionReverted>()("ExecutionReverted", {
  /** The revert bytes; null when the node lost them. */
  data: nullable(Hex),
  revert: nullable(Revert),
  /** The node's own words, unescaped and bounded; may be the contract's text. Escape before showing. */
  text: nullable(Schema.String),
  to: account,
  raw,
}) {
  get statement(): Statement {
    const said = this.revert !== null ? describeRevert(this.revert) : this.text === null ? null : quoteText(this.text);
    return {
      sentence: said === null ? "the call reverts" : `the call reverts with ${said}`,
      numbers: figures(address("to", this.to)),
      remedy:
        this.revert === null && this.data === null
          ? "the node gave no revert data; another node may"
          : "do not sign; the contract refuses this call in this state",
    };
  }
  override get message() {
    return statementText(this.statement);
  }
}

/** The EVM stopped: invalid opcode, bad jump, stack. */
export class VmHalt extends Schema.TaggedError<VmHalt>()("VmHalt", {
  /** The node's name for it, unescaped and bounded. */
  halt: nullable(Schema.String),
  raw,
}) {
  get statement(): Statement {
    return {
      sentence: "the EVM halts",
      numbers: figures(quote("", this.halt)),
      remedy: "do not sign; the contract cannot execute this call",
    };
  }
  override get message() {
    return statementText(this.statement);
  }
}

/** The gas ran out. */
export class OutOfGas extends Schema.TaggedError<OutOfGas>()("OutOfGas", { gasLimit: amount, raw }) {
  get statement(): Statement {
    return {
      sentence: "the gas runs out",
      numbers: figures(gas("gas limit", this.gasLimit)),
      remedy: "raise the gas limit, or leave `gas` out to have it chosen",
    };
  }
  override get message() {
    return statementText(this.statement);
  }
}
