/** The wrong account, code or chain. */
import * as Schema from "effect/Schema";
import { facts, maybe, sentence, type Parts } from "../../primitives/sentence.js";
import { account, amount, raw } from "./fields.js";

/** The sender has code that is no EIP-7702 delegation (EIP-3607). */
export class SenderNotEoa extends Schema.TaggedError<SenderNotEoa>()("SenderNotEoa", { account, raw }) {
  get parts(): Parts {
    return {
      verdict: "the sender is a contract and cannot sign (EIP-3607)",
      evidence: facts(["account", this.account]),
      remedy: "send from the account that controls it",
    };
  }
  override get message() {
    return sentence(this.parts);
  }
}

/** Deployment code over the limit (EIP-3860). */
export class InitCodeTooLarge extends Schema.TaggedError<InitCodeTooLarge>()("InitCodeTooLarge", {
  /** Bytes. */ size: amount,
  /** Bytes. */ limit: amount,
  raw,
}) {
  get parts(): Parts {
    return {
      verdict: "the deployment code is too large (EIP-3860)",
      evidence: facts(
        ["size", maybe(this.size, (size) => `${size} bytes`)],
        ["limit", maybe(this.limit, (limit) => `${limit} bytes`)],
      ),
      remedy: "split the contract",
    };
  }
  override get message() {
    return sentence(this.parts);
  }
}

/** Calldata for an address where nobody lives: it would succeed and do nothing. */
export class NoCode extends Schema.TaggedError<NoCode>()("NoCode", { account, raw }) {
  get parts(): Parts {
    return {
      verdict: "calldata is sent to an address without code; it would succeed and do nothing",
      evidence: facts(["account", this.account]),
      remedy: "check the address and the chain",
    };
  }
  override get message() {
    return sentence(this.parts);
  }
}

/** The node serves another chain than the transaction names. */
export class ChainIdMismatch extends Schema.TaggedError<ChainIdMismatch>()("ChainIdMismatch", {
  expected: amount,
  actual: amount,
  raw,
}) {
  get parts(): Parts {
    return {
      verdict: "the node serves another chain",
      evidence: facts(["transaction", maybe(this.expected, String)], ["node", maybe(this.actual, String)]),
      remedy: "use an endpoint of the transaction's chain",
    };
  }
  override get message() {
    return sentence(this.parts);
  }
}
