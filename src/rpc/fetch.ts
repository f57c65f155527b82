/** POST through `fetch`: the portable way. It unpacks compressed answers itself. */
import { tooLarge, unreachable, wordsOf, type PostOptions, type Posted, type PostTo } from "./post.js";

/** What is used of `fetch`. */
export type Fetch = (input: string, init: RequestInit) => Promise<Response>;

/** `abort()` makes an exception with a stack unless it is given a reason. */
const noLongerWanted = "no longer wanted";

export const viaFetch =
  ({ headers, maxBytes }: PostOptions, fetch: Fetch): PostTo =>
  (url, body, done) => {
    const controller = new AbortController();
    let open = true;
    const finish = (posted: Posted) => {
      if (!open) return;
      open = false;
      done(posted);
    };
    let bytes = 0;
    const read = (response: Response): Promise<void> | void => {
      const end = (text: string) =>
        finish({
          ok: true,
          reply: { status: response.status, header: (name) => response.headers.get(name), text, bytes },
        });
      if (response.body === null) return end("");
      const reader = response.body.getReader();
      const decoder = new TextDecoder();
      let text = "";
      const readOn = (): Promise<void> =>
        reader.read().then(({ done: last, value }) => {
          if (last) return end(text + decoder.decode());
          bytes += value.byteLength;
          if (bytes > maxBytes) {
            finish(tooLarge(maxBytes, bytes));
            controller.abort(noLongerWanted);
            return undefined;
          }
          text += decoder.decode(value, { stream: true });
          return readOn();
        });
      return readOn();
    };
    // inside `then`, so that a `fetch` that throws is a rejection like any other
    Promise.resolve()
      .then(() => fetch(url.href, { method: "POST", headers, body, signal: controller.signal, redirect: "manual" }))
      .then(read)
      .catch((error: unknown) => finish(unreachable(wordsOf(error), bytes)));
    return () => {
      open = false;
      controller.abort(noLongerWanted);
    };
  };
