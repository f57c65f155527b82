/**
 * Which facts of two reports differ, and by how much; and two values of one fact side by side, for people: amounts with
 * their symbol and decimals, parties by their names. Pure.
 */
import { maxUint256 } from "viem";
import { differenceText, nothing, subjectText, type OutcomeDifference } from "../primitives/difference.js";
import { escapeText } from "../primitives/text.js";
import { formatGas, formatGasPrice } from "../primitives/units.js";
import {
  amountForPeople,
  decimalsOf,
  namesFor,
  type Amount,
  type AmountOptions,
  type Names,
  type Rounding,
} from "./amounts.js";
import type { Report } from "./schema.js";

/** What a fact says: a number, a text, or nothing. */
type Value = bigint | string | null;

/** What a number counts; null where it is no amount. */
export type Counted = OutcomeDifference["unit"] | "wei" | "gas" | "wei per gas" | "wei per blob gas" | "count";

/** One fact that moved, and what it is about. `by` is `after − before` where both are amounts. */
export interface Difference extends Pick<OutcomeDifference, "transaction" | "to"> {
  /** Path of the fact, e.g. `transactions[0].gas.limit`, `verdict`. */
  readonly path: string;
  /** `holding`: what a payer has, `fact`: any other figure of a report, its request or its payers. */
  readonly kind: "fact" | "holding" | "balance" | "approval" | "finding";
  /** What it is called, e.g. `gas limit`; of an approval its standard, null of a balance. */
  readonly what: string | null;
  /** Who pays or owns. */
  readonly account: OutcomeDifference["account"];
  /** What its number counts; null where it is no amount. */
  readonly unit: Counted;
  /** The figure of the first report; null = it has none. */
  readonly before: bigint | string | null;
  /** The figure of the second report; null = it has none. */
  readonly after: bigint | string | null;
  /** How much larger it became, in its unit; null where it is no number. */
  readonly by: bigint | null;
}

type Subject = Omit<Difference, "path" | "before" | "after" | "by">;

type Facts = ReadonlyMap<string, { readonly about: Subject; readonly value: bigint | string }>;

/** `fee max fee per gas` of `fee.maxFeePerGas`. */
const inWords = (name: string): string =>
  [...name].map((one) => (one === "." ? " " : one === one.toLowerCase() ? one : ` ${one.toLowerCase()}`)).join("");

const factsOf = (report: Report): Facts => {
  const facts = new Map<string, { readonly about: Subject; readonly value: bigint | string }>();
  const set = (path: string, value: Value | number | undefined, about: Partial<Subject>) => {
    if (value == null) return;
    const figure = typeof value === "number" ? String(value) : value;
    facts.set(path, { about: { ...nothing, kind: "fact", ...about }, value: figure });
  };
  const say = (transaction: number | null) => {
    const at = transaction === null ? "" : `transactions[${transaction}].`;
    return (name: string, value: Value | number | undefined, unit: Counted = null) =>
      set(at + name, value, { what: inWords(name), unit, transaction });
  };
  const ofAll = say(null);
  ofAll("verdict", report.verdict);
  ofAll("stage", report.stage);
  ofAll("chainId", report.chainId);
  ofAll("digest", report.digest);
  ofAll("observed.baseFeePerGas", report.observed.baseFeePerGas, "wei per gas");
  report.transactions.forEach(({ request, code, outcome, gas, nonce, fee }, index) => {
    const of = say(index);
    const logs = outcome.logs.map(({ address, topics, data }) => `${address} ${topics.join(",")} ${data}`);
    of("code.from", code.from.kind);
    of("code.to", code.to?.kind);
    of("outcome.status", outcome.status);
    of("outcome.gasUsed", outcome.gasUsed, "gas");
    of("outcome.returnData", outcome.returnData);
    of("outcome.logs", logs.join("; "));
    of("gas.limit", request?.gas ?? gas.limit, "gas");
    of("nonce.value", nonce.value);
    of("fee.baseFeePerGas", fee.baseFeePerGas, "wei per gas");
    of("fee.maxFeePerGas", fee.maxFeePerGas ?? fee.gasPrice, "wei per gas");
    of("fee.maxPriorityFeePerGas", fee.maxPriorityFeePerGas, "wei per gas");
  });
  for (const { account, ...payer } of report.funds)
    for (const name of ["balance", "required", "expected", "shortfall"] as const) {
      const kind = name === "balance" ? "holding" : "fact";
      set(`funds[${account}].${name}`, payer[name], { kind, what: `funds ${name}`, unit: "wei", account });
    }
  const idOf = (tokenId: bigint | null): string => (tokenId === null ? "" : `/${tokenId}`);
  for (const { account, token, tokenId, delta } of report.balanceChanges)
    set(`balanceChanges[${account}/${token ?? "native"}${idOf(tokenId)}]`, delta, {
      ...{ kind: "balance", account, unit: { token, tokenId } },
    });
  for (const { token, owner, spender, tokenId, standard, after } of report.approvals)
    set(`approvals[${token}/${owner}/${spender}${idOf(tokenId)}]`, after, {
      ...{ kind: "approval", account: owner, to: spender, unit: { token, tokenId }, what: standard },
    });
  for (const { code, step, transaction, severity } of report.findings)
    set(`findings[${step}/${transaction ?? "all"}/${code}]`, severity, {
      ...{ kind: "finding", transaction, what: `finding ${code}` },
    });
  return facts;
};

/** What moved from `a` to `b`, in the order of the report; empty when nothing did. */
export const diff = (a: Report, b: Report): ReadonlyArray<Difference> => {
  const [before, after] = [factsOf(a), factsOf(b)];
  return [...new Map([...before, ...after])].flatMap(([path, { about }]): ReadonlyArray<Difference> => {
    const [one = null, other = null] = [before.get(path)?.value, after.get(path)?.value];
    if (one === other) return [];
    const isNumber = typeof one === "bigint" || typeof other === "bigint";
    const numberOf = (value: Value): bigint => (typeof value === "bigint" ? value : 0n);
    return [{ path, ...about, before: one, after: other, by: isNumber ? numberOf(other) - numberOf(one) : null }];
  });
};

/** More of a text that is no amount than anybody reads beside another. */
const mostText = 512;

/** No amount, but a number that nobody reads. */
const vast = 10n ** 100n;

const amountOf = (amount: bigint, unit: Counted, rounding: Rounding, names: Names): Amount => {
  const plain = (digits: string): Amount => ({ mark: "", digits, unit: "" });
  if (unit === null || unit === "count") return plain(String(amount));
  if (unit === "gas") return plain(formatGas(amount));
  if (unit === "wei") return amountForPeople(names, { token: null, tokenId: null }, amount, rounding);
  if (typeof unit === "string") return plain(formatGasPrice(amount, names.native));
  const { token, tokenId } = unit;
  if (token !== null) {
    if (amount === maxUint256) return plain("unlimited");
    // why: rights and NFTs that are there or not are counted so
    const isFlag = decimalsOf(names, token) === null && (amount === 0n || amount === 1n);
    if (tokenId !== null || isFlag) return plain(String(amount));
  }
  return amountForPeople(names, unit, amount, rounding);
};

/** Two values of one fact: both rounded where they can still be told apart, else both exact. */
export const valuesForPeople = (
  [one, other]: readonly [one: Value, other: Value],
  unit: Counted,
  isHeld: boolean,
  names: Names,
): readonly [one: string, other: string] => {
  const shown = (value: Value, by: Names): Amount =>
    typeof value !== "bigint" || value > vast || value < -vast
      ? { mark: "", digits: escapeText(String(value ?? "none"), mostText), unit: "" }
      : // why: what may be spent is rounded up, what is there down
        amountOf(value, unit, isHeld && value > 0n ? "down" : "up", by);
  const [here, there] = [shown(one, names), shown(other, names)];
  const isTold = here.digits !== there.digits || here.unit !== there.unit;
  const text = (value: Value): string => {
    const { mark, digits, unit: of } = shown(value, isTold ? names : { ...names, exact: true });
    return `${mark}${digits}${of === "" ? "" : ` ${of}`}`;
  };
  return [text(one), text(other)];
};

const addresses = /0x[0-9a-fA-F]{40}(?![0-9a-fA-F])/g;

/** Somebody's text with every address checksummed, and `you` for the reader's own. */
export const named = (text: string, names: Names): string => text.replace(addresses, names.whole);

/** A difference with its amounts readable. */
export const differenceForPeople = (difference: OutcomeDifference, names: Names): string =>
  differenceText(difference, names.whole, ({ kind, unit, a, b }) =>
    valuesForPeople([a ?? 0n, b ?? 0n], unit, kind === "balance", names),
  );

const labelOf = ({ kind, transaction, account, to, unit, what }: Difference, names: Names): string => {
  if (typeof unit === "object" && (kind === "balance" || kind === "approval"))
    return subjectText({ kind, transaction, event: null, account, to, unit, what }, names.whole);
  const at = transaction === null ? "" : `transaction ${transaction + 1}, `;
  return `${at}${what}${account === null ? "" : ` of ${names.whole(account)}`}`;
};

/**
 * Differences of reports in words, a line each: amounts as {@link AmountOptions} say, by the symbols and decimals that
 * `report` knows. Of `Moved`, its `diff` and its `report`. Escaped and bounded; the {@link Difference} itself is exact.
 */
export const diffText = (
  differences: ReadonlyArray<Difference>,
  report: Report,
  options: AmountOptions = {},
): string => {
  const names = namesFor(report, options);
  return differences
    .map((one) => {
      const { kind, unit, before, after } = one;
      const isHeld = kind === "balance" || kind === "holding";
      const values = valuesForPeople([before, after], unit, isHeld, names);
      return `${escapeText(labelOf(one, names), mostText)}: ${values.join(" → ")}`;
    })
    .join("\n");
};
