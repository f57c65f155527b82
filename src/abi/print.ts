/**
 * ABI values in words, the only place that makes them: calls, return values, events and reverts, as
 * errors, reports and the command line show them.
 *
 * Everything here comes from contracts, or from JSON that claims to. Whatever the item and the bytes,
 * the answer is one bounded line without control characters, in bounded time, and nothing throws.
 */
import type { AbiFunction } from "abitype";
import { decodeFunctionData } from "viem";
import { isRecord, safely } from "../primitives/record.js";
import { checksummed, escapeText, quoteText, shortHex } from "../primitives/text.js";
import type { DecodedLog, DecodedResult } from "./decodeLogs.js";
import { elementOf, hasDecodable, type Parameter, leavesOf } from "./layout.js";
import type { Provenance, Revert, RevertCustom, RevertLayer } from "./revert.js";

export const most = {
  /** Elements of one list, fields of one tuple, candidates, layers. */
  items: 8,
  /** Lists within lists. */
  depth: 4,
  /** Values of one line: lists of lists have more than anyone reads, and checksums cost time. */
  values: 128,
  /** Characters of a string, of one call, of one line. */
  string: 128,
  call: 600,
  line: 2_048,
  /** Larger data is named, not decoded: nobody reads it, and hostile arrays cost time. */
  bytes: 64 * 1024,
} as const;

const maxUint256 = 2n ** 256n - 1n;

/** What stands under a name, where it is an object at all. */
const fieldOf = (item: unknown, name: string): unknown => (isRecord(item) ? item[name] : undefined);

const parametersOf = (item: unknown, field: "inputs" | "outputs" | "components"): ReadonlyArray<unknown> => {
  const list = fieldOf(item, field);
  return Array.isArray(list) ? list : [];
};

const wordOf = (item: unknown, field: "name" | "type"): string => {
  const word = fieldOf(item, field);
  return typeof word === "string" ? word : "";
};
const nameOf = (parameter: unknown): string => wordOf(parameter, "name");

const labelled = (name: string, text: string): string => (name === "" ? text : `${escapeText(name, 40)}: ${text}`);

const listed = (parts: ReadonlyArray<string>, size: number): string =>
  [...parts, ...(size > parts.length ? [`… (+${size - parts.length} more)`] : [])].join(", ");

/** What may still be written on one line. */
interface Room {
  values: number;
}

const valueIn = (parameter: unknown, value: unknown, depth: number, room: Room): string => {
  if (depth > most.depth || room.values <= 0) return "…";
  room.values--;
  const type = wordOf(parameter, "type");
  if (typeof value === "string") {
    if (type === "address") return checksummed(value);
    return type.startsWith("bytes") || type === "function" ? shortHex(value, 32) : quoteText(value, most.string);
  }
  if (Array.isArray(value)) {
    const element = elementOf({ ...(isRecord(parameter) ? parameter : {}), type });
    const components = element === null ? parametersOf(parameter, "components") : [];
    const parts = value
      .slice(0, most.items)
      .map((item: unknown, index) =>
        element === null
          ? labelled(nameOf(components[index]), valueIn(components[index], item, depth + 1, room))
          : valueIn(element, item, depth + 1, room),
      );
    return element === null ? `(${listed(parts, value.length)})` : `[${listed(parts, value.length)}]`;
  }
  if (isRecord(value)) {
    const components = parametersOf(parameter, "components");
    const keys = Object.keys(value);
    const parts = keys.slice(0, most.items).map((key) => {
      const component = components.find((one) => nameOf(one) === key);
      return labelled(key, valueIn(component, value[key], depth + 1, room));
    });
    return `{${listed(parts, keys.length)}}`;
  }
  return value === maxUint256 ? "2^256 − 1" : escapeText(String(value), 96);
};

/** One value by its ABI parameter. */
export const describeValue = (parameter: unknown, value: unknown): string =>
  safely(
    () => escapeText(valueIn(parameter, value, 0, { values: most.values }), most.call),
    "a value that cannot be read",
  );

const callIn = (name: string, parameters: ReadonlyArray<unknown>, args: ReadonlyArray<unknown>): string => {
  const room = { values: most.values };
  const parts = args
    .slice(0, most.items)
    .map((value, index) => labelled(nameOf(parameters[index]), valueIn(parameters[index], value, 0, room)));
  return escapeText(`${escapeText(name, 80)}(${listed(parts, args.length)})`, most.call);
};

/** `name(parameter: value, …)`: a call, an event, an error. */
export const describeCall = (name: string, parameters: ReadonlyArray<unknown>, args: ReadonlyArray<unknown>): string =>
  safely(() => callIn(name, parameters, args), `${escapeText(name, 80)}(…)`);

export const sizeOf = (data: string): number => Math.max(0, (data.length - 2) >> 1);

const selectorText = (data: string): string =>
  sizeOf(data) >= 4 ? `selector ${escapeText(data.slice(0, 10))}, ${sizeOf(data)} bytes of data` : shortHex(data);

/** Calldata: the function with its arguments where the ABI item is known, else selector and size; null for none. */
export const describeCalldata = (data: string, item: unknown): string | null => {
  if (data === "0x") return null;
  const name = nameOf(item);
  if (name === "") return selectorText(data);
  const inputs = parametersOf(item, "inputs");
  if (sizeOf(data) > most.bytes || !hasDecodable(item, "inputs"))
    return `${escapeText(name, 80)}(…) with ${sizeOf(data)} bytes of data`;
  return safely(() => {
    // why: `item` made these bytes, or came with a JSON that says so, and then many pointers may point to the same bytes
    if (leavesOf(inputs as ReadonlyArray<Parameter>, data.slice(10), true) === null) return selectorText(data);
    const { args } = decodeFunctionData({ abi: [item as AbiFunction], data: data as `0x${string}` });
    return callIn(name, inputs, (args ?? []) as ReadonlyArray<unknown>);
  }, selectorText(data));
};

/** A return value; null when the function returns nothing. */
export const describeResult = (result: DecodedResult): string | null => {
  if (sizeOf(result.data) > most.bytes) return `${sizeOf(result.data)} bytes`;
  const outputs = parametersOf(result.item, "outputs");
  const [only, ...others] = outputs;
  if (outputs.length === 0) return null;
  const value = result.value;
  if (value === undefined) return shortHex(result.data);
  return describeValue(others.length === 0 ? only : { type: "tuple", components: outputs }, value);
};

/** An event with its arguments. */
export const describeLog = (log: DecodedLog): string => {
  if (sizeOf(log.data) > most.bytes) return `${escapeText(log.name, 80)}(…) with ${sizeOf(log.data)} bytes of data`;
  const inputs = parametersOf(log.item, "inputs");
  const { args } = log;
  const values = Object.entries(isRecord(args) || Array.isArray(args) ? args : {});
  const parameters = values.map(
    ([name], index) => inputs.find((input) => fieldOf(input, "name") === name) ?? inputs[index],
  );
  return describeCall(
    log.name,
    parameters,
    values.map(([, value]): unknown => value),
  );
};

const customText = (custom: RevertCustom): string => {
  const inputs = parametersOf(custom.item, "inputs");
  const readable = sizeOf(custom.data) <= most.bytes && hasDecodable(custom.item, "inputs");
  const args = readable ? custom.args : null;
  return args?.length === inputs.length
    ? describeCall(custom.name, inputs, args)
    : escapeText(custom.signature, most.call);
};

const meaningText = (meaning: string | null): string => (meaning === null ? "" : `: ${escapeText(meaning)}`);

const sourceText = ([first]: ReadonlyArray<Provenance>): string => {
  if (first === undefined) return "";
  switch (first.kind) {
    case "address":
      return first.source === null
        ? " (by the ABI of the contract)"
        : ` (by the ABI given for ${checksummed(first.source)})`;
    case "caller":
      return " (by an ABI you gave)";
    case "builtin":
      return first.source === null
        ? " (by the built-in table)"
        : ` (by the built-in table: ${escapeText(first.source, 80)})`;
  }
};

/** How much a description of a revert says. */
export interface RevertTextOptions {
  /** Whether it names whose ABI explained each custom error; default false. */
  readonly sources?: boolean | undefined;
}

/** One layer of a revert, arguments included. */
export const describeLayer = (layer: RevertLayer, options: RevertTextOptions = {}): string => {
  switch (layer._tag) {
    case "Empty":
      return "no reason";
    case "Reason":
      return `${quoteText(layer.reason)}${meaningText(layer.meaning)}`;
    case "Panic":
      return `Panic(0x${layer.code.toString(16).padStart(2, "0")}): ${escapeText(layer.meaning)}`;
    case "Custom":
      return `${customText(layer)}${meaningText(layer.meaning)}${options.sources === true ? sourceText(layer.provenance) : ""}`;
    case "Ambiguous":
      return `one of ${layer.candidates.slice(0, most.items).map(customText).join(" or ")}`;
    case "Unknown":
      return `unknown data ${shortHex(layer.data)}`;
  }
};

/**
 * One line for a revert, from the outside in: `outer ← path: inner`. Nothing in it is a contract's
 * unescaped text, and its length is bounded.
 */
export const describeRevert = (revert: Revert, options: RevertTextOptions = {}): string =>
  escapeText(
    revert.layers
      .slice(0, most.items)
      .map(({ path, layer }) => `${path === "" ? "" : `${escapeText(path, 60)}: `}${describeLayer(layer, options)}`)
      .join(" ← "),
    most.line,
  );
