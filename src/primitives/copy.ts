/** Copies of what is handed to users' code. */
import { safely } from "./record.js";

/** Objects that hold what no field of theirs shows, which the platform knows how to copy. */
const isSealed = (value: object): boolean =>
  ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof RegExp;

/** A copy of it as yet without its fields. */
const shellOf = (value: object): object =>
  value instanceof Uint8Array
    ? new Uint8Array(value)
    : isSealed(value)
      ? structuredClone(value)
      : value instanceof Date
        ? new Date(value)
        : value instanceof Set
          ? new Set()
          : value instanceof Map
            ? new Map()
            : Array.isArray(value)
              ? []
              : {};

/**
 * A deep copy: a change to it changes nothing of what it was made of. What it holds of whatever class is of that class; of
 * promises and of instances with private fields there is none that works.
 */
export const copyOf = <A>(value: A, copies = new Map<unknown, unknown>()): A => {
  if (typeof value !== "object" || value === null) return value;
  if (copies.has(value)) return copies.get(value) as A;
  const inner = (part: unknown) => copyOf(part, copies);
  const copy: object = Object.setPrototypeOf(shellOf(value), Object.getPrototypeOf(value));
  copies.set(value, copy);
  // why: a class of the user's may have its own way to add, and to list
  if (value instanceof Set) Set.prototype.forEach.call(value, (part) => Set.prototype.add.call(copy, inner(part)));
  if (value instanceof Map)
    Map.prototype.forEach.call(value, (part, key) => Map.prototype.set.call(copy, inner(key), inner(part)));
  for (const key of isSealed(value) ? [] : Reflect.ownKeys(value)) {
    const field = Object.getOwnPropertyDescriptor(value, key) ?? {};
    // why: what is frozen here is not in the copy; the length of a list cannot be configured
    const isOwn = { writable: true, configurable: field.enumerable === true };
    Object.defineProperty(copy, key, "value" in field ? { ...field, value: inner(field.value), ...isOwn } : field);
  }
  return copy as A;
};

/** The most of a copy of data: how deep it goes, how many fields it has, and the bytes of one of them. */
const most = { depth: 32, fields: 10_000, bytes: 1_000_000 };

/** Built-in data, which the platform copies whole. */
const isBuiltIn = (part: object): boolean => part instanceof Date || isSealed(part);

/** A copy of data as yet without its fields; undefined of what can be asked, or is too large. */
const dataShellOf = (part: object): object | undefined => {
  if (typeof Reflect.get(part, "request") === "function") return undefined;
  if (part instanceof Error) return new Error(String(Object.getOwnPropertyDescriptor(part, "message")?.value ?? ""));
  if (Array.isArray(part)) return [];
  if (!isBuiltIn(part)) return {};
  return Number(Reflect.get(part, "byteLength") ?? 0) > most.bytes ? undefined : structuredClone(part);
};

/** The fields of a copy: of a list its places. */
const namesIn = (part: object): ReadonlyArray<string> =>
  Array.isArray(part)
    ? Array.from({ length: Math.min(part.length, most.fields) }, (_, at) => `${at}`)
    : Object.keys(part);

/**
 * Data alone, as new objects of no class: no functions, getters or symbols, and nothing of an object that can be asked
 * (`request`), such as a provider. Errors and built-in data (dates, bytes) stay what they are, and a circle one. What is deeper
 * than 32 levels, or more than 10,000 fields, is left out. Never throws.
 */
export const dataOf = (value: unknown): unknown => {
  const copies = new Map<object, unknown>();
  let fields = 0;
  const inner = (part: unknown, depth: number): unknown => {
    if (typeof part === "function" || typeof part === "symbol") return undefined;
    if (typeof part !== "object" || part === null) return part;
    if (copies.has(part)) return copies.get(part);
    const copy = depth > most.depth ? undefined : safely(() => dataShellOf(part), undefined);
    copies.set(part, copy);
    if (copy === undefined || isBuiltIn(part)) return copy;
    for (const name of namesIn(part)) {
      if (++fields > most.fields) break;
      const field = Object.getOwnPropertyDescriptor(part, name);
      if (field === undefined || !("value" in field) || typeof field.value === "function") continue;
      const own = { enumerable: true, configurable: true, writable: true };
      Object.defineProperty(copy, name, { ...own, value: inner(field.value, depth + 1) });
    }
    return copy;
  };
  // why: a proxy may throw wherever it is looked at
  return safely(() => inner(value, 0), undefined);
};

/**
 * The same of an object with many parts, each of which is copied when somebody first looks at it, which `looked` is told:
 * what nobody looks at costs nothing. A part that is set is the view's own.
 */
export const lazyCopyOf = <A extends object>(value: A, looked: (part: PropertyKey) => void = () => undefined): A => {
  const copies = new Map<unknown, unknown>();
  const view = {};
  for (const part of Reflect.ownKeys(value)) {
    const isShown = { enumerable: Object.prototype.propertyIsEnumerable.call(value, part), configurable: true };
    const set = (own: unknown) => void Object.defineProperty(view, part, { ...isShown, value: own, writable: true });
    const get = (): unknown => {
      looked(part);
      const own: unknown = copyOf(Reflect.get(value, part), copies);
      set(own);
      return own;
    };
    Object.defineProperty(view, part, { ...isShown, get, set });
  }
  return view as A;
};
