/** The endpoint of a command: what names it, what is known of it, what is asked of it, and whether it is there at all. */
import * as Config from "effect/Config";
import * as Effect from "effect/Effect";
import type * as FileSystem from "effect/FileSystem";
import * as Layer from "effect/Layer";
import * as Option from "effect/Option";
import * as Schema from "effect/Schema";
import * as Stdio from "effect/Stdio";
import * as Terminal from "effect/Terminal";
import * as Flag from "effect/cli/Flag";
import type { RpcError } from "../errors/rpc.js";
import type { Verdict } from "../errors/verdicts.js";
import { statementText } from "../primitives/statement.js";
import { escapeText } from "../primitives/text.js";
import { Rpc } from "../rpc/index.js";
import { KnownEndpoint } from "../rpc/knownEndpoint.js";
import { wrong, type WrongUsage } from "./exit.js";
import { readJson, tell } from "./terminal.js";

/** The endpoint: a flag, else `ETH_RPC_URL`. */
export const rpcUrl = Flag.String("rpc-url").pipe(
  Flag.withDescription("the node's HTTP endpoint (default: ETH_RPC_URL)"),
  Flag.withFallbackConfig(Config.String("ETH_RPC_URL")),
  Flag.optional,
);

/** An http(s) URL, or wrong usage; the URL itself is never shown. */
export const endpoint = (url: Option.Option<string>, name: string): Effect.Effect<string, WrongUsage> => {
  if (Option.isNone(url) || url.value === "") return Effect.fail(wrong(name, "is missing (or set ETH_RPC_URL)"));
  return /^https?:\/\/[^/?#]/i.test(url.value) && URL.canParse(url.value)
    ? Effect.succeed(url.value)
    : Effect.fail(wrong(name, "must be an http or https URL"));
};

/** Requests carry these, and nothing else does: they may hold keys. */
export const header = Flag.String("header").pipe(
  Flag.withDescription('an HTTP header for the endpoint, as often as needed: "authorization: Bearer …"'),
  Flag.atLeast(0),
);

/** The headers of `--header`; what they hold is never repeated. */
export const readHeaders = (
  headers: ReadonlyArray<string>,
): Effect.Effect<Readonly<Record<string, string>>, WrongUsage> =>
  Effect.map(
    Effect.forEach(headers, (text, index) => {
      const [, name, value] =
        /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}):[ \t]*([\t\x20-\x7e\x80-\xff]{1,8192})$/.exec(text) ?? [];
      return name === undefined || value === undefined
        ? Effect.fail(wrong(`--header[${index}]`, 'must be one header in quotes, "name: value", in one line'))
        : Effect.succeed([name.toLowerCase(), value.trim()] as const);
    }),
    (pairs) => Object.fromEntries(pairs),
  );

const decodeEndpoint = Schema.decodeUnknownEffect(KnownEndpoint);

/** What the file of `--endpoint` tells of it. */
export const readEndpoint = Effect.fnUntraced(function* (
  path: Option.Option<string>,
): Effect.fn.Return<{ readonly endpoint?: KnownEndpoint }, WrongUsage, FileSystem.FileSystem | Stdio.Stdio> {
  if (Option.isNone(path)) return {};
  const data = yield* readJson(path.value, "--endpoint");
  const endpoint = yield* Effect.mapError(decodeEndpoint(data), ({ message }) =>
    wrong("--endpoint", `is not what doctor --json writes: ${escapeText(message.replace(/\s+/g, " "), 200)}`),
  );
  return { endpoint };
});

/** What became of the requests to an endpoint. */
export interface Answered {
  /** Whether a node answered any of them, be it with a refusal. */
  any: boolean;
  /** The first that none answered. */
  failure: RpcError | null;
}

/** Reasons why a node was not reached: it said nothing. */
export const unreached = ["Transport", "Timeout", "AdmissionTimeout", "UpstreamUnavailable", "RateLimited"] as const;

/** Reasons that say nothing of a node: nobody is there, or whoever is lets nobody through. */
const deaf: ReadonlySet<RpcError["reason"]["_tag"]> = new Set([
  ...unreached,
  ...(["Unauthorized", "MethodNotPermitted", "MalformedResponse"] as const),
]);

const isDeaf = (failure: RpcError | Verdict): failure is RpcError =>
  failure._tag === "RpcError" && deaf.has(failure.reason._tag);

/** The same {@link Rpc}, with what became of its requests noted in `answered`. */
export const noting = <E, R>(rpc: Layer.Layer<Rpc, E, R>, answered: Answered): Layer.Layer<Rpc, E, R> =>
  Layer.effect(
    Rpc,
    Effect.map(Effect.service(Rpc), (inner) =>
      Rpc.of({
        ...inner,
        request: (method, params) =>
          inner.request(method, params).pipe(
            Effect.tapError((failure) =>
              Effect.sync(() => {
                if (isDeaf(failure)) answered.failure ??= failure;
                else answered.any = true;
              }),
            ),
            Effect.tap(() => Effect.sync(() => void (answered.any = true))),
          ),
      }),
    ),
  ).pipe(Layer.provide(rpc));

/** What a failure says of the endpoint, without the method that met it. */
export const whyDeaf = ({ reason }: RpcError): string => statementText(reason.statement);

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
