/**
 * Conditions that every node may lack: the pending state, a block, its history, time. The words are geth's and
 * reth's, with those of the families that say it differently.
 */
import * as Reasons from "../rpc.js";
import {
  BlockNotFound,
  HistoryPruned,
  InvalidParams,
  MethodNotSupported,
  NodeLimitExceeded,
  NodeSyncing,
  PendingUnavailable,
  SimBlockOrder,
  StateUnavailable,
  Timeout,
  refusesPart,
} from "../rpc.js";
import { anyOf, byRules, failedBy, means, says, type Dialect, answerOf, failed, firstOf } from "./evidence.js";
import type { Flat } from "../flatten.js";
import * as Verdicts from "../verdicts.js";

const unsupported = anyOf(
  /does not exist\s*\/\s*is not available/,
  /(?:method|rpc)\b[^.\n]{0,96} (?:not (?:found|supported|enabled|implemented|exist|recognized|available)|does(?:n't| not) exist|(?:is )?(?:unsupported|unavailable|unknown))/,
  /(?:unknown|unsupported|unrecognized|unimplemented) (?:rpc )?method/,
  /^\w+_\w+ (?:is )?not (?:supported|implemented|available|enabled)/,
);

/** Words about a part of a request, not about the method as such. */
const partOfRequest = /not supported for this rpc method|for (?:this|the) method/i;

const pending =
  /pending (?:logs?|receipts?|state|blocks?|transactions?)[^.]{0,40} (?:not|un)|block not found: pending|pending (?:is )?(?:not (?:available|supported)|unavailable)/i;
const pruned = anyOf(
  /pruned history|histor\w* (?:\w+ )?(?:pruned|expired)/,
  /(?:receipts?|blocks?|logs?|transactions?|bodies|data)[^.]{0,40} pruned|(?:is|are|been) pruned/,
  /history (?:is )?(?:not available|unavailable)|before the (?:merge|prune)/,
  /older than the (?:oldest|prun)/,
);
const syncing =
  /initial sync|indexing is in progress|(?:node|client|backend|server) (?:is )?(?:still |not (?:yet )?)?sync|sync\w* in progress|still syncing|not (?:yet |fully )?synced|is (?:being )?indexed/i;
const late =
  /timed?[ -]?out|time limit exceeded|execution aborted|deadline exceeded|timeout expired|wasn.t processed|not processed (?:in|within)|request (?:was )?(?:aborted|cancell?ed)|context cancell?ed|TimeoutError|AbortError|ETIMEDOUT/i;
const order =
  /block (?:numbers?|timestamps?|time) (?:must be in order|did not increase|must increase|out of order)|(?:number|timestamp)s? (?:are |is )?out of order/i;

const tooLarge = anyOf(
  /too many (?:block|calls|filter|topics|addresses|requests in|rpc calls in)|too large/,
  /batch (?:size|limit)|max batch|exceeds? max(?:imum)? (?:addresses|topics|size|batch|number)/,
  /exceed max|gas cap exhausted|returndata\.limit|exceeding --rpc|content length|body limit/,
  /response size[^.]{0,24} exceed/,
);
const stateless = anyOf(
  /world state unavailable|missing trie node|no state (?:available|found)/,
  /state (?:is )?(?:not (?:available|found)|unavailable|missing)|historical state|state histor/,
  /archive (?:node|data|state|mode)|maximum proof window|state (?:has been |is |already )*pruned/,
  /state at block|cannot find state|old data not available|database (?:is )?missing/,
);
const blockless = anyOf(
  /(?:header|block)(?: for hash| by hash| with[^.]{0,80})? (?:was |is )?not (?:be )?found/,
  /(?:unknown|no such|nonexistent|missing) (?:block|header)|no block (?:with|found|for)/,
  /beyond (?:the )?(?:current )?(?:chain )?head/,
  /block (?:number |height )?(?:is )?(?:out of range|in the future)/,
  /could not find (?:the )?(?:block|header)|block (?:number )?(?:0x[0-9a-f]+|#?\d+) (?:is |was )?not found/,
  /blockoutofrange|after last accepted block|block[^.]{0,80} (?:does(?:n't| not) exist|could not be found)/,
  /invalid block (?:tag|number)[^.]{0,80} latest block|resource not found|unfinalized (?:data|block)/,
  /future (?:block|epoch)|cannot (?:query|find) (?:the )?block/,
);

const invalid = anyOf(
  /^invalid (?:argument|param|input|request|filter|block (?:range|param)|type|json)|invalid params/,
  /missing (?:value for )?required (?:argument|param|field)|missing field|empty input|calls are empty/,
  /too many arguments|not supported for this rpc method|not a precompile|already overrid/,
  /overrid\w+ (?:twice|multiple)|cannot (?:specify|set) both/,
  /both [`'"]?\w+[`'"]? and [^.]{1,80} (?:specified|set|given)|blob gas too high|too many blobs/,
  /blob (?:transaction|hash)|(?:transaction|tx) type (?:is )?not supported|cannot unmarshal|hex string/,
  /hex number|unknown field|must (?:provide|specify|be (?:a |an )?(?:hex|string|object|array|number))/,
  /end \(\d+\) < begin|fromblock[^.]{0,40}toblock|failed to (?:decode|parse|deserialize)|parse error/,
);

const refusals = byRules(
  [unsupported, (_, flat) => (says(flat, partOfRequest) ? undefined : failedBy(flat, MethodNotSupported))],
  [pending, means(PendingUnavailable)],
);
const waits = byRules(
  [pruned, (_, flat) => (says(flat, /\bstate\b/i) ? undefined : failedBy(flat, HistoryPruned))],
  [syncing, means(NodeSyncing)],
  [late, (_, flat) => (says(flat, /time ?out too long/i) ? undefined : failedBy(flat, Timeout))],
  [order, means(SimBlockOrder)],
);

/** Reads what the conversation lacks, before anything is said about a transaction. */
export const conditions: Dialect = (flat) => {
  if (flat.method === "eth_simulateV1" && says(flat, refusesPart)) return failedBy(flat, InvalidParams);
  return refusals(flat) ?? (flat.codes.includes(4444) ? failedBy(flat, HistoryPruned) : waits(flat));
};

const missing = byRules(
  [stateless, means(StateUnavailable)],
  [blockless, means(BlockNotFound)],
  [invalid, means(InvalidParams)],
  // geth runs the name of a tracer that it does not have as JavaScript
  [/ReferenceError: \w+ is not defined at <eval>/i, means(InvalidParams)],
  [tooLarge, means(NodeLimitExceeded)],
);

/** Reads what the node will not or cannot look up, after the words about transactions. */
export const lookups: Dialect = (flat) =>
  missing(flat) ?? (flat.httpStatus === 413 ? failedBy(flat, NodeLimitExceeded) : undefined);

/* The meanings of a code alone, for when no words were understood. Last, because codes collide. */

type Meanings<A> = ReadonlyArray<readonly [codes: ReadonlyArray<number>, meaning: A]>;

/** The specification's codes for simulation, and its proposal for sending. */
const verdicts: Meanings<new (fields: Pick<Flat, "raw">) => Verdicts.Verdict> = [
  [[-38010, 1], Verdicts.NonceTooLow],
  [[-38011, 2], Verdicts.NonceTooHigh],
  [[-38012, 806], Verdicts.FeeCapTooLow],
  [[-38013, 800], Verdicts.IntrinsicGasTooLow],
  [[-38014, 809], Verdicts.InsufficientFunds],
  [[-38015], Verdicts.BlockGasLimitExceeded],
  [[-38024], Verdicts.SenderNotEoa],
  [[-38025], Verdicts.InitCodeTooLarge],
  [[801], Verdicts.OutOfGas],
];

const reasons: Meanings<Parameters<typeof failedBy>[1]> = [
  [[-32601, -32604, -32004], Reasons.MethodNotSupported],
  [[403], Reasons.MethodNotPermitted],
  [[-32600, -32602, -32700, -38022, -38023], Reasons.InvalidParams],
  [[-38020, -38021], Reasons.SimBlockOrder],
  [[-38026], Reasons.NodeLimitExceeded],
  [[-32010, -32011, -32013, -32018], Reasons.UpstreamUnavailable],
  [[-32019, -39001], Reasons.BlockNotFound],
  [[4, -32002], Reasons.Timeout],
];

const statuses: Meanings<Parameters<typeof failedBy>[1]> = [
  [[400, 422], Reasons.InvalidParams],
  [[405, 501], Reasons.MethodNotSupported],
  [[408, 522, 524], Reasons.Timeout],
  [[413], Reasons.NodeLimitExceeded],
  [[520, 521, 523, 525, 526, 530], Reasons.UpstreamUnavailable],
];

/** Returns the meaning of a code by a table. */
const meaningIn = <A>(table: Meanings<A>, code: number | null): A | undefined =>
  table.find(([codes]) => code !== null && codes.includes(code))?.[1];

const meaningOf = (code: number, flat: Flat): ReturnType<Dialect> => {
  const [verdict, reason] = [meaningIn(verdicts, code), meaningIn(reasons, code)];
  if (verdict !== undefined) return new verdict({ raw: flat.raw });
  if (reason !== undefined) return failedBy(flat, reason);
  // a halt wherever no words say otherwise
  if (code === -32015) return new Verdicts.VmHalt({ halt: flat.texts.join(": ").slice(0, 512) || null, raw: flat.raw });
  if (code !== -32005) return undefined;
  return /getlogs/i.test(flat.method)
    ? failedBy(flat, Reasons.LogRangeTooLarge)
    : failed(flat, new Reasons.RateLimited({ ...answerOf(flat), retryAfterMs: flat.retryAfterMs }));
};

/** The first code with a meaning of its own. */
export const codes: Dialect = (flat) => firstOf(flat.codes, (code) => meaningOf(code, flat));

/** Returns the error that an HTTP status alone can tell. */
export const byStatus = (flat: Flat): Reasons.RpcError =>
  flat.httpStatus === null && flat.codes.length === 0
    ? failed(flat, new Reasons.MalformedResponse({ ...answerOf(flat), path: "error" }))
    : failedBy(flat, meaningIn(statuses, flat.httpStatus) ?? Reasons.InternalError);
