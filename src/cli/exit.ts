/** The program's version, and how it ends: the exit codes, and the errors that carry one. */
import * as Context from "effect/Context";
import * as Data from "effect/Data";
import * as Effect from "effect/Effect";
import type * as Result from "effect/Result";
import * as Command from "effect/cli/Command";
import type { HelpDoc } from "effect/cli/HelpDoc";
import type { Problem } from "../primitives/index.js";
import type { Report } from "../report/index.js";

/** The package's, as `--version` says it; a test compares it with package.json. */
export const version = "0.3.0";

/**
 * 0 ready, 1 blocked, 2 caution, 3 unknown: these four mean a verdict. 64 wrong usage, 69 the store of nonces failed, 70 the
 * program failed, 73 the report was printed and its file could not be written, 74 the output could not be written.
 */
export const exitCodes = {
  ...{ ready: 0, blocked: 1, caution: 2, unknown: 3 },
  ...{ usage: 64, unavailable: 69, failed: 70, unwritten: 73, unprinted: 74 },
} as const;

/** The meanings of a command's exit codes, for the end of its `--help`; null = not said. */
const Codes = Context.Reference<string | null>("evm-preflight/cli/Codes", { defaultValue: () => null });

/** A command whose help ends with its exit codes: those of its verdicts, those of every command, and further ones. */
export const withExitCodes = (verdicts: string, ...further: ReadonlyArray<string>) => {
  const all = [
    verdicts,
    "64 wrong usage",
    ...further,
    "70 the program itself failed",
    "74 the output could not be written",
    "130 interrupted",
  ];
  return Command.annotate(Codes, `Exit codes: ${all.join(", ")}`);
};

/** {@link withExitCodes}, as a help document has them. */
export const exitCodesOf = ({ annotations }: HelpDoc): string | null => Context.get(annotations, Codes);

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

/** Returns what was read of a flag or a file, or fails with wrong usage of it. */
export const orWrong = <A>(where: string, read: Result.Result<A, string>): Effect.Effect<A, WrongUsage> =>
  Effect.mapError(Effect.fromResult(read), (problem) => wrong(where, problem));

/** {@link orWrong} of what names the field itself. */
export const orWrongField = <A>(read: Result.Result<A, Problem>): Effect.Effect<A, WrongUsage> =>
  Effect.mapError(Effect.fromResult(read), ({ field, problem }) => wrong(field, problem));

/** The failure of the store that a flag names. */
export const unavailable = (where: string, problem: string): Unavailable =>
  new Unavailable({ message: `${where}: ${problem}` });

/** A report's exit code; what was never proven is not ready. */
export const codeOf = ({ verdict, stage }: Pick<Report, "verdict" | "stage">): ExitCode =>
  verdict === "ready" && stage !== "proven" ? exitCodes.unknown : exitCodes[verdict];
