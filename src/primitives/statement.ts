/** A statement as data: a sentence, numbers with their units, a remedy. Text is made when it is shown. */
import * as Record from "effect/Record";
import * as Schema from "effect/Schema";
import type * as Cause from "effect/Cause";
import { differenceText, OutcomeDifference } from "./difference.js";
import { checksummed, escapeText } from "./text.js";
import { type Currency, formatGas, formatGasPrice, formatWei, largestOf, roundUnits } from "./units.js";
import { Address, nullable } from "./hex.js";
import { plainJson } from "./json.js";

/**
 * A number or a name that a sentence rests on. `units` are a token's raw units; `quote` is somebody
 * else's text; a `difference` has both values. Texts are kept as they came: {@link figureText} escapes them.
 */
export const Figure = Schema.Union([
  Schema.Struct({
    /** Its name; empty where the sentence says it. */
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

/** A sentence that says what happened, its numbers, and what to do (empty where nothing is to be done). */
export interface Statement {
  /** One sentence that says what happened. */
  readonly sentence: string;
  /** The numbers that belong to it, with their units. */
  readonly numbers: ReadonlyArray<Figure>;
  /** The action to take; empty where nothing is to be done. */
  readonly remedy: string;
}

const quantity =
  (unit: Extract<Figure, { readonly value: bigint }>["unit"]) =>
  (name: string, value: bigint | number | null): Figure | null =>
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
export const statementOf = (sentence: string, known: ReadonlyArray<Figure | null>, remedy: string): Statement => ({
  sentence,
  numbers: figures(...known),
  remedy,
});

/** More than anybody reads: characters of one text, figures of one statement. A forged report may hold any number. */
export const most = { characters: 1024, name: 48, figures: 32 } as const;

/** No amount, but a number that stands for all there is. */
const vast = 10n ** 30n;

/** The value alone, escaped; `all` = the figures beside it: what is compared is told in one unit. */
export const valueText = (figure: Figure, currency: Currency | string | undefined, all: ReadonlyArray<Figure>) => {
  const { unit, value } = figure;
  if (unit === "difference") return escapeText(differenceText(value), most.characters);
  if (unit === "quote") return `"${escapeText(value)}"`;
  if (unit === "address") return checksummed(value);
  if (unit === "hash" || unit === "text") return escapeText(value, most.characters);
  const beside = () =>
    largestOf(all.flatMap((other) => (other.unit === unit && typeof other.value === "bigint" ? [other.value] : [])));
  if (unit === "wei") return formatWei(value, currency, beside());
  if (unit === "weiPerGas") return formatGasPrice(value, currency, beside());
  if (unit === "gas") return formatGas(value);
  if (unit === "units") return `${value < vast ? value : `≈${roundUnits(value, 0, true).text}`} smallest units`;
  return unit === "count" ? String(value) : `${value} ${unit === "seconds" ? "s" : unit}`;
};

/** `gas limit 21,000 gas`, escaped; native amounts in `currency`, and in one unit with those of `all` beside it. */
export const figureText = (figure: Figure, currency?: Currency | string, all: ReadonlyArray<Figure> = [figure]) => {
  const value = valueText(figure, currency, all);
  return figure.name === "" ? value : `${escapeText(figure.name, most.name)} ${value}`;
};

/** The numbers in one line, escaped. */
export const numbersText = ({ numbers }: Pick<Statement, "numbers">, currency?: Currency | string): string => {
  const texts = numbers.slice(0, most.figures).map((figure, _, all) => figureText(figure, currency, all));
  const cut = numbers.length - texts.length;
  return [...texts, ...(cut === 0 ? [] : [`… and ${cut} more`])].join(", ");
};

/** `sentence · numbers · remedy`, escaped, leaving out what is empty. */
export const statementText = (statement: Statement, currency?: Currency | string): string =>
  [
    escapeText(statement.sentence, most.characters),
    numbersText(statement, currency),
    escapeText(statement.remedy, most.characters),
  ]
    .filter((part) => part !== "")
    .join(" · ");

/* Classes of errors that say what happened as data: each has its statement, and `message` is made of it. */

/** Wei, gas, wei per gas or a count; null = the source did not say. */
export const amount = nullable(Schema.BigInt);
export const account = nullable(Address);
/** The field of an error that a node may have said. */
export const answered = {
  /** The node's answer, as it came; null where our own rules decided. */
  raw: nullable(Schema.Json),
};

/** Returns where a code is explained, from the root of the package. */
export const pageOf = (code: string): string => `docs/errors.md#${code}`;

/** The fields that every error of ours has beside its own. */
export interface Stated {
  /** The sentence on what happened, numbers with their units, what to do. `message` is the same in one line. */
  readonly statement: Statement;
  /** The page that explains it: `docs/errors.md#InsufficientFunds`, from the root of the package. */
  readonly docs: string;
}

/** An error by itself knows no chain: one gwei is a thousand million of the smallest unit, whatever a whole one is called and holds. */
const nameless: Currency = { symbol: "gwei", decimals: 9 };

const currencies = new WeakMap<object, Currency>();

/** The same error, which tells native amounts in `currency` from now on. */
export const inCurrency = <E extends Stated>(error: E, currency: Currency): E => {
  currencies.set(error, currency);
  return error;
};

/** The fields of an error. */
type Kept<Tag extends string, Fields extends Schema.Struct.Fields> = Schema.TaggedStruct<Tag, Fields>["Type"];

/** `class A extends derived<A, Facts>()("A", fields, facts) {}`: a tagged error with getters for what its fields tell. */
export const derived =
  <Self, Facts extends Stated>() =>
  <const Tag extends string, const Fields extends Schema.Struct.Fields>(
    tag: Tag,
    fields: Fields,
    facts: {
      readonly [K in Exclude<keyof Facts, "docs">]: (error: Kept<Tag, Fields> & Facts) => Facts[K];
    } & { readonly docs?: (error: Kept<Tag, Fields>) => string },
  ): Schema.Class<Self, Schema.TaggedStruct<Tag, Fields>, Cause.YieldableError & Facts> => {
    const base = Schema.TaggedError<Stated>()(tag, fields);
    const getters: Readonly<Record<string, (error: never) => unknown>> = {
      docs: () => pageOf(tag),
      ...facts,
      message: (error: Stated) => statementText(error.statement, currencies.get(error) ?? nameless),
    };
    const method = (value: (this: Stated & Error) => unknown) => ({ configurable: true, writable: true, value });
    Object.defineProperties(base.prototype, {
      ...Record.map(getters, (read) => ({
        configurable: true,
        get(this: never) {
          return read(this);
        },
      })),
      toJSON: method(function () {
        return { ...Object(plainJson(this)), docs: this.docs, message: this.message };
      }),
      // why: consoles write all fields over many lines otherwise
      [Symbol.for("nodejs.util.inspect.custom")]: method(function () {
        return `${this.name}: ${this.message}`;
      }),
    });
    // the getters are those of `Facts`
    return base as never;
  };

/** A value that is always said, or what an error's fields say. */
export type Sayable<Error, A> = A | ((error: Error) => A);

/** Returns what an error has to tell: always the same, or by its fields. */
export const toldBy = <Error, A extends string | object>(told: Sayable<Error, A>, error: Error): A =>
  typeof told === "function" ? (told as (error: Error) => A)(error) : told;

/** The fields that every error that a caller is rejected with has beside its own. */
export interface OfNonce extends Stated {
  /** True if a transaction may have been, or may yet be, broadcast: if false, trying again from the start pays once. */
  readonly mayBeSent: boolean;
}

/**
 * `class A extends stated<A>()("A", fields)(sentence, (error) => figures, remedy) {}`, sentence and remedy by the fields, too.
 * Nothing is sent after it, unless `mayBeSent` says so of its fields.
 */
export const stated =
  <Self>() =>
  <const Tag extends string, const Fields extends Schema.Struct.Fields>(tag: Tag, fields: Fields) =>
  (
    sentence: Sayable<Kept<Tag, Fields>, string>,
    figures: (error: Kept<Tag, Fields>) => ReadonlyArray<Figure | null>,
    remedy: Sayable<Kept<Tag, Fields>, string>,
    mayBeSent: (error: Kept<Tag, Fields>) => boolean = () => false,
  ): Schema.Class<Self, Schema.TaggedStruct<Tag, Fields>, Cause.YieldableError & OfNonce> =>
    derived<Self, OfNonce>()<Tag, Fields>(tag, fields, {
      mayBeSent,
      statement: (error) => statementOf(toldBy(sentence, error), figures(error), toldBy(remedy, error)),
    });

/** `chainId:address:key`. */
export const lane = Schema.String;
