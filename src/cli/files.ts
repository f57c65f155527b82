/** What the commands read: files, and stdin as `-`. */
import * as ByteSize from "effect/ByteSize";
import * as Effect from "effect/Effect";
import * as FileSystem from "effect/FileSystem";
import * as Path from "effect/Path";
import * as Result from "effect/Result";
import * as Stdio from "effect/Stdio";
import * as Stream from "effect/Stream";
import type { Abi } from "abitype";
import { escapeText } from "../primitives/text.js";
import { abiOf, abiOfText } from "./abi.js";
import { Unwritten, wrong, type WrongUsage } from "./exit.js";

/** More than any bundle with its ABIs. */
const maxBytes = 33_554_432n;

/** The text of a file; `name` is the flag or argument that named it. */
export const readText = Effect.fnUntraced(function* (
  path: string,
  name: string,
): Effect.fn.Return<string, WrongUsage, FileSystem.FileSystem | Stdio.Stdio> {
  if (path === "-") {
    const stdio = yield* Stdio.Stdio;
    return yield* Effect.mapError(Stream.mkString(Stream.decodeText(stdio.stdin)), () =>
      wrong(name, "stdin cannot be read"),
    );
  }
  const fs = yield* FileSystem.FileSystem;
  const why = (error: { readonly reason: { readonly _tag: string } }) =>
    wrong(name, `${escapeText(path, 200)} cannot be read (${error.reason._tag})`);
  const info = yield* Effect.mapError(fs.stat(path), why);
  if (info.type === "Directory") return yield* wrong(name, `${escapeText(path, 200)} is a directory`);
  if (ByteSize.toBigInt(info.size) > maxBytes)
    return yield* wrong(name, `${escapeText(path, 200)} is larger than ${maxBytes} bytes`);
  return yield* Effect.mapError(fs.readFileString(path), why);
});

type Refused = { readonly reason: { readonly _tag: string } };

const unwritable = (path: string, name: string, { reason }: Refused): WrongUsage =>
  wrong(name, `${escapeText(path, 200)} cannot be written (${reason._tag})`);

/** Refuses a path that nothing could be written to, before any work is done for it; writes nothing. */
export const checkWritable = Effect.fnUntraced(function* (
  path: string,
  name: string,
): Effect.fn.Return<void, WrongUsage, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem;
  const { dirname } = yield* Path.Path;
  const refused = (error: Refused) => unwritable(path, name, error);
  const isThere = yield* Effect.mapError(fs.exists(path), refused);
  if (isThere && (yield* Effect.mapError(fs.stat(path), refused)).type === "Directory")
    return yield* wrong(name, `${escapeText(path, 200)} is a directory`);
  yield* Effect.mapError(fs.access(isThere ? path : dirname(path), { writable: true }), refused);
});

/** Writes a file. */
export const writeText = Effect.fnUntraced(function* (
  path: string,
  text: string,
  name: string,
): Effect.fn.Return<void, Unwritten, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem;
  yield* Effect.mapError(
    fs.writeFileString(path, text),
    (error) => new Unwritten({ message: unwritable(path, name, error).message }),
  );
});

/** An ABI from `--abi`: a signature when it has parentheses, else a file of JSON or signatures. */
export const readAbi = Effect.fnUntraced(function* (
  value: string,
): Effect.fn.Return<Abi, WrongUsage, FileSystem.FileSystem | Stdio.Stdio> {
  const abi = value.includes("(") ? abiOf(value, "--abi") : abiOfText(yield* readText(value, "--abi"), "--abi");
  return Result.isSuccess(abi) ? abi.success : yield* wrong(abi.failure.field, abi.failure.problem);
});
