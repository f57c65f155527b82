/** One HTTP POST with a bounded answer: what every way of sending it gives back. */
import { safely } from "../primitives/record.js";
import type { Room } from "./room.js";

/** What came back; `text` is the whole body. */
export interface Reply {
  readonly status: number;
  readonly header: (name: string) => string | null;
  readonly text: string;
  /** Bytes of the body, unpacked. */
  readonly bytes: number;
}

/** No whole answer: none arrived, it is larger than allowed, or it cannot be unpacked. */
export interface NoReply {
  readonly kind: "unreachable" | "too-large" | "undecodable";
  readonly detail: string;
  readonly bytes: number;
}

export type Posted = { readonly ok: true; readonly reply: Reply } | { readonly ok: false; readonly failure: NoReply };

/** Sends `body`, calls `done` once with an answer that fits `room`, and returns how to abort; after that `done` is not called. */
export type Post = (body: string, room: Room, done: (posted: Posted) => void) => () => void;

/** The same, to any address. */
export type PostTo = (url: URL, body: string, room: Room, done: (posted: Posted) => void) => () => void;

export interface PostOptions {
  readonly headers: Readonly<Record<string, string>>;
}

const failed = (kind: NoReply["kind"], detail: string, bytes: number): Posted => ({
  ok: false,
  failure: { kind, detail, bytes },
});

export const unreachable = (detail: string, bytes = 0): Posted => failed("unreachable", detail, bytes);
export const tooLarge = (maxBytes: number, bytes: number): Posted =>
  failed("too-large", `the answer is larger than ${maxBytes} bytes`, bytes);
export const tooMuch = (bytes: number): Posted =>
  failed("too-large", "the answers of this run are larger together than one run takes", bytes);
export const undecodable = (detail: string, bytes: number): Posted => failed("undecodable", detail, bytes);

/** The innermost words: `fetch` hides the system's error in its cause. */
export const wordsOf = (error: unknown): string => {
  let current = error;
  for (let depth = 0; depth < 4; depth++) {
    const cause: unknown = current instanceof Error ? current.cause : undefined;
    if (!(cause instanceof Error)) break;
    current = cause;
  }
  if (!(current instanceof Error)) return String(current);
  const code = "code" in current && typeof current.code === "string" ? current.code : "";
  return current.message === "" ? code || current.name : current.message;
};

/** As often as this an endpoint may point elsewhere before it has answered. */
const mostRedirects = 5;

/** Where a reply with status 307 or 308 points; null where it is none, or points nowhere. */
const pointedAt = (posted: Posted, from: URL): URL | null => {
  if (!posted.ok || (posted.reply.status !== 307 && posted.reply.status !== 308)) return null;
  const location = posted.reply.header("location");
  return location === null ? null : safely(() => new URL(location, from), null);
};

const refused = (posted: Posted, why: string): Posted =>
  posted.ok
    ? { ok: true, reply: { ...posted.reply, text: `the redirect (HTTP ${posted.reply.status}) ${why}` } }
    : posted;

/**
 * Posts to `url`, and on to where 307 and 308 point, which keep method and body: within the origin only,
 * for headers and transaction are meant for it alone. Other redirects are the endpoint's answer.
 */
export const following =
  (postTo: PostTo, url: URL): Post =>
  (body, room, done) => {
    let abort = (): void => undefined;
    const go = (to: URL, left: number): void => {
      let isOver = false;
      const stop = postTo(to, body, room, (posted) => {
        isOver = true;
        const next = pointedAt(posted, to);
        if (next === null) return done(posted);
        if (next.origin !== url.origin)
          return done(refused(posted, `to another origin, ${next.origin}, is not followed`));
        if (left === 0) return done(refused(posted, `is the ${mostRedirects + 1}th in a row and is not followed`));
        return go(next, left - 1);
      });
      if (!isOver) abort = stop;
    };
    go(url, mostRedirects);
    return () => abort();
  };
