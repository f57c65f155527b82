/** The input that `evm-preflight nonces` and its verbs share: a store, a lane, an endpoint. */
import type * as Command from "effect/cli/Command";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Option from "effect/Option";
import * as Redacted from "effect/Redacted";
import * as Result from "effect/Result";
import { SqlClient } from "effect/sql/SqlClient";
import { NonceStoreError, type InvalidLane } from "../../errors/index.js";
import type { NonceStore } from "../../NonceStore.js";
import * as Nonces from "../../Nonces.js";
import { laneOf } from "../../nonces/lane.js";
import { oldAfterMs } from "../../nonces/status.js";
import { layer as layerPostgres } from "../../postgres.js";
import { layerNodeRedis, type NodeRedisClient } from "../../redis.js";
import * as Rpc from "../../Rpc.js";
import { endpointFlags, readConnection } from "../endpoint.js";
import { unavailable, wrong, type Unavailable, type WrongUsage } from "../exit.js";
import { readFlag, text, toggle } from "../flags.js";
import { count, duration } from "../quantity.js";

/** Flags of all verbs. */
export const sharedFlags = {
  redisUrl: text("redis-url", "the store: redis://…, or unix:///path of its socket"),
  postgresUrl: text("postgres-url", "the store: postgres://user:password@host:port/database"),
  prefix: text("prefix", 'prefix of the keys in Redis (default "evm-preflight")'),
  ...endpointFlags,
  chainId: text("chain-id", "chain of the account"),
  address: text("address", "address of the account"),
  key: text("key", "key of the account, for two-dimensional nonces (default 0)"),
  oldAfter: text("old-after", "age from which the first transaction in flight counts as unhealthy (default 5m)"),
  json: toggle("json", "print it as JSON"),
};

export type LaneFlags = Command.Command.Config.Infer<typeof sharedFlags>;

const flagOfField: Readonly<Record<string, string>> = { chainId: "--chain-id", address: "--address", key: "--key" };
const asWrong = ({ field, problem }: InvalidLane): WrongUsage => wrong(flagOfField[field] ?? field, problem);

/** A flag without which no lane is named. */
export const missing = (flag: string): WrongUsage => wrong(flag, "is missing; an account is --chain-id and --address");

/** The lane that the flags name; null where they name none. */
export const laneOfFlags = Effect.fnUntraced(function* (input: LaneFlags) {
  const { address } = input;
  const chainId = yield* readFlag("--chain-id", input.chainId, count);
  const key = yield* readFlag("--key", input.key, count);
  if (chainId === undefined && key === undefined && Option.isNone(address)) return null;
  if (chainId === undefined) return yield* missing("--chain-id");
  if (Option.isNone(address)) return yield* missing("--address");
  const lane = { chainId: Number(chainId), address: address.value as `0x${string}`, key: key ?? 0n };
  return yield* Effect.fromResult(Result.mapError(laneOf(lane), asWrong));
});

/** How old the first in flight may be, ms. */
export const oldAfterOfFlags = (input: LaneFlags): Effect.Effect<number, WrongUsage> =>
  Effect.map(readFlag("--old-after", input.oldAfter, duration), (ms) => ms ?? oldAfterMs);

/** True if there is an endpoint to ask. */
export const hasEndpoint = ({ rpcUrl: url }: LaneFlags): boolean => Option.isSome(url) && url.value !== "";

const createClient = (url: string): Promise<NodeRedisClient & { connect(): Promise<unknown>; destroy(): void }> =>
  import("redis").then((redis) => {
    const reconnectStrategy = false;
    return url.startsWith("unix://")
      ? redis.createClient({ socket: { path: url.slice("unix://".length), reconnectStrategy } })
      : redis.createClient({ url, socket: { reconnectStrategy } });
  });

const redisOf = (url: string, prefix: string | null) =>
  Effect.gen(function* () {
    const client = yield* Effect.tryPromise({
      try: () => createClient(url),
      catch: () => wrong("--redis-url", "must be a redis://, rediss:// or unix:// URL"),
    });
    yield* Effect.addFinalizer(() => Effect.ignore(Effect.try({ try: () => client.destroy(), catch: () => null })));
    yield* Effect.tryPromise({
      try: () => client.connect(),
      catch: () => unavailable("--redis-url", "the store cannot be reached"),
    });
    return layerNodeRedis(client, prefix === null ? {} : { prefix });
  }).pipe(Layer.unwrap);

const postgresOf = (url: string): Layer.Layer<NonceStore, Unavailable> =>
  Effect.gen(function* () {
    // why: only who asks for Postgres loads it
    const PgClient = yield* Effect.promise(() => import("@effect/sql-pg/PgClient"));
    const client = PgClient.layer({ url: Redacted.make(url), maxConnections: 2 });
    const connected = Effect.gen(function* () {
      const context = yield* Layer.build(Layer.provideMerge(layerPostgres, client));
      yield* Context.get(context, SqlClient).unsafe("SELECT 1");
      return context;
    });
    return yield* Effect.mapError(connected, () => unavailable("--postgres-url", "the store cannot be reached"));
  }).pipe(Layer.effectContext);

/** One store, or wrong usage. */
const storeOf = Effect.fnUntraced(function* ({ redisUrl, postgresUrl, prefix }: LaneFlags) {
  if (Option.isSome(redisUrl) && Option.isSome(postgresUrl))
    return yield* wrong("--redis-url", "cannot be combined with --postgres-url");
  if (Option.isSome(redisUrl)) return redisOf(redisUrl.value, Option.getOrNull(prefix));
  if (Option.isNone(postgresUrl)) return yield* wrong("--redis-url", "is missing (or give --postgres-url)");
  if (Option.isSome(prefix)) return yield* wrong("--prefix", "is for Redis; in Postgres the schema separates accounts");
  return /^postgres(?:ql)?:\/\//.test(postgresUrl.value) && URL.canParse(postgresUrl.value)
    ? postgresOf(postgresUrl.value)
    : yield* wrong("--postgres-url", "must be a postgres:// URL");
});

const unasked: Rpc.Requester = { request: () => Promise.reject(new Error("no endpoint is given")) };

/** Runs on the store and the endpoint of the flags; where `needsNode` they must name one. */
export const onStore = Effect.fnUntraced(function* <A, E>(
  input: LaneFlags,
  needsNode: boolean,
  effect: Effect.Effect<A, E, NonceStore | Rpc.Rpc>,
) {
  const store = yield* storeOf(input);
  const node = needsNode || hasEndpoint(input) ? yield* readConnection(input) : Rpc.layerProvider(unasked);
  return yield* effect.pipe(
    Effect.provide(Layer.merge(store, node)),
    Effect.mapError((error) =>
      error instanceof NonceStoreError
        ? unavailable(Option.isSome(input.postgresUrl) ? "--postgres-url" : "--redis-url", error.message)
        : error,
    ),
  );
});

/** Reads where a lane stands; the chain is asked only where there is an endpoint. */
export const statusOf = (input: LaneFlags, lane: Nonces.Lane) =>
  Nonces.status(lane, hasEndpoint(input) ? {} : { counts: null });
