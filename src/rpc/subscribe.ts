/** What a node tells by itself, over the socket of a viem transport. */
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import type { RpcError } from "../errors/rpc.js";
import type { Verdict } from "../errors/verdicts.js";
import { later } from "../primitives/later.js";
import { isRecord } from "../primitives/record.js";

/** A subscription that the node took. */
export interface Subscription {
  /** Fails once the socket has. */
  readonly lost: Effect.Effect<never, RpcError>;
  /** Closes the socket, which tells nothing any more though nobody heard it end: the next subscription opens another. */
  readonly abandon: Effect.Effect<void>;
}

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
