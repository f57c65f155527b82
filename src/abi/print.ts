/** A decoded revert in words, escaped and bounded: `ERC20InsufficientBalance(sender: 0x…, balance: 5, …)`. */
import type { AbiParameter } from "viem";
import type { Revert, RevertCustom, RevertLayer } from "./revert.js";
import { escapeText, shortHex } from "../primitives/text.js";

/** Bounds of one description: elements of a list shown, depth, characters of a string and of one error. */
const shown = { elements: 4, depth: 3, characters: 96, error: 640 } as const;

/** Bytes up to which arguments are shown; above, the signature alone. */
const mostDigits = 32_768;

const named = (
  parameters: ReadonlyArray<AbiParameter>,
  value: (index: number, name: string) => unknown,
  depth: number,
) =>
  parameters
    .map((parameter, index) => {
      const name = parameter.name ?? "";
      const text = describeValue(parameter, value(index, name), depth + 1);
      return name === "" ? text : `${escapeText(name, 48)}: ${text}`;
    })
    .join(", ");

const describeValue = (parameter: AbiParameter, value: unknown, depth: number): string => {
  if (depth > shown.depth) return "…";
  if (typeof value === "string") {
    return parameter.type === "string" ? `"${escapeText(value, shown.characters)}"` : shortHex(value, 20);
  }
  if (Array.isArray(value) && parameter.type.endsWith("]")) {
    const element = { ...parameter, type: parameter.type.replace(/\[\d*\]$/, "") };
    const some = value.slice(0, shown.elements).map((item: unknown) => describeValue(element, item, depth + 1));
    return `[${some.join(", ")}${value.length > shown.elements ? `, … ${value.length} in all` : ""}]`;
  }
  if (typeof value === "object" && value !== null && "components" in parameter) {
    const fields = new Map(Object.entries(value));
    return `{ ${named(parameter.components.slice(0, 12), (index, name) => fields.get(name === "" ? String(index) : name), depth)} }`;
  }
  return escapeText(String(value), 80);
};

const isItem = (item: unknown): item is { readonly inputs: ReadonlyArray<AbiParameter> } =>
  typeof item === "object" && item !== null && "inputs" in item && Array.isArray(item.inputs);

const describeCustom = (custom: RevertCustom): string => {
  const { item, data, meaning } = custom;
  const args = data.length <= mostDigits && isItem(item) ? custom.args : [];
  const text =
    isItem(item) && args.length === item.inputs.length
      ? `${custom.name}(${named(item.inputs, (index) => args[index], 0)})`
      : custom.signature;
  const bounded = text.length > shown.error ? `${text.slice(0, shown.error)}…` : text;
  return `${escapeText(bounded, shown.error + 1)}${meaning === null ? "" : ` (${escapeText(meaning)})`}`;
};

const describeLayer = (layer: RevertLayer): string => {
  switch (layer._tag) {
    case "Empty":
      return "no reason";
    case "Reason":
      return `"${escapeText(layer.reason)}"${layer.meaning === null ? "" : ` (${escapeText(layer.meaning)})`}`;
    case "Panic":
      return `Panic(${layer.code}): ${escapeText(layer.meaning)}`;
    case "Custom":
      return describeCustom(layer);
    case "Ambiguous":
      return layer.candidates.slice(0, shown.elements).map(describeCustom).join(" or ");
    case "Unknown":
      return `unknown data ${shortHex(layer.data)}`;
  }
};

/**
 * One line for a revert, from the outside in: `outer ← path: inner`. Nothing in it is a contract's
 * unescaped text, and its length is bounded.
 */
export const describeRevert = (revert: Revert): string =>
  revert.layers
    .slice(0, 8)
    .map(({ path, layer }) => `${path === "" ? "" : `${escapeText(path, 64)}: `}${describeLayer(layer)}`)
    .join(" ← ");
