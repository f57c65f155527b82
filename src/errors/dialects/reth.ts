/** reth, op-reth, Base's node and anvil: revm's words where they differ from geth's. */
import type { Flat } from "../flatten.js";
import { BlockNotFound } from "../rpc.js";
import { InsufficientFunds, OutOfGas } from "../verdicts.js";
import { amountIn, answerOf, failed, quantity, said, suppliedGas, type Answer } from "./evidence.js";

/** Words of reth and anvil. */
export const reth = (flat: Flat): Answer => {
  const funds = said(flat, /insufficient funds for gas \* price \+ value: have (\d+) want (\d+)/i);
  if (funds !== null) {
    const [have, want] = [quantity(funds[1]), quantity(funds[2])];
    return new InsufficientFunds({
      have,
      want,
      shortfall: have === null || want === null || want < have ? null : want - have,
      gas: suppliedGas(flat),
      raw: flat.raw,
    });
  }
  const ran = said(flat, /out of gas: (?:gas required exceeds|gas exhausted[^:]{0,48}): (\d+)/i);
  if (ran !== null) return new OutOfGas({ gasLimit: quantity(ran[1]), raw: flat.raw });
  if (said(flat, /blockoutofrangeerror|block height is \d+ but requested was/i) !== null) {
    return failed(flat, new BlockNotFound(answerOf(flat)));
  }
  // not "gas required exceeds allowance", which is another verdict
  return said(flat, /memory limit exceeded during memory expansion/i) === null
    ? undefined
    : new OutOfGas({ gasLimit: amountIn(flat, /expansion: (\d+)/i), raw: flat.raw });
};
