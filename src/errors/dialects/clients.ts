/** The clients with words of their own: Besu; Hardhat with EDR and ganache; Nethermind with parity and OpenEthereum. */
import { MethodNotSupported, BlockNotFound } from "../rpc.js";
import {
  BlockGasLimitExceeded,
  FeeCapTooLow,
  InitCodeTooLarge,
  IntrinsicGasTooLow,
  TxGasLimitTooHigh,
  VmHalt,
  NonceTooHigh,
  NonceTooLow,
  TipAboveFeeCap,
  InsufficientFunds,
  OutOfGas,
} from "../verdicts.js";
import {
  accountIn,
  amountIn,
  byRules,
  cannotPay,
  failedBy,
  quantity,
  match,
  verdictBy,
  verdictIn,
  wrongNonce,
  type Dialect,
  means,
  suppliedGas,
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
    verdictIn(TxGasLimitTooHigh, { gas: [/gas limit (?:of )?(\d+)/i], limit: [/cap (?:of )?(\d+)/i] }),
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
  const halt = match(flat, /could not be completed due to an exception \(([^)]{1,200})\)/i)?.[1] ?? null;
  return halt === null || /gas/i.test(halt) ? undefined : new VmHalt({ halt, raw: flat.raw });
};

/* Hardhat, its EDR engine, and ganache: whole sentences under −32000 or −32603. */

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

/* Nethermind, with parity and OpenEthereum, whose codes and `data` texts it inherited. */

const inherited = byRules(
  [/miner premium is negative/i, (_, flat) => new FeeCapTooLow({ account: accountIn(flat), raw: flat.raw })],
  [
    /insufficient sender balance|insufficient funds to pay for gas|insufficient maxfeepergas/i,
    (_, flat) =>
      new InsufficientFunds({
        account: accountIn(flat),
        have: amountIn(flat, /\b(?:have|balance):? (\d+)/i),
        want: amountIn(flat, /\b(?:want|required):? (\d+)/i),
        gas: suppliedGas(flat),
        raw: flat.raw,
      }),
  ],
  [
    /not enough gas provided to pay for intrinsic|gas limit below intrinsic/i,
    verdictIn(IntrinsicGasTooLow, {
      have: [/\b(?:have|gas limit):? (\d+)/i],
      want: [/\b(?:want|intrinsic gas):? (\d+)/i],
    }),
  ],
  [
    /(?:transaction|tx)?nonce(?: is)?too(low|high)/i,
    ([, kind], flat) => wrongNonce(flat, kind?.toLowerCase() === "low"),
  ],
  [
    // the old pair: code −32015 or −32016, a fixed message, the verdict in `data`
    /^(?:vm execution error|the execution failed due to an exception)/i,
    (_, flat) => {
      const words = flat.texts.slice(1).join(" ");
      if (/out ?of ?gas/i.test(words)) return new OutOfGas({ gasLimit: suppliedGas(flat), raw: flat.raw });
      if (words === "" || /upper limit/i.test(words)) return undefined;
      return new VmHalt({ halt: words.slice(0, 512), raw: flat.raw });
    },
  ],
);

/** Words that only Nethermind and its ancestors use. */
export const nethermind: Dialect = (flat) =>
  inherited(flat) ?? (flat.codes.includes(-39001) ? failedBy(flat, BlockNotFound) : undefined);
