/** A nonce that cannot be mined now. */
import { address, count, say, type Figure } from "../../primitives/statement.js";
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
