/** Hardhat, its EDR engine, and ganache: whole sentences under −32000 or −32603. */
import { BlockNotFound, MethodNotSupported } from "../rpc.js";
import {
  BlockGasLimitExceeded,
  FeeCapTooLow,
  InitCodeTooLarge,
  IntrinsicGasTooLow,
  NonceTooHigh,
  NonceTooLow,
  TipAboveFeeCap,
  TxGasLimitTooHigh,
} from "../verdicts.js";
import { accountIn, byRules, cannotPay, means, quantity, verdictBy, wrongNonce } from "./evidence.js";

/** Hardhat's, EDR's and ganache's sentences. */
export const hardhat = byRules(
  [
    /nonce too (low|high)\. expected nonce to be (?:at least )?(\d+) but got (\d+)/i,
    ([, kind, next, given], flat) => wrongNonce(flat, kind?.toLowerCase() === "low", quantity(given), quantity(next)),
  ],
  [
    // ganache 7: "the tx doesn't have the correct nonce. account has nonce of: 5 tx has nonce of: 4"
    /correct nonce\. account has nonce of: (\d+) tx has nonce of: (\d+)/i,
    ([, second, first], { raw }) => {
      const [nonce, next] = [quantity(first), quantity(second)];
      const isLow = nonce !== null && next !== null && nonce < next;
      return new (isLow ? NonceTooLow : NonceTooHigh)({ account: null, next, nonce, raw });
    },
  ],
  [/requires at least (\d+) gas(?: but got (\d+))?/i, verdictBy(IntrinsicGasTooLow, "want", "have")],
  [
    /gas limit (?:is |of )?(\d+) (?:and |which )?exceeds (?:the )?transaction gas cap(?: of)? (\d+)/i,
    verdictBy(TxGasLimitTooHigh, "gas", "limit"),
  ],
  [
    /gas limit (?:is |of )?(\d+) (?:and |which )?exceeds (?:the )?block gas limit(?: of)? (\d+)/i,
    verdictBy(BlockGasLimitExceeded, "gas", "limit"),
  ],
  [
    /doesn.t have enough funds(?:[^\d]{0,64}(?:up-?front cost|cost) is:? (\d+) and the sender.s (?:balance is|account only has|account has):? (\d+))?/i,
    ([, want, have], flat) => cannotPay(flat, quantity(have), quantity(want), { account: accountIn(flat) }),
  ],
  [
    /maxPriorityFeePerGas \((\d+)\) is (?:bigger|greater|higher) than maxFeePerGas \((\d+)\)/i,
    verdictBy(TipAboveFeeCap, "maxPriorityFeePerGas", "maxFeePerGas"),
  ],
  [
    /\((\d+)\) is too low for the next block(?:[^\d]{0,48}baseFeePerGas of (\d+))?/i,
    verdictBy(FeeCapTooLow, "maxFeePerGas", "baseFeePerGas"),
  ],
  [
    /init ?code (?:length|size) of (\d+)[^\d]{0,64}(?:limit|maximum|max)[^\d]{0,24}(\d+)?/i,
    verdictBy(InitCodeTooLarge, "size", "limit"),
  ],
  [/received invalid block (?:tag|number)/i, means(BlockNotFound)],
  [/^\w+ - method not supported/i, means(MethodNotSupported)],
);
