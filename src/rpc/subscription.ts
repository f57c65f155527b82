/**
 * The sockets of viem's transports: which have one, when viem is to let go of it, and subscriptions over it, which is closed
 * where the node no longer answers on it.
 */
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { RpcError, Transport } from "../errors/rpc.js";
import type { Verdict } from "../errors/verdicts.js";
import { isPlain, isRecord } from "../primitives/record.js";
import { judged, type Unjudged } from "./judging.js";
import { endpointOf } from "./endpoint.js";
import { judgeForeign } from "./foreign.js";
import type { Rpc } from "./service.js";

/** The members of viem's `webSocket` and `ipc` transports, and of their clients by `client.transport`. */
export interface Subscribing {
  readonly subscribe: (args: {
    readonly params: ReadonlyArray<unknown>;
    readonly onData: (data: unknown) => void;
    readonly onError: (error: unknown) => void;
  }) => Promise<unknown>;
  readonly getRpcClient: () => Promise<unknown>;
}

/** True if a transport of viem has a socket. */
export const isSubscribing = (transport: unknown): transport is Subscribing =>
  isRecord(transport) &&
  typeof transport["subscribe"] === "function" &&
  typeof transport["getRpcClient"] === "function";

const closedClients = new WeakSet<object>();

/** Closes viem's client of a socket, once: it is kept by URL, so that a second time would forget its successor. */
const closeClient = (client: unknown): void => {
  if (!isRecord(client) || closedClients.has(client)) return;
  closedClients.add(client);
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

export const method = "eth_subscribe";

/** Ms for an answer to `eth_subscribe`; the socket may have to be opened first. */
export const answerWithin = 10_000;
/** Ms for an answer to `eth_unsubscribe`, which nobody needs. */
export const farewellWithin = 1_000;

/** Hides also the secrets of the URL that viem's client of a socket opened, which no error of a subscription names. */
const redactorOf = (client: unknown, redact: (text: string) => string): ((text: string) => string) => {
  const url = isRecord(client) ? client["url"] : undefined;
  if (typeof url !== "string") return redact;
  const { redact: ofUrl } = endpointOf(url);
  return (text) => redact(ofUrl(text));
};

const failing = (unjudged: Unjudged): Effect.Effect<never, RpcError | Verdict> =>
  Effect.callback((resume) => judged<never>(Result.fail(unjudged), (result) => resume(Effect.fromResult(result))));

const socketLost = (detail: string): RpcError => new RpcError({ method, reason: new Transport({ detail }) });

/** Gives a subscription back; nobody needs the answer. */
const giveBack = (viemSubscription: unknown): Effect.Effect<void> => {
  const unsubscribe = isRecord(viemSubscription) ? viemSubscription["unsubscribe"] : undefined;
  if (typeof unsubscribe !== "function") return Effect.void;
  const request = Effect.tryPromise(() => Promise.resolve(unsubscribe.call(viemSubscription)));
  return Effect.ignore(Effect.timeoutOption(request, farewellWithin));
};

/** True if the node said so, over a socket that is none the worse for it: a socket fails with an object of a class. */
const isRefusal = (error: unknown): boolean => typeof error === "string" || isPlain(error);

/** Subscribes until the scope ends. JSON-RPC: `eth_subscribe`, `eth_unsubscribe`. */
export const subscription = (
  transport: Subscribing,
  redact: (text: string) => string,
  params: ReadonlyArray<unknown>,
  hear: (result: unknown) => void,
): ReturnType<NonNullable<Rpc["Service"]["subscribe"]>> => {
  const attempt = <A>(ask: () => Promise<A>, hide = redact, late: () => void = () => undefined) => {
    const request = Effect.tryPromise({ try: ask, catch: (error) => judgeForeign(method, error, hide) });
    return request.pipe(
      Effect.catch(failing),
      Effect.timeoutOrElse({
        duration: answerWithin,
        orElse: () =>
          Effect.suspend(() => {
            late();
            return Effect.fail(socketLost(`no answer in ${answerWithin} ms`));
          }),
      }),
    );
  };
  return Effect.gen(function* () {
    const lost = yield* Deferred.make<never, RpcError>();
    const run = Effect.runForkWith(yield* Effect.context<never>());
    let [isOpen, isWanted] = [true, true];
    let viemSubscription: unknown;
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        const last = isOpen ? giveBack(viemSubscription) : Effect.void;
        [isOpen, isWanted] = [false, false];
        return last;
      }),
    );
    const client = yield* attempt(() => transport.getRpcClient());
    const subscribing = () =>
      transport.subscribe({
        params,
        onData: (data) => {
          if (isOpen && isRecord(data)) hear(data["result"]);
        },
        onError: (error) => {
          if (isRefusal(error)) return;
          // why: viem subscribes again by itself, behind our back; whoever is told of the loss does so as well
          isOpen = false;
          closeClient(client);
          Deferred.doneUnsafe(lost, Effect.fail(socketLost("the socket has closed")));
        },
      });
    const subscribed = () =>
      subscribing().then((result) => {
        viemSubscription = result;
        // why: whoever asked may have gone, and the node tells for good what nobody gives back
        if (!isWanted) run(giveBack(result));
      });
    yield* attempt(subscribed, redactorOf(client, redact), () => closeClient(client));
    const abandon = Effect.sync(() => {
      // why: nobody is there to give it back to
      isOpen = false;
      closeClient(client);
      Deferred.doneUnsafe(lost, Effect.fail(socketLost("the socket went silent")));
    });
    return { lost: Deferred.await(lost), abandon };
  });
};
