/** reth, op-reth, Base's node and anvil: revm's words where they differ from geth's. */
import type { Flat } from "../flatten.js";
import { BlockNotFound } from "../rpc.js";
import { OutOfGas } from "../verdicts.js";
import { amountIn, cannotPay, failedBy, quantity, said, says, suppliedGas, type Answer } from "./evidence.js";

/** Words of reth and anvil. */
export const reth = (flat: Flat): Answer => {
  const funds = said(flat, /insufficient funds for gas \* price \+ value: have (\d+) want (\d+)/i);
  if (funds !== null) {
    return cannotPay(flat, quantity(funds[1]), quantity(funds[2]), { gas: suppliedGas(flat) });
  }
  const ran = said(flat, /out of gas: (?:gas required exceeds|gas exhausted[^:]{0,48}): (\d+)/i);
  if (ran !== null) return new OutOfGas({ gasLimit: quantity(ran[1]), raw: flat.raw });
  if (says(flat, /blockoutofrangeerror|block height is \d+ but requested was/i)) {
    return failedBy(flat, BlockNotFound);
  }
  // not "gas required exceeds allowance", which is another verdict
  return !says(flat, /memory limit exceeded during memory expansion/i)
    ? undefined
    : new OutOfGas({ gasLimit: amountIn(flat, /expansion: (\d+)/i), raw: flat.raw });
};
