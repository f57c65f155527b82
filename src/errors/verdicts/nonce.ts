/** A nonce that cannot be mined now. */
import * as Schema from "effect/Schema";
import { type Address } from "../../primitives/hex.js";
import { address, count, figures, statementText, type Statement } from "../../primitives/statement.js";
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
}) => figures(count("nonce", error.nonce), count("next", error.next), address("account", error.account));

/** The nonce is used already. */
export class NonceTooLow extends Schema.TaggedError<NonceTooLow>()("NonceTooLow", nonceFields) {
  get statement(): Statement {
    return {
      sentence: "the nonce is already used",
      numbers: nonceFacts(this),
      remedy: this.next === null ? "read the nonce again" : `use nonce ${this.next}, or leave \`nonce\` out`,
    };
  }
  override get message() {
    return statementText(this.statement);
  }
}

/** The nonce leaves a gap before it: the transaction would wait. */
export class NonceTooHigh extends Schema.TaggedError<NonceTooHigh>()("NonceTooHigh", nonceFields) {
  get statement(): Statement {
    return {
      sentence: "the nonce leaves a gap, the transaction would wait",
      numbers: nonceFacts(this),
      remedy:
        this.next === null
          ? "send the missing nonces first"
          : `send the missing nonces first, or use nonce ${this.next}`,
    };
  }
  override get message() {
    return statementText(this.statement);
  }
}

/** The nonce is 2^64 − 1 (EIP-2681). */
export class NonceOverflow extends Schema.TaggedError<NonceOverflow>()("NonceOverflow", { account, raw }) {
  get statement(): Statement {
    return {
      sentence: "the account's nonce is at its maximum (EIP-2681)",
      numbers: figures(address("account", this.account)),
      remedy: "use another account",
    };
  }
  override get message() {
    return statementText(this.statement);
  }
}
