/**
 * From whatever a node answered to exactly one typed error. The only reader of node error text.
 *
 * Order of decisions: shape of the transport, flattening, revert, words, codes. The revert comes
 * before all words, because what follows `execution reverted:` is written by a contract.
 */
import type * as Schema from "effect/Schema";
import * as Result from "effect/Result";
import { type AbiSources, indexOf } from "../abi/abiIndex.js";
import { revertOf, type Table } from "../abi/revertOf.js";
import { looksLikeRevert } from "../abi/revert.js";
import { type Hex, isBytes } from "../primitives/hex.js";
import { isObject, jsonIn, safely } from "../primitives/record.js";
import { besu, hardhat, nethermind } from "./dialects/clients.js";
import { byStatus, codes, conditions, lookups } from "./dialects/conditions.js";
import { erigon, execution, geth, reth } from "./dialects/geth.js";
import { answerOf, delayMs, type Dialect, failed, failedBy, firstOf, says } from "./dialects/evidence.js";
import { gateways } from "./dialects/gateways.js";
import { bytesInText, type Flat, flatten, httpStatus, integer, type Level, saysReverted } from "./flatten.js";
import { InternalError, MalformedResponse, RpcError, Transport } from "./rpc.js";
import { ExecutionReverted, type Verdict, VmHalt } from "./verdicts.js";

const header = (headers: NonNullable<ClassifyInput["headers"]>, name: string): string | null => {
  const get: unknown = headers["get"];
  const value: unknown =
    typeof get === "function"
      ? (get.call(headers, name) as unknown)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === "string" ? first : null;
};

/** A day, ms. */
const longest = 86_400_000;

/**
 * The `Retry-After` header in either of its two forms: milliseconds to wait, at most a day; null where the headers do
 * not say. A date is counted from the answer's own `Date` header: no clock is read, and a wrong local clock does no harm.
 */
const retryAfter = (headers: ClassifyInput["headers"]): number | null => {
  if (headers === null || headers === undefined) return null;
  const text = header(headers, "retry-after")?.trim().slice(0, 64);
  if (text === undefined || text === "") return null;
  if (/^\d{1,9}(?:\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1000), longest);
  const [until, now] = [Date.parse(text), Date.parse(header(headers, "date") ?? "")];
  return Number.isNaN(until) || Number.isNaN(now) ? null : Math.min(Math.max(until - now, 0), longest);
};

const limits = { depth: 12, values: 1000, characters: 65_536 } as const;

const cut = (text: string, budget: { characters: number }): string => {
  const kept = text.slice(0, Math.max(0, budget.characters));
  budget.characters -= kept.length;
  return kept.length === text.length ? text : `${kept}… (+${text.length - kept.length} characters)`;
};

/** The node's answer kept as evidence, as JSON: at most 1,000 values and 64 KiB of text, cut to that where it is more. */
const copy = (value: unknown, depth: number, budget: { values: number; characters: number }): Schema.Json => {
  budget.values -= 1;
  if (budget.values < 0 || depth > limits.depth) return null;
  if (typeof value === "string" || typeof value === "bigint") return cut(String(value), budget);
  // why: minus zero is read from JSON but not written to it
  if (typeof value === "number") return Number.isFinite(value) ? value + 0 : String(value);
  if (typeof value === "boolean") return value;
  if (!isObject(value)) return null;
  if (Array.isArray(value)) return value.slice(0, limits.values).map((element) => copy(element, depth + 1, budget));
  // an Error's own words are not enumerable
  const words = value instanceof Error ? { name: value.name, message: value.message, cause: value.cause } : {};
  const fields: Record<string, Schema.Json> = {};
  for (const [key, field] of Object.entries({ ...words, ...value }).slice(0, limits.values)) {
    if (budget.values <= 0) break;
    if (field !== undefined && typeof field !== "function")
      Object.defineProperty(fields, cut(key, budget), {
        value: copy(field, depth + 1, budget),
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
  return fields;
};

/** Everything that is known of one failed answer. All but `method` may be missing. */
export type ClassifyInput = Parameters<typeof classify>[0];

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

/* Reverts, before anything else is read: the words after them are the contract's and may say anything. */

/** HTTP answers that never come from an execution. */
const refusals: ReadonlySet<number | null> = new Set([401, 403, 429]);

/** Codes whose `data` is a transaction hash: a sent transaction that timed out or was refused. */
const hashCodes: ReadonlySet<number | null> = new Set([4, 5]);

// Nethermind and parity put the verdict into `data` under a code that others use for other things; the codes for
// anything at all need the bytes: Solidity's own errors, or one of an ABI that the caller gave
const vmError = (flat: Flat, { code, bytes, texts }: Level): boolean =>
  ((code === -32015 || code === -32016) && texts.some((text) => bytesInText(text) !== null)) ||
  // why: a gateway that fails after it passed bytes on says so, too: a send is not refused by that
  (vmCodes.has(code) &&
    !(code === -32603 && flat.method.includes("_send")) &&
    bytes !== null &&
    (looksLikeRevert(bytes) || flat.isKnownError(bytes)));
const vmCodes: ReadonlySet<number | null> = new Set([-32000, -32015, -32016, -32603]);

// released anvil (1.3.6 to 1.7.1) answers every failed simulated call with this pair
const anvilCall = (flat: Flat, level: Level): boolean => flat.scope === "call" && level.code === -3200;

const reverts = (flat: Flat, level: Level): boolean =>
  level.code === 3 || level.texts.some(saysReverted) || vmError(flat, level) || anvilCall(flat, level);

/** The revert bytes: under the level that speaks of the revert first, then deeper, then above, then `returnData`. */
const bytesOf = (flat: Flat, at: number): Hex | null => {
  const levels = [...flat.levels.slice(at), ...flat.levels.slice(0, at)].filter(({ code }) => !hashCodes.has(code));
  const found = levels.flatMap(({ bytes }) => (bytes === null ? [] : [bytes]));
  if (flat.returnData !== null) found.push(flat.returnData);
  return found.find((bytes) => bytes.length > 2) ?? found[0] ?? null;
};

/** An execution that reverted, with its bytes where the node kept them. */
const revert: Dialect = (flat) => {
  if (refusals.has(flat.httpStatus)) return undefined;
  const at = flat.levels.findIndex((level) => reverts(flat, level));
  if (at < 0) return undefined;
  const texts = flat.levels[at]?.texts ?? [];
  const text = texts.find(saysReverted) ?? texts[0] ?? null;
  // the bytes were checked when they were found; a megabyte is not checked twice
  return new ExecutionReverted({ data: bytesOf(flat, at), text, raw: flat.raw }, { disableChecks: true });
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
const headersOf = (error: unknown): ClassifyInput["headers"] =>
  isObject(error) && isObject(error["headers"]) ? (error["headers"] as ClassifyInput["headers"]) : null;

/** The caller's ABIs alone. */
const nothingKnown: Table = { errors: () => [], meaning: () => null };

/** True if an ABI of the caller's has these bytes as an error. */
const isKnownTo =
  ({ abis, to }: ClassifyInput) =>
  (bytes: Hex): boolean =>
    abis !== undefined &&
    // why: what is no ABI explains nothing
    safely(() => indexOf(abis).errors(bytes.slice(0, 10).toLowerCase()).length, 0) > 0 &&
    revertOf(bytes, indexOf(abis), to ?? null, nothingKnown).layers[0]?.layer._tag === "Custom";

/** The error of a failed answer; `foreign` = a body that is no node's, `raw` = what is kept of it. */
const errorOf = ({ bodyText, error }: ClassifyInput) => {
  const body = typeof bodyText === "string" && bodyText.length <= 1_048_576 ? bodyText : null;
  const parsed = body === null ? undefined : jsonIn(body);
  const given = error ?? undefined;
  // a body that is no JSON speaks for the transport, whatever a library made of it
  const foreign = body !== null && parsed === undefined && !hasCode(given);
  return { foreign, error: foreign ? { message: body } : (given ?? errorIn(parsed)), raw: given ?? parsed ?? bodyText };
};

/** The failed answer, flattened. */
const flatOf = (input: ClassifyInput, { error, raw }: ReturnType<typeof errorOf>): Flat => {
  const { delay, status, ...said } = flatten(error);
  return {
    method: typeof input.method === "string" ? input.method.slice(0, 128) : "",
    scope: input.scope ?? "request",
    httpStatus: httpStatus(input.httpStatus) ?? status,
    ...said,
    retryAfterMs: retryAfter(input.headers ?? headersOf(input.error)) ?? delayMs(delay),
    returnData: isBytes(input.returnData) ? input.returnData : null,
    isKnownError: isKnownTo(input),
    raw: copy(raw ?? null, 0, { ...limits }),
  };
};

const decide = (input: ClassifyInput): RpcError | Verdict => {
  const found = errorOf(input);
  const { foreign, error } = found;
  const flat = flatOf(input, found);
  const by = (families: ReadonlyArray<Dialect>) => firstOf(families, (dialect) => dialect(flat));
  if (flat.scope === "call")
    return revert(flat) ?? by(callDialects) ?? new VmHalt({ halt: flat.texts[0] ?? null, raw: flat.raw });
  if ((foreign || error === undefined) && flat.httpStatus === null)
    return failed(flat, new MalformedResponse({ ...answerOf(flat), path: "" }));
  return (foreign ? undefined : revert(flat)) ?? by(dialects) ?? byStatus(flat);
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
export const classify = (input: {
  /** The JSON-RPC method, e.g. `eth_call`. */
  readonly method: string;
  /** HTTP status, where the transport is HTTP. */
  readonly httpStatus?: number | null | undefined;
  /** A record of any case, or anything with `get`; `Retry-After` (seconds or HTTP date) and `Date` are read. */
  readonly headers?:
    | { readonly get: (name: string) => string | null | undefined }
    | Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
    | null
    | undefined;
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
  /** ABIs that may explain a revert, which `Errors.classify` decodes. */
  readonly abis?: AbiSources | undefined;
  /** The contract that was called, whose own ABI counts first. */
  readonly to?: string | null | undefined;
}): RpcError | Verdict => {
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
