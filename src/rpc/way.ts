/** By which way requests over HTTP go: the caller's own, else the best that the platform has. */
import { viaDispatcher, type Dispatcher } from "./dispatcher.js";
import { viaFetch, type Fetch } from "./fetch.js";
import { isNode } from "./node.js";
import { keepingAgent, viaNodeHttp, type NodeAgent } from "./nodeHttp.js";
import type { PostOptions, PostTo } from "./post.js";
import { acceptEncoding } from "./receive.js";

/** Ways that a caller may prefer; the first that is given counts. */
export interface Ways {
  /** Used instead of Node's HTTP client or the global `fetch`. */
  readonly fetch?: Fetch;
  /** A dispatcher of undici, such as a `ProxyAgent`; on Node only. */
  readonly dispatcher?: Dispatcher;
  /** An `Agent` of `node:http` or `node:https`, whichever the URL needs, such as a proxy's; on Node only. */
  readonly agent?: NodeAgent;
}

/** A way, and how to let go of the connections that are its own. */
export interface Way {
  readonly postTo: PostTo;
  readonly close: () => void;
}

const borrowed = (postTo: PostTo): Way => ({ postTo, close: () => undefined });

const isLoopback = ({ hostname }: URL): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d+){3}$/.test(hostname);

/** The way to `url`; null where the caller prefers one that the platform does not have. */
export const wayTo = (url: URL, { fetch, dispatcher, agent }: Ways, options: PostOptions): Way | null => {
  if (fetch !== undefined) return borrowed(viaFetch(options, fetch));
  if (!isNode) {
    return dispatcher === undefined && agent === undefined ? borrowed(viaFetch(options, globalThis.fetch)) : null;
  }
  // why: nothing is saved on the way to one's own machine, and unpacking costs more than the whole request
  const packing = isLoopback(url) ? {} : { "accept-encoding": acceptEncoding };
  const unpacking = { ...options, headers: { ...packing, ...options.headers } };
  if (dispatcher !== undefined) return borrowed(viaDispatcher(unpacking, dispatcher));
  if (agent !== undefined) return borrowed(viaNodeHttp(unpacking, agent));
  const own = keepingAgent(url);
  return { postTo: viaNodeHttp(unpacking, own), close: () => own.destroy() };
};
