/** POST through `fetch`: the portable way. It unpacks compressed answers itself. */
import type { PostOptions, PostTo } from "./post.js";
import { receiver } from "./receive.js";

/** What is used of `fetch`. */
export type Fetch = (input: string, init: RequestInit) => Promise<Response>;

/** `abort()` makes an exception with a stack unless it is given a reason. */
const noLongerWanted = "no longer wanted";

export const viaFetch =
  ({ headers }: PostOptions, fetch: Fetch): PostTo =>
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
