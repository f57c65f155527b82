/** By which way requests go on Node: the caller's dispatcher or agent, else `node:http` on connections of our own. */
import { viaDispatcher, type Dispatcher } from "./dispatcher.js";
import { keepingAgent, viaNodeHttp, type NodeAgent } from "./nodeHttp.js";
import type { PostOptions, PostTo } from "./post.js";
import { acceptEncoding } from "./unpack.js";

/** Ways that a caller may prefer on Node. */
export interface NodeWays {
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

const isLoopback = ({ hostname }: URL): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d+){3}$/.test(hostname);

/** What is the caller's, the caller closes. */
const borrowed = (postTo: PostTo): Way => ({ postTo, close: () => undefined });

export const wayOnNode = (url: URL, { dispatcher, agent }: NodeWays, options: PostOptions): Way => {
  // why: nothing is saved on the way to one's own machine, and unpacking costs more than the whole request
  const packing = isLoopback(url) ? {} : { "accept-encoding": acceptEncoding };
  const target = { ...options, headers: { ...packing, ...options.headers } };
  if (dispatcher !== undefined) return borrowed(viaDispatcher(target, dispatcher));
  if (agent !== undefined) return borrowed(viaNodeHttp(target, agent));
  const own = keepingAgent(url);
  return { postTo: viaNodeHttp(target, own), close: () => own.destroy() };
};
