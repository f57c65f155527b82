/** The target of requests, who runs it, and what people may see: keys live in URLs, so only the origin is shown. */
import * as Arr from "effect/Array";
import * as Result from "effect/Result";
import { no, type Checked } from "../primitives/problem.js";
import { isRecord, safely } from "../primitives/record.js";
import { isKeyLabel, overLabels, shownHost, wordLength } from "./redact.js";

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
/** A folder by its looks; whatever else is in a path may be a key. */
const isPlainWord = (part: string): boolean => /^[a-z.]+$/.test(part);

const keysOfHost = (host: string): ReadonlyArray<string> => {
  const keys: Array<string> = [];
  overLabels(host, (part) => (isKeyLabel(part) && keys.push(part), part));
  return keys;
};

/** Every part of a URL, or of a path to a socket, that could be a key. */
const secretsOf = (text: string): ReadonlyArray<string> => {
  const url = safely(() => new URL(text), null);
  const isPath = url === null || url.host === "";
  const path = url === null ? text : url.pathname;
  // why: the path to a socket names the folders of a machine, of which nodes may speak as well (`execution`)
  const segments = [path, decoded(path)]
    .flatMap((spelled) => spelled.split(/[\\/;=&]/))
    .filter((part) => part.length >= keyLength && !(isPath && isPlainWord(part)));
  if (url === null) return /[\\/]/.test(text) ? [...segments, text] : [];
  const [search, hash] = [url.search, url.hash].map((part) => (part.length > 1 ? part : ""));
  const values = [url.searchParams, new URLSearchParams(url.hash.slice(1))]
    .flatMap((parameters) => [...parameters])
    .map(([name, value]) => (value === "" ? name : value))
    .filter((value) => value.length >= keyLength);
  const user = [url.username, url.password].filter((part) => part.length >= 3);
  const login = `${decoded(url.username)}:${decoded(url.password)}`;
  // why: a URL's host is in lower case, and a library may repeat it as it was given
  const hosts = [url.hostname, /\/\/(?:[^/?#]*@)?([^/?#:]*)/.exec(text)?.[1] ?? ""];
  return [
    ...segments,
    ...hosts.flatMap(keysOfHost),
    ...values,
    ...user,
    ...(login === ":" ? [] : [utf8Base64(login)]),
    ...[`${path}${search}`, path, search, hash].flatMap((part) =>
      part !== undefined && part.length >= keyLength ? [part] : [],
    ),
  ];
};

const ofPattern = (text: string): string => text.replace(/[$()*+.?[\\\]^{|}]/g, "\\$&");

/** Hides the secrets, spelled as they are and decoded, the longest first. */
const hiding = (secrets: ReadonlyArray<string>): ((text: string) => string) => {
  const spelled = new Set(secrets.flatMap((secret) => [secret, decoded(secret)]));
  const steps = [...spelled]
    .sort((a, b) => b.length - a.length)
    .map((secret) => {
      if (secret.length >= wordLength) return (text: string) => text.replaceAll(secret, "…");
      const word = new RegExp(`(^|[^A-Za-z0-9_])${ofPattern(secret)}(?![A-Za-z0-9_])`, "g");
      return (text: string) => text.replace(word, "$1…");
    });
  return (text) => steps.reduce((clean, step) => step(clean), text);
};

const utf8Base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

/** Parts of headers that could be a key, without the scheme in front (`Bearer …`). */
const secretsIn = (headers: Readonly<Record<string, string>>): ReadonlyArray<string> =>
  Object.values(headers)
    .flatMap((value) => [value, ...value.split(/\s+/)])
    .filter((value) => value.length >= keyLength && !/^(?:bearer|digest|application\/json)$/i.test(value));

/** Returns the part of a URL that people may see. */
const shownOf = (url: URL | null): string => {
  if (url === null) return "(no URL)";
  return `${url.protocol}//${shownHost(url.host)}${url.pathname.length > 1 || url.search.length > 1 ? "/…" : ""}`;
};

/**
 * An endpoint from its URL, with the headers that its requests carry; `url` is null where it is no http(s) URL, whose
 * secrets are hidden all the same.
 */
export const endpointOf = (text: string, headers: Readonly<Record<string, string>> = {}): Endpoint => {
  const parsed = safely(() => new URL(text), null);
  const common = { shown: shownOf(parsed), redact: hiding([...secretsOf(text), ...secretsIn(headers)]) };
  if (parsed === null || (parsed.protocol !== "http:" && parsed.protocol !== "https:"))
    return { url: null, authorization: null, ...common };
  const hasLogin = parsed.username !== "" || parsed.password !== "";
  const login = `${decoded(parsed.username)}:${decoded(parsed.password)}`;
  const url = new URL(parsed);
  url.username = "";
  url.password = "";
  url.hash = "";
  return { url, authorization: hasLogin ? `Basic ${utf8Base64(login)}` : null, ...common };
};

const decoded = (part: string): string => safely(() => decodeURIComponent(part), part);

const maxDepth = 24;
const maxValues = 10_000;

/**
 * `value` with every string redacted, and no name of a field: no deeper than a reader of errors would follow, and no more of
 * it, for what a wallet throws may hold anything, cycles included.
 */
export const redactJson = (value: unknown, redact: (text: string) => string): unknown => {
  let budget = maxValues;
  const copy = (inner: unknown, depth: number): unknown => {
    if (typeof inner === "string") return redact(inner);
    if (typeof inner !== "object" || inner === null) return inner;
    if (depth >= maxDepth || --budget <= 0) return "…";
    if (Array.isArray(inner)) return inner.slice(0, maxValues).map((item) => copy(item, depth + 1));
    return Object.fromEntries(Object.entries(inner).map(([key, item]) => [key, copy(item, depth + 1)]));
  };
  return copy(value, 0);
};

/**
 * Under these anybody may have a name, so that the last two labels say nothing. The list need not be complete: what is
 * missing makes two providers one, and a quorum that counts too few is refused.
 */
const shared: ReadonlySet<string> = new Set([
  ...["amazonaws.com", "appspot.com", "azurewebsites.net", "cloudapp.net", "cloudfront.net", "fly.dev", "github.io"],
  ...["herokuapp.com", "ngrok.app", "ngrok.dev", "ngrok.io", "ngrok-free.app", "onrender.com", "pages.dev"],
  ...["netlify.app", "railway.app", "run.app", "trycloudflare.com", "vercel.app", "web.app", "workers.dev"],
]);

/** Second labels under which a country sells names, as in `co.uk`. */
const sold = /^(ac|co|com|edu|gob|gov|go|gr|ltd|me|mil|ne|net|nom|or|org|plc|sch)$/;

/** Names of the machine itself: one node under several. */
const isHere = (host: string): boolean =>
  /^(127\.[\d.]+|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\])$/.test(host) ||
  /(^|\.)localhost$/.test(host);

const isAddress = (host: string): boolean => /^[\d.]+$/.test(host) || host.startsWith("[");

/**
 * The provider behind a URL: the last two labels of its host, `host:port` for an address or a name of one label,
 * `localhost:port` for the machine itself by whatever name. Null
 * where those do not tell providers apart (`co.uk`, hosting under a name of the host's), or there is no URL: it has to
 * be named then.
 */
export const providerOf = (url: string): string | null => {
  const parsed = safely(() => new URL(url), null);
  if (parsed === null || parsed.hostname === "") return null;
  const host = parsed.hostname.toLowerCase().replace(/\.$/, "");
  const labels = host.split(".");
  if (isHere(host) || isAddress(host) || labels.length === 1)
    return `${isHere(host) ? "localhost" : host}:${parsed.port || (parsed.protocol === "https:" ? "443" : "80")}`;
  const [second = "", top = ""] = labels.slice(-2);
  const suffix = `${second}.${top}`;
  return shared.has(suffix) || (top.length === 2 && sold.test(second)) ? null : suffix;
};

/** Each endpoint with who runs it, by its URL or its caller; else what is wrong with them. */
export const providersOf = <E extends { readonly url?: string; readonly provider?: string | undefined }>(
  endpoints: ReadonlyArray<E>,
  agree: number,
): Checked<Arr.NonEmptyReadonlyArray<readonly [E, provider: string]>> => {
  const found: Array<readonly [E, string]> = [];
  const list: unknown = endpoints;
  if (!Array.isArray(list)) return no("endpoints", "must be an array");
  for (const [index, endpoint] of endpoints.entries()) {
    if (!isRecord(endpoint)) return no(`endpoints[${index}]`, "must be an object");
    const { url, provider: named }: { readonly url?: unknown; readonly provider?: unknown } = endpoint;
    if (url !== undefined && (typeof url !== "string" || endpointOf(url).url === null))
      return no(`endpoints[${index}].url`, "is not an http or https URL");
    const provider = named ?? (url === undefined ? null : providerOf(url));
    if (typeof provider !== "string" || provider.trim() === "")
      return no(`endpoints[${index}].provider`, "is missing: the address does not show who runs the endpoint");
    found.push([endpoint, provider.trim().toLowerCase()]);
  }
  const different = new Set(found.map(([, provider]) => provider)).size;
  if (!Arr.isArrayNonEmpty(found) || different < 2)
    return no("endpoints", "must be of at least two different providers");
  return agree <= different
    ? Result.succeed(found)
    : no("agree", `must be a whole number from 2 to the ${different} different providers`);
};
