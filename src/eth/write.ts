/**
 * The parts that typed parameters are written with. What no wire can carry, or nobody would read, is
 * collected by its path, so that nothing wrong is sent and nothing is dropped in silence.
 */
import { isRecord } from "../primitives/record.js";
import { isBytes, isHex } from "./wire.js";

/** Where a writer notes the paths of what it could not write. */
export type Faults = Array<string>;
/** Writes one value. */
export type Writer = (value: never, path: string, faults: Faults) => unknown;

const limit = 1n << 256n;

export const quantity = (value: bigint | number, path: string, faults: Faults): string => {
  if (typeof value === "bigint" ? value >= 0n && value < limit : Number.isSafeInteger(value) && value >= 0)
    return `0x${value.toString(16)}`;
  faults.push(`${path}: not a quantity of 0 to 256 bits`);
  return "0x0";
};

/** Hex that `is` takes. */
const hex =
  (what: string, is: (value: unknown) => boolean) =>
  (value: string, path: string, faults: Faults): string => {
    if (is(value)) return value;
    faults.push(`${path}: not ${what}`);
    return "0x";
  };
const sized = (bytes: number) => (value: unknown) => isHex(value) && value.length === 2 + 2 * bytes;

export const bytes = hex("hex of whole bytes", isBytes);
export const address = hex("an address of 20 bytes", sized(20));
export const word = hex("hex of 32 bytes", sized(32));

export const flag = (value: boolean, path: string, faults: Faults): boolean => {
  if (typeof value !== "boolean") faults.push(`${path}: not a boolean`);
  return value === true;
};

export const listOf =
  <A>(write: (value: A, path: string, faults: Faults) => unknown) =>
  (values: ReadonlyArray<A>, path: string, faults: Faults): unknown => {
    if (Array.isArray(values)) return values.map((value: A, index) => write(value, `${path}[${index}]`, faults));
    faults.push(`${path}: not a list`);
    return [];
  };

/** A record by keys that are hex as well. */
export const recordOf =
  <A>(writeKey: typeof bytes, write: (value: A, path: string, faults: Faults) => unknown) =>
  (record: Readonly<Record<string, A>>, path: string, faults: Faults): Record<string, unknown> => {
    if (!isRecord(record)) {
      faults.push(`${path}: not an object`);
      return {};
    }
    return Object.fromEntries(
      Object.entries(record).map(([key, value]) => {
        const at = `${path}[${key.slice(0, 80)}]`;
        return [writeKey(key, at, faults), write(value, at, faults)];
      }),
    );
  };

/** How many letters of the longer name stand between what both begin and what both end with. */
const between = (a: string, b: string): number => {
  const [short, long] = [Math.min(a.length, b.length), Math.max(a.length, b.length)];
  let head = 0;
  while (head < short && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < short - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  return long - head - tail;
};

const isNear = (given: string, name: string): boolean => {
  const [a, b] = [given.toLowerCase(), name.toLowerCase()];
  if (a.length > 2 && b.length > 2 && (a.includes(b) || b.includes(a))) return true;
  return between(a, b) <= Math.min(2, Math.max(a.length, b.length) / 2);
};

/** What {@link fields} knows of an object beside its fields. */
interface Beside<K extends string> {
  /** Fields that must be there. */
  readonly required?: ReadonlyArray<K>;
  /** Other names of fields, which may be used in their place. */
  readonly also?: Readonly<Record<string, K>>;
  /** Fields that stand beside these in the same object, and are written elsewhere. */
  readonly beside?: ReadonlyArray<string>;
}

export const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/**
 * Writes the present fields of an object, in the writers' order. A field that nobody writes is a fault, and so is
 * one that stands under two names with two values.
 */
export const fields =
  <A extends object>(
    writers: { readonly [K in keyof A]-?: Writer },
    { required = [], also = {}, beside = [] }: Beside<Extract<keyof A, string>> = {},
  ) =>
  (value: A, path: string, faults: Faults): Record<string, unknown> => {
    const written: Record<string, unknown> = {};
    if (!isRecord(value)) {
      faults.push(`${path}: not an object`);
      return written;
    }
    const at = (key: string): string => (path === "" ? key : `${path}.${key}`);
    // each writer belongs to its own key, which the mapped type above guarantees
    const write = (key: Extract<keyof A, string>, under: string) =>
      writers[key](value[under] as never, at(under.slice(0, 80)), faults);
    for (const key in writers) if (isGiven(value[key])) written[key] = write(key, key);
    for (const key of Object.keys(value)) {
      if (Object.hasOwn(writers, key) || !isGiven(value[key]) || beside.includes(key)) continue;
      const name = Object.hasOwn(also, key) ? also[key] : undefined;
      if (name === undefined) {
        const near = [...Object.keys(writers), ...Object.keys(also), ...beside].find((one) => isNear(key, one));
        faults.push(`${at(key.slice(0, 80))}: no such field${near === undefined ? "" : `; did you mean ${near}?`}`);
      } else {
        const other = write(name, key);
        if (String(written[name] ?? other).toLowerCase() !== String(other).toLowerCase())
          faults.push(`${at(key)}: another value than ${name}`);
        written[name] = other;
      }
    }
    for (const key of required) if (!(key in written)) faults.push(`${at(key)}: required`);
    return written;
  };
