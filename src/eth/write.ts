/**
 * Writing values to JSON-RPC. What no wire can carry, or nobody would read, is collected by its path, so that nothing wrong
 * is sent and nothing is dropped in silence.
 */
import { didYouMean, given } from "../primitives/problem.js";
import { isRecord } from "../primitives/record.js";

/** Writes one value, whatever it is; what it cannot write is put into `faults` under its path. */
export type Writer = (value: unknown, path: string, faults: Array<string>) => unknown;

const limit = 1n << 256n;

export const quantity: Writer = (value, path, faults) => {
  const isWhole = typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value));
  if (isWhole && value >= 0 && value < limit) return `0x${value.toString(16)}`;
  faults.push(`${path}: not a quantity of 0 to 256 bits`);
  return "0x0";
};

/** A number that a clock or a list can have. */
export const within =
  (what: string, most: number, is: (value: unknown) => boolean = Number.isFinite): Writer =>
  (value, path, faults) => {
    if (!is(value) || Number(value) < 0 || Number(value) > most) faults.push(`${path}: not ${what} of 0 to ${most}`);
    return value;
  };

/** Two letters that were swapped are both off, in short names as well. */
const halfOff = (length: number): number => Math.min(2, length / 2);

const noObject = (path: string, names: ReadonlyArray<string>): string =>
  `${path === "" ? "" : `${path}: not an object; `}give { ${names.join(", ")} }`;

const inside = (path: string): string => (path === "" ? "" : `${path}.`);

/**
 * Writes the present fields of an object, in the writers' order. A field that nobody writes is a fault, and so is
 * one that stands under two names with two values.
 */
export const fields =
  <A extends object>(
    writers: { readonly [K in keyof A]-?: Writer },
    {
      required = [],
      also = {},
      beside = [],
    }: {
      /** Fields that must be there. */
      readonly required?: ReadonlyArray<Extract<keyof A, string>>;
      /** Other names of fields, which may be used in their place. */
      readonly also?: Readonly<Record<string, Extract<keyof A, string>>>;
      /** Fields that stand beside these in the same object, and are written elsewhere. */
      readonly beside?: ReadonlyArray<string>;
    } = {},
  ) =>
  (value: unknown, path: string, faults: Array<string>): Readonly<Record<string, unknown>> => {
    const output: Record<string, unknown> = {};
    const at = inside(path);
    if (!isRecord(value)) {
      faults.push(noObject(path, required.length > 0 ? required : [...Object.keys(writers), ...beside]));
      return output;
    }
    for (const key in writers) if (value[key] != null) output[key] = writers[key](value[key], at + key, faults);
    for (const key of Object.keys(value)) {
      if (Object.hasOwn(writers, key) || !given(value[key]) || beside.includes(key)) continue;
      const name = Object.hasOwn(also, key) ? also[key] : undefined;
      if (name === undefined) {
        const names = [...Object.keys(writers), ...Object.keys(also), ...beside];
        faults.push(`${at}${key.slice(0, 80)}: no such field${didYouMean(key, names, halfOff)}`);
        continue;
      }
      const aliasValue = writers[name](value[key], at + key.slice(0, 80), faults);
      if (String(output[name] ?? aliasValue).toLowerCase() !== String(aliasValue).toLowerCase())
        faults.push(`${at}${key}: another value than ${name}`);
      output[name] = aliasValue;
    }
    for (const key of required) if (!(key in output)) faults.push(`${at}${key}: required`);
    return output;
  };
