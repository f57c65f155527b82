/** Besu: sentences of its transaction validator, often with the detail in brackets; codes collide with everybody's. */
import type { Flat } from "../flatten.js";
import { MethodNotSupported } from "../rpc.js";
import {
  BlockGasLimitExceeded,
  FeeCapTooLow,
  InitCodeTooLarge,
  IntrinsicGasTooLow,
  NonceTooHigh,
  NonceTooLow,
  TxGasLimitTooHigh,
  VmHalt,
} from "../verdicts.js";
import { accountIn, amountIn, cannotPay, failedBy, quantity, said, says, type Answer } from "./evidence.js";

const number = "(0x[0-9a-fA-F]+|\\d+)";
const cost = new RegExp(`up-?front cost(?: of)? ${number} exceeds [\\w ]*balance(?: of)? ${number}`, "i");
const nonce = new RegExp(
  `nonce ${number} (below|above|does not match|is greater than|is lower than)[\\w ]* nonce ${number}`,
  "i",
);
const intrinsic = new RegExp(`intrinsic gas cost ${number} exceeds gas limit ${number}`, "i");
const price = new RegExp(
  `(?:max ?fee(?: ?per ?gas)?|gas ?price|fee cap)[\\w ]{0,24} ${number}[^.\\d]{0,64}base ?fee[\\w ]{0,16} ${number}`,
  "i",
);
const block = new RegExp(`gas limit(?: of)? ${number} exceeds (?:the )?block gas limit(?: of)? ${number}`, "i");
const initcode = new RegExp(`initcode size of ${number} exceeds maximum size of ${number}`, "i");

/** Besu's words and the codes that only Besu pairs with them. */
export const besu = (flat: Flat): Answer => {
  const raw = flat.raw;
  const funds = said(flat, cost);
  if (funds !== null || says(flat, /up-?front cost exceeds|exceeds [\w ]*account balance/i)) {
    return cannotPay(flat, quantity(funds?.[2]), quantity(funds?.[1]), { account: accountIn(flat) });
  }
  const counted = said(flat, nonce);
  if (counted !== null) {
    const [given, next] = [quantity(counted[1]), quantity(counted[3])];
    const fields = { account: accountIn(flat), nonce: given, next, raw };
    const low = given !== null && next !== null ? given < next : /below|lower/i.test(counted[2] ?? "");
    return low ? new NonceTooLow(fields) : new NonceTooHigh(fields);
  }
  const needs = said(flat, intrinsic);
  if (needs !== null || says(flat, /intrinsic gas exceeds gas limit/i)) {
    return new IntrinsicGasTooLow({ want: quantity(needs?.[1]), have: quantity(needs?.[2]), raw });
  }
  const paid = said(flat, price);
  if (paid !== null || says(flat, /gas price below current base fee|less than the current basefee/i)) {
    return new FeeCapTooLow({ maxFeePerGas: quantity(paid?.[1]), baseFeePerGas: quantity(paid?.[2]), raw });
  }
  if (says(flat, /gas limit cap exceeded|exceeds (?:the )?(?:transaction )?gas limit cap/i)) {
    return new TxGasLimitTooHigh({
      gas: amountIn(flat, /gas limit (?:of )?(\d+)/i),
      limit: amountIn(flat, /cap (?:of )?(\d+)/i),
      raw,
    });
  }
  const full = said(flat, block);
  if (full !== null) return new BlockGasLimitExceeded({ gas: quantity(full[1]), limit: quantity(full[2]), raw });
  const code = said(flat, initcode);
  if (code !== null) return new InitCodeTooLarge({ size: quantity(code[1]), limit: quantity(code[2]), raw });
  if (flat.codes.includes(-32604)) return failedBy(flat, MethodNotSupported);
  // a halt inside eth_call (out of gas, invalid opcode) comes as nothing but this
  const only = flat.levels.length === 1 ? flat.levels[0] : undefined;
  if (
    flat.method === "eth_call" &&
    only?.code === -32603 &&
    !only.hasData &&
    only.texts.join("") === "Internal error"
  ) {
    return new VmHalt({ halt: null, raw });
  }
  const halted = said(flat, /could not be completed due to an exception \(([^)]{1,200})\)/i);
  return halted !== null && !/gas/i.test(halted[1] ?? "") ? new VmHalt({ halt: halted[1] ?? null, raw }) : undefined;
};
