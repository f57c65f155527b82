/**
 * The types of parameters as ABIs write them, and whether bytes are exactly what an encoder writes for them: found by one
 * walk over the bytes, with no value built, so that hostile offsets, lengths and pointer loops cost nothing.
 */
import type { AbiEventParameter, AbiParameter } from "abitype";
import { decode } from "ox/AbiParameters";
import { hexToBytes } from "../primitives/bytes.js";
import { isHex, type Hex } from "../primitives/hex.js";
import { isObject, safely } from "../primitives/record.js";
import { countAt, digitsAt, wordDigits } from "./words.js";

/** A parameter as JSON ABIs write it. */
export interface Parameter {
  /** The Solidity type. */
  readonly type: string;
  /** The parameter's name, where it has one. */
  readonly name?: string | undefined;
  /** The components of a tuple, or of an array of tuples. */
  readonly components?: ReadonlyArray<Parameter> | undefined;
}

/** Deeper types are nobody's: walks over them end here. */
export const deepest = 16;

/** Returns the parts of an array type; null for every other type. `length` null = as many as the data says. */
export const arrayOf = (type: string): { readonly element: string; readonly length: number | null } | null => {
  const found = /^(.+)\[(\d*)\]$/.exec(type);
  if (found?.[1] === undefined) return null;
  return { element: found[1], length: found[2] === "" || found[2] === undefined ? null : Number(found[2]) };
};

/** The parameter of an array's elements; null where it is none. */
export const elementOf = <P extends { readonly type: string }>(parameter: P): P | null => {
  const array = arrayOf(parameter.type);
  return array === null ? null : { ...parameter, type: array.element };
};

/** True if its place in the head holds an offset, for the value's size is not known by its type. */
export const isDynamic = ({ type, components }: Parameter, depth: number = 0): boolean => {
  if (type === "bytes" || type === "string" || depth > deepest) return true;
  // why: most types are elementary
  if (type !== "tuple" && !type.endsWith("]")) return false;
  const array = arrayOf(type);
  if (array !== null) return array.length === null || isDynamic({ type: array.element, components }, depth + 1);
  return type === "tuple" && (components ?? []).some((component) => isDynamic(component, depth + 1));
};

const maxElements = 4_096;

const isModest = (parameter: unknown, depth: number): boolean => {
  if (depth > deepest || typeof parameter !== "object" || parameter === null) return false;
  const { type, components } = parameter as { readonly type?: unknown; readonly components?: unknown };
  if (typeof type !== "string" || type.length > 128) return false;
  let [element, elements] = [type, 1];
  for (let array = arrayOf(element); array !== null; array = arrayOf(element)) {
    element = array.element;
    elements *= array.length ?? 1;
  }
  if (elements === 0 || elements > maxElements || element.includes("[")) return false;
  return !element.startsWith("tuple") || (areModest(components, depth + 1) && (components as []).length > 0);
};

const areModest = (parameters: unknown, depth: number): boolean =>
  Array.isArray(parameters) &&
  parameters.length <= 256 &&
  parameters.every((parameter: unknown) => isModest(parameter, depth));

/**
 * True if every parameter of the list can be decoded in bounded time: decoding costs no more than its data is long. An
 * element of no size (`tuple` without components, `uint8[0]`) in an array makes decoders loop for as long as the data
 * says; an item from somebody's JSON can be made that way.
 */
export const isDecodable = (parameters: unknown): boolean => areModest(parameters, 0);

/** True if the ABI item has such a list under `field`. */
export const hasDecodable = <Field extends "inputs" | "outputs">(
  item: unknown,
  field: Field,
): item is { readonly [F in Field]: ReadonlyArray<AbiEventParameter> } =>
  typeof item === "object" && item !== null && isDecodable((item as Readonly<Record<string, unknown>>)[field]);

/** A `bytes` or `string` found on the walk: where its content is, and the path that leads there. */
export interface Leaf {
  readonly type: "bytes" | "string";
  /** e.g. `inner`, `[2]`, `calls[0].data`. */
  readonly path: string;
  /** Content as hex without `0x`. */
  readonly content: string;
}

/** Digits of the head of a static parameter; NaN where a type is unknown or has no size. */
const staticDigits = ({ type, components }: Parameter, depth: number = 0): number => {
  if (depth > deepest) return Number.NaN;
  if (type !== "tuple" && !type.endsWith("]")) return wordDigits;
  const array = arrayOf(type);
  if (array !== null) {
    const size = staticDigits({ type: array.element, components }, depth + 1) * (array.length ?? Number.NaN);
    return size > 0 ? size : Number.NaN;
  }
  return (components ?? []).reduce((sum, component) => sum + staticDigits(component, depth + 1), 0) || Number.NaN;
};

/** How many bytes the arguments take at least, without the selector. */
export const leastBytes = (parameters: ReadonlyArray<Parameter>): number =>
  parameters.reduce((sum, each) => sum + (isDynamic(each) ? 2 * wordDigits : staticDigits(each) || wordDigits), 0) / 2;

const zeros = "0".repeat(wordDigits);
const ones = "f".repeat(wordDigits);

/** True if one word is a value of an elementary type, with clean padding. */
const isValue = (type: string, word: string): boolean => {
  if (type === "address") return word.startsWith(zeros.slice(0, 24));
  if (type === "bool") return word === zeros || word === `${zeros.slice(1)}1`;
  const integer = /^(u?)int(\d{0,3})$/.exec(type);
  if (integer !== null) {
    const bits = integer[2] === "" ? 256 : Number(integer[2]);
    if (bits === 0 || bits > 256 || bits % 8 !== 0) return false;
    const padding = wordDigits - bits / 4;
    const head = word.slice(0, padding);
    if (integer[1] === "u") return head === zeros.slice(0, padding);
    return Number.parseInt(word[padding] ?? "0", 16) >= 8
      ? head === ones.slice(0, padding)
      : head === zeros.slice(0, padding);
  }
  const fixed = /^bytes(\d{1,2})$/.exec(type);
  const size = fixed === null ? 0 : Number(fixed[1]);
  return size >= 1 && size <= 32 && word.slice(size * 2) === zeros.slice(size * 2);
};

class Walk {
  readonly data: string;
  readonly leaves: Array<Leaf> = [];
  /** 40 digits each. */
  readonly addresses: Array<string> = [];
  constructor(data: string) {
    this.data = data;
  }

  /** The digit after `parameters` encoded at `base`, or -1 where the layout is not an encoder's. */
  tuple(parameters: ReadonlyArray<Parameter>, base: number, path: string, depth: number): number {
    let tail = base;
    const heads = parameters.map((parameter, index) => {
      const isOffset = isDynamic(parameter);
      tail += isOffset ? wordDigits : staticDigits(parameter);
      const name = parameter.name === undefined || parameter.name === "" ? `[${index}]` : parameter.name;
      const inner = path === "" ? name : name.startsWith("[") ? `${path}${name}` : `${path}.${name}`;
      return { parameter, isOffset, inner };
    });
    if (!(tail <= this.data.length)) return -1;
    return this.sequence(heads.length, (index) => heads[index], base, tail, depth);
  }

  private value(parameter: Parameter, at: number, path: string, depth: number): number {
    const { type, components } = parameter;
    if (type === "bytes" || type === "string") return this.content(type, at, path);
    const array = arrayOf(type);
    if (array !== null) {
      const length = array.length ?? countAt(this.data, at);
      const start = array.length === null ? at + wordDigits : at;
      const element: Parameter = { type: array.element, components };
      const isOffset = isDynamic(element);
      const size = isOffset ? wordDigits : staticDigits(element);
      if (length === null || !(size > 0) || start + length * size > this.data.length) return -1;
      const head = (index: number) => ({ parameter: element, isOffset, inner: `${path}[${index}]` });
      return this.sequence(length, head, start, start + length * size, depth + 1);
    }
    if (type === "tuple") return this.tuple(components ?? [], at, path, depth + 1);
    const word = digitsAt(this.data, at);
    if (word === null || !isValue(type, word)) return -1;
    if (type === "address" && this.addresses.length < 256) this.addresses.push(word.slice(24));
    return at + wordDigits;
  }

  /**
   * Values one after another whose heads begin at `base` and whose tails must follow them at `tail` without a gap. A head
   * is a value's bytes, or their offset; `inner` is the path that leads to it.
   */
  private sequence(
    length: number,
    headAt: (
      index: number,
    ) => { readonly parameter: Parameter; readonly isOffset: boolean; readonly inner: string } | undefined,
    base: number,
    tail: number,
    depth: number,
  ): number {
    if (depth > deepest) return -1;
    let head = base;
    let end = tail;
    for (let index = 0; index < length; index += 1) {
      const at = headAt(index);
      if (at === undefined) return -1;
      if (at.isOffset) {
        const offset = countAt(this.data, head);
        if (offset === null || base + offset * 2 !== end) return -1;
        end = this.value(at.parameter, end, at.inner, depth + 1);
        head += wordDigits;
      } else head = this.value(at.parameter, head, at.inner, depth + 1);
      if (end < 0 || head < 0) return -1;
    }
    return end;
  }

  private content(type: "bytes" | "string", at: number, path: string): number {
    const size = countAt(this.data, at);
    if (size === null) return -1;
    const start = at + wordDigits;
    const end = start + size * 2;
    const padded = start + Math.ceil(size / 32) * wordDigits;
    if (padded > this.data.length || !zeros.startsWith(this.data.slice(end, padded))) return -1;
    if (size >= 4 && this.leaves.length < 64) this.leaves.push({ type, path, content: this.data.slice(start, end) });
    return padded;
  }
}

/** The addresses inside `data` (hex digits without `0x` and selector), 40 digits each; none where it is no such encoding. */
export const addressesOf = (parameters: ReadonlyArray<Parameter>, data: string): ReadonlyArray<string> => {
  const walk = new Walk(data.toLowerCase());
  return walk.tuple(parameters, 0, "", 0) >= 0 ? walk.addresses : [];
};

/**
 * The `bytes` and `string` values inside `data` (hex digits without `0x` and selector) when it is
 * exactly the encoding of `parameters`; null when it is not. `trailing` allows bytes after it.
 */
export const leavesOf = (
  parameters: ReadonlyArray<Parameter>,
  data: string,
  trailing: boolean = false,
): ReadonlyArray<Leaf> | null => {
  const walk = new Walk(data.toLowerCase());
  const end = walk.tuple(parameters, 0, "", 0);
  return end >= 0 && (trailing || end === data.length) ? walk.leaves : null;
};

/** The same parameters, with bytes in place of text. */
const inBytes = <P extends Parameter>(parameter: P): P => {
  const { type, components } = parameter;
  const bytes = { ...parameter, type: type.replace(/^string(?![^[])/, "bytes") };
  return components === undefined ? bytes : { ...bytes, components: components.map(inBytes) };
};

/** A value in which text was read as bytes, with its text. */
const inText = (parameter: Parameter, value: unknown): unknown => {
  const element = elementOf(parameter);
  if (element !== null) return Array.isArray(value) ? value.map((each) => inText(element, each)) : value;
  const { type, components } = parameter;
  if (type === "string") return isHex(value) ? new TextDecoder().decode(hexToBytes(value)) : value;
  if (type !== "tuple" || components === undefined || !isObject(value)) return value;
  if (Array.isArray(value)) return components.map((component, index) => inText(component, value[index]));
  return Object.fromEntries(components.map((each) => [each.name ?? "", inText(each, value[each.name ?? ""])]));
};

const hasText = ({ type, components }: Parameter): boolean =>
  type.startsWith("string") || (components ?? []).some(hasText);

/**
 * Values of parameters (`data` without selector), where the bytes begin exactly as an encoder writes them; null where they do not.
 */
export const valuesOf = <const P extends ReadonlyArray<AbiParameter>>(
  parameters: P,
  data: string,
): decode.ReturnType<P> | null => {
  if (leavesOf(parameters, data.slice(2), true) === null) return null;
  const isPlain = !parameters.some(hasText);
  return safely(() => {
    // why: ox leaves the leading NULs of a text out
    const values = decode((isPlain ? parameters : parameters.map(inBytes)) as P, data as Hex, {
      checksumAddress: true,
    });
    // each value is that of its parameter
    return isPlain ? values : (parameters.map((each, at) => inText(each, Reflect.get(values, at))) as typeof values);
  }, null);
};
