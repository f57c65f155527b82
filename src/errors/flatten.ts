/**
 * One node error of any shape as a short list of what was said, outermost first.
 *
 * Gateways, wallets and libraries wrap the node's answer: under `data`, `data.originalError`,
 * `error`, `cause`, a ganache hash key, or as JSON text inside a message. Everything is bounded
 * here, so that what reads it needs no bounds of its own.
 */
import type * as Schema from "effect/Schema";
import { isBytes, isHash, type Hex } from "../primitives/hex.js";
import { isObject, jsonIn } from "../primitives/record.js";

// a request id in brackets, then up to three short labels such as `err:`, `rpc error:`, `failed with 50000000 gas:`
const labels = String.raw`^\s*(?:\[[^\]]{0,120}\]\s*)?(?:[\w .'"()-]{1,64}:\s+){0,3}`;
const says = [
  String.raw`(?:evm )?execution (?:was |has )?revert`,
  String.raw`executionreverted\b`,
  String.raw`vm exception[^:]{0,60}:[^:]{0,24}\brevert`,
  String.raw`(?:the )?(?:transaction|contract|call|contract call|message call|simulation|inner call) (?:was |has )?revert`,
  String.raw`the contract function [^\n]{1,120} revert`,
  String.raw`evm revert`,
  String.raw`reverted\b`,
  String.raw`revert(?=$|[\s:(,.])`,
  String.raw`vm execution error\.?:? ?revert`,
  String.raw`message execution failed[^\n]{0,60}revert reason`,
  String.raw`contract_revert_executed`,
  String.raw`revert opcode executed`,
].join("|");
const pattern = new RegExp(`${labels}(?:${says})`, "i");

/**
 * True if a text says, in its first words, that a call reverted. Only the beginning counts: what follows is the
 * contract's own text, and a contract may write anything there, such as the words of a rate limit.
 */
export const saysReverted = (text: string): boolean => pattern.test(text.length > 512 ? text.slice(0, 512) : text);

// Nethermind and parity: `Reverted 0x…`, `err: 0x… (supplied gas N)`, `0x…`; EDR: `… (return data: 0x…)`
const leadingBytes = /^(?:err: )?(?:revert(?:ed)?:?\s+)?(0x[0-9a-fA-F]*)(?=$|[\s"])/i;
const edrBytes =
  /^(?:Error: )?VM Exception while processing transaction: reverted with an unrecognized custom error \(return data: (0x[0-9a-fA-F]*)\)$/;

/** Bytes that a node wrote as text where its own words are expected; never read from a contract's words. */
export const bytesInText = (text: string): Hex | null => {
  const found = (leadingBytes.exec(text) ?? edrBytes.exec(text))?.[1];
  return isBytes(found) ? found : null;
};

/** Bounds of one answer: levels of nesting, objects visited, characters read per text and in all. */
export const bounds = { depth: 6, objects: 48, characters: 4096, total: 12_288 } as const;

/** One level of an answer. */
export interface Level {
  readonly code: number | null;
  /** Its own words: message, reason, string data; each at most {@link bounds.characters} long. */
  readonly texts: ReadonlyArray<string>;
  /** Hex where return bytes may be. Whether they are revert bytes is not decided here. */
  readonly bytes: Hex | null;
  /** True if the level had any `data`. */
  readonly hasData: boolean;
}

/** An answer, flattened. */
export interface Flat {
  readonly method: string;
  /** `request`: the whole request failed. `call`: one simulated call did. `inline`: a trailing element of a result. */
  readonly scope: "request" | "call" | "inline";
  readonly httpStatus: number | null;
  readonly levels: ReadonlyArray<Level>;
  /** All texts, outermost first. */
  readonly texts: ReadonlyArray<string>;
  /** All codes, outermost first. */
  readonly codes: ReadonlyArray<number>;
  /** `from` and `to` of a payload that proposes a range of blocks. */
  readonly range: { readonly from: unknown; readonly to: unknown } | null;
  /** The delay that headers or payload name, ms. */
  readonly retryAfterMs: number | null;
  readonly returnData: Hex | null;
  /** True if an ABI of the caller's has these bytes as an error. */
  readonly isKnownError: (bytes: Hex) => boolean;
  readonly raw: Schema.Json;
}

/** An integer, also one written as text; null for anything else. */
export const integer = (value: unknown): number | null => {
  const number = typeof value === "string" && /^-?\d{1,9}$/.test(value) ? Number(value) : value;
  // `+ 0`: JSON knows a minus zero when it reads and none when it writes
  return typeof number === "number" && Number.isSafeInteger(number) ? number + 0 : null;
};

/** An HTTP status that says failure; null for anything else. */
export const httpStatus = (value: unknown): number | null => {
  const status = integer(value);
  return status !== null && status >= 400 && status <= 599 ? status : null;
};

/** Fields that may hold words, and those that may hold further levels. */
const ofNodes = {
  words: ["message", "reason", "details", "error", "description", "detail", "title"],
  inner: ["message", "data", "error", "originalError", "cause", "info", "body", "response", "errors"],
};
// viem's and ethers' errors carry the request in `message`, viem's in `body` too; these come from the node
const ofLibraries = { words: ["details", "reason"], inner: ["data", "cause", "error", "info"] };
const bytesKeys = ["data", "return", "result", "output", "returnData"];

/** The JSON that a text carries, with the words before it; undefined for plain words and for reverts. */
const embedded = (text: string): { readonly before: string; readonly value: object } | undefined => {
  const start = text.search(/[{[]/);
  if (start < 0 || start > 512 || text.length > 262_144 || saysReverted(text)) return undefined;
  const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"));
  if (end <= start) return undefined;
  const value = jsonIn(text.slice(start, end + 1));
  return isObject(value) ? { before: text.slice(0, start).trim(), value } : undefined;
};

/** Starts a walk: nothing is found of the answer yet, and so many characters may still be read. */
const emptyWalk = () => ({
  ...{ levels: new Array<Level>(), seen: new Set<object>(), left: bounds.total as number },
  ...{ range: null as Flat["range"], delay: undefined as unknown, status: null as number | null },
});

const delayIn = (value: Readonly<Record<string, unknown>>): unknown => {
  const seconds = value["backoff_seconds"] ?? value["retry_after"] ?? value["retryAfter"] ?? value["try_again_in"];
  const ms = value["retry_after_ms"] ?? value["retryAfterMs"];
  return typeof ms === "number" ? `${ms}ms` : typeof seconds === "number" ? `${seconds}s` : seconds;
};

/** A library's own name for what happened: ECONNREFUSED, TIMEOUT; an Error's: AbortError. */
const isOwnName = (name: unknown): name is string =>
  typeof name === "string" && /^[A-Z][A-Za-z0-9_]{2,48}$/.test(name) && name !== "Error";

/** The field of an object that may be a further level; a body may be one as text. */
const partOf = (value: Readonly<Record<string, unknown>>, key: string): unknown => {
  const part = value[key];
  return key === "body" && typeof part === "string" ? embedded(part)?.value : part;
};

/** Adds an object's own level, and returns what may hold further ones. */
const innerOf = (value: Readonly<Record<string, unknown>>, walk: ReturnType<typeof emptyWalk>) => {
  const keys = typeof value["shortMessage"] === "string" ? ofLibraries : ofNodes;
  const texts: Array<string> = [];
  const inner: Array<unknown> = [];
  let bytes: Hex | null = null;
  const read = (text: unknown): void => {
    if (typeof text !== "string" || texts.includes(text)) return;
    const json = embedded(text);
    if (json !== undefined) inner.push(json.value);
    const words = json === undefined ? text : json.before;
    bytes ??= bytesInText(words);
    const kept = words.slice(0, Math.min(bounds.characters, walk.left));
    walk.left -= kept.length;
    if (kept !== "") texts.push(kept);
  };
  for (const key of keys.words) read(value[key]);
  for (const key of bytesKeys) {
    const data = value[key];
    if (isBytes(data)) bytes ??= data;
    else if (key === "data") read(data);
  }
  texts.push(...[value["code"], value instanceof Error ? value.name : undefined].filter(isOwnName));
  const code = integer(value["code"]) ?? integer(value["errorCode"]);
  walk.levels.push({ code, texts, bytes, hasData: value["data"] != null });
  inner.push(...keys.inner.map((key) => partOf(value, key)).filter(isObject));
  const names = Object.keys(value);
  return names.length > 8 ? inner : [...inner, ...names.filter(isHash).map((name) => value[name])];
};

const visit = (value: unknown, depth: number, walk: ReturnType<typeof emptyWalk>): void => {
  if (depth > bounds.depth || walk.seen.size >= bounds.objects) return;
  if (typeof value === "string") return visit({ message: value }, depth, walk);
  if (!isObject(value) || walk.seen.has(value)) return;
  walk.seen.add(value);
  const isList = Array.isArray(value);
  if (!isList) {
    walk.delay ??= delayIn(value) ?? (isObject(value["rate"]) ? delayIn(value["rate"]) : undefined);
    if ("from" in value && "to" in value) walk.range ??= { from: value["from"], to: value["to"] };
    walk.status ??= httpStatus(value["status"]) ?? httpStatus(value["statusCode"]);
  }
  for (const element of isList ? value.slice(0, 8) : innerOf(value, walk)) visit(element, depth + 1, walk);
};

/**
 * Flattens an error of any shape: at most {@link bounds.depth} levels deep. Status and delay are for the caller to weigh
 * against the transport's.
 */
export const flatten = (error: unknown) => {
  const walk = emptyWalk();
  visit(error, 0, walk);
  return {
    levels: walk.levels,
    texts: walk.levels.flatMap(({ texts }) => texts),
    codes: walk.levels.flatMap(({ code }) => (code === null ? [] : [code])),
    range: walk.range,
    /** A delay as the payload wrote it, e.g. `30s`. */
    delay: typeof walk.delay === "string" ? walk.delay.slice(0, 64) : null,
    /** An HTTP status that a library's error carried. */
    status: walk.status,
  };
};
