/** A line on stderr that says what is being asked, while it is asked; only on a terminal. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Stdio from "effect/Stdio";
import * as Terminal from "effect/Terminal";
import { Rpc } from "../Rpc.js";
import { tell } from "./terminal.js";

const clear = "\r\u001b[2K";

/** Where stdout is no terminal nobody says how wide the one of stderr is. */
const narrow = 40;

/** One line whatever the width. */
const within = (text: string, columns: number): string =>
  text.length < columns ? text : `${text.slice(0, Math.max(1, columns - 2))}…`;

/** The same {@link Rpc}, with its requests counted on stderr; as it was when stderr is no terminal. */
export const withProgress = <E, R>(
  rpc: Layer.Layer<Rpc, E, R>,
): Layer.Layer<Rpc, E, R | Stdio.Stdio | Terminal.Terminal> =>
  Layer.effect(
    Rpc,
    Effect.gen(function* () {
      const inner = yield* Rpc;
      const stdio = yield* Stdio.Stdio;
      if (!(yield* stdio.stderrIsTerminal)) return inner;
      const terminal = yield* Terminal.Terminal;
      const counts = { asked: 0, answered: 0 };
      const show = (text: string) => Effect.provideService(tell(`${clear}${text}`), Stdio.Stdio, stdio);
      yield* Effect.addFinalizer(() => show(""));
      return Rpc.of({
        ...inner,
        request: (method, params) =>
          Effect.suspend(() => {
            counts.asked++;
            return Effect.flatMap(terminal.columns, (columns) =>
              show(
                within(
                  `${counts.answered} of ${counts.asked} answered (${method}) by ${inner.endpoint}`,
                  columns > 0 ? columns : narrow,
                ),
              ),
            );
          }).pipe(
            Effect.andThen(inner.request(method, params)),
            Effect.onExit(() => Effect.sync(() => void counts.answered++)),
          ),
      });
    }),
  ).pipe(Layer.provide(rpc));
