/** The wrong account, code or chain. */
import * as Schema from "effect/Schema";
import { address, bytes, count, figures, statementText, type Statement } from "../../primitives/statement.js";
import { account, amount, raw } from "./fields.js";

/** The sender has code that is no EIP-7702 delegation (EIP-3607). */
export class SenderNotEoa extends Schema.TaggedError<SenderNotEoa>()("SenderNotEoa", { account, raw }) {
  get statement(): Statement {
    return {
      sentence: "the sender is a contract and cannot sign (EIP-3607)",
      numbers: figures(address("account", this.account)),
      remedy: "send from the account that controls it",
    };
  }
  override get message() {
    return statementText(this.statement);
  }
}

/** Deployment code over the limit (EIP-3860). */
export class InitCodeTooLarge extends Schema.TaggedError<InitCodeTooLarge>()("InitCodeTooLarge", {
  /** Bytes. */ size: amount,
  /** Bytes. */ limit: amount,
  raw,
}) {
  get statement(): Statement {
    return {
      sentence: "the deployment code is too large (EIP-3860)",
      numbers: figures(bytes("size", this.size), bytes("limit", this.limit)),
      remedy: "split the contract",
    };
  }
  override get message() {
    return statementText(this.statement);
  }
}

/** Calldata for an address where nobody lives: it would succeed and do nothing. */
export class NoCode extends Schema.TaggedError<NoCode>()("NoCode", { account, raw }) {
  get statement(): Statement {
    return {
      sentence: "calldata is sent to an address without code; it would succeed and do nothing",
      numbers: figures(address("account", this.account)),
      remedy: "check the address and the chain",
    };
  }
  override get message() {
    return statementText(this.statement);
  }
}

/** The node serves another chain than the transaction names. */
export class ChainIdMismatch extends Schema.TaggedError<ChainIdMismatch>()("ChainIdMismatch", {
  expected: amount,
  actual: amount,
  raw,
}) {
  get statement(): Statement {
    return {
      sentence: "the node serves another chain",
      numbers: figures(count("transaction", this.expected), count("node", this.actual)),
      remedy: "use an endpoint of the transaction's chain",
    };
  }
  override get message() {
    return statementText(this.statement);
  }
}
