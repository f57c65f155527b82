/** Packed answers, by Node's own zlib. */
import * as Result from "effect/Result";
import { builtin } from "./node.js";
import { tooLarge, undecodable, wordsOf } from "./post.js";
import type { Unpack } from "./receive.js";

/** What can be unpacked, for the header `accept-encoding`. */
export const acceptEncoding = "gzip, deflate, br";

/** As deep as this an answer may be packed. */
const mostEncodings = 2;

/** One layer of packing taken off; null where the encoding is not known. Throws on what is damaged, cut or too long. */
const unpacked = (packed: Uint8Array, encoding: string, maxBytes: number): Uint8Array | null => {
  const zlib = builtin("node:zlib");
  const limit = { maxOutputLength: Math.min(Math.floor(maxBytes), builtin("node:buffer").constants.MAX_LENGTH) };
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

/** What unpacks a body that came with these `content-encoding`s, to at most `maxBytes`; null where it came with none. */
export const unpacking = (encodings: string | null, maxBytes: number): Unpack | null =>
  encodings === null ? null : (body) => unpack(body, encodings, maxBytes);

const unpack = (body: Uint8Array, encodings: string, maxBytes: number): ReturnType<Unpack> => {
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
