/** The commands together, and what becomes of each way to end. */
import * as Console from "effect/Console";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Logger from "effect/Logger";
import * as CliConfig from "effect/cli/CliConfig";
import * as CliError from "effect/cli/CliError";
import * as CliOutput from "effect/cli/CliOutput";
import * as Command from "effect/cli/Command";
import * as GlobalFlag from "effect/cli/GlobalFlag";
import type { HelpDoc } from "effect/cli/HelpDoc";
import { TerminalCapabilities } from "effect/cli/TerminalCapabilities";
import { escapeText } from "../primitives/index.js";
import { check } from "./check.js";
import { decode } from "./decode.js";
import { doctor } from "./doctor/doctor.js";
import { exitCodes, exitCodesOf, version, withExitCodes } from "./exit.js";
import { mcp } from "./mcp/command.js";
import { nonces } from "./nonces/command.js";
import { verify } from "./verify.js";
import { redactUrls } from "../rpc/index.js";

const root = Command.make("evm-preflight").pipe(
  Command.withDescription("What will happen if this transaction is sent now, and exactly what should be signed"),
  Command.withSubcommands([check, verify, doctor, decode, nonces, mcp]),
  withExitCodes(
    "0 ready, 1 blocked, 2 caution, 3 unknown (of check; the help of each other command lists its own)",
    "69 the store of nonces cannot be used",
    "73 a file could not be written (the report was printed)",
  ),
);

const complaint = (path: ReadonlyArray<string>, message: string): string =>
  `${path.join(" ")}: ${escapeText(redactUrls(message).replace(/\s+/g, " "), 1_024)}`;

const complain = (path: ReadonlyArray<string>, messages: ReadonlyArray<string>): Effect.Effect<void> =>
  Console.error([...messages.map((message) => complaint(path, message)), `see ${path.join(" ")} --help`].join("\n"));

/**
 * The arguments as they are meant. `help` is `--help`, before a command and behind one. What begins with one dash, and is not `-h` or `-v`, is the value of the
 * option before it, such as a negative amount, and never a row of short options: `-1ether` ends in none that asks for help.
 */
export const normalize = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  const joined = args.slice(0, end).reduce<ReadonlyArray<string>>((before, arg) => {
    const option = before.at(-1);
    return option !== undefined && /^--[^=]+$/.test(option) && /^-[^-]/.test(arg) && !isAction(arg)
      ? [...before.slice(0, -1), `${option}=${arg}`]
      : [...before, arg];
  }, []);
  const all = [...joined, ...args.slice(end)];
  if (all[0] === "help") return [...all.slice(1), "--help"];
  const names = namesOf(root);
  const isAsking = all.length > 1 && all.at(-1) === "help" && all.slice(0, -1).every((name) => names.includes(name));
  return isAsking ? [...all.slice(0, -1), "--help"] : all;
};

/** Options that ask the program about itself, in place of a command. */
const isAction = (arg: string): boolean => /^(?:-h|--help|-v|--version|--completions(?:=.*)?)$/.test(arg);

/** The command that was called, of what came with it nothing. */
const pathOf = (args: ReadonlyArray<string>): ReadonlyArray<string> => [
  "evm-preflight",
  ...args.slice(0, 1).filter((name) => /^[a-z]+$/.test(name)),
];

/** Guesses the option that an unknown one stands for: what other tools call it, else an option that shares a word. */
const meantBy = (option: string, { flags, inheritedFlags = [] }: HelpDoc): ReadonlyArray<string> => {
  const name = option.replace(/^-+/, "");
  const names = [...flags, ...inheritedFlags].map((flag) => flag.name);
  const synonym = names.filter((flagName) => flagName === elsewhere[name]);
  const words = name.split("-");
  const alike = names.filter((flagName) => flagName.split("-").some((word) => word.length > 2 && words.includes(word)));
  return (synonym.length > 0 ? synonym : alike).map((flagName) => `--${flagName}`);
};

/** Options of other tools, by the name that they have here. */
const elsewhere: Readonly<Record<string, string>> = {
  ...{ url: "rpc-url", node: "rpc-url", sender: "from", account: "from", recipient: "to", amount: "value" },
  ...{ "gas-limit": "gas", "priority-fee": "tip", "priority-gas-price": "tip", calldata: "data", input: "data" },
  ...{ chain: "chain-id", sig: "abi", timeout: "deadline", method: "function" },
};

/**
 * Says what went wrong, once: of a command that is not there no flag is missing, and of unknown options one is said.
 * A stray word may be part of a header that lost its quotes, so that none is repeated.
 */
const complaints = (errors: ReadonlyArray<CliError.NonShowHelpErrors>, help: HelpDoc): ReadonlyArray<string> => {
  const unknown = errors.filter(({ _tag }) => _tag === "UnknownSubcommand");
  const lines = (unknown.length > 0 ? unknown : errors).map((error) => {
    if (error._tag === "UnexpectedArgument")
      return "there are more arguments than it takes; put a value with spaces into quotes";
    if (error._tag !== "UnrecognizedOption") return error.message;
    if (!/^--./.test(error.option)) return "options begin with two dashes, except -h and -v";
    return error.suggestions.length > 0
      ? error.message
      : new CliError.UnrecognizedOption({ ...error, suggestions: meantBy(error.option, help) }).message;
  });
  return [...new Set(lines)];
};

/** Help, ending with the exit codes; complaints short, on stderr, and without the keys that URLs carry. */
const presenter: CliOutput.Presenter = {
  present: (presentation) => {
    if (presentation._tag === "Help") return showHelp(presentation.helpDoc);
    if (presentation._tag === "Version") return CliOutput.defaultPresenter.present(presentation);
    return complain(presentation.commandPath, complaints(presentation.errors, presentation.helpDoc));
  },
};

/** The help, with an empty line before its examples, which the formatter leaves out behind a list of subcommands. */
const showHelp = (help: HelpDoc): Effect.Effect<void> =>
  Effect.flatMap(Effect.service(TerminalCapabilities), ({ canColor }) => {
    const text = CliOutput.defaultFormatter({ colors: canColor }).formatHelpDoc(help);
    const codes = exitCodesOf(help);
    return Console.log(
      [text.replace(/(?<!\n)\n(?=\S*EXAMPLES)/, "\n\n"), ...(codes === null ? [] : [`\n${codes}`])].join("\n"),
    );
  });

const settings = Layer.mergeAll(
  // why: what is printed may be read by a program
  Layer.succeed(Logger.LogToStderr, true),
  CliOutput.layerPresenter(presenter),
  Layer.succeed(CliConfig.CliConfig, { builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] }),
);

const namesOf = (command: Command.Command.Any): ReadonlyArray<string> =>
  command.subcommands.flatMap(({ commands }) => commands.flatMap((child) => [child.name, ...namesOf(child)]));

/** True if nothing is asked but help, version or completions, of a command or of all. */
const asksOfItself = (args: ReadonlyArray<string>): boolean => {
  const names = namesOf(root);
  return args.every((arg, index) => isAction(arg) || names.includes(arg) || args[index - 1] === "--completions");
};

/** Runs the program and gives its exit code; see {@link exitCodes}. */
export const main = (argv: ReadonlyArray<string>): Effect.Effect<number, never, Command.Environment> => {
  const args = normalize(argv);
  const endWith = (code: number, message: string) => Effect.as(Console.error(complaint(pathOf(args), message)), code);
  const stray = "--help, --version and --completions stand alone; nothing else was done";
  return Command.runWith(root, { version })(args).pipe(
    // why: whoever gave a transaction, too, takes 0 for its verdict
    Effect.andThen(asksOfItself(args) ? Effect.succeed(0) : endWith(exitCodes.usage, stray)),
    Effect.catchTags({
      Exited: ({ code }) => Effect.succeed<number>(code),
      Unwritten: ({ message }) => Effect.as(Console.error(escapeText(message, 1_024)), exitCodes.unwritten),
      Unavailable: ({ message }) => endWith(exitCodes.unavailable, message),
      WrongUsage: ({ message }) => Effect.as(complain(pathOf(args), [message]), exitCodes.usage),
    }),
    // why: whatever else the command line fails with is the command line's fault
    Effect.catch(() => Effect.succeed(exitCodes.usage)),
    Effect.catchDefect((defect) => endWith(exitCodes.failed, `failed by a fault of its own: ${String(defect)}`)),
    Effect.provide(settings),
  );
};
