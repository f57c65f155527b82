/**
 * From whatever a node answered to exactly one typed error. The only reader of node error text.
 *
 * Order of decisions: shape of the transport, flattening, revert, words, codes. The revert comes
 * before all words, because what follows `execution reverted:` is written by a contract.
 */
import * as Result from "effect/Result";
import { isBytes } from "../primitives/bytes.js";
import { besu } from "./dialects/besu.js";
import { byStatus, codes } from "./dialects/codes.js";
import { conditions, lookups } from "./dialects/conditions.js";
import { erigon } from "./dialects/erigon.js";
import { answerOf, delayMs, failed, failedBy, says, type Dialect } from "./dialects/evidence.js";
import { gateways } from "./dialects/gateways.js";
import { execution, geth } from "./dialects/geth.js";
import { hardhat } from "./dialects/hardhat.js";
import { nethermind } from "./dialects/nethermind.js";
import { reth } from "./dialects/reth.js";
import { revert } from "./dialects/revert.js";
import { flatten, httpStatus, integer, isObject, parseJson, type Flat } from "./flatten.js";
import { rawJson } from "./rawJson.js";
import { retryAfter, type HeadersLike } from "./retryAfter.js";
import { InternalError, MalformedResponse, RpcError, Transport } from "./rpc.js";
import { VmHalt, type Verdict } from "./verdicts.js";

/** Everything that is known of one failed answer. All but `method` may be missing. */
export interface ClassifyInput {
  /** The JSON-RPC method that was asked, e.g. `eth_call`. */
  readonly method: string;
  /** HTTP status, where the transport is HTTP. */
  readonly httpStatus?: number | null | undefined;
  /** `Retry-After` (seconds or HTTP date) and `Date` are read. */
  readonly headers?: HeadersLike | null | undefined;
  /** The JSON-RPC `error` of any shape, a trailing result element, or what a library threw. */
  readonly error?: unknown;
  /** The body as text, where it was no JSON-RPC answer. */
  readonly bodyText?: string | null | undefined;
  /**
   * `call`: an error inside one simulated call, so that an unknown one is a halt of that call.
   * `inline`: a trailing `{ error, errorCode }` element of a simulate result; judged like a request.
   */
  readonly scope?: "request" | "call" | "inline" | undefined;
  /** Return bytes that came beside the error. */
  readonly returnData?: string | null | undefined;
}

const transportWords =
  /fetch failed|failed to fetch|network ?(?:request failed|error)|load failed|socket (?:hang up|closed|connection)|ECONN(?:REFUSED|RESET|ABORTED)|ENOTFOUND|EAI_AGAIN|EPIPE|EHOSTUNREACH|ENETUNREACH|UND_ERR_\w+|certificate|SocketClosedError|WebSocketRequestError|other side closed|terminated/;

const transport: Dialect = (flat) =>
  flat.codes.length === 0 && says(flat, transportWords) ? failedBy(flat, Transport) : undefined;

/** The families in the order they are asked; the first answer wins. */
const dialects: ReadonlyArray<Dialect> = [
  gateways,
  conditions,
  hardhat,
  nethermind,
  besu,
  reth,
  erigon,
  geth,
  lookups,
  codes,
  transport,
];

/** Inside one simulated call only the execution can have failed. */
const callDialects: ReadonlyArray<Dialect> = [erigon, nethermind, reth, execution, geth];

const firstOf = (families: ReadonlyArray<Dialect>, flat: Flat): RpcError | Verdict | undefined => {
  for (const family of families) {
    const answer = family(flat);
    if (answer !== undefined) return answer;
  }
  return undefined;
};

/** The error of a body that was no JSON-RPC answer: its `error`, the body itself when it speaks, else nothing. */
const errorIn = (body: unknown): unknown => {
  if (Array.isArray(body)) return body.map(errorIn).find((error) => error !== undefined);
  if (!isObject(body)) return undefined;
  if (body["error"] !== undefined && body["error"] !== null) return isObject(body["error"]) ? body["error"] : body;
  return typeof body["message"] === "string" || typeof body["detail"] === "string" ? body : undefined;
};

const hasCode = (error: unknown): boolean => isObject(error) && integer(error["code"] ?? error["errorCode"]) !== null;

/** The headers that a library's error carries along. */
const headersOf = (error: unknown): HeadersLike | null =>
  isObject(error) && isObject(error["headers"]) ? (error["headers"] as HeadersLike) : null;

const decide = (input: ClassifyInput): RpcError | Verdict => {
  const body = typeof input.bodyText === "string" && input.bodyText.length <= 1_048_576 ? input.bodyText : null;
  const parsed = body === null ? undefined : parseJson(body);
  const given = input.error ?? undefined;
  // a body that is no JSON speaks for the transport, whatever a library made of it
  const foreign = body !== null && parsed === undefined && !hasCode(given);
  const error = foreign ? { message: body } : (given ?? errorIn(parsed));
  const status = httpStatus(input.httpStatus);
  const answered = flatten(error);
  const flat: Flat = {
    method: typeof input.method === "string" ? input.method.slice(0, 128) : "",
    scope: input.scope ?? "request",
    httpStatus: status ?? answered.status,
    levels: answered.levels,
    texts: answered.texts,
    codes: answered.codes,
    range: answered.range,
    retryAfterMs: retryAfter(input.headers ?? headersOf(given)) ?? delayMs(answered.delay),
    returnData: isBytes(input.returnData) ? input.returnData : null,
    raw: rawJson(given ?? parsed ?? input.bodyText ?? null),
  };
  if (flat.scope === "call") {
    return revert(flat) ?? firstOf(callDialects, flat) ?? new VmHalt({ halt: flat.texts[0] ?? null, raw: flat.raw });
  }
  const malformed = () => failed(flat, new MalformedResponse({ ...answerOf(flat), path: "" }));
  if (foreign && flat.httpStatus === null) return malformed();
  if (error === undefined && flat.httpStatus === null) return malformed();
  return (foreign ? undefined : revert(flat)) ?? firstOf(dialects, flat) ?? byStatus(flat);
};

/** Sets how many stack frames new errors capture; a frozen realm refuses, and nothing is lost then. */
const withFrames = (limit: number) =>
  Result.try(() => {
    Error.stackTraceLimit = limit;
  });

/**
 * Exactly one typed error for one failed answer. Pure and total: any input, hostile ones included,
 * is answered in bounded time and never throws. The errors carry no stack frames.
 */
export const classify = (input: ClassifyInput): RpcError | Verdict => {
  // frames of this module tell nobody anything, and capturing them is most of the cost
  const frames = Error.stackTraceLimit;
  withFrames(0);
  const answer = Result.try(() => decide(input));
  withFrames(frames);
  // only a getter or a proxy that throws fails
  return Result.getOrElse(
    answer,
    () => new RpcError({ method: "", reason: new InternalError({ detail: "the answer could not be read" }) }),
  );
};
