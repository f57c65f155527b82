/** Hardhat, its EDR engine, and ganache: whole sentences under −32000 or −32603. */
import type { Flat } from "../flatten.js";
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
import { accountIn, cannotPay, failedBy, quantity, said, says, type Answer } from "./evidence.js";

/** Hardhat's, EDR's and ganache's sentences. */
export const hardhat = (flat: Flat): Answer => {
  const raw = flat.raw;
  const nonce = said(flat, /nonce too (low|high)\. expected nonce to be (?:at least )?(\d+) but got (\d+)/i);
  if (nonce !== null) {
    const fields = { account: accountIn(flat), next: quantity(nonce[2]), nonce: quantity(nonce[3]), raw };
    return nonce[1]?.toLowerCase() === "low" ? new NonceTooLow(fields) : new NonceTooHigh(fields);
  }
  // ganache 7: "the tx doesn't have the correct nonce. account has nonce of: 5 tx has nonce of: 4"
  const ganache = said(flat, /correct nonce\. account has nonce of: (\d+) tx has nonce of: (\d+)/i);
  if (ganache !== null) {
    const [next, given] = [quantity(ganache[1]), quantity(ganache[2])];
    const fields = { account: null, next, nonce: given, raw };
    return given !== null && next !== null && given < next ? new NonceTooLow(fields) : new NonceTooHigh(fields);
  }
  const intrinsic = said(flat, /requires at least (\d+) gas(?: but got (\d+))?/i);
  if (intrinsic !== null) {
    return new IntrinsicGasTooLow({ want: quantity(intrinsic[1]), have: quantity(intrinsic[2]), raw });
  }
  const capped = said(
    flat,
    /gas limit (?:is |of )?(\d+) (?:and |which )?exceeds (?:the )?transaction gas cap(?: of)? (\d+)/i,
  );
  if (capped !== null) return new TxGasLimitTooHigh({ gas: quantity(capped[1]), limit: quantity(capped[2]), raw });
  const block = said(
    flat,
    /gas limit (?:is |of )?(\d+) (?:and |which )?exceeds (?:the )?block gas limit(?: of)? (\d+)/i,
  );
  if (block !== null) return new BlockGasLimitExceeded({ gas: quantity(block[1]), limit: quantity(block[2]), raw });
  const funds = said(
    flat,
    /doesn.t have enough funds(?:[^\d]{0,64}(?:up-?front cost|cost) is:? (\d+) and the sender.s (?:balance is|account only has|account has):? (\d+))?/i,
  );
  if (funds !== null) {
    return cannotPay(flat, quantity(funds[2]), quantity(funds[1]), { account: accountIn(flat) });
  }
  const tip = said(flat, /maxPriorityFeePerGas \((\d+)\) is (?:bigger|greater|higher) than maxFeePerGas \((\d+)\)/i);
  if (tip !== null)
    return new TipAboveFeeCap({ maxPriorityFeePerGas: quantity(tip[1]), maxFeePerGas: quantity(tip[2]), raw });
  const fee = said(flat, /\((\d+)\) is too low for the next block(?:[^\d]{0,48}baseFeePerGas of (\d+))?/i);
  if (fee !== null) return new FeeCapTooLow({ maxFeePerGas: quantity(fee[1]), baseFeePerGas: quantity(fee[2]), raw });
  const code = said(flat, /init ?code (?:length|size) of (\d+)[^\d]{0,64}(?:limit|maximum|max)[^\d]{0,24}(\d+)?/i);
  if (code !== null) return new InitCodeTooLarge({ size: quantity(code[1]), limit: quantity(code[2]), raw });
  if (says(flat, /received invalid block (?:tag|number)/i)) return failedBy(flat, BlockNotFound);
  if (says(flat, /^\w+ - method not supported/i)) return failedBy(flat, MethodNotSupported);
  return undefined;
};
