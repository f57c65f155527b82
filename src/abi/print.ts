/**
 * ABI values in words, the only place that makes them: calls, return values, events and reverts, as
 * errors, reports and the command line show them.
 *
 * Everything here comes from contracts, or from JSON that claims to. Whatever the item and the bytes,
 * the answer is one bounded line without control characters, in bounded time, and nothing throws.
 */
import { hexToBytes } from "../primitives/bytes.js";
import type { Hex } from "../primitives/hex.js";
import { isRecord, safely } from "../primitives/record.js";
import { maxUint256 } from "../primitives/units.js";
import { checksummed, escapeText, quoteText, shortHex } from "../primitives/text.js";
import type { DecodedLog, DecodedResult } from "./decodeLogs.js";
import { arrayOf, hasDecodable } from "./layout.js";
import type { Provenance, Revert, RevertCustom, RevertLayer } from "./revert.js";
import { argumentOf, argumentsOf, type DecodedArgument, fieldOf, parametersOf, type Room } from "./values.js";

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

/** How values are written: whole, or short in a sentence. */
export interface PrintStyle {
  readonly address: (address: string) => string;
  /** Elements of a list, characters of a string, bytes. */
  readonly items: number;
  readonly string: number;
  readonly bytes: number;
  /** The text shown beside an outer argument, by the name and type of its parameter; absent, or empty = nothing. */
  readonly beside?: ((value: unknown, name: string, type: string) => string) | undefined;
}
export const wholeLook: PrintStyle = { address: checksummed, items: most.items, string: most.string, bytes: 32 };

const labelled = (name: string, text: string): string => (name === "" ? text : `${escapeText(name, 40)}: ${text}`);

const listed = (parts: ReadonlyArray<string>, size: number): string =>
  [...parts, ...(size > parts.length ? [`… (+${size - parts.length} more)`] : [])].join(", ");

const leafText = (type: string, value: string, more: number, look: PrintStyle): string => {
  if (type === "address") return look.address(value);
  if (!type.startsWith("bytes") && type !== "function") {
    const cut = more === 0 ? 0 : Math.max(0, value.length - look.string) + more;
    const kept = value.slice(0, look.string);
    return cut === 0 ? quoteText(value, look.string) : `${quoteText(kept, look.string)}… (+${cut} characters)`;
  }
  return more === 0
    ? shortHex(value, look.bytes)
    : `${escapeText(value.slice(0, 2 + 2 * look.bytes))}… (${sizeOf(value) + more} bytes)`;
};

/** One value, without its name; `room` is what may still be written on the line. */
const valueText = ({ type, value, more }: DecodedArgument, look: PrintStyle, room: Room, depth = 0): string => {
  if (typeof value === "string") return leafText(type, value, more, look);
  if (typeof value !== "object") return value === maxUint256 ? "2^256 − 1" : String(value);
  if (depth > most.depth || (value.length === 0 && more > 0)) return "…";
  const parts = partsText(value, look, room, depth + 1);
  const text = listed(parts, value.length + more);
  if (arrayOf(type) !== null) return `[${text}]`;
  return value.length > 0 && value.every(({ name }) => name !== "") ? `{${text}}` : `(${text})`;
};

const partsText = (values: ReadonlyArray<DecodedArgument>, look: PrintStyle, room: Room, depth: number) =>
  values.slice(0, look.items).map((argument) => {
    const beside = depth === 0 ? (look.beside?.(argument.value, argument.name, argument.type) ?? "") : "";
    return labelled(argument.name, room.values-- > 0 ? valueText(argument, look, room, depth) + beside : "…");
  });

/** `name(parameter: value, …)`; `more` = how many arguments are left out. */
export const argumentsText = (
  name: string,
  values: ReadonlyArray<DecodedArgument>,
  more: number = 0,
  look: PrintStyle = wholeLook,
): string => {
  const parts = partsText(values, look, { values: most.values }, 0);
  return escapeText(`${escapeText(name, 80)}(${listed(parts, values.length + more)})`, most.call);
};

/** One value by its ABI parameter. */
export const describeValue = (parameter: unknown, value: unknown): string =>
  safely(() => {
    const room = { values: most.values };
    const node = argumentOf(parameter, value, most, { ...room });
    return escapeText(valueText(node, wholeLook, room), most.call);
  }, "a value that cannot be read");

/** True if a parameter of a token's error counts the token, by its name: OpenZeppelin's and others'. */
export const isAmountName = (name: string): boolean =>
  /^_?(current|min|max|expected|actual)?(balance|needed|allowance|amount|value|assets|shares|required|available)/i.test(
    name,
  );

/** `name(parameter: value, …)`: a call, an event, an error. */
export const describeCall = (
  name: string,
  parameters: ReadonlyArray<unknown>,
  args: ReadonlyArray<unknown>,
  beside?: PrintStyle["beside"],
): string =>
  safely(
    () => {
      const kept = argumentsOf(parameters, args, most, { values: most.values });
      return argumentsText(name, kept, args.length - kept.length, { ...wholeLook, beside });
    },
    `${escapeText(name, 80)}(…)`,
  );

export const sizeOf = (data: string): number => Math.max(0, (data.length - 2) >> 1);

/** A return value; null when the function returns nothing. */
export const describeResult = (result: DecodedResult): string | null => {
  if (sizeOf(result.data) > most.bytes) return `${sizeOf(result.data)} bytes`;
  const outputs = parametersOf(result.item, "outputs");
  const [only, ...others] = outputs;
  if (outputs.length === 0) return null;
  const value = result.value;
  if (value === undefined) return shortHex(result.data);
  if (others.length === 0) return describeValue(only, value);
  return describeCall("", outputs, Array.isArray(value) ? value : [value]);
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
  const told = values.map(([, value]): unknown => value);
  return describeCall(log.name, parameters, told);
};

const customText = (custom: RevertCustom, beside?: PrintStyle["beside"]): string => {
  const inputs = parametersOf(custom.item, "inputs");
  const readable = sizeOf(custom.data) <= most.bytes && hasDecodable(custom.item, "inputs");
  const args = readable ? custom.args : null;
  return args?.length === inputs.length
    ? describeCall(custom.name, inputs, args, beside)
    : escapeText(custom.signature, most.call);
};

const meaningText = (meaning: string | null): string => (meaning === null ? "" : `: ${escapeText(meaning)}`);

/** The origin of an ABI in words, by its kind and its name. */
const sourceTexts: Readonly<Record<Provenance["kind"], (source: string | null) => string>> = {
  address: (source) => (source === null ? "the ABI of the contract" : `the ABI given for ${checksummed(source)}`),
  caller: () => "an ABI you gave",
  builtin: (source) => (source === null ? "the built-in table" : `the built-in table: ${escapeText(source, 80)}`),
};

const sourceText = ([first]: ReadonlyArray<Provenance>): string =>
  first === undefined ? "" : ` (by ${sourceTexts[first.kind](first.source)})`;

/** Bytes that are plain text (ASCII) without a selector, as some contracts revert with; null where they are not. Four may be a selector. */
const plainText = (data: Hex): string | null => {
  const bytes = hexToBytes(data.slice(0, 2 + 2 * most.line) as Hex);
  const end = bytes.findLastIndex((byte) => byte !== 0) + 1;
  const isText = bytes.subarray(0, end).every((byte) => (byte > 31 && byte < 127) || byte === 10 || byte === 13);
  return end > 4 && isText
    ? `${quoteText(new TextDecoder().decode(bytes.subarray(0, end)))} (without a selector)`
    : null;
};

/** One layer of a revert, arguments included. */
export const describeLayer = (layer: RevertLayer, options: Parameters<typeof describeRevert>[1] = {}): string => {
  if (layer._tag === "Empty") return "no reason";
  if (layer._tag === "Reason") return `${quoteText(layer.reason)}${meaningText(layer.meaning)}`;
  if (layer._tag === "Panic")
    return `Panic(0x${layer.code.toString(16).padStart(2, "0")}): ${escapeText(layer.meaning)}`;
  if (layer._tag === "Unknown") return plainText(layer.data) ?? `unknown data ${shortHex(layer.data)}`;
  if (layer._tag === "Custom")
    return `${customText(layer, options.beside)}${meaningText(layer.meaning)}${options.sources === true ? sourceText(layer.provenance) : ""}`;
  const candidates = layer.candidates.slice(0, most.items);
  return `one of ${candidates.map((candidate) => customText(candidate, options.beside)).join(" or ")}`;
};

/**
 * One line for a revert, from the outside in: `outer ← path: inner`. Nothing in it is a contract's
 * unescaped text, and its length is bounded.
 */
export const describeRevert = (
  revert: Revert,
  options: {
    /** True if the text names whose ABI explained each custom error; default false. */
    readonly sources?: boolean | undefined;
    /** Text shown beside an argument of a custom error, by its value and the parameter's name and type. */
    readonly beside?: ((value: unknown, name: string, type: string) => string) | undefined;
  } = {},
): string =>
  escapeText(
    revert.layers
      .slice(0, most.items)
      .map(({ path, layer }) => `${path === "" ? "" : `${escapeText(path, 60)}: `}${describeLayer(layer, options)}`)
      .join(" ← "),
    most.line,
  );
