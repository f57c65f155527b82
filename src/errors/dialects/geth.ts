/**
 * go-ethereum and op-geth, whose words most other nodes copied: the shared vocabulary of verdicts.
 *
 * The order matters: the specific before the general.
 */
import type { Flat } from "../flatten.js";
import {
  BlockGasLimitExceeded,
  ChainIdMismatch,
  FeeCapTooLow,
  GasAllowanceExceeded,
  GasUintOverflow,
  InitCodeTooLarge,
  InsufficientFunds,
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
import { accountIn, amountIn, said, suppliedGas, type Answer } from "./evidence.js";

const shortfall = (have: bigint | null, want: bigint | null): bigint | null =>
  have === null || want === null || want < have ? null : want - have;

const funds = (flat: Flat): Answer => {
  if (
    said(flat, /insufficient ?(?:funds|balance|sender balance|maxfeepergas)|not enough (?:funds|balance)/i) === null
  ) {
    return undefined;
  }
  const have = amountIn(flat, /\bhave:? (\d+)/i) ?? amountIn(flat, /\bbalance:? (\d+)/i);
  const want = amountIn(flat, /\bwant:? (\d+)/i) ?? amountIn(flat, /\btx cost:? (\d+)/i);
  return new InsufficientFunds({
    account: accountIn(flat),
    have,
    want,
    shortfall: shortfall(have, want) ?? amountIn(flat, /\bovershot:? (\d+)/i),
    gas: suppliedGas(flat),
    raw: flat.raw,
  });
};

const fees = (flat: Flat): Answer => {
  if (
    said(
      flat,
      /(?:priority fee|tip)(?: cap)?(?: per gas)? (?:is )?(?:higher|greater|bigger|larger|more) than|(?:priority fee|tip)(?: cap)?(?: per gas)? exceeds|maxpriorityfeepergas[^a-z]{0,90}(?:is )?(?:higher|greater|bigger|larger|exceeds|>)|maxfeepergas[^<]{0,90}< ?maxpriorityfeepergas/i,
    ) !== null
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
  if (said(flat, /nonce has max value|nonce (?:uint64 )?overflow|nonce is at (?:its )?max/i) !== null) {
    return new NonceOverflow({ account: accountIn(flat), raw: flat.raw });
  }
  const nonce =
    amountIn(flat, /\btx(?: nonce)?:? (\d+)/i) ?? amountIn(flat, /\b(?:got|actual|have)(?: nonce)?:? (\d+)/i);
  const next =
    amountIn(flat, /\b(?:next nonce|state(?: nonce)?|account nonce):? (\d+)/i) ??
    amountIn(flat, /\b(?:expected|want)(?: nonce(?: to be)?)?:? (\d+)/i);
  const fields = { account: accountIn(flat), nonce, next, raw: flat.raw };
  if (said(flat, /nonce (?:is )?too low|nonce too small|old nonce/i) !== null) return new NonceTooLow(fields);
  if (said(flat, /nonce (?:is )?too (?:high|big|large|far)|nonce gap/i) !== null) return new NonceTooHigh(fields);
  if (
    said(
      flat,
      /(?:invalid|incorrect|wrong|unexpected) (?:account )?nonce|nonce mismatch|(?:invalid|incorrect)[^.]{0,24} sequence/i,
    ) === null
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
    said(
      flat,
      /intrinsic gas too high|(?:transaction )?gas limit (?:is )?too high|gas (?:limit )?cap exceeded|exceeds (?:the )?(?:max(?:imum)? )?transaction gas (?:limit )?cap|exceeds (?:the )?(?:max(?:imum)? )?(?:gas )?limit per transaction|transaction gas limit[^.]{0,60}(?:greater|larger|higher) than/i,
    ) !== null
  ) {
    return new TxGasLimitTooHigh({
      gas: amountIn(flat, /\btx: (\d+)/i) ?? amountIn(flat, /gas limit (?:is |of )?\(?(\d+)/i) ?? suppliedGas(flat),
      limit:
        amountIn(flat, /\b(?:cap|maximum|limit)(?: of|:| is)? \(?(\d+)\)?\D*$/i) ?? amountIn(flat, /\bcap:? (\d+)/i),
      raw,
    });
  }
  if (
    said(
      flat,
      /intrinsic (?:gas|cost)|below intrinsic|floor data gas|gas (?:limit )?below (?:the )?floor|insufficient gas for floor/i,
    ) !== null
  ) {
    return new IntrinsicGasTooLow({
      have: amountIn(flat, /\bhave:? (\d+)/i) ?? amountIn(flat, /exceeds gas limit:? (\d+)/i) ?? suppliedGas(flat),
      want: amountIn(flat, /\bwant:? (\d+)/i) ?? amountIn(flat, /intrinsic gas(?: cost)?:? (\d+)/i),
      raw,
    });
  }
  if (said(flat, /gas required exceeds allowance|requires higher than upper limit/i) !== null) {
    return new GasAllowanceExceeded({
      allowance: amountIn(flat, /allowance:? \(?(\d+)/i) ?? amountIn(flat, /upper limit of (\d+)/i),
      raw,
    });
  }
  if (said(flat, /block('s)? gas limit|gas limit reached|exceeds? (?:the )?block (?:gas )?limit|gas pool/i) !== null) {
    return new BlockGasLimitExceeded({
      gas:
        amountIn(flat, /reached: (\d+)/i) ??
        amountIn(flat, /requested:? (\d+)/i) ??
        amountIn(
          flat,
          /gas limit (?:is |of |: )?\(?(\d+)\)? (?:and |which )?(?:exceeds|is (?:greater|higher|larger))/i,
        ) ??
        suppliedGas(flat),
      limit:
        amountIn(flat, /reached: \d+ >=? (\d+)/i) ??
        amountIn(flat, /remaining:? (\d+)/i) ??
        amountIn(flat, /block gas limit(?: of|:| is)? \(?(\d+)/i),
      raw,
    });
  }
  return said(flat, /gas (?:uint64 )?overflow|gasuintoverflow/i) === null ? undefined : new GasUintOverflow({ raw });
};

const account = (flat: Flat): Answer => {
  if (said(flat, /(?:sender|account)(?: is)? not an? eoa|sender has deployed code|rejectcallerwithcode/i) !== null) {
    return new SenderNotEoa({ account: accountIn(flat), raw: flat.raw });
  }
  if (said(flat, /init ?code (?:size|limit|length|too)|max(?:imum)? init ?code|createinitcodesizelimit/i) !== null) {
    return new InitCodeTooLarge({
      size: amountIn(flat, /(?:code size|initcode size|init ?code (?:length|size)):?(?: of)? (\d+)/i),
      limit: amountIn(flat, /(?:limit|maximum size|maximum|max)(?: of|:)? (\d+)/i),
      raw: flat.raw,
    });
  }
  if (said(flat, /chain ?id (?:does not|doesn't|mismatch)|(?:invalid|wrong|incorrect) chain ?id/i) !== null) {
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
    said(flat, /out ?of ?(?:gas|memory)|ran out of gas|run out of gas|memory limit exceeded|gas exhausted|\boog\b/i) !==
    null
  ) {
    return new OutOfGas({
      gasLimit:
        amountIn(flat, /gas required exceeds:? (\d+)/i) ??
        amountIn(flat, /memory expansion:? (\d+)/i) ??
        suppliedGas(flat),
      raw: flat.raw,
    });
  }
  const halt = said(flat, halts);
  return halt === null ? undefined : new VmHalt({ halt: halt.input, raw: flat.raw });
};

/** The words of geth, op-geth and of all who copied them. */
export const geth = (flat: Flat): Answer =>
  fees(flat) ?? funds(flat) ?? nonces(flat) ?? gas(flat) ?? account(flat) ?? execution(flat);
