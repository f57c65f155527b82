/** Signing in (ERC-4361): a text that signs an account in at one origin, and does nothing else. Pure. */
import { hexToString, stringToHex, zeroAddress } from "viem";
import { createSiweMessage, parseSiweMessage, type SiweMessage } from "viem/siwe";
import { isRecord, safely } from "../primitives/index.js";

/** How far from now a message may be issued, ms, and how long it may be, characters. */
const most = { apartMs: 5 * 60_000, length: 10_000 };

/** Signing in at one origin, by one account, on one chain, at one time (epoch ms). */
export interface SignIn {
  readonly origin: string;
  readonly address: string;
  readonly chainId: number;
  readonly now: number;
}

/** Hosts of development, whose port a message may leave out. */
const localHosts = ["localhost", "127.0.0.1"];

/** True if an URL is at the origin; hosts are compared in punycode and lower case, and a default port is none. */
const isAt = (url: string, origin: string): boolean =>
  safely(() => {
    const [there, home] = [new URL(url), new URL(origin)];
    const isLocal = localHosts.includes(home.hostname) && there.host === home.hostname;
    return (
      there.protocol === home.protocol &&
      (there.host === home.host || isLocal) &&
      `${there.username}${there.password}` === ""
    );
  }, false);

/** Words that make a statement an order. Some systems execute what the statement of a sign-in says. */
const order =
  /\b(execut|transact|transfer|approv|authori[sz]|delegat|permit|grant|withdr[ae]w|deposit)|\b(pay|send|spend|swap|trade|buy|sell|bid|mint|burn|stak|bridg|order|invok|submit|broadcast)(e|ed|es|ing|ment|ments|s)?\b/i;
/** Disclaimers that many statements make of themselves, word for word. */
const disclaimer =
  /\b(this|it)( request| signature| message)? (will|does) not (trigger|send|initiate) an?y? (blockchain )?transactions?( (or|and) cost (you )?an[y] (gas|gas fees?|fees?))?(\.|$)/gi;

/** The message as viem writes it: every date as JavaScript does. */
const withDates = (text: string): string =>
  text.replaceAll(/^(Issued At|Expiration Time|Not Before): (\S+)$/gm, (line: string, name: string, date: string) =>
    safely(() => `${name}: ${new Date(date).toISOString()}`, line),
  );

/** Why a text is not a sign-in as the rule has it, and nothing more; null where it is. */
export const signInProblem = (text: string, { origin, address, chainId, now }: SignIn): string | null => {
  if (text.length > most.length || !/^[\n\x20-\x7e]+$/.test(text))
    return "it has other characters than printable ASCII";
  const message = parseSiweMessage(text);
  // why: viem finds its fields anywhere in a text; what it writes of them has to be the very text
  if (safely(() => createSiweMessage(message as SiweMessage), null) !== withDates(text))
    return "it is not written as ERC-4361 demands";
  const {
    scheme = new URL(origin).protocol.slice(0, -1),
    domain = "",
    uri = "",
    statement = "",
    requestId = "",
  } = message;
  const issuedAt = message.issuedAt?.getTime() ?? Number.NaN;
  const problems: ReadonlyArray<readonly [isThere: boolean, problem: string]> = [
    [!isAt(`${scheme}://${domain}`, origin), `it is for ${domain}`],
    [!isAt(uri, origin), "its URI is at another origin"],
    [message.address?.toLowerCase() !== address.toLowerCase(), "it is of another account than the one that signs"],
    [message.chainId !== chainId, `it is for chain ${message.chainId}, and the wallet is on ${chainId}`],
    [!(Math.abs(issuedAt - now) <= most.apartMs), "it was not issued just now"],
    [(message.expirationTime?.getTime() ?? Number.POSITIVE_INFINITY) <= now, "it has expired"],
    [(message.notBefore?.getTime() ?? 0) > now, "it is not valid yet"],
    // why: `urn:recap:` (ERC-5573) and others like it delegate capabilities
    [
      !(message.resources ?? []).every((resource) => /^(https?|ipfs):\/\//i.test(resource)),
      "a resource of it is no link",
    ],
    [order.test(statement.replaceAll(disclaimer, "")) || /\s/.test(requestId), "its statement may be an order"],
  ];
  return problems.find(([isThere]) => isThere)?.[1] ?? null;
};

/** The text of `personal_sign`, which is hex or itself, or of viem's `signMessage`; null where it is no UTF-8. */
export const textOf = (content: unknown): string | null => {
  const inner = isRecord(content) ? content["message"] : content;
  const raw = isRecord(inner) ? inner["raw"] : inner;
  if (raw instanceof Uint8Array)
    return textOf(`0x${Array.from(raw, (byte) => byte.toString(16).padStart(2, "0")).join("")}`);
  if (typeof raw !== "string") return null;
  // why: viem signs a bare string as it stands, hex or not
  if (inner !== content && raw === inner) return raw;
  if (!/^0x([\da-f]{2})*$/i.test(raw)) return raw;
  const text = hexToString(raw as `0x${string}`);
  return stringToHex(text) === raw.toLowerCase() ? text : null;
};

const fields = [
  ...["scheme", "domain", "uri", "statement", "version", "chainId", "nonce", "issuedAt", "expirationTime", "notBefore"],
  ...["requestId", "resources"],
];

/**
 * The message that the fields of a capability `signInWithEthereum` (EIP-7846) make, of the zero address; null where they make
 * none. The wallet fills in what they leave out: the origin, and the time.
 */
export const textOfFields = (capability: unknown, { origin, chainId, now }: Omit<SignIn, "address">): string | null =>
  safely(() => {
    if (!isRecord(capability) || Object.keys(capability).some((name) => !fields.includes(name))) return null;
    const dated = Object.entries({ issuedAt: new Date(now).toISOString(), ...capability }).map(([name, value]) => [
      name,
      /^(issuedAt|expirationTime|notBefore)$/.test(name) ? new Date(value as string) : value,
    ]);
    const given = Object.fromEntries(dated) as Record<string, unknown>;
    const absent = { domain: new URL(origin).host, uri: origin, version: "1" };
    return createSiweMessage({
      ...{ ...absent, ...given, address: zeroAddress, chainId: Number(given["chainId"] ?? chainId) },
    } as never);
  }, null);
