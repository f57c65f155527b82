/** A nonce that cannot be mined now. */
import * as Schema from "effect/Schema";
import { Hash, nullable } from "../../primitives/hex.js";
import { address, count, hash, say, weiPerGas, type Figure } from "../../primitives/statement.js";
import { stated } from "../stated.js";
import { account, amount, raw } from "./fields.js";

const nonceFields = {
  /** The account; null where it is not known. */
  account,
  /** The transaction's nonce. */ nonce: amount,
  /** The next nonce that can be mined. */ next: amount,
  /** What the node said, as it came; null where our own rules decided. */
  raw,
};
const facts = (error: {
  readonly account: string | null;
  readonly nonce: bigint | null;
  readonly next: bigint | null;
}): ReadonlyArray<Figure | null> => [
  count("nonce", error.nonce),
  count("next", error.next),
  address("account", error.account),
];

/** The nonce is used already. */
export class NonceTooLow extends stated<NonceTooLow>()("NonceTooLow", nonceFields, (error) =>
  say(
    "the nonce is already used",
    facts(error),
    error.next === null ? "read the nonce again" : `use nonce ${error.next}, or leave \`nonce\` out`,
  ),
) {}

/** The nonce leaves a gap before it: the transaction would wait. */
export class NonceTooHigh extends stated<NonceTooHigh>()("NonceTooHigh", nonceFields, (error) =>
  say(
    "the nonce leaves a gap, the transaction would wait",
    facts(error),
    `send the missing nonces first${error.next === null ? "" : `, or use nonce ${error.next}`}`,
  ),
) {}

/** The nonce is 2^64 − 1 (EIP-2681). */
export class NonceOverflow extends stated<NonceOverflow>()(
  "NonceOverflow",
  {
    /** The account; null where it is not known. */
    account,
    /** What the node said, as it came; null where our own rules decided. */
    raw,
  },
  (error) =>
    say("the account's nonce is at its maximum (EIP-2681)", [address("account", error.account)], "use another account"),
) {}

/** A pool keeps the transaction in flight: this one, of the same nonce, pays too little more, or belongs into another pool. */
export class ReplacementRefused extends stated<ReplacementRefused>()(
  "ReplacementRefused",
  {
    /** The account; null where it is not known. */
    account,
    /** The nonce of both. */
    nonce: amount,
    /** The hash of the transaction in flight. */
    inFlight: nullable(Hash),
    /** Whether only one of the two carries blobs, so that no fee is enough. */
    isOtherKind: Schema.Boolean,
    /** The least fee cap that is taken, wei per gas, as the two below. */
    leastFeePerGas: amount,
    /** The least tip. */
    leastPriorityFeePerGas: amount,
    /** The least blob fee; null where there are no blobs. */
    leastFeePerBlobGas: amount,
    /** What the node said, as it came; null where our own rules decided. */
    raw,
  },
  (error) =>
    say(
      error.isOtherKind
        ? "pools keep transactions with blobs and those without apart; neither replaces the other"
        : "the fees are too low to replace the transaction in flight",
      [
        count("nonce", error.nonce),
        hash("in flight", error.inFlight),
        weiPerGas("max fee at least", error.leastFeePerGas),
        weiPerGas("tip at least", error.leastPriorityFeePerGas),
        weiPerGas("blob fee at least", error.leastFeePerBlobGas),
      ],
      error.isOtherKind
        ? "wait until it is mined"
        : "raise every fee to that, name the pool's own rule (`priceBump`), or use the next nonce",
    ),
) {}
