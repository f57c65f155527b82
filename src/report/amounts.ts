/**
 * Addresses, tokens, amounts and dates as a report writes them: told apart and never trusted; exact, or for people, rounded
 * against their favour and never in smallest units where that can be helped.
 */
import { checksummed, escapeText, quoteText, shortAddress, shownDecimals, symbolText } from "../primitives/text.js";
import { type Currency, formatUnits, formatWei, roundUnits, sizeOf } from "../primitives/units.js";
import { currencyOf } from "./chain.js";
import type { Transaction } from "../transaction/fields.js";
import type { Report } from "./schema.js";

/** How addresses and tokens are written in one report. */
export type Names = ReturnType<typeof namesFor>;

/** Every address of the tables of a report, in order, with what it is there: empty for a party of movements. */
export const rolesOf = (
  report: Pick<Report, "transfers" | "balanceChanges" | "approvals" | "exposure"> & {
    readonly transactions: ReadonlyArray<{ readonly input: Pick<Transaction, "from" | "to"> }>;
  },
): ReadonlyMap<string, ReadonlySet<string>> => {
  const { transactions, transfers, balanceChanges, approvals } = report;
  const rows = report.exposure?.rows ?? [];
  const all: ReadonlyArray<readonly [role: string, addresses: ReadonlyArray<string | null>]> = [
    ["sender", transactions.map(({ input }) => input.from)],
    ["recipient", transactions.map(({ input }) => input.to)],
    ["token", [...transfers, ...balanceChanges, ...approvals, ...rows].map(({ token }) => token)],
    ["spender", [...approvals, ...rows].map(({ spender }) => spender)],
    ["owner", approvals.map(({ owner }) => owner)],
    ["", transfers.flatMap(({ from, to }) => [from, to])],
    ["", [...balanceChanges, ...rows].map(({ account }) => account)],
  ];
  const roles = new Map<string, Set<string>>();
  for (const [role, addresses] of all)
    for (const address of addresses.flatMap((one) => one?.toLowerCase() ?? []))
      roles.set(address, (roles.get(address) ?? new Set()).add(role));
  return roles;
};

/** The senders of a bundle in its order, each once. */
export const sendersOf = ({ transactions }: Pick<Report, "transactions">): ReadonlyArray<string> => [
  ...new Set(transactions.map(({ input }) => input.from.toLowerCase())),
];

/** The senders, and the accounts that count as one: whose giving and getting a report is about. */
export const accountsOf = (report: Pick<Report, "transactions" | "options">): ReadonlyArray<string> => [
  ...new Set([...sendersOf(report), ...report.options.accounts.map((account) => account.toLowerCase())]),
];

/** How amounts and parties are written. */
export interface AmountOptions {
  /** Names for addresses, such as those of an address book; an address is always shown beside its name. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Symbol of the native currency; by default that of the chain. */
  readonly symbol?: string | undefined;
  /** Every amount exact; default false: six significant digits, what leaves rounded up and what comes down. */
  readonly exact?: boolean | undefined;
}

/** Options for rendering a whole report. */
export interface RenderOptions extends AmountOptions {
  /**
   * The price of one native unit, for amounts in a currency beside: its symbol, and a decimal string, e.g.
   * `{ currency: "USD", amount: "2480.15" }` for one ETH; and of one whole token each, by contract.
   */
  readonly price?:
    | {
        readonly currency: string;
        readonly amount: string;
        readonly tokens?: Readonly<Record<string, string>> | undefined;
      }
    | undefined;
  /** Shows every field to sign, behind the costs, on `ready` or `caution`; default false. `full` has it anyway. */
  readonly requests?: boolean | undefined;
  /** Shows every call as the node's tracer showed it, where one did, in front of the requests; default false. */
  readonly trace?: boolean | undefined;
  /** Everything, exact: each transaction, every movement, the state that was asked; default false. HTML always has it, folded. */
  readonly full?: boolean | undefined;
}

/** Longer than a name in an address book. */
const mostLabel = 32;

/** A label that cannot pass for anything else on its line. */
const labelText = (text: string): string => {
  const start = [...text].slice(0, mostLabel).join("");
  return `${escapeText(start, 4 * mostLabel)}${start.length < text.length ? "…" : ""}`;
};

/** Names from the caller's own sources that a rendering uses: labels, and contracts whose symbol or decimals they give. */
export interface GivenNames {
  readonly labels: NonNullable<Report["names"]>["labels"];
  /** In lower case. */
  readonly tokens: ReadonlySet<string>;
}

/** Marks a name that the caller's own sources give. */
export const nameMark = "†";

/** Looks addresses up, in whatever case they are written. */
const byAddress = <A>(entries: ReadonlyArray<readonly [address: string, value: A]>) => {
  const values = new Map(entries.map(([address, value]) => [address.toLowerCase(), value]));
  return (address: string): A | undefined => values.get(address.toLowerCase());
};

/** Shortens addresses, but for those that would read as another of `addresses`. */
const shortenerOf = (addresses: Iterable<string>) => {
  const uses = new Map<string, number>();
  for (const address of addresses) uses.set(shortAddress(address), (uses.get(shortAddress(address)) ?? 0) + 1);
  const isShared = (address: string) => (uses.get(shortAddress(address.toLowerCase())) ?? 0) > 1;
  return (address: string) => (isShared(address) ? checksummed(address) : shortAddress(checksummed(address)));
};

/** The accounts of whoever reads: the option `accounts`, and the only sender. */
const readersOf = (report: Report): ReadonlyArray<string> => {
  const senders = sendersOf(report);
  const { accounts } = report.options;
  return [...accounts.map((account) => account.toLowerCase()), ...(senders.length === 1 ? senders : [])];
};

/** Tells amounts that a transaction, or one of them, asks for, as its value or as a word of its calldata. */
const typedIn = ({ transactions, carriers }: Report) => {
  const requests = [...transactions, ...carriers].map(({ input: { value, data } }) => ({
    value,
    data: data.toLowerCase(),
  }));
  return (amount: bigint, transaction?: number): boolean =>
    requests.some(
      ({ value, data }, at) =>
        at === (transaction ?? at) &&
        (amount === value || (amount > 0n && data.includes(amount.toString(16).padStart(64, "0")))),
    );
};

/** The contracts of NFTs, by what moves, is granted or is there of them. */
export const collectionsIn = ({
  transfers,
  approvals,
  exposure,
}: Pick<Report, "transfers" | "approvals" | "exposure">): ReadonlySet<string> => {
  const rows = [...transfers, ...approvals].flatMap(({ standard, token }) =>
    standard === "erc721" || standard === "erc1155" ? [token] : [],
  );
  const operated = (exposure?.rows ?? []).flatMap(({ by, token }) => (by === "operator" ? [token] : []));
  return new Set([...rows, ...operated].flatMap((token) => token?.toLowerCase() ?? []));
};

const holdingKey = (account: string, { token, tokenId }: Unit) => `${account}/${token}/${tokenId}`.toLowerCase();

/** The balances at the end that were measured. */
const holdingsIn = ({ balanceChanges, exposure }: Report) =>
  new Map(
    [
      ...(exposure?.rows ?? []).map((row) => [holdingKey(row.account, row), row.balance] as const),
      ...balanceChanges.map((row) => [holdingKey(row.account, row), row.after] as const),
    ].filter(([, balance]) => balance !== null),
  );

/** The names of a report in the words of its chain. */
export const namesFor = (
  report: Report,
  { symbol, exact = false, labels = {} }: AmountOptions,
  given: GivenNames = { labels: [], tokens: new Set() },
) => {
  const native = currencyOf(report, symbol);
  const short = shortenerOf(rolesOf(report).keys());
  const tokenOf = byAddress(report.tokens.map((info) => [info.token, info]));
  // why: the first of a token counts, and of two values for one address a map keeps the last
  const moved = [...report.approvals, ...report.transfers].reverse();
  const standard = byAddress(moved.map(({ token, standard }) => [token ?? "native", standard]));
  const [collections, holdings] = [collectionsIn(report), holdingsIn(report)];
  const ownedOf = byAddress(report.owned.map((entry) => [entry.account, entry]));
  const labelOf = byAddress(Object.entries(labels));
  const others = given.labels.filter(({ address }) => (labelOf(address)?.trim() ?? "") === "");
  const otherLabelOf = byAddress(others.map((row) => [row.address, row.label]));
  const you = new Set(readersOf(report));
  const isYou = (address: string) => you.has(address.toLowerCase());
  const nobodys = new Set(report.signings.flatMap(({ stand }) => [stand.stranger, stand.taker]));
  const label = (address: string) => {
    const text = labelOf(address)?.trim() ?? "";
    if (text !== "") return labelText(text);
    // the address stays beside it: a report from elsewhere may name any
    if ([...nobodys].some((made) => made.toLowerCase() === address.toLowerCase())) return "anybody";
    const other = otherLabelOf(address)?.slice(0, mostLabel) ?? null;
    // why: a name that anybody can have must not read as the reader
    const isPlain = other?.toLowerCase().startsWith("you") !== true;
    const shown = isPlain || other === null ? symbolText({ name: null, symbol: other }) : quoteText(other);
    return shown === null ? null : `${shown}${nameMark}`;
  };
  const beside = (address: string, text: string) => {
    const name = label(address);
    return name === null ? text : `${name} (${text})`;
  };
  const labelled = (address: string) => beside(address, checksummed(address));
  const party = (address: string) => beside(address, short(address));
  const who = (address: string) => (isYou(address) ? "you" : party(address));
  return {
    /** `0x1234…abcd`; the whole address where two of the report would read the same. */
    short,
    /** True if amounts for people are exact, too. */
    exact,
    /** True if a transaction, or this one, asks for this very amount, as value or calldata word: it reads as typed. */
    isTyped: typedIn(report),
    /** True if it is the reader: the only sender, or one of the option `accounts`. */
    isYou,
    /** The caller's label of an address, harmless; null where there is none. */
    label,
    /** The whole address with its checksum, behind its label. */
    labelled,
    /** The short address, behind its label where it has one. */
    party,
    /** A party in a sentence: `you`, or `party`. */
    who,
    /** The actor: as `who`, but `your Safe (0x1234…abcd)`, and others that name a sender as owner with that said. */
    actor: (address: string) => {
      const of = ownedOf(address);
      if (of === undefined || isYou(address)) return who(address);
      if (of.kind === "safe" && isYou(of.owner))
        return `your Safe ${label(address) ?? ""}`.trimEnd() + ` (${short(address)})`;
      return `${who(address)}, which names ${who(of.owner)} as its owner,`;
    },
    /** `you`, or `labelled`. */
    whole: (address: string) => (isYou(address) ? "you" : labelled(address)),
    token: (address: string) => tokenOf(address) ?? null,
    /** The caller's own sources, as far as they name anything here. */
    given: { ...given, labels: others },
    /** The standard by which something of a token moves or is granted. */
    standard,
    /** True if a token's contract is one of NFTs, by what moves, is granted or is there of it. */
    isCollection: (token: string) => collections.has(token.toLowerCase()),
    /** An account's holding at the end, raw units or wei; null where it was not measured. */
    held: (account: string, unit: Unit) => holdings.get(holdingKey(account, unit)) ?? null,
    /** The native currency. */
    native,
  };
};

/** The unit of an amount: the native currency (`token` null), a token, or one id of it. */
export interface Unit {
  readonly token: string | null;
  readonly tokenId: bigint | null;
}

/** Returns a token's symbol, harmless, marked where symbol or decimals are not its own; null where it says nothing. */
export const symbolOf = (names: Names, token: string): string | null => {
  const text = symbolText(names.token(token));
  return names.given.tokens.has(token.toLowerCase()) ? `${text ?? "token"}${nameMark}` : text;
};

/** Explains the mark of the caller's own names, where any of them is used. */
export const givenText = ({ given: { labels, tokens } }: Names): ReadonlyArray<string> =>
  labels.length + tokens.size === 0 ? [] : [`${nameMark} by your names, not by the chain.`];

/** A token's decimals, where it gives a number that can be one. */
export const decimalsOf = (names: Names, token: string): number | null => shownDecimals(names.token(token));

/** `#42`; of an id with more digits than anyone reads, its ends. */
export const idText = (tokenId: bigint): string => {
  const digits = String(tokenId);
  return digits.length <= 12 ? `#${digits}` : `#${digits.slice(0, 5)}…${digits.slice(-5)}`;
};

/** Wei in the unit it reads best in, with the exact wei beside where the unit is another. */
export const weiText = (wei: bigint, currency: Currency): string => {
  const [shown, exact] = [formatWei(wei, currency), `${wei} wei`];
  return wei === 0n || shown === exact ? shown : `${shown} (${exact})`;
};

/**
 * Wei in a currency: two decimals, or as many as the first two digits that are not 0 need; never
 * rounded to nothing. Empty when the price is no decimal number.
 */
export const fiatText = (wei: bigint, price: RenderOptions["price"], currency: Pick<Currency, "decimals">): string => {
  const parsed = price === undefined ? null : /^(\d{1,30})(?:\.(\d{1,30}))?$/.exec(price.amount);
  if (price === undefined || parsed === null) return "";
  const fraction = parsed[2] ?? "";
  const decimals = currency.decimals + fraction.length;
  const exact = wei * BigInt(`${parsed[1]}${fraction}`);
  const size = sizeOf(exact);
  const digits = size.toString().length;
  const places = size === 0n ? 2 : Math.max(2, Math.min(decimals, decimals - digits + 2));
  const unit = 10n ** BigInt(decimals - places);
  const rounded = (size + unit / 2n) / unit;
  return ` ≈ ${formatUnits(exact < 0n ? -rounded : rounded, places)} ${escapeText(price.currency, 8)}`;
};

/** An amount in the caller's prices; empty where they do not say. */
export const worthText = (
  names: Names,
  { token, tokenId }: Unit,
  amount: bigint,
  price: RenderOptions["price"],
): string => {
  if (token === null) return fiatText(amount, price, names.native).trim();
  const decimals = decimalsOf(names, token);
  const each = Object.entries(price?.tokens ?? {}).find(([address]) => address.toLowerCase() === token.toLowerCase());
  if (price === undefined || each === undefined || decimals === null || tokenId !== null) return "";
  return fiatText(amount, { ...price, amount: each[1] }, { decimals }).trim();
};

/** Epoch seconds as a date where they are one. */
export const dateText = (seconds: bigint): string =>
  seconds >= 0n && seconds <= 253_402_300_799n
    ? new Date(Number(seconds) * 1000).toISOString().replace(".000Z", "Z")
    : `second ${seconds}`;

/** Which way an amount is rounded: `up` for what leaves or is granted, `down` for what comes or is there, `none` for what was asked for. */
export type Rounding = "up" | "down" | "none";

const rounded = (amount: bigint, decimals: number, rounding: Rounding, { exact }: Names) => {
  if (exact) return { mark: "", digits: formatUnits(amount, decimals) };
  const { text, isExact } = roundUnits(amount, decimals, rounding === "none" ? null : rounding === "up");
  return { mark: isExact ? "" : "≈", digits: text };
};

/** From here on, native amounts are shown in whole units; below, in wei. */
const readable = ({ decimals }: Currency): bigint => 10n ** BigInt(decimals >> 1);

/** A token by its own symbol, which of it, and the short form of its address, which a false symbol cannot hide. */
export const tokenForPeople = (names: Names, token: string, tokenId: bigint | null = null): string => {
  const symbol = symbolOf(names, token);
  const id = tokenId === null ? "" : ` ${names.exact ? `#${tokenId}` : idText(tokenId)}`;
  return symbol === null && id === ""
    ? `token ${names.short(token)}`
    : `${symbol ?? "token"}${id} (${names.short(token)})`;
};

/** Names the unit that is counted: `ETH`, `USDC (0xA0b8…eB48)`, `CAT #5 (0xDc64…F6C9)`. */
export const unitForPeople = (names: Names, { token, tokenId }: Unit): string =>
  token === null ? names.native.symbol : tokenForPeople(names, token, tokenId);

/**
 * An amount of anything that moves, for people: the mark of what is rounded, the digits, the unit, each for itself. Where a token's decimals are not known, it says that it counts smallest units.
 * `isColumn`: the unit stands in a column of its own, and is the same for every size.
 */
export const amountForPeople = (names: Names, unit: Unit, amount: bigint, rounding: Rounding, isColumn = false) => {
  const { token, tokenId } = unit;
  if (token === null && !isColumn && amount !== 0n && sizeOf(amount) < readable(names.native))
    return { mark: "", digits: String(amount), unit: "wei" };
  const isNfts = token !== null && tokenId === null && names.isCollection(token);
  const decimals = token === null ? names.native.decimals : tokenId !== null || isNfts ? 0 : decimalsOf(names, token);
  const of = unitForPeople(names, unit);
  const what = isNfts ? `${sizeOf(amount) === 1n ? "NFT" : "NFTs"} of ${of}` : of;
  return {
    ...rounded(amount, decimals ?? 0, rounding, names),
    unit: decimals === null ? `smallest units of ${of} (decimals not known)` : what,
  };
};

/** All that somebody has: its digits alone, exact where they are few. */
export const holdingText = (names: Names, unit: Unit, amount: bigint): string => {
  const { digits } = amountForPeople(names, unit, amount, "none", true);
  return digits.length <= mostDigits ? digits : signedText(amountForPeople(names, unit, amount, "down", true), "");
};
const mostDigits = 16;

/** The digits with a sign before them. */
export const signedText = ({ mark, digits }: ReturnType<typeof amountForPeople>, sign: string): string =>
  `${mark}${sign}${digits}`;

/** {@link amountForPeople} in one string; of a single NFT its name alone. */
export const amountInSentence = (names: Names, unit: Unit, amount: bigint, rounding: Rounding): string => {
  const { mark, digits, unit: of } = amountForPeople(names, unit, amount, rounding);
  if (unit.tokenId === null) return `${mark}${digits} ${of}`;
  return sizeOf(amount) === 1n ? `${mark}${amount < 0n ? "-" : ""}${of}` : `${mark}${digits} × ${of}`;
};

/** Wei for people: `1.5 ETH`, `≈0.000143497 ETH`, `12 wei`. */
export const nativeForPeople = (wei: bigint, rounding: Rounding, names: Names): string =>
  amountInSentence(names, { token: null, tokenId: null }, wei, rounding);

/** The most that is paid: rounded up, without the mark, for the words beside say that it is a bound. */
export const mostForPeople = (wei: bigint, names: Names): string => {
  const { digits, unit } = amountForPeople(names, { token: null, tokenId: null }, wei, "up");
  return `${digits} ${unit}`;
};
