/** Collecting one answer, whichever way it comes: bounded, unpacked where the way does not do it, told once. */
import * as Result from "effect/Result";
import { tooLarge, tooMuch, unreachable, wordsOf, type Posted } from "./post.js";
import type { Room } from "./room.js";

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

/** What a value of JSON takes in memory, bytes, however few it was written with. */
// guard: an answer's weight in memory
const leastValue = 24;
/** Bytes of a body that is too short for its values to matter. */
const leastWeighed = 65_536;

/** What a body weighs when it is read: its bytes, or what as many values as it may hold take. */
const weightOf = (body: Uint8Array): number => {
  if (body.length < leastWeighed) return body.length;
  let values = 0;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    // commas, and what opens a list or an object
    if (byte === 44 || byte === 91 || byte === 123) values++;
  }
  return Math.max(body.length, leastValue * values);
};

/** The body as it was packed; the failure says why it cannot be read. */
export type Unpack = (body: Uint8Array) => Result.Result<Uint8Array, Posted>;

/** Where the parts of one answer go. Whatever comes after its end, or after `close`, is nobody's any more. */
export interface Receiver {
  /** A part of the body; false = the answer is too large, and its end was told. */
  readonly data: (chunk: Uint8Array) => boolean;
  /** The whole body is here; `unpack` is null where it is unpacked already. */
  readonly end: (status: number, header: (name: string) => string | null, unpack: Unpack | null) => void;
  readonly fail: (error: unknown) => void;
  readonly close: () => void;
}

export const receiver = ({ maxBytes, take }: Room, done: (posted: Posted) => void): Receiver => {
  let open = true;
  let bytes = 0;
  let chunks: Array<Uint8Array> = [];
  const finish = (posted: Posted) => {
    if (!open) return;
    open = false;
    chunks = [];
    done(posted);
  };
  return {
    data: (chunk) => {
      if (!open) return false;
      bytes += chunk.length;
      if (bytes > maxBytes) finish(tooLarge(maxBytes, bytes));
      else if (!take(chunk.length)) finish(tooMuch(bytes));
      else chunks.push(chunk);
      return open;
    },
    end: (status, header, unpack) => {
      if (!open) return;
      const body = joined(chunks, bytes);
      const plain = unpack === null || bytes === 0 ? Result.succeed(body) : unpack(body);
      finish(
        Result.match(plain, {
          onSuccess: (read) => {
            const weight = weightOf(read);
            if (weight > maxBytes) return tooLarge(maxBytes, weight);
            // why: packed bytes are taken already
            return take(Math.max(0, weight - bytes))
              ? { ok: true, reply: { status, header, text: textOf(read), bytes: read.length } }
              : tooMuch(weight);
          },
          onFailure: (posted) => posted,
        }),
      );
    },
    fail: (error) => finish(unreachable(wordsOf(error), bytes)),
    close: () => {
      open = false;
    },
  };
};
