/** A nonce that cannot be mined now. */
import * as Schema from "effect/Schema";
import { type Address } from "../../primitives/hex.js";
import { facts, maybe, sentence, type Parts } from "../../primitives/sentence.js";
import { account, amount, raw } from "./fields.js";

const nonceFields = {
  account,
  /** The transaction's nonce. */ nonce: amount,
  /** The next nonce that can be mined. */ next: amount,
  raw,
};
const nonceFacts = (error: {
  readonly account: Address | null;
  readonly nonce: bigint | null;
  readonly next: bigint | null;
}) => facts(["nonce", maybe(error.nonce, String)], ["next", maybe(error.next, String)], ["account", error.account]);

/** The nonce is used already. */
export class NonceTooLow extends Schema.TaggedError<NonceTooLow>()("NonceTooLow", nonceFields) {
  get parts(): Parts {
    return {
      verdict: "the nonce is already used",
      evidence: nonceFacts(this),
      remedy: maybe(this.next, (next) => `use nonce ${next}, or leave \`nonce\` out`) ?? "read the nonce again",
    };
  }
  override get message() {
    return sentence(this.parts);
  }
}

/** The nonce leaves a gap before it: the transaction would wait. */
export class NonceTooHigh extends Schema.TaggedError<NonceTooHigh>()("NonceTooHigh", nonceFields) {
  get parts(): Parts {
    return {
      verdict: "the nonce leaves a gap, the transaction would wait",
      evidence: nonceFacts(this),
      remedy:
        maybe(this.next, (next) => `send the missing nonces first, or use nonce ${next}`) ??
        "send the missing nonces first",
    };
  }
  override get message() {
    return sentence(this.parts);
  }
}

/** The nonce is 2^64 − 1 (EIP-2681). */
export class NonceOverflow extends Schema.TaggedError<NonceOverflow>()("NonceOverflow", { account, raw }) {
  get parts(): Parts {
    return {
      verdict: "the account's nonce is at its maximum (EIP-2681)",
      evidence: facts(["account", this.account]),
      remedy: "use another account",
    };
  }
  override get message() {
    return sentence(this.parts);
  }
}
