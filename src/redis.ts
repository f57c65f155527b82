/**
 * Nonces in Redis, for replicas that share a sender.
 *
 * ```ts
 * import { createClient } from "redis"
 * const client = await createClient({ url }).connect()
 * Nonces.withNonce(lane, sign).pipe(Effect.provide(layerNodeRedis(client)))
 * ```
 *
 * **Durability.** The fence holds as long as Redis loses no write that it acknowledged. So:
 * - one server: `appendonly yes` and `appendfsync always`. With `everysec` a power cut may lose a second
 *   of commits, whose nonces would then be handed out again.
 * - a failover (Sentinel, cluster, managed): a replica may be promoted without the last writes. Give
 *   `replicas`, so that a commit waits for them (`WAIT`), and let the server refuse to be promoted
 *   without them (`min-replicas-to-write`). `WAIT` narrows that window, it does not close it. Its answer counts only where
 *   `CLIENT ID` and `INFO` tell that connection and server are those of the write, so the user must be allowed to ask them.
 *   In a cluster `replicas` is refused, for `WAIT` names no key. A replica is refused, even a writable one.
 * - `maxmemory-policy noeviction`. A lane is one key, so that it is lost as a whole, never in part.
 * - otherwise use Postgres.
 *
 * With its first operation each process reads the server's settings (`CONFIG GET`, where it is allowed), and logs a warning
 * where they let the server forget writes.
 *
 * A lost lane fails closed with `NonceColdStart`: let everything in flight be mined, then
 * `Nonces.bootstrap(lane)`, or `Nonces.adopt(lane)` on your own word. `bootstrap` refuses a lane that this process has seen,
 * or whose mark, a key beside it, is still there: only `forget` removes both. To a process that has seen nothing, an emptied
 * server, another database or another `prefix` looks new. A lane with fewer commits than this process has seen is
 * refused: Redis went back to an older snapshot. Two cases go unnoticed: a process that started after that, and a
 * lane to which other processes have committed as much again before this one looks, because commits are only
 * counted. So stop all senders before a backup is restored, and let everything in flight be mined. `Nonces.check(lane)` finds every violation of a lane's
 * partition; ask it as a health probe.
 *
 * Needs Redis 5 or Valkey. One Lua script per operation, on the server's clock, one hash per lane.
 */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Redis from "effect/persistence/Redis";
import { NonceStore } from "./NonceStore.js";
import { makeRedis, type Options } from "./nonces/redis/store.js";

export type { Options } from "./nonces/redis/store.js";

/** Over effect's Redis service, e.g. `NodeRedis.layer` of `@effect/platform-node`. */
export const layer = (options: Options = {}): Layer.Layer<NonceStore, never, Redis.Redis> =>
  Effect.map(Redis.Redis, (redis) => makeRedis(redis, options)).pipe(Layer.effect(NonceStore));

/** A client with one connection: what is reserved is that connection. Closing stays with who opened it. */
const overClient = (send: (command: string, args: ReadonlyArray<string>) => Promise<unknown>, options: Options) => {
  const sendEffect = <A = unknown>(command: string, ...args: ReadonlyArray<string>) =>
    Effect.tryPromise({
      try: () => send(command, args) as Promise<A>,
      catch: (cause) => new Redis.RedisError({ cause }),
    });
  const unsubscribed = Effect.fail(new Redis.RedisError({ cause: new Error("this client does not subscribe") }));
  return Layer.effect(
    NonceStore,
    Effect.map(
      Redis.make({
        send: sendEffect,
        subscribe: () => unsubscribed,
        connect: Effect.succeed({ send: sendEffect, close: Effect.void }),
      }),
      (redis) => makeRedis(redis, options),
    ),
  );
};

/** A connected client of the `redis` package (node-redis 4 to 6). */
export interface NodeRedisClient {
  /** Sends one command. */
  sendCommand(args: Array<string>): Promise<unknown>;
}

/** Over a client of the `redis` package that the caller has, and closes. */
export const layerNodeRedis = (client: NodeRedisClient, options: Options = {}): Layer.Layer<NonceStore> =>
  overClient((command, args) => client.sendCommand([command, ...args]), options);

/** A client of the `ioredis` package (4 to 6), single or cluster. */
export interface IoredisClient {
  /** Sends one command. */
  call(command: string, ...args: Array<string>): Promise<unknown>;
}

/** Over a client of the `ioredis` package that the caller has, and closes. */
export const layerIoredis = (client: IoredisClient, options: Options = {}): Layer.Layer<NonceStore> =>
  overClient((command, args) => client.call(command, ...args), options);
