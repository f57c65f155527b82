/** Refusals by every payer, block or node: funds, fees and gas limits; and the wrong account, nonce, code or chain. */
import * as Schema from "effect/Schema";
import {
  address,
  gas,
  wei,
  weiPerGas,
  account,
  amount,
  answered,
  stated,
  bytes,
  count,
  hash,
} from "../primitives/statement.js";
import { Hash, nullable } from "../primitives/hex.js";

/** The payer cannot cover `want`. */
export class InsufficientFunds extends stated<InsufficientFunds>()("InsufficientFunds", {
  /** The account; null where it is not known. */
  account,
  /** Balance, wei. */
  have: amount,
  /** Required at most, wei; what is known of it where the whole cost is not. */
  want: amount,
  /** `want − have`, wei. */
  shortfall: amount,
  /** The gas the node multiplied with the fee, when it said so. */
  gas: amount,
  ...answered,
})(
  "the sender cannot pay",
  (error) => [
    wei("short by", error.shortfall),
    address("account", error.account),
    wei("has", error.have),
    wei("needs up to", error.want),
    gas("for", error.gas),
  ],
  "fund the account with what it is short by, or lower value, gas or fees",
) {}

/** `maxFeePerGas` below the base fee. */
export class FeeCapTooLow extends stated<FeeCapTooLow>()("FeeCapTooLow", {
  /** The account; null where it is not known. */
  account,
  /** The fee cap of the request, wei per gas. */
  maxFeePerGas: amount,
  /** The base fee that it has to reach, wei per gas. */
  baseFeePerGas: amount,
  ...answered,
})(
  "the fee cap is below the base fee",
  (error) => [weiPerGas("max fee", error.maxFeePerGas), weiPerGas("base fee", error.baseFeePerGas)],
  "raise `maxFeePerGas` (or `gasPrice`) above the base fee, with room for it to grow",
) {}

/** `maxPriorityFeePerGas` above `maxFeePerGas`. */
export class TipAboveFeeCap extends stated<TipAboveFeeCap>()("TipAboveFeeCap", {
  /** The tip of the request, wei per gas. */
  maxPriorityFeePerGas: amount,
  /** The fee cap of the request, wei per gas. */
  maxFeePerGas: amount,
  ...answered,
})(
  "the tip is above the fee cap",
  (error) => [weiPerGas("tip", error.maxPriorityFeePerGas), weiPerGas("max fee", error.maxFeePerGas)],
  "lower `maxPriorityFeePerGas` or raise `maxFeePerGas`",
) {}

/** The gas limit does not even cover the transaction's intrinsic cost. */
export class IntrinsicGasTooLow extends stated<IntrinsicGasTooLow>()("IntrinsicGasTooLow", {
  /** The gas limit of the request, gas. */
  have: amount,
  /** The least that the transaction costs before anything runs, gas. */
  want: amount,
  ...answered,
})(
  "the gas limit is below the transaction's intrinsic cost",
  (error) => [gas("has", error.have), gas("needs", error.want)],
  "raise `gas`, or leave it out",
) {}

/** `eth_estimateGas` found no limit within what the balance or the node's cap allows. */
export class GasAllowanceExceeded extends stated<GasAllowanceExceeded>()("GasAllowanceExceeded", {
  /** The least of: gas given, node's cap, balance ÷ fee cap. */
  allowance: amount,
  ...answered,
})(
  "the call needs more gas than the node allows it",
  (error) => [gas("allowance", error.allowance)],
  "fund the sender, raise `gas`, or use a node with a higher gas cap",
) {}

const limited = {
  /** The gas limit of the request, gas. */
  gas: amount,
  /** The most that is allowed, gas. */
  limit: amount,
  ...answered,
};
const limits = (error: Schema.Struct<typeof limited>["Type"]) => [gas("gas", error.gas), gas("limit", error.limit)];

/** More gas than a block holds. */
export class BlockGasLimitExceeded extends stated<BlockGasLimitExceeded>()("BlockGasLimitExceeded", limited)(
  "the transaction asks for more gas than a block holds",
  limits,
  "lower the gas limit or split the work",
) {}

/** More gas than one transaction may ask for (EIP-7825: 2^24). */
export class TxGasLimitTooHigh extends stated<TxGasLimitTooHigh>()("TxGasLimitTooHigh", limited)(
  "the gas limit is above the chain's cap for one transaction",
  limits,
  "lower the gas limit or split the work",
) {}

/** Gas arithmetic overflowed 64 bits. */
export class GasUintOverflow extends stated<GasUintOverflow>()("GasUintOverflow", answered)(
  "the gas overflows 64 bits",
  () => [],
  "lower gas, fees or the size of the data",
) {}

/* The wrong account, nonce, code or chain. */

const counted = {
  /** The account; null where it is not known. */
  account,
  /** The transaction's nonce. */ nonce: amount,
  /** The next nonce that can be mined. */ next: amount,
  ...answered,
};
const counts = (error: Schema.Struct<typeof counted>["Type"]) => [
  count("nonce", error.nonce),
  count("next", error.next),
  address("account", error.account),
];

/** The nonce is used already. */
export class NonceTooLow extends stated<NonceTooLow>()("NonceTooLow", counted)(
  "the nonce is already used",
  counts,
  ({ next }) => (next === null ? "read the nonce again" : `use nonce ${next}, or leave \`nonce\` out`),
) {}

/** The nonce leaves a gap before it: the transaction would wait. */
export class NonceTooHigh extends stated<NonceTooHigh>()("NonceTooHigh", counted)(
  "the nonce leaves a gap, so the transaction would wait",
  counts,
  ({ next }) => `send the missing nonces first${next === null ? "" : `, or use nonce ${next}`}`,
) {}

const accountFields = {
  /** The account; null where it is not known. */
  account,
  ...answered,
};
const judgedAccount = (error: Schema.Struct<typeof accountFields>["Type"]) => [address("account", error.account)];

/** The nonce is 2^64 − 1 (EIP-2681). */
export class NonceOverflow extends stated<NonceOverflow>()("NonceOverflow", accountFields)(
  "the account's nonce is at its maximum (EIP-2681)",
  judgedAccount,
  "use another account",
) {}

/** A pool keeps the transaction in flight: this one, of the same nonce, pays too little more, or belongs into another pool. */
export class ReplacementRefused extends stated<ReplacementRefused>()("ReplacementRefused", {
  /** The account; null where it is not known. */
  account,
  /** The nonce of both. */
  nonce: amount,
  /** The hash of the transaction in flight. */
  inFlight: nullable(Hash),
  /** True where only one of the two carries blobs: then no fee is enough. */
  isOtherKind: Schema.Boolean,
  /** The least fee cap that is taken, wei per gas, as the two below. */
  leastFeePerGas: amount,
  /** The least tip. */
  leastPriorityFeePerGas: amount,
  /** The least blob fee; null where there are no blobs. */
  leastFeePerBlobGas: amount,
  ...answered,
})(
  ({ isOtherKind }) =>
    isOtherKind
      ? "a blob transaction and one without blobs cannot replace each other"
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
      : "raise every fee to at least that, set the mempool's own rule with `priceBump`, or use the next nonce",
) {}

/** The sender has code that is no EIP-7702 delegation (EIP-3607). */
export class SenderNotEoa extends stated<SenderNotEoa>()("SenderNotEoa", accountFields)(
  "the sender is a contract and cannot sign (EIP-3607)",
  judgedAccount,
  "send from the account that controls it",
) {}

/** Deployment code over the limit (EIP-3860). */
export class InitCodeTooLarge extends stated<InitCodeTooLarge>()("InitCodeTooLarge", {
  /** Bytes. */ size: amount,
  /** Bytes. */ limit: amount,
  ...answered,
})(
  "the deployment code is too large (EIP-3860)",
  (error) => [bytes("size", error.size), bytes("limit", error.limit)],
  "split the contract",
) {}

/** Calldata for an address without code: the transaction would succeed and do nothing. */
export class NoCode extends stated<NoCode>()("NoCode", accountFields)(
  "calldata is sent to an address without code; it would succeed and do nothing",
  judgedAccount,
  "check the address and the chain",
) {}

/** The node serves another chain than the transaction names. */
export class ChainIdMismatch extends stated<ChainIdMismatch>()("ChainIdMismatch", {
  /** The chain id of the transaction. */
  expected: amount,
  /** The chain id that the node serves. */
  actual: amount,
  ...answered,
})(
  "the node serves another chain",
  (error) => [count("meant for chain", error.expected), count("the node serves chain", error.actual)],
  "use an endpoint of the transaction's chain",
) {}

/** An account is about to run code in its own place (DELEGATECALL) that is not known by its hash. */
export class UnknownDelegateCall extends stated<UnknownDelegateCall>()("UnknownDelegateCall", {
  /** The account in whose place the code runs; null where it only comes into being. */
  account,
  /** The account whose code it is. */
  target: account,
})(
  "an account would run unknown code as its own (DELEGATECALL); that code may take everything and replace the account's code",
  (error) => [address("account", error.account), address("code", error.target)],
  "do not sign; if you know the code, name its address in `delegateTargets`",
) {}
