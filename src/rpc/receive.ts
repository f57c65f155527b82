/** Collecting one answer, whichever way it comes: bounded, unpacked where the way does not do it, told once. */
import * as Result from "effect/Result";
import { tooLarge, tooMuch, unreachable, wordsOf, type Posted } from "./post.js";
import type { Room } from "./room.js";

const decoder = /* @__PURE__ */ new TextDecoder();

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
          onSuccess: (read) =>
            // why: packed bytes are taken already
            take(Math.max(0, read.length - bytes))
              ? { ok: true, reply: { status, header, text: decoder.decode(read), bytes: read.length } }
              : tooMuch(read.length),
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
