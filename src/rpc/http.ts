/** Requests over HTTP: by which way they go, and whether each on its own at once or those of one moment together in one POST. */
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { inNextTurn, lazyImport } from "../primitives/effects.js";
import { outgoing, readBatch, readSingle, unanswered, type Outgoing, type Try } from "./answer.js";
import type { HttpOptions } from "./connection.js";
import type { Endpoint } from "./endpoint.js";
import type { Memory } from "./memory.js";
import { isNode } from "./node.js";
import { receiver, roomFor, sharedRoom, type Post, type PostTo, type ResponseBudget } from "./post.js";
import type { Send } from "./requests.js";

/** `abort()` makes an exception with a stack unless it is given a reason. */
const noLongerWanted = "cancelled";

/** POST through `fetch`, the portable way. It unpacks compressed answers itself. */
export const viaFetch =
  (headers: Readonly<Record<string, string>>, fetch: NonNullable<HttpOptions["fetch"]>): PostTo =>
  (url, body, room, callback) => {
    const controller = new AbortController();
    const answer = receiver(room, callback);
    const read = (response: Response): Promise<void> | void => {
      const end = () => answer.end(response.status, (name) => response.headers.get(name), null);
      if (response.body === null) return end();
      const reader = response.body.getReader();
      const readOn = (): Promise<void> =>
        reader.read().then(({ done: last, value }) => {
          if (last) return end();
          if (answer.data(value)) return readOn();
          return controller.abort(noLongerWanted);
        });
      return readOn();
    };
    // inside `then`, so that a `fetch` that throws is a rejection like any other
    Promise.resolve()
      .then(() => fetch(url.href, { method: "POST", headers, body, signal: controller.signal, redirect: "manual" }))
      .then(read)
      .catch(answer.fail);
    return () => {
      answer.close();
      controller.abort(noLongerWanted);
    };
  };

/** The way to `url`. */
export const transportTo = (url: URL, ways: HttpOptions, headers: Readonly<Record<string, string>>) =>
  ways.fetch === undefined && isNode
    ? // why: pages never need it, so they shall not load it
      Effect.flatMap(
        lazyImport(() => import("./nodeHttp.js")),
        ({ nodeTransport }) => nodeTransport(url, ways, headers),
      )
    : Effect.sync(() => viaFetch(headers, ways.fetch ?? globalThis.fetch));

const single =
  (post: Post, endpoint: Endpoint) =>
  (request: Outgoing, room: ResponseBudget, callback: (tried: Try) => void): (() => void) =>
    post(request.text, room, (result) =>
      callback(
        Result.match(result, {
          onSuccess: (reply) => readSingle(request, reply, endpoint),
          onFailure: (failure) => unanswered(request.method, failure, endpoint),
        }),
      ),
    );

/** Ids from `first` upwards. */
export const idsFrom = (first: number): (() => number) => {
  let next = first;
  return () => next++;
};

/**
 * Requests with their ids, one per request and try, each with the room that its answer has: `maxBytes` of one body,
 * unpacked, at most.
 */
export const numbered =
  (
    { nextId, maxBytes }: { readonly nextId: () => number; readonly maxBytes: number },
    sendOne: (request: Outgoing, room: ResponseBudget, callback: (tried: Try) => void) => () => void,
  ): Send =>
  (method, params, callback, { answers = null }) => {
    const request = outgoing(nextId(), method, params);
    if (Result.isSuccess(request)) return sendOne(request.success, roomFor(method, maxBytes, answers), callback);
    callback({ result: Result.fail(request.failure), bytes: 0 });
    return () => undefined;
  };

/** Every request as its own POST. */
export const sendSingly = (post: Post, endpoint: Endpoint, posting: Parameters<typeof numbered>[0]): Send =>
  numbered(posting, single(post, endpoint));

const maxTurns = 8;
interface Queued {
  readonly request: Outgoing;
  readonly room: ResponseBudget;
  readonly callback: (tried: Try) => void;
  /** Set when the one who asked is gone. */
  cancelled: boolean;
  cancel: () => void;
}

/** Posts requests as one batch; false = the endpoint takes none, and none of them is answered. */
const postTogether = (
  post: Post,
  endpoint: Endpoint,
  maxBytes: number,
  group: ReadonlyArray<Queued>,
  ended: (isTaken: boolean) => void,
): void => {
  const requests = group.map(({ request }) => request);
  const rooms = group.map(({ room }) => room);
  const room = sharedRoom(rooms, maxBytes);
  const abort = post(`[${requests.map(({ text }) => text).join(",")}]`, room, (result) => {
    const read = Result.match(result, {
      onSuccess: (reply) => readBatch(requests, reply, endpoint),
      onFailure: (failure) => requests.map(({ method }) => unanswered(method, failure, endpoint)),
    });
    ended(read !== null);
    for (const [index, tried] of (read ?? []).entries())
      if (group[index]?.cancelled === false) group[index].callback(tried);
  });
  for (const waiting of group)
    waiting.cancel = () => {
      if (group.every(({ cancelled }) => cancelled)) abort();
    };
};

/**
 * Requests of the same moment in one POST. An endpoint that refuses is remembered and gets single
 * requests while it is, the refused ones included. A POST is aborted when all who wait for it are gone.
 */
export const sendTogether = (
  post: Post,
  endpoint: Endpoint,
  posting: Parameters<typeof numbered>[0],
  maxSize: number,
  memory: Memory,
): Send => {
  const sendAlone = single(post, endpoint);
  const refusesBatches = () => memory.recall("takesBatches") === false;
  let queue: Array<Queued> = [];

  const alone = (waiting: Queued) => {
    if (!waiting.cancelled) waiting.cancel = sendAlone(waiting.request, waiting.room, waiting.callback);
  };

  const together = (group: ReadonlyArray<Queued>) =>
    postTogether(post, endpoint, posting.maxBytes, group, (isTaken) => {
      if (isTaken) return;
      memory.learn("takesBatches", false);
      group.forEach(alone);
    });

  /** Nearly always the askers of a round ask in one go; forked ones over a few turns: it is whole when a turn brings nothing new. */
  const flushWhenQuiet = (turns: number): void => {
    const size = queue.length;
    inNextTurn(() => {
      if (queue.length === size || size >= maxSize || turns >= maxTurns) flush();
      else flushWhenQuiet(turns + 1);
    });
  };

  const flush = () => {
    const ready = queue.filter(({ cancelled }) => !cancelled);
    queue = [];
    for (const group of Arr.chunksOf(ready, maxSize)) {
      if (group.length === 1 || refusesBatches()) group.forEach(alone);
      else together(group);
    }
  };

  return numbered(posting, (request, room, callback) => {
    const waiting: Queued = { request, room, callback, cancelled: false, cancel: () => undefined };
    if (refusesBatches()) {
      alone(waiting);
    } else {
      queue.push(waiting);
      // why: looks at what is there when whoever asks now has asked everything, behind those it has forked
      if (queue.length === 1) queueMicrotask(() => flushWhenQuiet(1));
    }
    return () => {
      waiting.cancelled = true;
      waiting.cancel();
    };
  });
};
