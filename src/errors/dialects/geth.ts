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
  anyOf,
  byRules,
  cannotPay,
  means,
  quantity,
  supplied,
  suppliedGas,
  verdictBy,
  verdictIn,
  wrongNonce,
  type Dialect,
  type Wording,
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
  OutOfGas,
  SenderNotEoa,
  TipAboveFeeCap,
  TxGasLimitTooHigh,
  VmHalt,
} from "../verdicts.js";

/** Words of Erigon. */
export const erigon = byRules(
  [/exceeding --rpc\.[\w.]+|too many blocks in request/i, means(NodeLimitExceeded)],
  [/block number is in the future/i, means(BlockNotFound)],
);

/** Words of reth and anvil. */
export const reth = byRules(
  [
    /insufficient funds for gas \* price \+ value: have (\d+) want (\d+)/i,
    ([, have, want], flat) => cannotPay(flat, quantity(have), quantity(want), { gas: suppliedGas(flat) }),
  ],
  [/out of gas: (?:gas required exceeds|gas exhausted[^:]{0,48}): (\d+)/i, verdictBy(OutOfGas, "gasLimit")],
  [/blockoutofrangeerror|block height is \d+ but requested was/i, means(BlockNotFound)],
  // not "gas required exceeds allowance", which is another verdict
  [/memory limit exceeded during memory expansion/i, verdictIn(OutOfGas, { gasLimit: [/expansion: (\d+)/i] })],
);

const fees = byRules(
  [
    anyOf(
      /(?:priority fee|tip)(?: cap)?(?: per gas)? (?:is )?(?:higher|greater|bigger|larger|more) than/,
      /(?:priority fee|tip)(?: cap)?(?: per gas)? exceeds/,
      /maxpriorityfeepergas[^a-z]{0,90}(?:is )?(?:higher|greater|bigger|larger|exceeds|>)/,
      /maxfeepergas[^<]{0,90}< ?maxpriorityfeepergas/,
    ),
    verdictIn(TipAboveFeeCap, {
      maxPriorityFeePerGas: [/maxPriorityFeePerGas:? \(?(\d+|0x[0-9a-f]+)/i],
      maxFeePerGas: [/\bmaxFeePerGas:? \(?(\d+|0x[0-9a-f]+)/i],
    }),
  ],
  [
    anyOf(
      /(?:max )?fee (?:cap )?(?:per (blob )?gas )?(?:is )?(?:less|lower) than (?:the )?(?:current )?(?:block|base)/,
      /fee ?cap (?:is )?(?:below|too low)|basefeepergas is too low/,
      /max ?fee ?per ?gas[^a-z]{0,90}(?:is )?(?:too low|below|less than|lower than)/,
      /gas ?price (?:is )?(?:below|less than|lower than) (?:the )?(?:current |block )*base ?fee/,
    ),
    ([, blob], flat) => {
      const price = (pattern: RegExp) => (blob === undefined ? amountIn(flat, pattern) : null);
      return new FeeCapTooLow({
        account: accountIn(flat),
        maxFeePerGas: price(/\b(?:maxFeePerGas|gasFeeCap|gasPrice|feeCap):? \(?(\d+|0x[0-9a-f]+)/i),
        baseFeePerGas: price(/\bbaseFee(?:PerGas)?(?: of|:)? (\d+|0x[0-9a-f]+)/i),
        raw: flat.raw,
      });
    },
  ],
);

const funds: Wording = [
  /insufficient ?(?:funds|balance|sender balance|maxfeepergas)|not enough (?:funds|balance)/i,
  (_, flat) => {
    const have = amountIn(flat, /\bhave:? (\d+)/i, /\bbalance:? (\d+)/i);
    const want = amountIn(flat, /\bwant:? (\d+)/i, /\btx cost:? (\d+)/i);
    const overshot = amountIn(flat, /\bovershot:? (\d+)/i);
    return cannotPay(flat, have, want, { account: accountIn(flat), shortfall: overshot, gas: suppliedGas(flat) });
  },
];

/** A wrong nonce, below the next one or above; where the words do not say which, the numbers do. */
const misnumbered = (flat: Flat, isLow: boolean | null): ReturnType<Dialect> => {
  const nonce = amountIn(flat, /\btx(?: nonce)?:? (\d+)/i, /\b(?:got|actual|have)(?: nonce)?:? (\d+)/i);
  const next = amountIn(
    flat,
    /\b(?:next nonce|state(?: nonce)?|account nonce):? (\d+)/i,
    /\b(?:expected|want)(?: nonce(?: to be)?)?:? (\d+)/i,
  );
  if (isLow !== null) return wrongNonce(flat, isLow, nonce, next);
  return nonce === null || next === null || nonce === next ? undefined : wrongNonce(flat, nonce < next, nonce, next);
};

const nonces: ReadonlyArray<Wording> = [
  [
    /nonce has max value|nonce (?:uint64 )?overflow|nonce is at (?:its )?max/i,
    (_, flat) => new NonceOverflow({ account: accountIn(flat), raw: flat.raw }),
  ],
  [/nonce (?:is )?too low|nonce too small|old nonce/i, (_, flat) => misnumbered(flat, true)],
  [/nonce (?:is )?too (?:high|big|large|far)|nonce gap/i, (_, flat) => misnumbered(flat, false)],
  [
    /(?:invalid|incorrect|wrong|unexpected) (?:account )?nonce|nonce mismatch|(?:invalid|incorrect)[^.]{0,24} sequence/i,
    (_, flat) => misnumbered(flat, null),
  ],
];

const gas: ReadonlyArray<Wording> = [
  [
    anyOf(
      /intrinsic gas too high(?! -- (?:Call)?Gas(?:Cost|Floor))/,
      /(?:transaction )?gas limit (?:is )?too high|gas (?:limit )?cap exceeded/,
      /exceeds (?:the )?(?:max(?:imum)? )?transaction gas (?:limit )?cap/,
      /exceeds (?:the )?(?:max(?:imum)? )?(?:gas )?limit per transaction/,
      /transaction gas limit[^.]{0,60}(?:greater|larger|higher) than/,
    ),
    verdictIn(TxGasLimitTooHigh, {
      gas: [/\btx: (\d+)/i, /gas limit (?:is |of )?\(?(\d+)/i, ...supplied],
      limit: [/\b(?:cap|maximum|limit)(?: of|:| is)? \(?(\d+)\)?\D*$/i, /\bcap:? (\d+)/i],
    }),
  ],
  [
    /intrinsic (?:gas|cost)|Gas(?:Cost|Floor)MoreThanGasLimit|below intrinsic|floor data gas|gas (?:limit )?below (?:the )?floor|insufficient gas for floor/i,
    verdictIn(IntrinsicGasTooLow, {
      have: [/\bhave:? (\d+)/i, /exceeds gas limit:? (\d+)/i, ...supplied],
      want: [/\bwant:? (\d+)/i, /intrinsic gas(?: cost)?:? (\d+)/i],
    }),
  ],
  [
    /gas required exceeds allowance|requires higher than upper limit/i,
    verdictIn(GasAllowanceExceeded, { allowance: [/allowance:? \(?(\d+)/i, /upper limit of (\d+)/i] }),
  ],
  [
    /block('s)? gas limit|gas limit reached|exceeds? (?:the )?block (?:gas )?limit|gas pool/i,
    verdictIn(BlockGasLimitExceeded, {
      gas: [
        /reached: (\d+)/i,
        /requested:? (\d+)/i,
        /gas limit (?:is |of |: )?\(?(\d+)\)? (?:and |which )?(?:exceeds|is (?:greater|higher|larger))/i,
        ...supplied,
      ],
      limit: [/reached: \d+ >=? (\d+)/i, /remaining:? (\d+)/i, /block gas limit(?: of|:| is)? \(?(\d+)/i],
    }),
  ],
  [/gas (?:uint64 )?overflow|gasuintoverflow/i, verdictBy(GasUintOverflow)],
];

const account: ReadonlyArray<Wording> = [
  [
    /(?:sender|account)(?: is)? not an? eoa|sender has deployed code|rejectcallerwithcode/i,
    (_, flat) => new SenderNotEoa({ account: accountIn(flat), raw: flat.raw }),
  ],
  [
    /init ?code (?:size|limit|length|too)|max(?:imum)? init ?code|createinitcodesizelimit/i,
    verdictIn(InitCodeTooLarge, {
      size: [/(?:code size|initcode size|init ?code (?:length|size)):?(?: of)? (\d+)/i],
      limit: [/(?:limit|maximum size|maximum|max)(?: of|:)? (\d+)/i],
    }),
  ],
  [
    /chain ?id (?:does not|doesn't|mismatch)|(?:invalid|wrong|incorrect) chain ?id/i,
    verdictIn(ChainIdMismatch, { expected: [/\bhave[ =:]+(\d+)/i], actual: [/\bwant[ =:]+(\d+)/i] }),
  ],
];

/** Reads what the EVM did, other than revert. */
export const execution = byRules(
  [
    /out ?of ?(?:gas|memory)|ran out of gas|run out of gas|memory limit exceeded|gas exhausted|\boog\b/i,
    verdictIn(OutOfGas, { gasLimit: [/gas required exceeds:? (\d+)/i, /memory expansion:? (\d+)/i, ...supplied] }),
  ],
  [
    anyOf(
      /invalid ?(?:opcode|jump|instruction|code: must)|opcode ?(?:not ?found|[\w ]{0,16}not defined)/,
      /invalidfeopcode|bad (?:instruction|jump)|stack ?(?:under|over)flow|stack limit reached|\bevm ?error\b/,
      /write protection|static ?call ?violation|stat(?:e|ic)[\w ]{0,20}(?:modif|change)[\w ]{0,30}static/,
      /return data out of bounds|max(?:imum)? (?:call depth|code size)|call ?(?:too ?deep|depth)/,
      /contract (?:address )?collision|createcollision|createcontractsizelimit|precompile ?(?:error|failed|oog)/,
      /notactivated|execution halted|\bhalt(?:ed)?\b/,
    ),
    ({ input }, { raw }) => new VmHalt({ halt: input, raw }),
  ],
);

const transactions = byRules(funds, ...nonces, ...gas, ...account);

/** The words of geth, op-geth and of all who copied them. */
export const geth: Dialect = (flat) => fees(flat) ?? transactions(flat) ?? execution(flat);
