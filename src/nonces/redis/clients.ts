/** The store over a Redis client that the caller already has: structural, so that no client is imported. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Redis from "effect/persistence/Redis";
import { NonceStore } from "../../NonceStore.js";
import { makeRedis, type Options } from "./store.js";

type Send = (command: string, args: ReadonlyArray<string>) => Promise<unknown>;

/** A client with one connection: what is reserved is that connection. Closing stays with who opened it. */
const overClient = (send: Send, options: Options): Layer.Layer<NonceStore> => {
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
