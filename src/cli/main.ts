/** The commands together, and what becomes of each way to end. */
import * as Console from "effect/Console";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as CliConfig from "effect/cli/CliConfig";
import * as CliOutput from "effect/cli/CliOutput";
import * as Command from "effect/cli/Command";
import * as GlobalFlag from "effect/cli/GlobalFlag";
import { escapeText } from "../primitives/text.js";
import { check } from "./check.js";
import { decode } from "./decode.js";
import { doctor } from "./doctorCommand.js";
import { exitCodes, withoutSecrets } from "./exit.js";
import { nonces } from "./nonces.js";
import { version } from "./version.js";

const root = Command.make("evm-preflight").pipe(
  Command.withDescription("What will happen if this transaction is sent now, and exactly what should be signed"),
  Command.withSubcommands([check, doctor, decode, nonces]),
);

const complain = (path: ReadonlyArray<string>, messages: ReadonlyArray<string>): Effect.Effect<void> =>
  Console.error(
    [
      ...messages.map(
        (message) => `${path.join(" ")}: ${escapeText(withoutSecrets(message).replace(/\s+/g, " "), 1_024)}`,
      ),
      `see ${path.join(" ")} --help`,
    ].join("\n"),
  );

/** Help as it is; complaints short, on stderr, and without the keys that URLs carry. */
const presenter: CliOutput.Presenter = {
  present: (presentation) =>
    presentation._tag === "InvalidInvocation"
      ? complain(
          presentation.commandPath,
          presentation.errors.map(({ message }) => message),
        )
      : CliOutput.defaultPresenter.present(presentation),
};

const settings = Layer.mergeAll(
  CliOutput.layerPresenter(presenter),
  Layer.succeed(CliConfig.CliConfig, { builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] }),
);

/**
 * Runs the program and gives its exit code: 0 ready, 1 blocked, 2 caution, 3 unknown, 64 wrong usage.
 */
export const main = (args: ReadonlyArray<string>): Effect.Effect<number, never, Command.Environment> =>
  Command.runWith(root, { version })(args).pipe(
    Effect.as(0),
    Effect.catchTags({
      Exited: ({ code }) => Effect.succeed<number>(code),
      WrongUsage: ({ message }) =>
        Effect.as(
          complain(["evm-preflight", ...args.slice(0, 1).filter((name) => /^[a-z]+$/.test(name))], [message]),
          exitCodes.usage,
        ),
    }),
    // why: whatever else the command line fails with is the command line's fault
    Effect.catch(() => Effect.succeed(exitCodes.usage)),
    Effect.provide(settings),
  );
