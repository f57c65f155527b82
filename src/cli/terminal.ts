/** Where output goes: the report to stdout, everything about the run to stderr. */
import * as Config from "effect/Config";
import * as Console from "effect/Console";
import * as Effect from "effect/Effect";
import * as Stdio from "effect/Stdio";
import * as Stream from "effect/Stream";
import * as Terminal from "effect/Terminal";

/** How text on stdout should look. */
export interface Look {
  readonly color: boolean;
  readonly width: number;
}

const variable = (name: string): Effect.Effect<string> =>
  Config.String(name).pipe(
    Config.withDefault(""),
    Effect.orElseSucceed(() => ""),
  );

/**
 * Colours and the terminal's width on a terminal, plain text in a pipe. `FORCE_COLOR` (but 0) wants colours in a pipe,
 * too; `NO_COLOR` wants none anywhere.
 */
export const look: Effect.Effect<Look, never, Stdio.Stdio | Terminal.Terminal> = Effect.gen(function* () {
  const stdio = yield* Stdio.Stdio;
  const isTerminal = yield* stdio.stdoutIsTerminal;
  const noColor = yield* variable("NO_COLOR");
  const forced = yield* variable("FORCE_COLOR");
  const wanted = forced === "" ? isTerminal : !["0", "false"].includes(forced);
  const columns = isTerminal ? yield* (yield* Terminal.Terminal).columns : 0;
  return { color: wanted && noColor === "", width: columns > 0 ? columns : 100 };
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
