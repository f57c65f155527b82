/** The flags that describe a transaction and its run: what the tables of both say, by the name of the row. */
import * as CliFlag from "effect/cli/Flag";
import type * as Option from "effect/Option";
import { named, times } from "../report/options.js";
import { abiFields, fields, type Flag } from "../transaction/fields.js";

type Text = Option.Option<string>;
type Flagged<Rows> = {
  readonly [K in keyof Rows]: Rows[K] extends { readonly flag: Flag } ? K : never;
}[keyof Rows];
type Flags<Rows> = { readonly [K in Flagged<Rows>]: CliFlag.Flag<Text> };

/** A flag that takes a text and may be left out. */
export const text = (name: string, help: string): CliFlag.Flag<Text> =>
  CliFlag.String(name).pipe(CliFlag.withDescription(help), CliFlag.optional);

/** A flag that is there or not. */
export const toggle = (name: string, help: string): CliFlag.Flag<boolean> =>
  CliFlag.Boolean(name).pipe(CliFlag.withDescription(help), CliFlag.withDefault(false));

const flagsOf = <Rows extends Readonly<Record<string, { readonly flag: Flag | null }>>>(rows: Rows): Flags<Rows> =>
  Object.fromEntries(
    Object.entries(rows).flatMap(([name, { flag }]) => (flag === null ? [] : [[name, text(flag.name, flag.help)]])),
    // `Flagged` names those rows that the condition above lets through
  ) as Flags<Rows>;

const { feeLevel, ...options } = { ...named, ...times };
const described = { ...fields, ...abiFields };

/** A flag for each field of a transaction that has one. */
export const transactionFlags = flagsOf(described);

/** A flag for each option that has one. */
export const optionFlags = {
  ...flagsOf(options),
  feeLevel: CliFlag.Literals(feeLevel.flag.name, feeLevel.schema.literals).pipe(
    CliFlag.withDescription(feeLevel.flag.help),
    CliFlag.optional,
  ),
};

/** What the flags were given; `input` is the file. */
export interface CheckFlags extends Readonly<
  Record<keyof typeof transactionFlags | Exclude<keyof typeof optionFlags, "feeLevel">, Text>
> {
  readonly input: Text;
  readonly feeLevel: Option.Option<typeof feeLevel.schema.Type>;
}

/** The flag that a field of a transaction comes from; null where it has none. */
export const flagOf = (name: string): string | null => {
  const flag = Object.hasOwn(described, name) ? described[name as keyof typeof described].flag : null;
  return flag === null ? null : `--${flag.name}`;
};
