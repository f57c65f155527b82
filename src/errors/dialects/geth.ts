/**
 * go-ethereum and op-geth, whose words most other nodes copied: the shared vocabulary of verdicts. And where Erigon (its
 * own limits), reth, op-reth, Base's node and anvil (revm's words) differ from it.
 *
 * The order matters: the specific before the general.
 */
import type { Flat } from "../flatten.js";
import { BlockNotFound, NodeLimitExceeded } from "../rpc.js";
import {
  accountIn,
  amountIn,
  type Answer,
  cannotPay,
  failedBy,
  quantity,
  said,
  says,
  suppliedGas,
} from "./evidence.js";
import {
  BlockGasLimitExceeded,
  ChainIdMismatch,
  FeeCapTooLow,
  GasAllowanceExceeded,
  GasUintOverflow,
  InitCodeTooLarge,
  IntrinsicGasTooLow,
  NonceOverflow,
  NonceTooHigh,
  NonceTooLow,
  OutOfGas,
  SenderNotEoa,
  TipAboveFeeCap,
  TxGasLimitTooHigh,
  VmHalt,
} from "../verdicts.js";

/** Words of Erigon. */
export const erigon = (flat: Flat): Answer => {
  if (says(flat, /exceeding --rpc\.[\w.]+|too many blocks in request/i)) {
    return failedBy(flat, NodeLimitExceeded);
  }
  return !says(flat, /block number is in the future/i) ? undefined : failedBy(flat, BlockNotFound);
};

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

const funds = (flat: Flat): Answer => {
  if (!says(flat, /insufficient ?(?:funds|balance|sender balance|maxfeepergas)|not enough (?:funds|balance)/i)) {
    return undefined;
  }
  const have = amountIn(flat, /\bhave:? (\d+)/i, /\bbalance:? (\d+)/i);
  const want = amountIn(flat, /\bwant:? (\d+)/i, /\btx cost:? (\d+)/i);
  const overshot = amountIn(flat, /\bovershot:? (\d+)/i);
  return cannotPay(flat, have, want, { account: accountIn(flat), shortfall: overshot, gas: suppliedGas(flat) });
};

const fees = (flat: Flat): Answer => {
  if (
    says(
      flat,
      /(?:priority fee|tip)(?: cap)?(?: per gas)? (?:is )?(?:higher|greater|bigger|larger|more) than|(?:priority fee|tip)(?: cap)?(?: per gas)? exceeds|maxpriorityfeepergas[^a-z]{0,90}(?:is )?(?:higher|greater|bigger|larger|exceeds|>)|maxfeepergas[^<]{0,90}< ?maxpriorityfeepergas/i,
    )
  ) {
    return new TipAboveFeeCap({
      maxPriorityFeePerGas: amountIn(flat, /maxPriorityFeePerGas:? \(?(\d+|0x[0-9a-f]+)/i),
      maxFeePerGas: amountIn(flat, /\bmaxFeePerGas:? \(?(\d+|0x[0-9a-f]+)/i),
      raw: flat.raw,
    });
  }
  const low = said(
    flat,
    /(?:max )?fee (?:cap )?(?:per (blob )?gas )?(?:is )?(?:less|lower) than (?:the )?(?:current )?(?:block|base)|fee ?cap (?:is )?(?:below|too low)|basefeepergas is too low|max ?fee ?per ?gas[^a-z]{0,90}(?:is )?(?:too low|below|less than|lower than)|gas ?price (?:is )?(?:below|less than|lower than) (?:the )?(?:current |block )*base ?fee/i,
  );
  if (low === null) return undefined;
  const blob = low[1] !== undefined;
  return new FeeCapTooLow({
    account: accountIn(flat),
    maxFeePerGas: blob ? null : amountIn(flat, /\b(?:maxFeePerGas|gasFeeCap|gasPrice|feeCap):? \(?(\d+|0x[0-9a-f]+)/i),
    baseFeePerGas: blob ? null : amountIn(flat, /\bbaseFee(?:PerGas)?(?: of|:)? (\d+|0x[0-9a-f]+)/i),
    raw: flat.raw,
  });
};

const nonces = (flat: Flat): Answer => {
  if (says(flat, /nonce has max value|nonce (?:uint64 )?overflow|nonce is at (?:its )?max/i)) {
    return new NonceOverflow({ account: accountIn(flat), raw: flat.raw });
  }
  const nonce = amountIn(flat, /\btx(?: nonce)?:? (\d+)/i, /\b(?:got|actual|have)(?: nonce)?:? (\d+)/i);
  const next = amountIn(
    flat,
    /\b(?:next nonce|state(?: nonce)?|account nonce):? (\d+)/i,
    /\b(?:expected|want)(?: nonce(?: to be)?)?:? (\d+)/i,
  );
  const fields = { account: accountIn(flat), nonce, next, raw: flat.raw };
  if (says(flat, /nonce (?:is )?too low|nonce too small|old nonce/i)) return new NonceTooLow(fields);
  if (says(flat, /nonce (?:is )?too (?:high|big|large|far)|nonce gap/i)) return new NonceTooHigh(fields);
  if (
    !says(
      flat,
      /(?:invalid|incorrect|wrong|unexpected) (?:account )?nonce|nonce mismatch|(?:invalid|incorrect)[^.]{0,24} sequence/i,
    )
  ) {
    return undefined;
  }
  return nonce === null || next === null || nonce === next
    ? undefined
    : nonce < next
      ? new NonceTooLow(fields)
      : new NonceTooHigh(fields);
};

const gas = (flat: Flat): Answer => {
  const raw = flat.raw;
  if (
    says(
      flat,
      /intrinsic gas too high(?! -- (?:Call)?Gas(?:Cost|Floor))|(?:transaction )?gas limit (?:is )?too high|gas (?:limit )?cap exceeded|exceeds (?:the )?(?:max(?:imum)? )?transaction gas (?:limit )?cap|exceeds (?:the )?(?:max(?:imum)? )?(?:gas )?limit per transaction|transaction gas limit[^.]{0,60}(?:greater|larger|higher) than/i,
    )
  ) {
    return new TxGasLimitTooHigh({
      gas: amountIn(flat, /\btx: (\d+)/i, /gas limit (?:is |of )?\(?(\d+)/i) ?? suppliedGas(flat),
      limit: amountIn(flat, /\b(?:cap|maximum|limit)(?: of|:| is)? \(?(\d+)\)?\D*$/i, /\bcap:? (\d+)/i),
      raw,
    });
  }
  if (
    says(
      flat,
      /intrinsic (?:gas|cost)|Gas(?:Cost|Floor)MoreThanGasLimit|below intrinsic|floor data gas|gas (?:limit )?below (?:the )?floor|insufficient gas for floor/i,
    )
  ) {
    return new IntrinsicGasTooLow({
      have: amountIn(flat, /\bhave:? (\d+)/i, /exceeds gas limit:? (\d+)/i) ?? suppliedGas(flat),
      want: amountIn(flat, /\bwant:? (\d+)/i, /intrinsic gas(?: cost)?:? (\d+)/i),
      raw,
    });
  }
  if (says(flat, /gas required exceeds allowance|requires higher than upper limit/i)) {
    return new GasAllowanceExceeded({
      allowance: amountIn(flat, /allowance:? \(?(\d+)/i, /upper limit of (\d+)/i),
      raw,
    });
  }
  if (says(flat, /block('s)? gas limit|gas limit reached|exceeds? (?:the )?block (?:gas )?limit|gas pool/i)) {
    return new BlockGasLimitExceeded({
      gas:
        amountIn(
          flat,
          /reached: (\d+)/i,
          /requested:? (\d+)/i,
          /gas limit (?:is |of |: )?\(?(\d+)\)? (?:and |which )?(?:exceeds|is (?:greater|higher|larger))/i,
        ) ?? suppliedGas(flat),
      limit: amountIn(flat, /reached: \d+ >=? (\d+)/i, /remaining:? (\d+)/i, /block gas limit(?: of|:| is)? \(?(\d+)/i),
      raw,
    });
  }
  return !says(flat, /gas (?:uint64 )?overflow|gasuintoverflow/i) ? undefined : new GasUintOverflow({ raw });
};

const account = (flat: Flat): Answer => {
  if (says(flat, /(?:sender|account)(?: is)? not an? eoa|sender has deployed code|rejectcallerwithcode/i)) {
    return new SenderNotEoa({ account: accountIn(flat), raw: flat.raw });
  }
  if (says(flat, /init ?code (?:size|limit|length|too)|max(?:imum)? init ?code|createinitcodesizelimit/i)) {
    return new InitCodeTooLarge({
      size: amountIn(flat, /(?:code size|initcode size|init ?code (?:length|size)):?(?: of)? (\d+)/i),
      limit: amountIn(flat, /(?:limit|maximum size|maximum|max)(?: of|:)? (\d+)/i),
      raw: flat.raw,
    });
  }
  if (says(flat, /chain ?id (?:does not|doesn't|mismatch)|(?:invalid|wrong|incorrect) chain ?id/i)) {
    return new ChainIdMismatch({
      expected: amountIn(flat, /\bhave[ =:]+(\d+)/i),
      actual: amountIn(flat, /\bwant[ =:]+(\d+)/i),
      raw: flat.raw,
    });
  }
  return undefined;
};

const halts =
  /invalid ?(?:opcode|jump|instruction|code: must)|opcode ?(?:not ?found|[\w ]{0,16}not defined)|invalidfeopcode|bad (?:instruction|jump)|stack ?(?:under|over)flow|stack limit reached|\bevm ?error\b|write protection|static ?call ?violation|stat(?:e|ic)[\w ]{0,20}(?:modif|change)[\w ]{0,30}static|return data out of bounds|max(?:imum)? (?:call depth|code size)|call ?(?:too ?deep|depth)|contract (?:address )?collision|createcollision|createcontractsizelimit|precompile ?(?:error|failed|oog)|notactivated|execution halted|\bhalt(?:ed)?\b/i;

/** What the EVM did, other than revert. */
export const execution = (flat: Flat): Answer => {
  if (
    says(flat, /out ?of ?(?:gas|memory)|ran out of gas|run out of gas|memory limit exceeded|gas exhausted|\boog\b/i)
  ) {
    return new OutOfGas({
      gasLimit: amountIn(flat, /gas required exceeds:? (\d+)/i, /memory expansion:? (\d+)/i) ?? suppliedGas(flat),
      raw: flat.raw,
    });
  }
  const halt = said(flat, halts);
  return halt === null ? undefined : new VmHalt({ halt: halt.input, raw: flat.raw });
};

/** The words of geth, op-geth and of all who copied them. */
export const geth = (flat: Flat): Answer =>
  fees(flat) ?? funds(flat) ?? nonces(flat) ?? gas(flat) ?? account(flat) ?? execution(flat);
