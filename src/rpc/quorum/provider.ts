/** Who runs the endpoints of a quorum, as far as their addresses tell, and whether they can be one. Pure. */
import * as Arr from "effect/Array";
import * as Result from "effect/Result";
import { no, type Checked } from "../../primitives/problem.js";
import { safely } from "../../primitives/record.js";
import { endpointOf } from "../endpoint.js";

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

/** What tells who runs an endpoint: its URL, or its caller. */
export interface Named {
  readonly url?: string;
  readonly provider?: string | undefined;
}

/** Each endpoint with who runs it; else what is wrong with them. */
export const providersOf = <E extends Named>(
  endpoints: ReadonlyArray<E>,
  agree: number,
  waitMs: number,
): Checked<Arr.NonEmptyReadonlyArray<readonly [E, provider: string]>> => {
  const found: Array<readonly [E, string]> = [];
  for (const [index, endpoint] of endpoints.entries()) {
    const { url, provider: named } = endpoint;
    if (url !== undefined && endpointOf(url).url === null)
      return no(`endpoints[${index}].url`, "is no http or https URL");
    const provider = named ?? (url === undefined ? null : providerOf(url));
    if (provider === null || provider.trim() === "")
      return no(`endpoints[${index}].provider`, "is missing: the address does not tell who runs it");
    found.push([endpoint, provider.trim().toLowerCase()]);
  }
  const different = new Set(found.map(([, provider]) => provider)).size;
  if (!Arr.isArrayNonEmpty(found) || different < 2)
    return no("endpoints", "must be of at least two different providers");
  if (!Number.isInteger(agree) || agree < 2 || agree > different)
    return no("agree", `must be a whole number from 2 to the ${different} different providers`);
  return waitMs > 0 ? Result.succeed(found) : no("waitMs", "must be above 0");
};
