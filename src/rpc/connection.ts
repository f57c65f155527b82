/** Reads what a caller says of the way to a node, and who runs it, before anything is opened. Pure. */
import * as Layer from "effect/Layer";
import * as Result from "effect/Result";
import type { Transport } from "viem";
import { InvalidConnection } from "../errors/input.js";
import { didYouMean, each, nearest, no, onlyHas, type Checked, type Read } from "../primitives/problem.js";
import { isRecord, safely } from "../primitives/record.js";
import { escapeText } from "../primitives/text.js";
import { fields } from "../transaction/fields.js";
import { endpointOf, providersOf } from "./endpoint.js";
import type { KnownEndpoint } from "./memory.js";
import { isNode } from "./node.js";
import { describedChain } from "./viemChain.js";

/** Limits and known facts of an endpoint: time, concurrency, features; times in ms, and every field has a default. */
export interface Options {
  /** So many runs at once, at least 1; the others wait. A request outside any run counts as one. */
  readonly maxInFlight?: number;
  /** Ms: who has waited this long is not let in any more, and every request fails with `AdmissionTimeout`. */
  readonly maxWaitMs?: number;
  /** More tries of one request than this are never made, whatever the reason allows. */
  readonly retryTimes?: number;
  /** The first pause; it doubles with every try, and half of it is chance. */
  readonly retryBaseMs?: number;
  /** The longest pause; when the node asks for a longer one, its refusal is the answer. */
  readonly retryMaxMs?: number;
  /** A request without an answer after this fails, also without a deadline. */
  readonly timeoutMs?: number;
  /** How long a refused method is remembered. */
  readonly refusalMs?: number;
  /** The output of `evm-preflight doctor --json`, which saves requests; still checked like fresh answers. */
  readonly endpoint?: KnownEndpoint;
  /**
   * The chain, as `viem/chains` has it; it goes before a viem client's own, the `Chains` layer and the table. Whatever
   * else it has is ignored.
   */
  readonly chain?:
    | {
        /** Its chain id: the `chainId` of every transaction that names none; one that names another is refused. */
        readonly id: number;
        /** Its name, for people. */
        readonly name?: string | undefined;
        /** Its currency, which every amount is written in. */
        readonly nativeCurrency?: { readonly symbol: string; readonly decimals: number } | undefined;
        /** Ms between blocks. */
        readonly blockTime?: number | undefined;
        /** Only `gasPriceOracle` is read: that of an OP-stack chain. */
        readonly contracts?: { readonly [name: string]: unknown } | undefined;
      }
    | undefined;
}

/** The options that a connection needs at every request. */
export type Patience = Required<Omit<Options, "endpoint" | "chain">>;

/** The options that do not depend on who carries the requests; every field has a default. */
export interface PostingOptions extends Options {
  /** Sent with every request, e.g. `authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Puts the requests of one moment into one POST. An endpoint that refuses gets single ones for ten minutes. Default false. */
  readonly batch?: boolean;
  /** The most requests in one POST; default 100. */
  readonly batchSize?: number;
  /**
   * A longer answer, unpacked, is `NodeLimitExceeded`; default 32 MiB. Numbers, hashes and code are held to less, and
   * all answers of one call of the pipeline together to 12 MiB, a proof of thousands of events to 20 MiB more; each value of a
   * long answer counts 24 bytes at least.
   */
  readonly maxResponseBytes?: number;
  /** The id of the first request; default 1. */
  readonly firstId?: number;
}

/** How to talk HTTP; every field has a default. */
export interface HttpOptions extends PostingOptions {
  /** Used instead of Node's HTTP client or the global `fetch`; of it, `dispatcher` and `agent` the first that is given counts. */
  readonly fetch?: (input: string, init: RequestInit) => Promise<Response>;
  /** A dispatcher of undici, of any version, such as a `ProxyAgent`; on Node only. */
  // `never`: each version has its own types of options and handlers
  readonly dispatcher?: { dispatch(options: never, handler: never): boolean };
  /** An `Agent` of `node:http` or `node:https`, whichever the URL needs, such as a proxy's; on Node only. */
  readonly agent?: { destroy(): void; readonly maxSockets: number };
}

/** How many have to agree; every field has a default. */
export interface QuorumOptions {
  /** So many different providers must say the same; at least 2. Default 2. */
  readonly agree?: number | undefined;
  /** Ms for which each endpoint but the first is waited for, per request; default 3,000. */
  readonly waitMs?: number | undefined;
  /** The chain, as {@link Options} have it; the endpoints' own are not used. */
  readonly chain?: Options["chain"];
}

/** A check for each option. */
type Rows = Readonly<Record<string, (value: unknown, field: string) => Checked<unknown>>>;

const kind = (value: unknown): string => (value === null ? "null" : Array.isArray(value) ? "an array" : typeof value);

const number =
  (least: number, unit: string, isEndless = false): Rows[string] =>
  (value, field) =>
    typeof value === "number" && value >= least && (isEndless || Number.isFinite(value))
      ? Result.succeed(value)
      : no(field, `must be a number of ${unit}, at least ${least}`);

const whole =
  (least: number, isEndless = false): Rows[string] =>
  (value, field) =>
    (Number.isSafeInteger(value) || (isEndless && value === Infinity)) && (value as number) >= least
      ? Result.succeed(value)
      : no(field, `must be a whole number, at least ${least}`);

const a =
  (type: "boolean" | "function"): Rows[string] =>
  (value, field) =>
    typeof value === type ? Result.succeed(value) : no(field, `must be a ${type}, got ${kind(value)}`);

const having =
  (method: string, what: string): Rows[string] =>
  (value, field) =>
    typeof value === "object" && value !== null && typeof Reflect.get(value, method) === "function"
      ? Result.succeed(value)
      : no(field, `must be ${what}`);

const onNode =
  (check: Rows[string]): Rows[string] =>
  (value, field) =>
    isNode ? check(value, field) : no(field, "is for Node only");

const headers: Rows[string] = (value, field) => {
  if (!isRecord(value)) return no(field, `must be an object of strings, got ${kind(value)}`);
  for (const [name, text] of Object.entries(value)) {
    const at = `${field}.${escapeText(name, 80)}`;
    if (typeof text !== "string") return no(at, `must be a string, got ${kind(text)}`);
    // why: what it throws repeats the value, which may be a key
    if (safely(() => new Headers([[name, text]]), null) === null) return no(at, "is not a header that HTTP can carry");
  }
  return Result.succeed(value);
};

/** A chain by its id. */
const chain: Rows[string] = (value, field) =>
  isRecord(value) ? fields.chainId.check(value["id"], `${field}.id`) : no(field, `must be a chain, got ${kind(value)}`);

const patience: Rows = {
  retryTimes: whole(0),
  retryBaseMs: number(0, "ms"),
  retryMaxMs: number(0, "ms"),
  timeoutMs: number(1, "ms"),
  refusalMs: number(0, "ms"),
  maxInFlight: whole(1, true),
  maxWaitMs: number(1, "ms", true),
  endpoint: (value, field) =>
    isRecord(value) ? Result.succeed(value) : no(field, `must be what doctor --json wrote, got ${kind(value)}`),
  chain,
};

const posting: Rows = {
  ...patience,
  headers,
  batch: a("boolean"),
  batchSize: whole(1),
  maxResponseBytes: number(1, "bytes"),
  firstId: whole(0),
};

/** The options of HTTP, whoever posts, and when we do. */
export const optionsOf = {
  posting,
  socket: { ...patience, maxResponseBytes: number(1, "bytes") },
  http: {
    ...posting,
    fetch: a("function"),
    dispatcher: onNode(having("dispatch", "a dispatcher of undici")),
    agent: onNode(having("destroy", "an Agent of node:http or node:https")),
  },
} satisfies Record<string, Rows>;

/** Every option that is there, up to the first that is wrong; `others` are the names that stand beside them. */
const options = (rows: Rows, input: unknown, others: ReadonlyArray<string>): Checked<unknown> => {
  if (!isRecord(input)) return no("options", `must be an object, got ${kind(input)}`);
  const given = Object.entries(rows).filter(([name]) => input[name] !== undefined);
  return Result.andThen(onlyHas(input, [...others, ...Object.keys(rows)], "an option here"), () =>
    each(given, ([name, check]) => check(input[name], name)),
  );
};

/** A URL is never shown: it may hold a key. */
const url = (value: unknown): Checked<string> => {
  if (typeof value !== "string") return no("url", `must be a string, got ${kind(value)}`);
  if (value.trim() === "") return no("url", "is empty");
  if (/^wss?:/i.test(value)) return no("url", "is a WebSocket URL; give viem's webSocket(url) as the transport");
  return /^https?:\/\//i.test(value) ? Result.succeed(value) : no("url", "must begin with http:// or https://");
};

const requester = having("request", "an object with the function request");

/** Unwraps a check or throws `InvalidConnection`: a connection is made where a program starts, and by its author. */
const must = <A>(checked: Checked<A>): A => Result.getOrThrowWith(checked, (problem) => new InvalidConnection(problem));

/** An endpoint by its URL, with options of `rows`. */
export const checkUrl = (to: unknown, input: { readonly headers?: Readonly<Record<string, string>> }, rows: Rows) => {
  const text = must(Result.flatMap(url(to), (whole) => Result.map(options(rows, input, ["url"]), () => whole)));
  const endpoint = endpointOf(text, input.headers);
  return endpoint.url === null ? must(no("url", "is not a URL")) : { ...endpoint, url: endpoint.url };
};

/** An EIP-1193 provider, and its options. */
export const checkProvider = (to: unknown, input: unknown): void =>
  void must(Result.flatMap(requester(to, "provider"), () => options(patience, input, ["provider"])));

/** The options of Effect's socket. */
export const checkSocket = (input: unknown): void => void must(options(optionsOf.socket, input, []));

/** A viem transport and its options; viem's own words where it cannot be made. */
export const checkTransport = (to: Transport, input: unknown): ReturnType<Transport> => {
  must(Result.flatMap(a("function")(to, "transport"), () => options(patience, input, ["transport"])));
  const result = Result.try({
    try: () => to({ retryCount: 0 }),
    catch: (error) => ({ field: "transport", problem: escapeText(error instanceof Error ? error.message : "", 200) }),
  });
  return must(result);
};

/** Returns a setting of a client, checked; null where it has none. */
const own = <A>(part: unknown, field: string, key: string, check: Read<A>): A | null =>
  part === undefined || part === null
    ? null
    : must(check(isRecord(part) ? part[key] : undefined, `client.${field}.${key}`));

/** A viem client and its options: its chain and account, where it has them, and what the chain says of itself. */
export const checkClient = (client: { readonly chain?: unknown; readonly account?: unknown }, input: Options) => {
  must(Result.flatMap(requester(client, "client"), () => options(patience, input, ["client"])));
  const named = own(client.chain, "chain", "id", fields.chainId.check);
  const from = own(client.account, "account", "address", fields.from.check);
  const { chain: definition } = input;
  if (named !== null && definition !== undefined && definition.id !== named)
    must(no("chain.id", `is not the client's chain, which is ${named}`));
  const chainId = definition?.id ?? named;
  const described = chainId === null ? undefined : describedChain(chainId, definition ?? client.chain);
  return { defaults: { chainId, from }, chain: described };
};

const isLayer: Rows[string] = (value, field) =>
  Layer.isLayer(value) ? Result.succeed(value) : no(field, "must be a layer of Effect");

const quorum: Rows = { agree: whole(2), waitMs: number(1, "ms", true), chain };

/** The endpoints of a quorum, each with who runs it. */
export const checkQuorum = <E extends Parameters<typeof providersOf>[0][number]>(
  endpoints: ReadonlyArray<E>,
  input: QuorumOptions,
  agree: number,
) => {
  must(options(quorum, input, ["endpoints"]));
  const members = must(providersOf(endpoints, agree));
  const own = each(members, ([endpoint], index) =>
    Result.mapError(
      "layer" in endpoint
        ? Result.flatMap(isLayer(endpoint.layer, "layer"), () => options({}, endpoint, ["layer", "provider"]))
        : options(optionsOf.http, endpoint, ["url", "provider"]),
      ({ field, problem }) => ({ field: `endpoints[${index}].${field}`, problem }),
    ),
  );
  return must(Result.map(own, () => members));
};

const ways = ["url", "client", "transport", "provider", "endpoints", "layer"] as const;

/** That a connection names exactly one way; a layer has no options here, the others check theirs themselves. */
export const checkConnection = (connection: unknown): void => {
  if (!isRecord(connection)) return must(no("connection", `must be an object, got ${kind(connection)}`));
  const [way, other] = ways.filter((name) => Object.hasOwn(connection, name));
  if (way !== undefined && other !== undefined) return must(no(other, `cannot be combined with ${way}`));
  if (way === "layer")
    must(Result.flatMap(isLayer(connection[way], way), () => options({}, connection, [way, "steps", "without"])));
  if (way !== undefined) return;
  const stray = Object.keys(connection).find((name) => nearest(name, ways) !== null);
  return must(
    stray === undefined
      ? no("connection", "needs one of url, client, transport, provider, endpoints and layer")
      : no(escapeText(stray, 80), `is not a way to reach a node${didYouMean(stray, ways)}`),
  );
};
