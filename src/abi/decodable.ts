/**
 * Whether decoding by an ABI item costs no more than its data is long. An element of no size
 * (`tuple` without components, `uint8[0]`) in an array makes decoders loop for as long as the data
 * says; an item from somebody's JSON can be made that way.
 */
import type { AbiEventParameter } from "abitype";
import { arrayOf } from "./type.js";

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

/** Whether every parameter of the list can be decoded in bounded time. */
export const isDecodable = (parameters: unknown): boolean => areModest(parameters, 0);

/** Whether the ABI item has such a list under `field`. */
export const hasDecodable = <Field extends "inputs" | "outputs">(
  item: unknown,
  field: Field,
): item is { readonly [F in Field]: ReadonlyArray<AbiEventParameter> } =>
  typeof item === "object" && item !== null && isDecodable((item as Readonly<Record<string, unknown>>)[field]);
