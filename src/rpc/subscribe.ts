/** What a node tells by itself, over the socket of a viem transport. */
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import type { RpcError } from "../errors/rpc.js";
import type { Verdict } from "../errors/verdicts.js";
import { later } from "../primitives/later.js";
import type { Subscription } from "./subscription.js";
import { isSubscribing } from "./viemSocket.js";

export type { Subscription } from "./subscription.js";

/**
 * Subscribes until the scope ends; `hear` gets every notification's `result` as it came. Fails where the node does not
 * take the subscription, or no answer comes in time. JSON-RPC: `eth_subscribe`, `eth_unsubscribe`.
 */
export type Subscribe = (
  params: ReadonlyArray<unknown>,
  hear: (result: unknown) => void,
) => Effect.Effect<Subscription, RpcError | Verdict, Scope.Scope>;

const opening = later(() => import("./subscription.js"));

/** How to subscribe through a transport; undefined where it has no socket. */
export const subscribeBy = (transport: unknown, redact: (text: string) => string): Subscribe | undefined =>
  isSubscribing(transport)
    ? (params, hear) => Effect.flatMap(opening, ({ subscription }) => subscription(transport, redact, params, hear))
    : undefined;
