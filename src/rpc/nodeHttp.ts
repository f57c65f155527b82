/** POST on Node: through `node:http` and `node:https` on connections that are kept, or through an undici dispatcher. */
import type * as Http from "node:http";
import type * as Net from "node:net";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type * as Scope from "effect/Scope";
import type { HttpOptions } from "./connection.js";
import { builtin } from "./node.js";
import { receiver, tooLarge, wordsOf, type NoReply, type PostTo } from "./post.js";

/** The encodings that can be unpacked, for the header `accept-encoding`. */
const acceptEncoding = "gzip, deflate, br";

/** As deep as this an answer may be packed. */
const mostEncodings = 2;

/** One layer of packing taken off; null where the encoding is not known. Throws on what is damaged, cut or too long. */
const unpacked = (packed: Uint8Array, encoding: string, maxBytes: number): Uint8Array | null => {
  const zlib = builtin("node:zlib");
  const limit = { maxOutputLength: Math.min(Math.floor(maxBytes), builtin("node:buffer").constants.MAX_LENGTH) };
  if (encoding === "gzip" || encoding === "x-gzip") return zlib.gunzipSync(packed, limit);
  if (encoding === "br") return zlib.brotliDecompressSync(packed, limit);
  if (encoding !== "deflate") return null;
  // why: some servers leave the zlib header out, whose first byte ends in 8
  return ((packed[0] ?? 0) & 0x0f) === 8 ? zlib.inflateSync(packed, limit) : zlib.inflateRawSync(packed, limit);
};

const isTooLong = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";

/** Unpacks a body that came with these `content-encoding`s, to at most `maxBytes`; null where it came plain. */
const unpacking = (encodings: string | null, maxBytes: number) => {
  if (encodings === null) return null;
  return (body: Uint8Array): Uint8Array | NoReply => {
    const undecodable = (detail: string): NoReply => ({ kind: "undecodable", detail, bytes: body.length });
    const layers = encodings
      .toLowerCase()
      .split(",")
      .map((text) => text.trim())
      .filter((text) => text !== "" && text !== "identity");
    if (layers.length > mostEncodings) return undecodable("the answer is compressed too many times");
    let rest = body;
    for (const encoding of layers.reverse()) {
      const plain = Result.try(() => unpacked(rest, encoding, maxBytes));
      if (Result.isFailure(plain)) {
        const { failure } = plain;
        return isTooLong(failure) ? tooLarge(maxBytes, body.length) : undecodable(`${encoding}: ${wordsOf(failure)}`);
      }
      if (plain.success === null) return undecodable(`the encoding ${encoding} is not known`);
      rest = plain.success;
    }
    return rest;
  };
};

/**
 * Sockets with a listener for errors. A server that answers before the whole request is written, and hangs up, leaves a
 * connection that belongs to no request any more: its error would end the process.
 */
const guarded = /* @__PURE__ */ new WeakSet<Net.Socket>();
const guard = (socket: Net.Socket): void => {
  if (guarded.has(socket)) return;
  guarded.add(socket);
  socket.on("error", () => undefined);
};

/** The header in a record of them, as `node:http` and undici 7 have it. */
const inRecord =
  (headers: Readonly<Record<string, unknown>>) =>
  (name: string): string | null => {
    const value = headers[name];
    return value === undefined ? null : String(value);
  };

export const viaNodeHttp =
  (headers: Readonly<Record<string, string>>, agent: NonNullable<HttpOptions["agent"]>): PostTo =>
  (url, body, room, callback) => {
    const { request } = url.protocol === "https:" ? builtin("node:https") : builtin("node:http");
    const answer = receiver(room, callback);
    const answered = (incoming: Http.IncomingMessage) => {
      incoming.on("data", (chunk: Uint8Array) => {
        if (!answer.data(chunk)) incoming.destroy();
      });
      const header = inRecord(incoming.headers);
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

/** undici wants an Error, and makes one with a stack where it gets none. */
const noLongerWanted = /* @__PURE__ */ new Error("cancelled");

/** The header in undici 6's list of names and values, as bytes. */
const inList =
  (list: ReadonlyArray<Uint8Array>) =>
  (name: string): string | null => {
    for (let at = 0; at + 1 < list.length; at += 2)
      if (String(list[at]).toLowerCase() === name) return String(list[at + 1]);
    return null;
  };

export const viaDispatcher =
  (headers: Readonly<Record<string, string>>, dispatcher: NonNullable<HttpOptions["dispatcher"]>): PostTo =>
  (url, body, room, callback) => {
    const answer = receiver(room, callback);
    let abort: ((reason: Error) => void) | null = null;
    let isAborted = false;
    let status = 0;
    let header: (name: string) => string | null = () => null;
    const stop = () => {
      isAborted = true;
      answer.close();
      abort?.(noLongerWanted);
    };
    const begin = (how: (reason: Error) => void) => {
      abort = how;
      if (isAborted) how(noLongerWanted);
    };
    const head = (code: number, find: (name: string) => string | null) => {
      status = code;
      header = find;
    };
    const data = (chunk: Uint8Array) => {
      if (!answer.data(chunk)) stop();
    };
    const end = () => answer.end(status, header, unpacking(header("content-encoding"), room.maxBytes));
    const handler = {
      // undici 7 and later; before, `abort` came by itself
      onRequestStart: (controller: { readonly abort: (reason: Error) => void }) =>
        begin((reason) => controller.abort(reason)),
      onResponseStart: (_: unknown, code: number, record: Readonly<Record<string, unknown>>) =>
        head(code, inRecord(record)),
      onResponseData: (_: unknown, chunk: Uint8Array) => data(chunk),
      onResponseEnd: end,
      onResponseError: (_: unknown, error: unknown) => answer.fail(error),
      // undici 6, the one of Node 20 and 22
      onConnect: begin,
      onHeaders: (code: number, list: ReadonlyArray<Uint8Array>) => {
        head(code, inList(list));
        return true;
      },
      onData: (chunk: Uint8Array) => {
        data(chunk);
        return true;
      },
      onComplete: end,
      onError: answer.fail,
    };
    const options = {
      ...{ origin: url.origin, path: `${url.pathname}${url.search}`, method: "POST", headers, body },
      // why: the deadline of the run is the only one
      ...{ headersTimeout: 0, bodyTimeout: 0 },
    };
    const started = Result.try(() => dispatcher.dispatch(options as never, handler as never));
    if (Result.isFailure(started)) answer.fail(started.failure);
    return stop;
  };

const isLoopback = ({ hostname }: URL): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d+){3}$/.test(hostname);

/** Connections to one endpoint: a full gate would open thousands, and many systems let a process have 1,024 files. */
const mostSockets = 256;

/** An agent for `url` until the scope ends. */
const ownAgent = (url: URL): Effect.Effect<Http.Agent, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const { Agent } = url.protocol === "https:" ? builtin("node:https") : builtin("node:http");
      return new Agent({ keepAlive: true, maxSockets: mostSockets });
    }),
    (agent) => Effect.sync(() => agent.destroy()),
  );

/** The caller's dispatcher or agent, which the caller closes; else `node:http` on connections of our own. */
export const nodeTransport = (
  url: URL,
  { dispatcher, agent }: HttpOptions,
  input: Readonly<Record<string, string>>,
): Effect.Effect<PostTo, never, Scope.Scope> => {
  // why: nothing is saved on the way to one's own machine, and unpacking costs more than the whole request
  const headers = isLoopback(url) ? input : { "accept-encoding": acceptEncoding, ...input };
  if (dispatcher !== undefined) return Effect.succeed(viaDispatcher(headers, dispatcher));
  return Effect.map(agent === undefined ? ownAgent(url) : Effect.succeed(agent), (used) => viaNodeHttp(headers, used));
};
