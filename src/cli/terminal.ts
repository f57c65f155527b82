/**
 * The input and output of the commands: files, stdin as `-`, the report to stdout, everything about the run to stderr.
 */
import * as ByteSize from "effect/ByteSize";
import * as Config from "effect/Config";
import * as Console from "effect/Console";
import * as Effect from "effect/Effect";
import * as FileSystem from "effect/FileSystem";
import * as Path from "effect/Path";
import * as Result from "effect/Result";
import * as Stdio from "effect/Stdio";
import * as Stream from "effect/Stream";
import * as Terminal from "effect/Terminal";
import { isRecord, escapeText } from "../primitives/index.js";
import { orWrong, Unwritten, wrong, type WrongUsage } from "./exit.js";

const variable = (name: string): Effect.Effect<string> =>
  Config.String(name).pipe(
    Config.withDefault(""),
    Effect.orElseSucceed(() => ""),
  );

/** True if the terminal knows no escape sequences. */
export const isDumb: Effect.Effect<boolean> = Effect.map(variable("TERM"), (term) => term === "dumb");

/**
 * Colours and the terminal's width on a terminal, plain text in a pipe. `FORCE_COLOR` (but 0) wants colours in a pipe,
 * too; `NO_COLOR` wants none anywhere, and a dumb terminal can show none.
 */
export const look = Effect.gen(function* () {
  const stdio = yield* Stdio.Stdio;
  const isTerminal = yield* stdio.stdoutIsTerminal;
  const noColor = yield* variable("NO_COLOR");
  const forced = yield* variable("FORCE_COLOR");
  const wantsColor = forced === "" ? isTerminal : !["0", "false"].includes(forced);
  const columns = isTerminal ? yield* (yield* Terminal.Terminal).columns : 0;
  return { color: wantsColor && noColor === "" && !(yield* isDumb), width: columns > 0 ? columns : 100 };
});

/** `text` on stdout, with one newline at its end. */
export const print = (text: string): Effect.Effect<void> => Console.log(text.replace(/\n+$/, ""));

/** `text` on stderr as it is; a closed stderr loses it. */
export const tell = (text: string): Effect.Effect<void, never, Stdio.Stdio> =>
  Effect.flatMap(Stdio.Stdio, (stdio) =>
    Effect.ignore(Stream.run(Stream.make(text), stdio.stderr({ endOnDone: false }))),
  );

/** JSON to be read and to be parsed; amounts are decimal strings. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) => (typeof inner === "bigint" ? String(inner) : inner), 2);

/** More than any bundle with its ABIs. */
const maxBytes = 33_554_432n;

/** Wrong usage for a file that the platform would not read or write. */
const refused =
  (path: string, name: string, what: "read" | "written") =>
  ({ reason }: { readonly reason: { readonly _tag: string } }): WrongUsage =>
    wrong(name, `${escapeText(path, 200)} cannot be ${what} (${reason._tag})`);

/** A path as typed, or that of a `file://` URL; `name` is the flag or argument that named it. */
const pathOf = (typed: string, name: string): Effect.Effect<string, WrongUsage, Path.Path> => {
  if (!/^file:/i.test(typed)) return Effect.succeed(typed);
  const refused = wrong(name, `${escapeText(typed, 200)} is no URL of a file on this machine`);
  return URL.canParse(typed)
    ? Effect.flatMap(Path.Path, ({ fromFileUrl }) => Effect.mapError(fromFileUrl(new URL(typed)), () => refused))
    : Effect.fail(refused);
};

/** The text of a file; `name` is the flag or argument that named it. */
export const readText = Effect.fnUntraced(function* (typed: string, name: string) {
  if (typed === "-") {
    const stdio = yield* Stdio.Stdio;
    return yield* Effect.mapError(Stream.mkString(Stream.decodeText(stdio.stdin)), () =>
      wrong(name, "stdin cannot be read"),
    );
  }
  const path = yield* pathOf(typed, name);
  const fs = yield* FileSystem.FileSystem;
  const why = refused(path, name, "read");
  const info = yield* Effect.mapError(fs.stat(path), why);
  if (info.type === "Directory") return yield* wrong(name, `${escapeText(path, 200)} is a directory`);
  if (ByteSize.toBigInt(info.size) > maxBytes)
    return yield* wrong(name, `${escapeText(path, 200)} is larger than ${maxBytes} bytes`);
  return yield* Effect.mapError(fs.readFileString(path), why);
});

/** JSON, or where it is none. */
export const parseJson = (text: string): Result.Result<unknown, string> =>
  Result.try({
    try: (): unknown => JSON.parse(text),
    catch: (error) => `is no JSON: ${escapeText(error instanceof Error ? error.message : String(error), 120)}`,
  });

/** Reads what a file of JSON holds. */
export const readJson = (path: string, name: string) =>
  Effect.flatMap(readText(path, name), (content) => orWrong(name, parseJson(content)));

/** Says what JSON of this program, or for it, is; null for anything else. */
export const kindOf = (json: unknown): string | null => {
  if (Array.isArray(json))
    return json.some((entry) => isRecord(entry) && "from" in entry) ? "a bundle of transactions" : null;
  if (!isRecord(json)) return null;
  if ("verdict" in json && "ledger" in json) return "a report";
  if ("facts" in json && "findings" in json) return "what doctor wrote of an endpoint";
  return "from" in json || "to" in json ? "a transaction" : null;
};

/** Refuses a path that nothing could be written to, before any work is done for it; writes nothing. */
export const checkWritable = Effect.fnUntraced(function* (typed: string, name: string) {
  // why: the folder of no path is the present one, which can be written to
  if (typed === "") return yield* wrong(name, "is empty");
  const path = yield* pathOf(typed, name);
  const fs = yield* FileSystem.FileSystem;
  const { dirname } = yield* Path.Path;
  const why = refused(path, name, "written");
  const isThere = yield* Effect.mapError(fs.exists(path), why);
  if (isThere && (yield* Effect.mapError(fs.stat(path), why)).type === "Directory")
    return yield* wrong(name, `${escapeText(path, 200)} is a directory`);
  yield* Effect.mapError(fs.access(isThere ? path : dirname(path), { writable: true }), why);
});

/** Writes a file. */
export const writeText = Effect.fnUntraced(function* (typed: string, text: string, name: string) {
  const path = yield* pathOf(typed, name);
  const fs = yield* FileSystem.FileSystem;
  yield* Effect.mapError(
    fs.writeFileString(path, text),
    (error) => new Unwritten({ message: refused(path, name, "written")(error).message }),
  );
});
