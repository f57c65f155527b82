/** Nethermind, with parity and OpenEthereum, whose codes and `data` texts it inherited. */
import type { Flat } from "../flatten.js";
import { BlockNotFound } from "../rpc.js";
import { FeeCapTooLow, InsufficientFunds, IntrinsicGasTooLow, OutOfGas, VmHalt } from "../verdicts.js";
import { accountIn, amountIn, failedBy, said, says, suppliedGas, wrongNonce, type Answer } from "./evidence.js";

/** Words that only Nethermind and its ancestors use. */
export const nethermind = (flat: Flat): Answer => {
  const raw = flat.raw;
  if (says(flat, /miner premium is negative/i)) return new FeeCapTooLow({ account: accountIn(flat), raw });
  if (says(flat, /insufficient sender balance|insufficient funds to pay for gas|insufficient maxfeepergas/i)) {
    return new InsufficientFunds({
      account: accountIn(flat),
      have: amountIn(flat, /\b(?:have|balance):? (\d+)/i),
      want: amountIn(flat, /\b(?:want|required):? (\d+)/i),
      gas: suppliedGas(flat),
      raw,
    });
  }
  if (says(flat, /not enough gas provided to pay for intrinsic|gas limit below intrinsic/i)) {
    return new IntrinsicGasTooLow({
      have: amountIn(flat, /\b(?:have|gas limit):? (\d+)/i),
      want: amountIn(flat, /\b(?:want|intrinsic gas):? (\d+)/i),
      raw,
    });
  }
  const nonce = said(flat, /(?:transaction|tx)?nonce(?: is)?too(low|high)/i);
  if (nonce !== null) return wrongNonce(flat, nonce[1]?.toLowerCase() === "low");
  // the old pair: code −32015 or −32016, a fixed message, the verdict in `data`
  if (says(flat, /^(?:vm execution error|the execution failed due to an exception)/i)) {
    const words = flat.texts.slice(1).join(" ");
    if (/out ?of ?gas/i.test(words)) return new OutOfGas({ gasLimit: suppliedGas(flat), raw });
    if (words !== "" && !/upper limit/i.test(words)) return new VmHalt({ halt: words.slice(0, 512), raw });
  }
  return flat.codes.includes(-39001) ? failedBy(flat, BlockNotFound) : undefined;
};
