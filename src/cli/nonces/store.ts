/** The store that the flags name: Redis by the caller's own client package, Postgres by the one in the bin. */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Option from "effect/Option";
import * as Redacted from "effect/Redacted";
import { SqlClient } from "effect/sql/SqlClient";
import type { NonceStore } from "../../NonceStore.js";
import { layer as layerPostgres } from "../../postgres.js";
import { layerNodeRedis, type NodeRedisClient } from "../../redis.js";
import { unavailable, wrong, type Unavailable, type WrongUsage } from "../exit.js";

interface Client extends NodeRedisClient {
  connect(): Promise<unknown>;
  destroy(): void;
}

/** The caller's own `redis` package: the bin carries none. */
const createClient = (url: string): Effect.Effect<Client, WrongUsage> =>
  Effect.tryPromise({
    try: () =>
      import("redis").then((redis): Client => {
        const reconnectStrategy = false;
        return url.startsWith("unix://")
          ? redis.createClient({ socket: { path: url.slice("unix://".length), reconnectStrategy } })
          : redis.createClient({ url, socket: { reconnectStrategy } });
      }),
    catch: () => wrong("--redis-url", "needs the redis package beside this one: npm install redis"),
  });

const redisOf = (url: string, prefix: string | null): Layer.Layer<NonceStore, WrongUsage | Unavailable> =>
  Layer.unwrap(
    Effect.acquireRelease(
      Effect.tap(createClient(url), (client) =>
        Effect.tryPromise({
          try: () => client.connect(),
          catch: () => unavailable("--redis-url", "the store cannot be reached"),
        }),
      ),
      (client) => Effect.ignore(Effect.try({ try: () => client.destroy(), catch: () => null })),
    ).pipe(Effect.map((client) => layerNodeRedis(client, prefix === null ? {} : { prefix }))),
  );

const postgresOf = (url: string): Layer.Layer<NonceStore, WrongUsage | Unavailable> =>
  Layer.effectContext(
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
    }),
  );

/** What the flags say of the store. */
export interface StoreFlags {
  readonly redisUrl: Option.Option<string>;
  readonly postgresUrl: Option.Option<string>;
  readonly prefix: Option.Option<string>;
}

/** The flag that named the store, for complaints. */
export const storeFlag = ({ postgresUrl }: StoreFlags): string =>
  Option.isSome(postgresUrl) ? "--postgres-url" : "--redis-url";

/** One store, or wrong usage. */
export const storeOf = ({
  redisUrl,
  postgresUrl,
  prefix,
}: StoreFlags): Effect.Effect<Layer.Layer<NonceStore, WrongUsage | Unavailable>, WrongUsage> => {
  if (Option.isSome(redisUrl) && Option.isSome(postgresUrl))
    return Effect.fail(wrong("--redis-url", "cannot stand together with --postgres-url"));
  if (Option.isSome(redisUrl)) return Effect.succeed(redisOf(redisUrl.value, Option.getOrNull(prefix)));
  if (Option.isNone(postgresUrl)) return Effect.fail(wrong("--redis-url", "is missing (or give --postgres-url)"));
  if (Option.isSome(prefix))
    return Effect.fail(wrong("--prefix", "is of Redis; in Postgres the schema tells lanes apart"));
  return /^postgres(?:ql)?:\/\//.test(postgresUrl.value) && URL.canParse(postgresUrl.value)
    ? Effect.succeed(postgresOf(postgresUrl.value))
    : Effect.fail(wrong("--postgres-url", "must be a postgres:// URL"));
};
