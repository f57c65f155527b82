/** What is said of something, as data: a sentence, numbers with their units, a remedy. Text is made when it is shown. */
import * as Schema from "effect/Schema";
import { differenceText, OutcomeDifference } from "./difference.js";
import { checksummed, escapeText } from "./text.js";
import { formatGas, formatGasPrice, formatWei, largestOf, roundUnits } from "./units.js";

/**
 * A number or a name that a sentence rests on. `units` are a token's raw units; `quote` is somebody
 * else's text; a `difference` is told with both its values. Texts are kept as they came: {@link figureText} escapes them.
 */
export const Figure = Schema.Union([
  Schema.Struct({
    /** What it is; empty where the sentence says it. */
    name: Schema.String,
    unit: Schema.Literals(["wei", "weiPerGas", "gas", "bytes", "blocks", "ms", "seconds", "units", "count"]),
    value: Schema.BigInt,
  }),
  Schema.Struct({
    name: Schema.String,
    unit: Schema.Literals(["address", "hash", "quote", "text"]),
    value: Schema.String,
  }),
  Schema.Struct({ name: Schema.String, unit: Schema.Literal("difference"), value: OutcomeDifference }),
]);
export type Figure = typeof Figure.Type;

/** What happened, the numbers, what to do (empty where nothing is to be done). */
export interface Statement {
  /** What happened, in one sentence. */
  readonly sentence: string;
  /** The numbers that belong to it, with their units. */
  readonly numbers: ReadonlyArray<Figure>;
  /** What to do; empty where nothing is to be done. */
  readonly remedy: string;
}

type Quantity = bigint | number | null;

const quantity =
  (unit: Extract<Figure, { readonly value: bigint }>["unit"]) =>
  (name: string, value: Quantity): Figure | null =>
    value === null ? null : { name, unit, value: BigInt(typeof value === "number" ? Math.round(value) : value) };

const words =
  (unit: Extract<Figure, { readonly value: string }>["unit"]) =>
  (name: string, value: string | null): Figure | null =>
    value === null || value === "" ? null : { name, unit, value };

export const wei = quantity("wei");
export const weiPerGas = quantity("weiPerGas");
export const gas = quantity("gas");
export const bytes = quantity("bytes");
export const blocks = quantity("blocks");
export const milliseconds = quantity("ms");
export const seconds = quantity("seconds");
/** Raw units of a token. */
export const units = quantity("units");
export const count = quantity("count");
export const address = words("address");
export const hash = words("hash");
/** Somebody else's words, shown in quotation marks. */
export const quote = words("quote");
export const text = words("text");
export const difference = (value: OutcomeDifference): Figure => ({ name: "", unit: "difference", value });

/** The figures that are known. */
export const figures = (...known: ReadonlyArray<Figure | null>): ReadonlyArray<Figure> =>
  known.filter((figure) => figure !== null);

/** A statement with the figures that are known. */
export const say = (sentence: string, known: ReadonlyArray<Figure | null>, remedy: string): Statement => ({
  sentence,
  numbers: figures(...known),
  remedy,
});

/** More than anybody reads: characters of one text, figures of one statement. A forged report may hold any number. */
const most = { characters: 1024, name: 48, figures: 32 } as const;

/** No amount, but a number that stands for all there is. */
const vast = 10n ** 30n;

/** `all` = the figures beside it: what is compared is told in one unit. */
const valueText = (figure: Figure, symbol: string | undefined, all: ReadonlyArray<Figure>): string => {
  const beside = () =>
    largestOf(all.flatMap(({ unit, value }) => (unit === figure.unit && typeof value === "bigint" ? [value] : [])));
  switch (figure.unit) {
    case "wei":
      return formatWei(figure.value, symbol, beside());
    case "weiPerGas":
      return formatGasPrice(figure.value, symbol, beside());
    case "gas":
      return formatGas(figure.value);
    case "seconds":
      return `${figure.value} s`;
    case "count":
      return String(figure.value);
    case "units":
      return `${figure.value < vast ? figure.value : `≈${roundUnits(figure.value, 0, true).text}`} smallest units`;
    case "bytes":
    case "blocks":
    case "ms":
      return `${figure.value} ${figure.unit}`;
    case "quote":
      return `"${escapeText(figure.value)}"`;
    case "address":
      return checksummed(figure.value);
    case "hash":
    case "text":
    case "difference":
      return escapeText(
        typeof figure.value === "string" ? figure.value : differenceText(figure.value),
        most.characters,
      );
  }
};

/** `gas limit 21,000 gas`, escaped; native amounts in `symbol`, and in one unit with those of `all` beside it. */
export const figureText = (figure: Figure, symbol?: string, all: ReadonlyArray<Figure> = [figure]): string => {
  const value = valueText(figure, symbol, all);
  return figure.name === "" ? value : `${escapeText(figure.name, most.name)} ${value}`;
};

/** The numbers in one line, escaped. */
export const numbersText = ({ numbers }: Pick<Statement, "numbers">, symbol?: string): string => {
  const shown = numbers.slice(0, most.figures).map((figure, _, all) => figureText(figure, symbol, all));
  const cut = numbers.length - shown.length;
  return [...shown, ...(cut === 0 ? [] : [`… and ${cut} more`])].join(", ");
};

/** `sentence · numbers · remedy`, escaped, leaving out what is empty. */
export const statementText = (statement: Statement, symbol?: string): string =>
  [
    escapeText(statement.sentence, most.characters),
    numbersText(statement, symbol),
    escapeText(statement.remedy, most.characters),
  ]
    .filter((part) => part !== "")
    .join(" · ");
