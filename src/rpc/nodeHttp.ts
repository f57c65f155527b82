/** POST through `node:http` and `node:https`, on connections that are kept. */
import type * as Http from "node:http";
import type * as Net from "node:net";
import * as Result from "effect/Result";
import { builtin } from "./node.js";
import type { PostOptions, PostTo } from "./post.js";
import { receiver } from "./receive.js";
import { unpacking } from "./unpack.js";

/** What is used of an `Agent` of `node:http` or `node:https`. */
export interface NodeAgent {
  /** Closes the agent's sockets. */
  destroy(): void;
  /** The most sockets to one origin. */
  readonly maxSockets: number;
}

/** Connections to one endpoint: a full gate would open thousands, and many systems let a process have 1,024 files. */
const mostSockets = 256;

/** The agent that {@link viaNodeHttp} needs for `url`, where the caller has none. */
export const keepingAgent = (url: URL): NodeAgent => {
  const { Agent } = url.protocol === "https:" ? builtin("node:https") : builtin("node:http");
  return new Agent({ keepAlive: true, maxSockets: mostSockets });
};

/**
 * Who answers before the whole request is written, and hangs up, leaves a connection that belongs to no request any
 * more: what it fails with then would end the process.
 */
const guarded = /* @__PURE__ */ new WeakSet<Net.Socket>();
const guard = (socket: Net.Socket): void => {
  if (guarded.has(socket)) return;
  guarded.add(socket);
  socket.on("error", () => undefined);
};

export const viaNodeHttp =
  ({ headers }: PostOptions, agent: NodeAgent): PostTo =>
  (url, body, room, done) => {
    const { request } = url.protocol === "https:" ? builtin("node:https") : builtin("node:http");
    const answer = receiver(room, done);
    const answered = (incoming: Http.IncomingMessage) => {
      incoming.on("data", (chunk: Uint8Array) => {
        if (!answer.data(chunk)) incoming.destroy();
      });
      const header = (name: string) => {
        const value = incoming.headers[name];
        return value === undefined ? null : String(value);
      };
      incoming.on("end", () =>
        answer.end(incoming.statusCode ?? 0, header, unpacking(header("content-encoding"), room.maxBytes)),
      );
      incoming.on("error", answer.fail);
      incoming.on("close", () => answer.fail("the connection closed in the middle of the answer"));
    };
    // throws on what no header may contain
    const started = Result.try(() =>
      request(
        {
          agent: agent as Http.Agent,
          method: "POST",
          hostname: url.hostname.replace(/^\[(.*)\]$/, "$1"),
          port: url.port === "" ? undefined : url.port,
          path: `${url.pathname}${url.search}`,
          headers: { ...headers, "content-length": String(Buffer.byteLength(body)) },
        },
        answered,
      ),
    );
    if (Result.isFailure(started)) {
      answer.fail(started.failure);
      return () => undefined;
    }
    const outgoing = started.success;
    outgoing.on("socket", guard);
    outgoing.on("error", answer.fail);
    outgoing.on("close", () => answer.fail("the connection closed without an answer"));
    outgoing.end(body);
    return () => {
      answer.close();
      outgoing.destroy();
    };
  };
