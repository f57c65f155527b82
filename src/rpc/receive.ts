/** Collecting one answer, whichever way it comes: bounded, unpacked where the way does not do it, told once. */
import * as Result from "effect/Result";
import { builtin } from "./node.js";
import { tooLarge, undecodable, unreachable, wordsOf, type Posted } from "./post.js";

/** What a {@link Receiver} on Node unpacks, for the header `accept-encoding`. */
export const acceptEncoding = "gzip, deflate, br";

/** As deep as this an answer may be packed. */
const mostEncodings = 2;

const decoder = /* @__PURE__ */ new TextDecoder();

/** One layer of packing taken off; null where the encoding is not known. Throws on what is damaged, cut or too long. */
const unpacked = (packed: Uint8Array, encoding: string, maxBytes: number): Uint8Array | null => {
  const zlib = builtin("node:zlib");
  const limit = { maxOutputLength: maxBytes };
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return zlib.gunzipSync(packed, limit);
    case "br":
      return zlib.brotliDecompressSync(packed, limit);
    case "deflate":
      // why: some servers leave the zlib header out, whose first byte ends in 8
      return ((packed[0] ?? 0) & 0x0f) === 8 ? zlib.inflateSync(packed, limit) : zlib.inflateRawSync(packed, limit);
    default:
      return null;
  }
};

const isTooLong = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";

/** The body as it was packed; the failure says why it cannot be read. */
const unpack = (body: Uint8Array, encodings: string, maxBytes: number): Result.Result<Uint8Array, Posted> => {
  const layers = encodings
    .toLowerCase()
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "" && one !== "identity");
  if (layers.length > mostEncodings) return Result.fail(undecodable("the answer is packed too often", body.length));
  let rest = body;
  for (const encoding of layers.reverse()) {
    const made = Result.try(() => unpacked(rest, encoding, maxBytes));
    if (Result.isFailure(made)) {
      const words = `${encoding}: ${wordsOf(made.failure)}`;
      return Result.fail(isTooLong(made.failure) ? tooLarge(maxBytes, body.length) : undecodable(words, body.length));
    }
    if (made.success === null) return Result.fail(undecodable(`the encoding ${encoding} is not known`, body.length));
    rest = made.success;
  }
  return Result.succeed(rest);
};

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

/** Where the parts of one answer go. Whatever comes after its end, or after `close`, is nobody's any more. */
export interface Receiver {
  /** A part of the body; false = the answer is too large, and its end was told. */
  readonly data: (chunk: Uint8Array) => boolean;
  /** The whole body is here, packed as `encodings` say; null where it is unpacked already. */
  readonly end: (status: number, header: (name: string) => string | null, encodings: string | null) => void;
  readonly fail: (error: unknown) => void;
  readonly close: () => void;
}

export const receiver = (maxBytes: number, done: (posted: Posted) => void): Receiver => {
  let open = true;
  let bytes = 0;
  const chunks: Array<Uint8Array> = [];
  const finish = (posted: Posted) => {
    if (!open) return;
    open = false;
    done(posted);
  };
  return {
    data: (chunk) => {
      bytes += chunk.length;
      if (bytes > maxBytes) finish(tooLarge(maxBytes, bytes));
      else chunks.push(chunk);
      return bytes <= maxBytes;
    },
    end: (status, header, encodings) => {
      if (!open) return;
      const body = joined(chunks, bytes);
      const plain = encodings === null || bytes === 0 ? Result.succeed(body) : unpack(body, encodings, maxBytes);
      finish(
        Result.match(plain, {
          onSuccess: (read) => ({
            ok: true,
            reply: { status, header, text: decoder.decode(read), bytes: read.length },
          }),
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
