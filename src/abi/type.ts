/** The types of parameters as ABIs write them: the one place that takes `type[n]` apart, and says what can be decoded. */
import type { AbiEventParameter } from "abitype";

/** A parameter as JSON ABIs write it. */
export interface Parameter {
  /** The Solidity type. */
  readonly type: string;
  /** The parameter's name, where it has one. */
  readonly name?: string | undefined;
  /** Of a tuple, or of an array of tuples. */
  readonly components?: ReadonlyArray<Parameter> | undefined;
}

/** Deeper types are nobody's: walks over them end here. */
export const deepest = 16;

/** What an array type is made of; null for every other type. `length` null = as many as the data says. */
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

/** Whether its place in the head holds an offset, for the value's size is not known by its type. */
export const isDynamic = ({ type, components }: Parameter, depth: number = 0): boolean => {
  if (type === "bytes" || type === "string") return true;
  if (depth > deepest) return true;
  const array = arrayOf(type);
  if (array !== null) return array.length === null || isDynamic({ type: array.element, components }, depth + 1);
  return type === "tuple" && (components ?? []).some((component) => isDynamic(component, depth + 1));
};

const maxElements = 4_096;
const maxDepth = 16;

const isModest = (parameter: unknown, depth: number): boolean => {
  if (depth > maxDepth || typeof parameter !== "object" || parameter === null) return false;
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
 * Whether every parameter of the list can be decoded in bounded time: decoding costs no more than its data is long. An
 * element of no size (`tuple` without components, `uint8[0]`) in an array makes decoders loop for as long as the data
 * says; an item from somebody's JSON can be made that way.
 */
export const isDecodable = (parameters: unknown): boolean => areModest(parameters, 0);

/** Whether the ABI item has such a list under `field`. */
export const hasDecodable = <Field extends "inputs" | "outputs">(
  item: unknown,
  field: Field,
): item is { readonly [F in Field]: ReadonlyArray<AbiEventParameter> } =>
  typeof item === "object" && item !== null && isDecodable((item as Readonly<Record<string, unknown>>)[field]);
