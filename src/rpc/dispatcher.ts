/** POST through an undici dispatcher: Node's own, or one that the caller gives, such as a `ProxyAgent`. */
import * as Result from "effect/Result";
import type { PostOptions, PostTo } from "./post.js";
import { receiver } from "./receive.js";
import { unpacking } from "./unpack.js";

/** What is used of a `Dispatcher` of undici, of any version. */
export interface Dispatcher {
  // `never`: each version has its own types of options and handlers
  /** undici's `Dispatcher.dispatch`. */
  dispatch(options: never, handler: never): boolean;
}

/** As undici 7 and later speak to a handler; before, `abort` came by itself. */
interface Controller {
  readonly abort: (reason: Error) => void;
}

type Headers = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>;

/** undici wants an Error, and makes one with a stack where it gets none. */
const noLongerWanted = /* @__PURE__ */ new Error("no longer wanted");

/** The header in undici 6's list of names and values, as bytes. */
const inList = (list: ReadonlyArray<Uint8Array>, name: string): string | null => {
  for (let at = 0; at + 1 < list.length; at += 2)
    if (String(list[at]).toLowerCase() === name) return String(list[at + 1]);
  return null;
};

const inRecord = (headers: Headers, name: string): string | null => {
  const value = headers[name];
  return value === undefined ? null : String(value);
};

export const viaDispatcher =
  ({ headers }: PostOptions, dispatcher: Dispatcher): PostTo =>
  (url, body, room, done) => {
    const answer = receiver(room, done);
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
      // undici 7 and later
      onRequestStart: (controller: Controller) => begin((reason) => controller.abort(reason)),
      onResponseStart: (_: Controller, code: number, record: Headers) => head(code, (name) => inRecord(record, name)),
      onResponseData: (_: Controller, chunk: Uint8Array) => data(chunk),
      onResponseEnd: end,
      onResponseError: (_: Controller, error: unknown) => answer.fail(error),
      // undici 6, the one of Node 20 and 22
      onConnect: begin,
      onHeaders: (code: number, list: ReadonlyArray<Uint8Array>) => {
        head(code, (name) => inList(list, name));
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
