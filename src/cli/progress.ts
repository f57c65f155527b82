/** A line on stderr that says what is being asked, while it is asked; only on a terminal. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Stdio from "effect/Stdio";
import { Rpc } from "../Rpc.js";
import { tell } from "./terminal.js";

const clear = "\r\u001b[2K";

/** The same {@link Rpc}, with its requests counted on stderr; as it was when stderr is no terminal. */
export const withProgress = <E, R>(rpc: Layer.Layer<Rpc, E, R>): Layer.Layer<Rpc, E, R | Stdio.Stdio> =>
  Layer.effect(
    Rpc,
    Effect.gen(function* () {
      const inner = yield* Rpc;
      const stdio = yield* Stdio.Stdio;
      if (!(yield* stdio.stderrIsTerminal)) return inner;
      const counts = { asked: 0, answered: 0 };
      const show = (text: string) => Effect.provideService(tell(`${clear}${text}`), Stdio.Stdio, stdio);
      yield* Effect.addFinalizer(() => show(""));
      return Rpc.of({
        ...inner,
        request: (method, params) =>
          Effect.suspend(() => {
            counts.asked++;
            return show(`asking ${inner.endpoint}: ${counts.answered} of ${counts.asked} answered (${method})`);
          }).pipe(
            Effect.andThen(inner.request(method, params)),
            Effect.onExit(() => Effect.sync(() => void counts.answered++)),
          ),
      });
    }),
  ).pipe(Layer.provide(rpc));
