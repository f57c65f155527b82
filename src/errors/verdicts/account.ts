/** The wrong account, code or chain. */
import { address, bytes, count, say } from "../../primitives/statement.js";
import { unsent } from "../ofNonce.js";
import { stated } from "../stated.js";
import { account, amount, raw } from "./fields.js";

/** The sender has code that is no EIP-7702 delegation (EIP-3607). */
export class SenderNotEoa extends stated<SenderNotEoa>()(
  "SenderNotEoa",
  {
    /** The account; null where it is not known. */
    account,
    /** What the node said, as it came; null where our own rules decided. */
    raw,
  },
  (error) =>
    say(
      "the sender is a contract and cannot sign (EIP-3607)",
      [address("account", error.account)],
      "send from the account that controls it",
    ),
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
  (error) =>
    say(
      "the deployment code is too large (EIP-3860)",
      [bytes("size", error.size), bytes("limit", error.limit)],
      "split the contract",
    ),
) {}

/** Calldata for an address without code: the transaction would succeed and do nothing. */
export class NoCode extends stated<NoCode>()(
  "NoCode",
  {
    /** The account; null where it is not known. */
    account,
    /** What the node said, as it came; null where our own rules decided. */
    raw,
  },
  (error) =>
    say(
      "calldata is sent to an address without code; it would succeed and do nothing",
      [address("account", error.account)],
      "check the address and the chain",
    ),
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
  (error) =>
    say(
      "an account would run unknown code in its own place (DELEGATECALL), which may take all it has and replace its own code",
      [address("account", error.account), address("code", error.target)],
      "do not sign; if you know the code, name its address in `delegateTargets`",
    ),
) {}
