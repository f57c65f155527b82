/** By which way requests over HTTP go: the caller's own, else the best that the platform has. */
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import { isNode } from "./node.js";
import type { NodeWays } from "./nodeHttp.js";
import { receiver, type HttpHeaders, type PostTo } from "./post.js";

/** What is used of `fetch`. */
export type Fetch = (input: string, init: RequestInit) => Promise<Response>;

/** `abort()` makes an exception with a stack unless it is given a reason. */
const noLongerWanted = "no longer wanted";

/** POST through `fetch`, the portable way. It unpacks compressed answers itself. */
export const viaFetch =
  (headers: HttpHeaders, fetch: Fetch): PostTo =>
  (url, body, room, done) => {
    const controller = new AbortController();
    const answer = receiver(room, done);
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

/** Ways that a caller may prefer; of `fetch`, `dispatcher` and `agent` the first that is given counts. */
export interface Ways extends NodeWays {
  /** Used instead of Node's HTTP client or the global `fetch`. */
  readonly fetch?: Fetch;
}

/** The way to `url`. */
export const wayTo = (url: URL, ways: Ways, headers: HttpHeaders): Effect.Effect<PostTo, never, Scope.Scope> =>
  ways.fetch === undefined && isNode
    ? // why: pages never need it, so they shall not load it
      Effect.flatMap(
        Effect.promise(() => import("./nodeHttp.js")),
        ({ wayOnNode }) => wayOnNode(url, ways, headers),
      )
    : Effect.sync(() => viaFetch(headers, ways.fetch ?? globalThis.fetch));
