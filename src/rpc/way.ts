/** By which way requests over HTTP go: the caller's own, else the best that the platform has. */
import * as Effect from "effect/Effect";
import { viaFetch, type Fetch } from "./fetch.js";
import { isNode } from "./node.js";
import type { NodeWays, Way } from "./nodeWay.js";
import type { PostOptions } from "./post.js";

/** Ways that a caller may prefer; of `fetch`, `dispatcher` and `agent` the first that is given counts. */
export interface Ways extends NodeWays {
  /** Used instead of Node's HTTP client or the global `fetch`. */
  readonly fetch?: Fetch;
}

/** The way to `url`. */
export const wayTo = (url: URL, ways: Ways, options: PostOptions): Effect.Effect<Way> => {
  const { fetch } = ways;
  if (fetch === undefined && isNode)
    // why: pages never need it, so they shall not load it
    return Effect.map(
      Effect.promise(() => import("./nodeWay.js")),
      ({ wayOnNode }) => wayOnNode(url, ways, options),
    );
  return Effect.succeed({ postTo: viaFetch(options, fetch ?? globalThis.fetch), close: () => undefined });
};
