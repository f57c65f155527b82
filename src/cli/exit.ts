/** How the program ends: the exit codes, and the errors that carry one. */
import * as Data from "effect/Data";
import * as Effect from "effect/Effect";
import type * as Result from "effect/Result";
import type { Report } from "../report/schema.js";

/**
 * 0 ready, 1 blocked, 2 caution, 3 unknown, 64 wrong usage, 69 the store of nonces failed, 73 the report was printed and
 * its file could not be written.
 */
export const exitCodes = {
  ...{ ready: 0, blocked: 1, caution: 2, unknown: 3 },
  ...{ usage: 64, unavailable: 69, unwritten: 73 },
} as const;
/** {@link exitCodes} for `--help`. */
export const exitCodesText =
  "Exit codes: 0 ready, 1 blocked, 2 caution, 3 unknown, 64 wrong usage, 73 a file could not be written (the report was printed), 130 interrupted";
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The command is done and says so by its exit code; everything was printed already. */
export class Exited extends Data.TaggedError("Exited")<{ readonly code: ExitCode }> {}

/** The command was asked wrongly; `message` says where and how to correct it. */
export class WrongUsage extends Data.TaggedError("WrongUsage")<{ readonly message: string }> {}

/** The store of nonces cannot be reached, or cannot go on; asked rightly. */
export class Unavailable extends Data.TaggedError("Unavailable")<{ readonly message: string }> {}

/** A file could not be written after everything else was done. */
export class Unwritten extends Data.TaggedError("Unwritten")<{ readonly message: string }> {}

/** Wrong usage of a flag, an argument or a field. */
export const wrong = (where: string, problem: string): WrongUsage =>
  new WrongUsage({ message: `${where}: ${problem}` });

/** What was read of a flag or a file, or wrong usage of it. */
export const orWrong = <A>(where: string, read: Result.Result<A, string>): Effect.Effect<A, WrongUsage> =>
  Effect.mapError(Effect.fromResult(read), (problem) => wrong(where, problem));

/** What the store that a flag names could not do. */
export const unavailable = (where: string, problem: string): Unavailable =>
  new Unavailable({ message: `${where}: ${problem}` });

/** A report's exit code; what was never proven is not ready. */
export const codeOf = ({ verdict, stage }: Pick<Report, "verdict" | "stage">): ExitCode =>
  verdict === "ready" && stage !== "proven" ? exitCodes.unknown : exitCodes[verdict];

/** `text` with everything behind the origin of a URL left out: keys live there. */
export const withoutSecrets = (text: string): string =>
  text.replace(/\b([a-z][a-z0-9+.-]*:\/\/)(?:[^\s/@"']*@)?([^\s/?#"']*)([/?#][^\s"']*)?/gi, (_, scheme, host, rest) =>
    rest === undefined || rest === "/" ? `${scheme}${host}` : `${scheme}${host}/…`,
  );
