/** Where requests go, and what of that people may see: keys live in URLs, so only the origin is shown. */
import * as Result from "effect/Result";
import { safely } from "../primitives/safely.js";

export interface Endpoint {
  /** The URL to post to, without user and password. */
  readonly url: URL | null;
  /** `Authorization` from the URL's user and password. */
  readonly authorization: string | null;
  /** Origin only; `/…` says that a path or query was there. */
  readonly shown: string;
  /** Hides the URL's secrets in a text from the network. */
  readonly redact: (text: string) => string;
}

const keyLength = 6;

/** Every part of a URL that could be a key, longest first. */
const secretsOf = (url: URL): ReadonlyArray<string> => {
  const parts = [
    ...url.pathname.split("/").filter((segment) => segment.length >= keyLength),
    ...[...url.searchParams.values()].filter((value) => value.length >= keyLength),
    ...[url.username, url.password].filter((part) => part.length >= 3),
    ...(url.pathname.length + url.search.length > 1 ? [url.pathname + url.search] : []),
    ...(url.search.length > 1 ? [url.search] : []),
  ];
  const spelled = parts.flatMap((part) => [
    part,
    ...Result.match(
      Result.try(() => decodeURIComponent(part)),
      { onSuccess: (plain) => [plain], onFailure: () => [] },
    ),
  ]);
  return [...new Set(spelled)].filter((part) => part !== "/").sort((a, b) => b.length - a.length);
};

const utf8Base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

/** What headers carry that could be a key, without the scheme in front (`Bearer …`). */
const secretsIn = (headers: Readonly<Record<string, string>>): ReadonlyArray<string> =>
  Object.values(headers)
    .flatMap((value) => [value, ...value.split(/\s+/)])
    .filter((value) => value.length >= keyLength && !/^(?:bearer|digest|application\/json)$/i.test(value));

/**
 * An endpoint from its URL, with the headers that its requests carry; `url` is null when it is no http(s) URL.
 */
export const endpointOf = (text: string, headers: Readonly<Record<string, string>> = {}): Endpoint => {
  const parsed = safely(() => new URL(text), null);
  if (parsed === null || (parsed.protocol !== "http:" && parsed.protocol !== "https:")) {
    return { url: null, authorization: null, shown: "(not an http or https URL)", redact: () => "" };
  }
  const secrets = [...secretsOf(parsed), ...secretsIn(headers)].sort((a, b) => b.length - a.length);
  const authorization =
    parsed.username === "" && parsed.password === ""
      ? null
      : `Basic ${utf8Base64(`${decoded(parsed.username)}:${decoded(parsed.password)}`)}`;
  const url = new URL(parsed);
  url.username = "";
  url.password = "";
  url.hash = "";
  return {
    url,
    authorization,
    shown: `${url.origin}${url.pathname.length > 1 || url.search.length > 1 ? "/…" : ""}`,
    redact: (shown) => secrets.reduce((clean, secret) => clean.replaceAll(secret, "…"), shown),
  };
};

const decoded = (part: string): string => safely(() => decodeURIComponent(part), part);

const maxDepth = 24;
const maxValues = 10_000;

/**
 * `value` with every string redacted: no deeper than a reader of errors would follow, and no more of
 * it, for what a wallet throws may hold anything, cycles included.
 */
export const redactJson = (value: unknown, redact: (text: string) => string): unknown => {
  let left = maxValues;
  const copy = (inner: unknown, depth: number): unknown => {
    if (typeof inner === "string") return redact(inner);
    if (typeof inner !== "object" || inner === null) return inner;
    if (depth >= maxDepth || --left <= 0) return "…";
    if (Array.isArray(inner)) return inner.slice(0, maxValues).map((item) => copy(item, depth + 1));
    return Object.fromEntries(Object.entries(inner).map(([key, item]) => [redact(key), copy(item, depth + 1)]));
  };
  return copy(value, 0);
};
