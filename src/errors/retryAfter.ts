/** The `Retry-After` header, in either of its two forms. */

/** Headers as a plain record of any case, or anything with `get`, such as `Headers`. */
export type HeadersLike =
  | { readonly get: (name: string) => string | null | undefined }
  | Readonly<Record<string, string | ReadonlyArray<string> | undefined>>;

const header = (headers: HeadersLike, name: string): string | null => {
  const get: unknown = headers["get"];
  const value: unknown =
    typeof get === "function"
      ? (get.call(headers, name) as unknown)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === "string" ? first : null;
};

const longest = 86_400_000;

/**
 * Milliseconds to wait, at most a day; null where the headers do not say. A date is counted from
 * the answer's own `Date` header: no clock is read, and a wrong local clock does no harm.
 */
export const retryAfter = (headers: HeadersLike | null | undefined): number | null => {
  if (headers === null || headers === undefined) return null;
  const text = header(headers, "retry-after")?.trim().slice(0, 64);
  if (text === undefined || text === "") return null;
  if (/^\d{1,9}(?:\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1000), longest);
  const [until, now] = [Date.parse(text), Date.parse(header(headers, "date") ?? "")];
  return Number.isNaN(until) || Number.isNaN(now) ? null : Math.min(Math.max(until - now, 0), longest);
};
