/** The wrong account, nonce, code or chain. */
import * as Schema from "effect/Schema";
import { Hash, nullable } from "../../primitives/hex.js";
import { address, bytes, count, hash, say, weiPerGas } from "../../primitives/statement.js";
import { account, amount, raw, stated, unsent } from "../stated.js";

const counted = {
  /** The account; null where it is not known. */
  account,
  /** The transaction's nonce. */ nonce: amount,
  /** The next nonce that can be mined. */ next: amount,
  /** What the node said, as it came; null where our own rules decided. */
  raw,
};
const counts = (error: Schema.Struct<typeof counted>["Type"]) => [
  count("nonce", error.nonce),
  count("next", error.next),
  address("account", error.account),
];

/** The nonce is used already. */
export class NonceTooLow extends stated<NonceTooLow>()(
  "NonceTooLow",
  counted,
  "the nonce is already used",
  counts,
  ({ next }) => (next === null ? "read the nonce again" : `use nonce ${next}, or leave \`nonce\` out`),
) {}

/** The nonce leaves a gap before it: the transaction would wait. */
export class NonceTooHigh extends stated<NonceTooHigh>()(
  "NonceTooHigh",
  counted,
  "the nonce leaves a gap, the transaction would wait",
  counts,
  ({ next }) => `send the missing nonces first${next === null ? "" : `, or use nonce ${next}`}`,
) {}

const judged = {
  /** The account; null where it is not known. */
  account,
  /** What the node said, as it came; null where our own rules decided. */
  raw,
};
const judgedAccount = (error: Schema.Struct<typeof judged>["Type"]) => [address("account", error.account)];

/** The nonce is 2^64 − 1 (EIP-2681). */
export class NonceOverflow extends stated<NonceOverflow>()(
  "NonceOverflow",
  judged,
  "the account's nonce is at its maximum (EIP-2681)",
  judgedAccount,
  "use another account",
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
  ({ isOtherKind }) =>
    isOtherKind
      ? "pools keep transactions with blobs and those without apart; neither replaces the other"
      : "the fees are too low to replace the transaction in flight",
  (error) => [
    count("nonce", error.nonce),
    hash("in flight", error.inFlight),
    weiPerGas("max fee at least", error.leastFeePerGas),
    weiPerGas("tip at least", error.leastPriorityFeePerGas),
    weiPerGas("blob fee at least", error.leastFeePerBlobGas),
  ],
  ({ isOtherKind }) =>
    isOtherKind
      ? "wait until it is mined"
      : "raise every fee to that, name the pool's own rule (`priceBump`), or use the next nonce",
) {}

/** The sender has code that is no EIP-7702 delegation (EIP-3607). */
export class SenderNotEoa extends stated<SenderNotEoa>()(
  "SenderNotEoa",
  judged,
  "the sender is a contract and cannot sign (EIP-3607)",
  judgedAccount,
  "send from the account that controls it",
) {}

/** Deployment code over the limit (EIP-3860). */
export class InitCodeTooLarge extends stated<InitCodeTooLarge>()(
  "InitCodeTooLarge",
  {
    /** Bytes. */ size: amount,
    /** Bytes. */ limit: amount,
    /** What the node said, as it came; null where our own rules decided. */
    raw,
  },
  "the deployment code is too large (EIP-3860)",
  (error) => [bytes("size", error.size), bytes("limit", error.limit)],
  "split the contract",
) {}

/** Calldata for an address without code: the transaction would succeed and do nothing. */
export class NoCode extends stated<NoCode>()(
  "NoCode",
  judged,
  "calldata is sent to an address without code; it would succeed and do nothing",
  judgedAccount,
  "check the address and the chain",
) {}

/** The node serves another chain than the transaction names. */
export class ChainIdMismatch extends unsent<ChainIdMismatch>()(
  "ChainIdMismatch",
  {
    /** The chain id that was asked for. */
    expected: amount,
    /** The chain id that the node serves. */
    actual: amount,
    /** What the node said, as it came; null where our own rules decided. */
    raw,
  },
  (error) =>
    say(
      "the node serves another chain",
      [count("transaction", error.expected), count("node", error.actual)],
      "use an endpoint of the transaction's chain",
    ),
) {}

/** An account is about to run code in its own place (DELEGATECALL) that is not known by its hash. */
export class UnknownDelegateCall extends stated<UnknownDelegateCall>()(
  "UnknownDelegateCall",
  {
    /** The account in whose place the code runs; null where it only comes into being. */
    account,
    /** Whose code it is. */
    target: account,
  },
  "an account would run unknown code in its own place (DELEGATECALL), which may take all it has and replace its own code",
  (error) => [address("account", error.account), address("code", error.target)],
  "do not sign; if you know the code, name its address in `delegateTargets`",
) {}
