/** The endpoint of a command: what names it, what is known of it, what is asked of it, and whether it is there at all. */
import * as Clock from "effect/Clock";
import * as Config from "effect/Config";
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import * as Stdio from "effect/Stdio";
import * as Terminal from "effect/Terminal";
import type * as Command from "effect/cli/Command";
import * as Flag from "effect/cli/Flag";
import type { RpcError, Verdict } from "../errors/index.js";
import { statementText, escapeText } from "../primitives/index.js";
import { layerHttp } from "../Rpc.js";
import { CurrentRun, KnownEndpoint, Rpc } from "../rpc/index.js";
import { wrong, type WrongUsage } from "./exit.js";
import { text } from "./flags.js";
import { isDumb, readJson, tell } from "./terminal.js";

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
export const readHeaders = Effect.fnUntraced(function* (headers: ReadonlyArray<string>) {
  const pairs = yield* Effect.forEach(headers, (text, index) => {
    const [, name = "", value] =
      /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}):[ \t]*([\t\x20-\x7e\x80-\xff]{1,8192})$/.exec(text) ?? [];
    return value === undefined
      ? wrong(`--header[${index}]`, 'must be one header in quotes, "name: value", in one line')
      : Effect.succeed([name.toLowerCase(), value.trim()] as const);
  });
  return Object.fromEntries(pairs);
});

/** How an endpoint is named, everywhere but in `doctor`. */
export const endpointFlags = {
  /** A flag, else `ETH_RPC_URL`. */
  rpcUrl: Flag.String("rpc-url").pipe(
    Flag.withDescription(
      "the node's HTTP endpoint (default: ETH_RPC_URL; of check and verify at a terminal, a node on this machine)",
    ),
    Flag.withFallbackConfig(Config.String("ETH_RPC_URL")),
    Flag.optional,
  ),
  header,
  /** The file of what `doctor` found, in place of asking it again. */
  endpoint: text("endpoint", "file that doctor --json wrote for this endpoint; saves requests"),
};

const decodeEndpoint = Schema.decodeUnknownEffect(KnownEndpoint);

/** The endpoint of development nodes. */
const localNode = "http://127.0.0.1:8545";

/**
 * The endpoint that the flags name, as it is to be connected to; the file of `--endpoint` tells what is known of it.
 * If none is named at a terminal, it is `localNode`, and says so before anything else.
 */
export const readOwnConnection = Effect.fnUntraced(function* (flags: EndpointFlags) {
  const { stdinIsTerminal } = yield* Stdio.Stdio;
  // guard: a node that nobody named, whose verdict a program would take for the chain's
  const isLocal = Option.isNone(flags.rpcUrl) && (yield* stdinIsTerminal);
  if (!isLocal) return yield* readConnection(flags);
  const connection = yield* readConnection({ ...flags, rpcUrl: Option.some(localNode) });
  const line = `The node is ${localNode}: neither --rpc-url nor ETH_RPC_URL names one\n`;
  return Layer.unwrap(Effect.as(tell(line), connection));
});

type EndpointFlags = Command.Command.Config.Infer<typeof endpointFlags>;

/** {@link readOwnConnection}, of a named endpoint alone. */
export const readConnection = Effect.fnUntraced(function* (flags: EndpointFlags) {
  const url = yield* endpoint(flags.rpcUrl, "--rpc-url");
  const headers = yield* readHeaders(flags.header);
  if (Option.isNone(flags.endpoint)) return layerHttp(url, { headers });
  const data = yield* readJson(flags.endpoint.value, "--endpoint");
  const known = yield* Effect.mapError(decodeEndpoint(data), ({ message }) =>
    wrong("--endpoint", `is not what doctor --json writes: ${escapeText(message.replace(/\s+/g, " "), 200)}`),
  );
  return layerHttp(url, { headers, endpoint: known });
});

/** The outcome of the requests to an endpoint. */
export interface Answered {
  /** True if a node answered any of them, be it with a refusal. */
  any: boolean;
  /** The first that none answered. */
  failure: RpcError | null;
  /** All of them, in the order in which they ended. */
  readonly ended: Array<{
    /** The method, and the simulated run it was asked for. */
    readonly name: string;
    readonly round: number;
    readonly ms: number;
    /** It had no answer in time; `unsent`: no time was left to ask at all. */
    readonly late: "unanswered" | "unsent" | null;
  }>;
}

/** Nothing was asked yet. */
export const nothingAnswered = (): Answered => ({ any: false, failure: null, ended: [] });

/** Reasons why a node was not reached: it said nothing. */
export const unreached = ["Transport", "Timeout", "AdmissionTimeout", "UpstreamUnavailable", "RateLimited"] as const;

/** Reasons that say nothing of a node: nobody is there, or whoever is lets nobody through. */
const deaf: ReadonlySet<RpcError["reason"]["_tag"]> = new Set([
  ...unreached,
  ...(["Unauthorized", "MethodNotPermitted", "MalformedResponse"] as const),
]);

const isDeaf = (failure: RpcError | Verdict): failure is RpcError =>
  failure._tag === "RpcError" && deaf.has(failure.reason._tag);

const lateness = (failure: RpcError | Verdict | null): Answered["ended"][number]["late"] => {
  if (failure?._tag !== "RpcError" || failure.reason._tag !== "Timeout") return null;
  return failure.reason.afterMs === 0 ? "unsent" : "unanswered";
};

/** Names of requests that stand in one line. */
const mostNames = 6;

const namesOf = (requests: Answered["ended"]): string => {
  const names = [...new Set(requests.map(({ name }) => name))];
  const more = names.length - mostNames;
  return `${names.slice(0, mostNames).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
};

const secondsText = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** Says what used a deadline, a line for each round; empty where every request was answered in time. */
export const deadlineText = ({ ended }: Answered, deadlineMs: number): string => {
  if (ended.every(({ late }) => late === null)) return "";
  const rounds = [...new Set(ended.map(({ round }) => round))].sort((a, b) => a - b);
  const lines = rounds.map((round) => {
    const requests = ended.filter((request) => request.round === round).sort((a, b) => b.ms - a.ms);
    const [slowest] = requests.filter(({ late }) => late === null);
    const unanswered = requests.filter(({ late }) => late === "unanswered");
    const unsent = requests.filter(({ late }) => late === "unsent");
    const says = [
      ...(slowest === undefined ? [] : [`${slowest.name} was answered after ${secondsText(slowest.ms)}`]),
      ...(unanswered.length === 0
        ? []
        : [`${namesOf(unanswered)} had no answer after ${secondsText(unanswered[0]?.ms ?? 0)}`]),
      ...(unsent.length === 0 ? [] : [`${namesOf(unsent)} was not sent: no time was left`]),
    ];
    return `  round ${round}: ${says.join("; ")}`;
  });
  return [`What used the deadline of ${secondsText(deadlineMs)}`, ...lines].join("\n");
};

/** Returns what a failure says of the endpoint, without the method that met it. */
export const whyDeaf = ({ reason }: RpcError): string => statementText(reason.statement);

const clear = "\r\u001b[2K";

/** The width for stderr, which nobody says where stdout is no terminal. */
const narrow = 40;

/** One line whatever the width. */
const within = (text: string, columns: number): string =>
  text.length < columns ? text : `${text.slice(0, Math.max(1, columns - 2))}…`;

/** Between two lines where a line cannot be written over, ms. */
const betweenLines = 5_000;

/**
 * The same {@link Rpc}, with what became of its requests noted in `answered`, and counted with the time on stderr, of
 * `deadlineMs` where there is one. A stderr that is no terminal, or a dumb one, stays as it is; `isLong` = a line every few
 * seconds there.
 */
export const withProgress = <E, R>(
  rpc: Layer.Layer<Rpc, E, R>,
  {
    deadlineMs = null,
    isLong = false,
    answered = nothingAnswered(),
  }: { readonly deadlineMs?: number | null; readonly isLong?: boolean; readonly answered?: Answered } = {},
): Layer.Layer<Rpc, E, R | Stdio.Stdio | Terminal.Terminal> =>
  Effect.gen(function* () {
    const inner = yield* Rpc;
    const stdio = yield* Stdio.Stdio;
    const terminal = yield* Terminal.Terminal;
    const rewrites = (yield* stdio.stderrIsTerminal) && !(yield* isDumb);
    const started = yield* Clock.currentTimeMillis;
    const counts = { asked: 0, ended: 0, method: "" };
    const show = (text: string) => Effect.provideService(tell(text), Stdio.Stdio, stdio);
    const line = Effect.map(Clock.currentTimeMillis, (now) => {
      const of = deadlineMs === null ? "" : ` of ${Math.round(deadlineMs / 100) / 10}`;
      const requests = `${counts.ended} of ${counts.asked} answered (${counts.method}) by ${inner.endpoint}`;
      return `${Math.floor((now - started) / 1_000)}${of} s · ${requests}`;
    });
    const draw = Effect.flatMap(Effect.all([line, terminal.columns]), ([text, columns]) =>
      show(`${clear}${within(text, columns > 0 ? columns : narrow)}`),
    );
    if (rewrites) yield* Effect.addFinalizer(() => show(clear));
    const next = Effect.flatMap(line, (text) => show(`${text}\n`));
    if (rewrites || isLong)
      yield* Effect.forkScoped(Effect.forever(rewrites ? Effect.delay(draw, 1_000) : Effect.delay(next, betweenLines)));
    const request: Rpc["Service"]["request"] = (method, params) =>
      Effect.gen(function* () {
        counts.asked++;
        counts.method = method;
        if (rewrites) yield* draw;
        const { round, run } = yield* CurrentRun;
        const name = run == null ? method : `${method} (${run})`;
        const asking = Effect.onExit(inner.request(method, params), () => Effect.sync(() => void counts.ended++));
        const [took, result] = yield* Effect.timed(Effect.result(asking));
        const failure = Result.isFailure(result) ? result.failure : null;
        if (failure !== null && isDeaf(failure)) answered.failure ??= failure;
        else answered.any = true;
        answered.ended.push({ name, round, ms: Duration.toMillis(took), late: lateness(failure) });
        return yield* Effect.fromResult(result);
      });
    return Rpc.of({ ...inner, request });
  }).pipe(Layer.effect(Rpc), Layer.provide(rpc));
