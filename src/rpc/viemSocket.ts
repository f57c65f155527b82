/** The sockets of viem's transports: which have one, and when viem is to let go of it. */
import * as Result from "effect/Result";
import { isRecord } from "../primitives/record.js";

/** What viem's `webSocket` and `ipc` transports have, and their clients by `client.transport`. */
export interface Subscribing {
  readonly subscribe: (args: {
    readonly params: ReadonlyArray<unknown>;
    readonly onData: (data: unknown) => void;
    readonly onError: (error: unknown) => void;
  }) => Promise<unknown>;
  readonly getRpcClient: () => Promise<unknown>;
}

/** Whether a transport of viem has a socket. */
export const isSubscribing = (transport: unknown): transport is Subscribing =>
  isRecord(transport) &&
  typeof transport["subscribe"] === "function" &&
  typeof transport["getRpcClient"] === "function";

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
