/** The commands together, and what becomes of each way to end. */
import * as Console from "effect/Console";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Logger from "effect/Logger";
import * as CliConfig from "effect/cli/CliConfig";
import type * as CliError from "effect/cli/CliError";
import * as CliOutput from "effect/cli/CliOutput";
import * as Command from "effect/cli/Command";
import * as GlobalFlag from "effect/cli/GlobalFlag";
import { escapeText } from "../primitives/text.js";
import { check } from "./check.js";
import { decode } from "./decode.js";
import { doctor } from "./doctor/doctor.js";
import { exitCodes, withoutSecrets } from "./exit.js";
import { nonces } from "./nonces/command.js";
import { verify } from "./verify.js";

/** The package's, as `--version` says it; a test compares it with package.json. */
const version = "0.2.0";

const root = Command.make("evm-preflight").pipe(
  Command.withDescription("What will happen if this transaction is sent now, and exactly what should be signed"),
  Command.withSubcommands([check, verify, doctor, decode, nonces]),
);

const complaint = (path: ReadonlyArray<string>, message: string): string =>
  `${path.join(" ")}: ${escapeText(withoutSecrets(message).replace(/\s+/g, " "), 1_024)}`;

const complain = (path: ReadonlyArray<string>, messages: ReadonlyArray<string>): Effect.Effect<void> =>
  Console.error([...messages.map((message) => complaint(path, message)), `see ${path.join(" ")} --help`].join("\n"));

/** The command that was called, of what came with it nothing. */
const pathOf = (args: ReadonlyArray<string>): ReadonlyArray<string> => [
  "evm-preflight",
  ...args.slice(0, 1).filter((name) => /^[a-z]+$/.test(name)),
];

/**
 * What went wrong, once: of a command that is not there no flag is missing. A stray word may be part of a header that
 * lost its quotes, so that none is repeated.
 */
const told = (errors: ReadonlyArray<CliError.NonShowHelpErrors>): ReadonlyArray<string> => {
  const unknown = errors.filter(({ _tag }) => _tag === "UnknownSubcommand");
  return (unknown.length > 0 ? unknown : errors).map((error) =>
    error._tag === "UnexpectedArgument"
      ? "there are more arguments than it takes; put a value with spaces into quotes"
      : error.message,
  );
};

/** Help as it is; complaints short, on stderr, and without the keys that URLs carry. */
const presenter: CliOutput.Presenter = {
  present: (presentation) =>
    presentation._tag === "InvalidInvocation"
      ? complain(presentation.commandPath, told(presentation.errors))
      : CliOutput.defaultPresenter.present(presentation),
};

const settings = Layer.mergeAll(
  // why: what is printed may be read by a program
  Layer.succeed(Logger.LogToStderr, true),
  CliOutput.layerPresenter(presenter),
  Layer.succeed(CliConfig.CliConfig, { builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] }),
);

/** Runs the program and gives its exit code; see {@link exitCodes}. */
export const main = (args: ReadonlyArray<string>): Effect.Effect<number, never, Command.Environment> =>
  Command.runWith(root, { version })(args).pipe(
    Effect.as(0),
    Effect.catchTags({
      Exited: ({ code }) => Effect.succeed<number>(code),
      Unwritten: ({ message }) => Effect.as(Console.error(escapeText(message, 1_024)), exitCodes.unwritten),
      Unavailable: ({ message }) => Effect.as(Console.error(complaint(pathOf(args), message)), exitCodes.unavailable),
      WrongUsage: ({ message }) => Effect.as(complain(pathOf(args), [message]), exitCodes.usage),
    }),
    // why: whatever else the command line fails with is the command line's fault
    Effect.catch(() => Effect.succeed(exitCodes.usage)),
    Effect.provide(settings),
  );
