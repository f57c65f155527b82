/** Besu: sentences of its transaction validator, often with the detail in brackets; codes collide with everybody's. */
import { MethodNotSupported } from "../rpc.js";
import {
  BlockGasLimitExceeded,
  FeeCapTooLow,
  InitCodeTooLarge,
  IntrinsicGasTooLow,
  TxGasLimitTooHigh,
  VmHalt,
} from "../verdicts.js";
import {
  accountIn,
  amountIn,
  byRules,
  cannotPay,
  failedBy,
  quantity,
  said,
  verdictBy,
  wrongNonce,
  type Dialect,
} from "./evidence.js";

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

const words = byRules(
  [cost, ([, want, have], flat) => cannotPay(flat, quantity(have), quantity(want), { account: accountIn(flat) })],
  [
    /up-?front cost exceeds|exceeds [\w ]*account balance/i,
    (_, flat) => cannotPay(flat, null, null, { account: accountIn(flat) }),
  ],
  [
    nonce,
    ([, first, comparison, second], flat) => {
      const [given, next] = [quantity(first), quantity(second)];
      const isLow = given !== null && next !== null ? given < next : /below|lower/i.test(comparison ?? "");
      return wrongNonce(flat, isLow, given, next);
    },
  ],
  [intrinsic, verdictBy(IntrinsicGasTooLow, "want", "have")],
  [/intrinsic gas exceeds gas limit/i, verdictBy(IntrinsicGasTooLow)],
  [price, verdictBy(FeeCapTooLow, "maxFeePerGas", "baseFeePerGas")],
  [/gas price below current base fee|less than the current basefee/i, verdictBy(FeeCapTooLow)],
  [
    /gas limit cap exceeded|exceeds (?:the )?(?:transaction )?gas limit cap/i,
    (_, flat) =>
      new TxGasLimitTooHigh({
        gas: amountIn(flat, /gas limit (?:of )?(\d+)/i),
        limit: amountIn(flat, /cap (?:of )?(\d+)/i),
        raw: flat.raw,
      }),
  ],
  [block, verdictBy(BlockGasLimitExceeded, "gas", "limit")],
  [initcode, verdictBy(InitCodeTooLarge, "size", "limit")],
);

/** Besu's words and the codes that only Besu pairs with them. */
export const besu: Dialect = (flat) => {
  const answer = words(flat);
  if (answer !== undefined) return answer;
  if (flat.codes.includes(-32604)) return failedBy(flat, MethodNotSupported);
  // a halt inside eth_call (out of gas, invalid opcode) comes as nothing but this
  const only = flat.levels.length === 1 && flat.method === "eth_call" ? flat.levels[0] : undefined;
  if (only?.code === -32603 && !only.hasData && only.texts.join("") === "Internal error")
    return new VmHalt({ halt: null, raw: flat.raw });
  const halt = said(flat, /could not be completed due to an exception \(([^)]{1,200})\)/i)?.[1] ?? null;
  return halt === null || /gas/i.test(halt) ? undefined : new VmHalt({ halt, raw: flat.raw });
};
