/** Two values of one fact side by side, for people: amounts with their symbol and decimals, parties by their names. Pure. */
import { maxUint256 } from "viem";
import { escapeText } from "../primitives/text.js";
import { formatGas, formatGasPrice } from "../primitives/units.js";
import { amountInSentence, nativeForPeople, type Rounding } from "./amounts.js";
import { readAmountLine } from "./amountLine.js";
import type { Difference } from "./diff.js";
import type { Report } from "./schema.js";
import { namesFor, type AmountOptions } from "./summary.js";
import { decimalsOf, type Names, type Unit } from "./tokens.js";

/** What the number of a fact counts. */
type Measure = "price" | "gas" | Unit;

const native: Unit = { token: null, tokenId: null };
const unitOf = (token: string | undefined, id: string | undefined): Unit => ({
  token: token?.startsWith("0x") === true ? token : null,
  tokenId: id === undefined ? null : BigInt(id),
});

/** What the number under a path counts; null where it is no amount. */
const measureOf = (path: string): Measure | null => {
  if (/(?:[bB]aseFeePerGas|\.fee\.\w+|^fee\.price|^request\.(?:gasPrice|max\w+Per\w*Gas))$/.test(path)) return "price";
  if (/(?:\.gasUsed|\.gas\.limit|^request\.gas)$/.test(path)) return "gas";
  if (/^(?:funds(?:\[[^\]]*\])?\.\w+|request\.value)$/.test(path)) return native;
  const balance = /^balance(?:s|Changes)\[[^/\]]+\/([^/\]]+)(?:\/(\d{1,78}))?\]$/.exec(path);
  if (balance !== null) return unitOf(balance[1], balance[2]);
  const right = /^approvals\[([^/\]]+)\/[^/\]]+\/[^/\]]+?(?:\/(\d{1,78}))?\]$/.exec(path);
  return right === null ? null : unitOf(right[1], right[2]);
};

/** More of a text that is no amount than anybody reads beside another. */
const mostText = 512;

const amountText = (amount: bigint, measure: Measure, rounding: Rounding, names: Names): string => {
  if (measure === "price") return formatGasPrice(amount, names.native);
  if (measure === "gas") return formatGas(amount);
  if (measure.token === null) return nativeForPeople(amount, rounding, names);
  if (amount === maxUint256) return "unlimited";
  // why: rights and NFTs that are there or not are counted so
  const isFlag = decimalsOf(names, measure.token) === null && (amount === 0n || amount === 1n);
  return measure.tokenId !== null || isFlag ? String(amount) : amountInSentence(names, measure, amount, rounding);
};

/** One value: what may be spent is rounded up, what is there down; a bound (`≤ 5`) stays one. */
const valueText = (value: string, measure: Measure | null, isHeld: boolean, names: Names): string => {
  const [, bound = "", digits] = /^(≤ )?(-?\d{1,100})$/.exec(value) ?? [];
  if (measure === null || digits === undefined) return escapeText(value, mostText);
  const amount = BigInt(digits);
  const text = amountText(amount, measure, isHeld && amount > 0n ? "down" : "up", names);
  return bound === "" ? text : `${bound}${text.replace("≈", "")}`;
};

type Pair = readonly [one: string, other: string];

/** Both rounded where they can still be told apart, else both exact. */
const pairText = (values: Pair, measure: Measure | null, isHeld: boolean, names: Names): Pair => {
  const shown = (by: Names): Pair => [
    valueText(values[0], measure, isHeld, by),
    valueText(values[1], measure, isHeld, by),
  ];
  const [one, other] = shown(names);
  const isTold = one.replace(/^≤ |≈/g, "") !== other.replace(/^≤ |≈/g, "");
  return isTold ? [one, other] : shown({ ...names, exact: true });
};

/** Two values of the fact under a path of {@link Difference} or of a settlement. */
export const valuesForPeople = (path: string, values: Pair, names: Names): Pair =>
  pairText(values, measureOf(path), /^balance|\.balance$/.test(path), names);

const addresses = /0x[0-9a-fA-F]{40}(?![0-9a-fA-F])/g;

/** A text with whole addresses, checksummed, and `you` for the reader's own. */
export const named = (text: string, names: Names): string => escapeText(text, mostText).replace(addresses, names.whole);

/** A line of a finding: of an amount, with its values readable; addresses {@link named}. */
export const lineForPeople = (line: string, names: Names): string => {
  const found = readAmountLine(line);
  if (found === null) return line.replace(addresses, names.whole);
  const { what, unit, values } = found;
  return `${what.replace(addresses, names.whole)}: ${pairText(values, unit, what.startsWith("balance"), names).join(" and ")}`;
};

/** `gas limit` of `gas.limit`. */
const wordsOf = (path: string): string =>
  path.replace(/\./g, " ").replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const labelOf = (path: string): string => {
  const [, place, ofIt] = /^transactions\[(\d+)\]\.(.+)$/.exec(path) ?? [];
  if (ofIt !== undefined) return `transaction ${Number(place) + 1}, ${wordsOf(ofIt)}`;
  const [, what, about, field = ""] = /^(\w+)\[([^\]]*)\](\.\w+)?$/.exec(path) ?? [];
  if (what === undefined || about === undefined) return wordsOf(path);
  const parts = about.split("/");
  if (what !== "findings") return `${wordsOf(what + field)} of ${parts.join(", ")}`;
  const [, where, code = ""] = parts;
  return `finding ${code}${where === "all" ? "" : `, transaction ${Number(where) + 1}`}`;
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
    .map(({ path, before, after }) => {
      const [one, other] = valuesForPeople(path, [before, after], names);
      return `${named(labelOf(path), names)}: ${one} → ${other}`;
    })
    .join("\n");
};
