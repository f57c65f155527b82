/** What a node tells by itself, over the socket of a viem transport. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type * as Scope from "effect/Scope";
import type { RpcError } from "../errors/rpc.js";
import type { Verdict } from "../errors/verdicts.js";
import { later } from "../primitives/later.js";
import { isRecord } from "../primitives/record.js";
import type { Subscription } from "./subscription.js";

export type { Subscription } from "./subscription.js";

/**
 * Subscribes until the scope ends; `hear` gets every notification's `result` as it came. Fails where the node does not
 * take the subscription, or no answer comes in time. JSON-RPC: `eth_subscribe`, `eth_unsubscribe`.
 */
export type Subscribe = (
  params: ReadonlyArray<unknown>,
  hear: (result: unknown) => void,
) => Effect.Effect<Subscription, RpcError | Verdict, Scope.Scope>;

/** What viem's `webSocket` and `ipc` transports have, and their clients by `client.transport`. */
export interface Subscribing {
  readonly subscribe: (args: {
    readonly params: ReadonlyArray<unknown>;
    readonly onData: (data: unknown) => void;
    readonly onError: (error: unknown) => void;
  }) => Promise<unknown>;
  readonly getRpcClient: () => Promise<unknown>;
}

const closed = new WeakSet<object>();

/** Closes viem's client of a socket, once: it is kept by URL, so that a second time would forget its successor. */
export const closeClient = (client: unknown): void => {
  if (!isRecord(client) || closed.has(client)) return;
  closed.add(client);
  const { close: end } = client;
  if (typeof end === "function") Result.try(() => void end.call(client));
};

const isEnded = (client: unknown): boolean => {
  const socket = isRecord(client) ? client["socket"] : undefined;
  // why: a WebSocket closes and is closed from 2 on
  return isRecord(socket) && (Number(socket["readyState"]) >= 2 || socket["destroyed"] === true);
};

/** Lets go of a socket that has ended, which viem keeps for all later requests where it does not reconnect. */
export const letGoBy = (transport: unknown): (() => void) =>
  isSubscribing(transport)
    ? () =>
        void Promise.resolve()
          .then(() => transport.getRpcClient())
          .then(
            (client) => {
              if (isEnded(client)) closeClient(client);
            },
            () => undefined,
          )
    : () => undefined;

const isSubscribing = (transport: unknown): transport is Subscribing =>
  isRecord(transport) &&
  typeof transport["subscribe"] === "function" &&
  typeof transport["getRpcClient"] === "function";

const opening = later(() => import("./subscription.js"));

/** How to subscribe through a transport; undefined where it has no socket. */
export const subscribeBy = (transport: unknown, redact: (text: string) => string): Subscribe | undefined =>
  isSubscribing(transport)
    ? (params, hear) => Effect.flatMap(opening, ({ subscription }) => subscription(transport, redact, params, hear))
    : undefined;
