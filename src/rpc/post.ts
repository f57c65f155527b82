/**
 * One HTTP POST with a bounded answer: how much it may hold (what its method has to say, and what the other answers of its
 * run have left), what every way of sending it gives back, and how its parts are collected.
 */
import * as Result from "effect/Result";
import { inNextTurn } from "../primitives/effects.js";
import { safely } from "../primitives/record.js";
import { mostRunBytes, type RunContext } from "./service.js";

/** The bounds of one answer. */
export interface ResponseBudget {
  /** Bytes, unpacked. */
  readonly maxBytes: number;
  /** Takes so many bytes from the run; false = it has less left. */
  readonly take: (bytes: number) => boolean;
}

const kibibyte = 1_024;
/** A number or a hash; refusals come with pages of gateways. */
const word = 256 * kibibyte;

/** Bytes of answers that are never long; those of other methods are held to the endpoint's bound alone. */
const shortAnswers: Readonly<Record<string, number>> = {
  eth_blockNumber: word,
  eth_chainId: word,
  eth_gasPrice: word,
  eth_getBalance: word,
  eth_getTransactionCount: word,
  eth_maxPriorityFeePerGas: word,
  eth_sendRawTransaction: word,
  eth_subscribe: word,
  // the largest code of any chain, as digits; what a revert returned
  eth_getCode: 1_024 * kibibyte,
  eth_estimateGas: 1_024 * kibibyte,
  // more calls than anybody follows
  debug_traceCall: 1_024 * kibibyte,
};

/** The room of one answer; `budget` is the run's, null outside any. */
export const roomFor = (
  method: string,
  maxBytes: number,
  budget: NonNullable<RunContext["answers"]> | null,
): ResponseBudget => ({
  maxBytes: Math.min(maxBytes, shortAnswers[method] ?? maxBytes, budget === null ? maxBytes : mostRunBytes),
  take: (bytes) => {
    if (budget === null) return true;
    budget.left -= bytes;
    return budget.left >= 0;
  },
});

/** The room of several answers in one body, each of which takes its share. */
export const sharedRoom = (rooms: ReadonlyArray<ResponseBudget>, maxBytes: number): ResponseBudget => ({
  maxBytes: Math.min(
    maxBytes,
    rooms.reduce((sum, room) => sum + room.maxBytes, 0),
  ),
  take: (bytes) => rooms.map((room) => room.take(bytes / rooms.length)).every((isLeft) => isLeft),
});

/** The response; `text` is the whole body. */
export interface Reply {
  readonly status: number;
  readonly header: (name: string) => string | null;
  readonly text: string;
  /** Bytes of the body, unpacked. */
  readonly bytes: number;
}

/** No whole answer: none arrived, it is larger than allowed, or it cannot be unpacked. */
export interface NoReply {
  readonly kind: "unreachable" | "too-large" | "undecodable";
  readonly detail: string;
  readonly bytes: number;
}

export type Posted = Result.Result<Reply, NoReply>;

/** Sends `body`, calls `callback` once with an answer that fits `room`, and returns how to abort; after that `callback` is not called. */
export type Post = (body: string, room: ResponseBudget, callback: (result: Posted) => void) => () => void;

/** The same, to any address. */
export type PostTo = (url: URL, body: string, room: ResponseBudget, callback: (result: Posted) => void) => () => void;

export const unreachable = (detail: string, bytes = 0): NoReply => ({ kind: "unreachable", detail, bytes });
export const tooLarge = (maxBytes: number, bytes: number): NoReply => ({
  kind: "too-large",
  detail: `the answer is larger than ${maxBytes} bytes`,
  bytes,
});
export const tooMuch = (bytes: number): NoReply => ({
  kind: "too-large",
  detail: "the answers of this run are together larger than one run may have",
  bytes,
});

/** The innermost words: `fetch` hides the system's error in its cause. */
export const wordsOf = (error: unknown): string => {
  let current = error;
  for (let depth = 0; depth < 4; depth++) {
    const cause: unknown = current instanceof Error ? current.cause : undefined;
    if (!(cause instanceof Error)) break;
    current = cause;
  }
  if (!(current instanceof Error)) return String(current);
  const code = "code" in current && typeof current.code === "string" ? current.code : "";
  return current.message === "" ? code || current.name : current.message;
};

/** As often as this an endpoint may point elsewhere before it has answered. */
const mostRedirects = 5;

/** Reads where a reply with status 307 or 308 points; null where it is none, or points nowhere. */
const pointedAt = (result: Posted, from: URL): URL | null => {
  if (result._tag === "Failure" || (result.success.status !== 307 && result.success.status !== 308)) return null;
  const location = result.success.header("location");
  return location === null ? null : safely(() => new URL(location, from), null);
};

const refused = (result: Posted, why: string): Posted =>
  Result.map(result, (reply) => ({ ...reply, text: `the redirect (HTTP ${reply.status}) ${why}` }));

/**
 * Posts to `url`, and on to where 307 and 308 point, which keep method and body: within the origin only,
 * for headers and transaction are meant for it alone. Other redirects are the endpoint's answer.
 */
export const following =
  (postTo: PostTo, url: URL): Post =>
  (body, room, callback) => {
    let abort = (): void => undefined;
    const go = (to: URL, redirects: number): void => {
      let isOver = false;
      const stop = postTo(to, body, room, (result) => {
        isOver = true;
        const next = pointedAt(result, to);
        if (next === null) return callback(result);
        if (next.origin !== url.origin)
          return callback(refused(result, `to another origin, ${next.origin}, is not followed`));
        if (redirects === 0)
          return callback(refused(result, `is the ${mostRedirects + 1}th in a row and is not followed`));
        return go(next, redirects - 1);
      });
      if (!isOver) abort = stop;
    };
    go(url, mostRedirects);
    return () => abort();
  };

let decoder: TextDecoder | null = null;
/** Made when it is first needed: not every platform has one when modules load. */
const textOf = (bytes: Uint8Array): string => (decoder ??= new TextDecoder()).decode(bytes);

const joined = (chunks: ReadonlyArray<Uint8Array>, length: number): Uint8Array => {
  const [first] = chunks;
  if (chunks.length === 1 && first !== undefined) return first;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
};

/** The least memory that a value of JSON takes, bytes, however few it was written with. */
// guard: an answer's weight in memory
const leastValue = 24;
/** Bytes of a body that is too short for its values to matter. */
const leastWeighed = 65_536;

/** Weighs a body that is read: its bytes, or the memory of as many values as it may hold, if that is more. */
export const weightOf = (body: Uint8Array | string): number => {
  if (body.length < leastWeighed) return body.length;
  let values = 0;
  for (let at = 0; at < body.length; at++) {
    const byte = typeof body === "string" ? body.charCodeAt(at) : body[at];
    // commas, and what opens a list or an object
    if (byte === 44 || byte === 91 || byte === 123) values++;
  }
  return Math.max(body.length, leastValue * values);
};

/** Bytes of a packed body that is read in the turn in which it came. */
const mostPacked = 2_048;

/** Long bodies that are whole, and wait to be read. */
const whole: Array<() => void> = [];
const readNext = (): void => {
  const read = whole.shift();
  if (whole.length > 0) inNextTurn(readNext);
  read?.();
};

/** Reads a long body in a turn of the event loop of its own: those of a round arrive together. */
const inOwnTurn = (read: () => void): void => {
  if (whole.push(read) === 1) inNextTurn(readNext);
};

/** Receives the parts of one answer. Whatever comes after its end, or after `close`, is nobody's any more. */
export const receiver = ({ maxBytes, take }: ResponseBudget, callback: (result: Posted) => void) => {
  let open = true;
  let isWhole = false;
  let bytes = 0;
  let chunks: Array<Uint8Array> = [];
  const finish = (result: Posted) => {
    if (!open) return;
    open = false;
    chunks = [];
    callback(result);
  };
  return {
    /** A part of the body; false = the answer is too large, and its end was told. */
    data: (chunk: Uint8Array): boolean => {
      if (!open) return false;
      bytes += chunk.length;
      if (bytes > maxBytes) finish(Result.fail(tooLarge(maxBytes, bytes)));
      else if (!take(chunk.length)) finish(Result.fail(tooMuch(bytes)));
      else chunks.push(chunk);
      return open;
    },
    /** The whole body is here, as it was packed; `unpack` is null where it is unpacked already. */
    end: (
      status: number,
      header: (name: string) => string | null,
      unpack: ((body: Uint8Array) => Uint8Array | NoReply) | null,
    ): void => {
      if (!open || isWhole) return;
      isWhole = true;
      const read = (): void => {
        if (!open) return;
        const body = joined(chunks, bytes);
        const unpacked = unpack === null || bytes === 0 ? body : unpack(body);
        if ("kind" in unpacked) return finish(Result.fail(unpacked));
        const weight = weightOf(unpacked);
        if (weight > maxBytes) return finish(Result.fail(tooLarge(maxBytes, weight)));
        // why: packed bytes are taken already
        if (!take(Math.max(0, weight - bytes))) return finish(Result.fail(tooMuch(weight)));
        finish(Result.succeed({ status, header, text: textOf(unpacked), bytes: unpacked.length }));
      };
      // why: two KiB may be packed out of two MiB
      if (bytes < (unpack === null ? leastWeighed : mostPacked)) read();
      else inOwnTurn(read);
    },
    fail: (error: unknown): void => {
      // why: every connection closes once, and most after the whole answer came
      if (open && !isWhole) finish(Result.fail(unreachable(wordsOf(error), bytes)));
    },
    close: (): void => {
      open = false;
    },
  };
};
