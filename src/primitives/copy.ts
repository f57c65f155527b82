/** Copies of what is handed to users' code. */

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
