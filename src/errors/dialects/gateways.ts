/**
 * Gateways and providers in front of nodes: proxyd (Base and OP public endpoints), Alchemy, Infura,
 * QuickNode, Ankr, Tenderly, Chainstack, dRPC, eRPC, Cloudflare. Their codes collide with everybody's.
 */
import type { Flat } from "../flatten.js";
import {
  InvalidParams,
  LogRangeTooLarge,
  MethodNotPermitted,
  NodeLimitExceeded,
  RateLimited,
  Timeout,
  Unauthorized,
  UpstreamUnavailable,
} from "../rpc.js";
import {
  amountIn,
  answerOf,
  anyOf,
  blockRange,
  delayMs,
  failed,
  failedBy,
  match,
  says,
  type Dialect,
} from "./evidence.js";

const unauthorized = anyOf(
  /^unauthorized\b/,
  /(?:invalid|missing|unknown|expired|wrong) (?:api|access|project|auth\w*)[ _-]?(?:key|token|id)/,
  /must be authenticated|authentication (?:failed|required)/,
  /project id (?:is )?(?:required|invalid)/,
  /api key (?:is )?(?:required|invalid|disabled|not (?:found|valid|allowed))/,
);

const notPermitted = anyOf(
  /not (?:in )?(?:the )?whitelist|sender account not authorized/,
  /(?:method|api|request)[^.]{0,48} (?:is )?(?:not (?:allowed|permitted|authorized)|forbidden|blocked|restricted|disabled)/,
  /not available (?:on|in|for|under) [^.]{0,32}(?:plan|tier|subscription)/,
  /upgrade [^.]{0,32}to (?:use|access|enable)|sanctioned|blocked by/,
);

const rateLimited = anyOf(
  /rate[ -]?limit|request limit reached|too many requests|compute units/,
  /(?:capacity|usage|daily|monthly|hourly|quota|credits?) limit|over capacity/,
  /exceed\w* [^.]{0,80}(?:quota|throughput|capacity|compute|requests? per|credits)/,
  /(?:quota|credits?)[^.]{0,24} (?:exceeded|exhausted|reached|limited|used up)|request rate exceeded/,
  /request count exceeded|(?:calls?|requests?) (?:per|\/) ?(?:sec|min|day|hour|month)/,
  /\d+\/(?:sec|second|minute)|throttl|slow down|too many (?:connections|calls per)/,
);

const delayWords =
  /(?:try(?: it)? again|retry|wait|back ?off)(?: after| in| for)?:? (\d[\d.]* ?(?:ms|milli\w*|s\w*|m\w*|h\w*)?)/i;

const limited: Dialect = (flat) =>
  failed(
    flat,
    new RateLimited({ ...answerOf(flat), retryAfterMs: flat.retryAfterMs ?? delayMs(match(flat, delayWords)?.[1]) }),
  );

const upstreamStatuses: ReadonlySet<number | null> = new Set([502, 503]);
const unavailable = anyOf(
  /no backend|backend (?:is )?(?:offline|unavailable|returned an invalid)/,
  /(?:is |currently )not healthy|no healthy|bad gateway/,
  /service (?:is )?(?:temporarily )?unavailable|temporarily unavailable/,
  /upstreams? [^.]{0,40}(?:fail|unavailable|exhaust|error|down)/,
  /no (?:available|working) (?:upstream|node|server|backend|provider)/,
  /all (?:upstreams?|providers?|nodes|backends)[^.]{0,40} (?:fail|unavailable|down)/,
  /no (?:upstreams?|nodes?|providers?) (?:are )?available|under maintenance/,
);

const tooLong = /gateway time-?out|upstream (?:request )?time-?out/i;

/** Methods that take a range of blocks; `*` stands for an unknown one. */
const ranged = (method: string): boolean => method === "*" || method === "" || /logs|filter/i.test(method);

const rangeWords = anyOf(
  /block (?:height )?range (?:is )?(?:too|greater|larger|bigger|wide|limit|exceed|over)/,
  /(?:max(?:imum)?|allowed) (?:allowed )?(?:rpc |block |log |query |search )*range|block range should work/,
  /try with this block range|retry with the range|limited to (?:a |an )?[\d,_k]+ (?:block)?s? ?range/,
  /up to (?:a |an )?[\d,_k]+ block range/,
  /range (?:of )?[\d,_]+ (?:blocks )?(?:exceeds|is (?:bigger|greater|larger))/,
  /exceeds? (?:the )?(?:max(?:imum)? |allowed )*(?:block |rpc )*range|range limit|at most [\d,_]+ blocks/,
  /(?:limit|only|maximum|max|within) (?:of |is |to )*[\d,_]+ blocks|exceeds the range allowed/,
  /blocks? (?:range|distance)[^.]{0,40} (?:exceed|limit|too)|distance: [\d,_]+|maximum is set to/,
  /too many blocks requested|query block range|(?:logs|block) range is too|ranges? over [\d,_]+ blocks/,
  /(?:for|over) more than [\d,_]+ blocks|(?:reduce|narrow|limit) (?:the |your )?(?:block )?range/,
);

const resultWords = anyOf(
  /query returned more than|query exceeds max|response size (?:is )?(?:exceeded|larger|too)/,
  /log response size|backend response too large|more than [\d,_]+ (?:logs|results)/,
  /range is too (?:large|wide|big)|too many (?:logs|results|events)/,
  /(?:logs?|results?) [^.]{0,24}exceeds? (?:the )?(?:max|limit)|max(?:imum)? (?:logs|results)/,
);

const maxBlocks = [
  /\b(?:limited to|up to|at most|maximum is set to|greater than|exceeds? (?:the )?limit of)(?: an?)? ([\d,_]+k?)\b/i,
  /\b(?:max(?:imum)?(?: allowed)?(?: block| query| search| log)?(?: range)?|maxBlockRange|range limit|distance|limit)(?: is| of)?\s*[:=]?\s*([\d,_]+k?)\b/i,
  /\brange exceeds (?:max block range:? )?([\d,_]+k?)\b/i,
  /exceeds max block range:? ([\d,_]+k?)\b/i,
  /range limit for \w+: ([\d,_]+)/i,
  /\b(?:over|more than) ([\d,_]+) blocks/i,
  /max is ([\d,_]+k?) blocks/i,
  /\([\d,_]+ > ([\d,_]+)\)/,
  /([\d,_]+k?)[ -]block(?:s)?(?: range)? (?:limit|max)/i,
] as const;

const suggested = (flat: Flat) => {
  const bracketed = match(flat, /range[^[\n]{0,40}\[\s*(0x[0-9a-fA-F]+|\d+)\s*,\s*(0x[0-9a-fA-F]+|\d+)\s*\]/i);
  const dashed = match(flat, /(?:retry|try)[^\d\n]{0,32} range:? (\d[\d,_]*)\s*(?:-|–|to|\.\.)\s*(\d[\d,_]*)/i);
  return (
    (bracketed === null ? null : blockRange(bracketed[1], bracketed[2])) ??
    (dashed === null ? null : blockRange(dashed[1], dashed[2])) ??
    (flat.range === null ? null : blockRange(flat.range.from, flat.range.to))
  );
};

const range: Dialect = (flat) => {
  const blocks = match(flat, rangeWords);
  const results = match(flat, resultWords);
  if (blocks === null && (results === null || !ranged(flat.method))) return undefined;
  const named = maxBlocks.map((pattern) => (results !== null && blocks === null ? null : amountIn(flat, pattern)));
  return failed(
    flat,
    new LogRangeTooLarge({
      ...answerOf(flat),
      suggested: suggested(flat),
      max: named.find((max) => max !== null && max > 0n) ?? null,
    }),
  );
};

/** Refusals, quotas, ranges and missing upstreams, in this order. */
export const gateways: Dialect = (flat) => {
  if (flat.httpStatus === 401 || flat.codes.includes(-40100) || says(flat, unauthorized))
    return failedBy(flat, Unauthorized);
  if ([flat.httpStatus, ...flat.codes].includes(429)) return limited(flat);
  if (flat.httpStatus === 403 || says(flat, notPermitted)) return failedBy(flat, MethodNotPermitted);
  if (says(flat, rateLimited)) return limited(flat);
  if (says(flat, /block tags? [^.]{0,64}not allowed/i)) return failedBy(flat, InvalidParams);
  const wide = range(flat);
  if (wide !== undefined) return wide;
  if (flat.httpStatus === 504 || says(flat, tooLong)) return failedBy(flat, Timeout);
  if (upstreamStatuses.has(flat.httpStatus) || says(flat, unavailable)) return failedBy(flat, UpstreamUnavailable);
  if (says(flat, /(?:backend response|request (?:body|entity)|payload) too large|too many rpc calls in batch/i))
    return failedBy(flat, NodeLimitExceeded);
  return undefined;
};
