/** Tokens and addresses as lines of a table show them: short, told apart, and never trusted. */
import type { TokenInfo } from "./parts.js";
import { checksummed, escapeText, shortAddress } from "../primitives/text.js";
import { formatUnits, formatWei } from "../primitives/units.js";
import type { Report } from "./schema.js";

// Hebrew, Arabic and their extensions: right-to-left letters reorder the numbers around them.
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/gu;

/**
 * A symbol that cannot pass for anything else on its line: plain when it is a short ASCII word,
 * quoted and escaped otherwise.
 */
const symbolText = (symbol: string): string =>
  /^[A-Za-z0-9$][A-Za-z0-9$._+-]{0,15}$/.test(symbol)
    ? symbol
    : `"${escapeText(
        symbol.replace(rightToLeft, (letter) => `\\u{${letter.codePointAt(0)?.toString(16)}}`),
        96,
      ).replace(/"/g, '\\"')}"`;

/** How addresses and tokens are written in one report. */
export interface Names {
  /** `0x1234…abcd`; the whole address where two of the report would read the same. */
  readonly short: (address: string) => string;
  readonly token: (address: string | null) => TokenInfo | null;
  /** The symbol of the native currency. */
  readonly native: string;
  /** Whether amounts for people are exact, too. */
  readonly exact: boolean;
  /** A party in a sentence: `you` for the only sender, the short address of anybody else. */
  readonly who: (address: string) => string;
  /** `you`, or the whole address with its checksum. */
  readonly whole: (address: string) => string;
  /** Every address that is written short somewhere, with what is known of it, in order. */
  readonly legend: ReadonlyArray<{ readonly address: string; readonly roles: ReadonlyArray<string> }>;
}

/** What names are made of. */
type Named = Pick<Report, "transactions" | "tokens" | "transfers" | "balanceChanges" | "approvals">;

const rolesOf = (report: Named): ReadonlyMap<string, ReadonlyArray<string>> => {
  const roles = new Map<string, Array<string>>();
  const add = (address: string, role: string) => {
    const key = address.toLowerCase();
    const known = roles.get(key);
    if (known === undefined) roles.set(key, [role]);
    else if (role !== "" && !known.includes(role)) known.push(role);
  };
  for (const transaction of report.transactions) add(transaction.input.from, "sender");
  for (const { input } of report.transactions) if (input.to !== null) add(input.to, "recipient");
  for (const { token } of [...report.transfers, ...report.balanceChanges, ...report.approvals])
    if (token !== null) add(token, "token");
  for (const { spender } of report.approvals) add(spender, "spender");
  for (const { owner } of report.approvals) add(owner, "owner");
  for (const { from, to } of report.transfers) {
    add(from, "");
    add(to, "");
  }
  for (const { account } of report.balanceChanges) add(account, "");
  return roles;
};

/** The senders of a bundle in its order, each once. */
export const sendersOf = ({ transactions }: Pick<Report, "transactions">): ReadonlyArray<string> => [
  ...new Set(transactions.map(({ input }) => input.from.toLowerCase())),
];

/** The names of one report. */
export const namesOf = (report: Named, native: string, exact = false): Names => {
  const roles = rolesOf(report);
  const seen = new Map<string, number>();
  for (const address of roles.keys()) {
    const short = shortAddress(address);
    seen.set(short, (seen.get(short) ?? 0) + 1);
  }
  const tokens = new Map(report.tokens.map((info) => [info.token.toLowerCase(), info]));
  const senders = sendersOf(report);
  const you = senders.length === 1 ? senders[0] : undefined;
  const onTables = report.transfers.length + report.balanceChanges.length + report.approvals.length > 0;
  const short = (address: string) =>
    (seen.get(shortAddress(address.toLowerCase())) ?? 0) > 1
      ? checksummed(address)
      : shortAddress(checksummed(address));
  return {
    short,
    exact,
    who: (address) => (address.toLowerCase() === you ? "you" : short(address)),
    whole: (address) => (address.toLowerCase() === you ? "you" : checksummed(address)),
    token: (address) => (address === null ? null : (tokens.get(address.toLowerCase()) ?? null)),
    native,
    legend: onTables
      ? [...roles].map(([address, known]) => ({ address, roles: known.filter((role) => role !== "") }))
      : [],
  };
};

/** More decimals than any token has; beyond, only smallest units are shown. */
const maxDecimals = 77;

/** What an amount counts: the native currency (`token` null), a token, or one id of it. */
export interface Unit {
  readonly token: string | null;
  readonly tokenId: bigint | null;
}

/** What a token calls itself, harmless; null where it says nothing. */
export const symbolOf = (names: Names, token: string): string | null => {
  const info = names.token(token);
  const symbol = info?.symbol ?? info?.name ?? null;
  return symbol === null || symbol === "" ? null : symbolText(symbol);
};

/** A token's decimals, where it gives a number that can be one. */
export const decimalsOf = (names: Names, token: string): number | null => {
  const decimals = names.token(token)?.decimals ?? null;
  return decimals === null || decimals < 0 || decimals > maxDecimals ? null : decimals;
};

/** `#42`; of an id with more digits than anyone reads, its ends. */
export const idText = (tokenId: bigint): string => {
  const digits = String(tokenId);
  return digits.length <= 12 ? `#${digits}` : `#${digits.slice(0, 5)}…${digits.slice(-5)}`;
};

/** `USDC 0xA0b8…eB48`, `NFT #5 0x…`, `ETH`. */
export const unitText = (names: Names, { token, tokenId }: Unit): string => {
  if (token === null) return names.native;
  return [symbolOf(names, token) ?? "token", tokenId === null ? "" : `#${tokenId}`, names.short(token)]
    .filter((part) => part !== "")
    .join(" ");
};

/** The amount in the token's own decimals; null where they are not known, or mean nothing. */
const scaled = (names: Names, token: string | null, tokenId: bigint | null, amount: bigint): string | null => {
  if (token === null) return formatUnits(amount, 18);
  const decimals = decimalsOf(names, token);
  return tokenId !== null || decimals === null ? null : formatUnits(amount, decimals);
};

/** An amount and its smallest units beside: exact, and the same number where the decimals are not known. */
export const amountText = (
  names: Names,
  { token, tokenId }: Unit,
  amount: bigint,
): { readonly amount: string; readonly raw: string } => ({
  amount: scaled(names, token, tokenId, amount) ?? String(amount),
  raw: token === null ? `${amount} wei` : String(amount),
});

/** An amount in one string, exact: `1.5`, `1 ETH`, `1500000 smallest units` where the decimals are not known. */
export const amountInWords = (names: Names, unit: Unit, amount: bigint): string => {
  if (unit.token === null) return formatWei(amount, names.native);
  if (amount === 0n) return "0";
  return scaled(names, unit.token, unit.tokenId, amount) ?? `${amount} smallest units`;
};
