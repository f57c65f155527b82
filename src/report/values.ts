/**
 * Decoded calls, return values and reverts in words. Everything here comes from contracts, or from
 * a JSON that claims to: it is read inside `Result.try`, escaped and bounded.
 */
import * as Result from "effect/Result";
import { decodeFunctionData, getAddress, isAddress, type AbiFunction } from "viem";
import type { DecodedResult } from "../abi/decoded.js";
import type { Revert, RevertCustom, RevertLayer } from "../abi/revert.js";
import { escapeText, shortHex } from "../primitives/text.js";
import { formatUnits, formatWei } from "../primitives/units.js";
import { isDecodable } from "../abi/decodable.js";

/** What everyone writes for "unlimited". */
export const maxUint256: bigint = 2n ** 256n - 1n;

const maxItems = 8;
const maxDepth = 4;
const maxLength = 600;
/** Larger data is named, not decoded: nobody reads it, and hostile arrays cost time. */
const maxBytes = 64 * 1024;

/** The address with its checksum, or escaped when it is none. */
export const checksummed = (address: string): string =>
  isAddress(address, { strict: false }) ? getAddress(address) : escapeText(address, 64);

const quoted = (text: string): string => `"${escapeText(text.replace(/["\\]/g, "\\$&"), 128)}"`;

const record = (value: unknown): Readonly<Record<string, unknown>> | null =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : null;

const parametersOf = (item: unknown, field: "inputs" | "outputs" | "components"): ReadonlyArray<unknown> => {
  const list = record(item)?.[field];
  return Array.isArray(list) ? list : [];
};

const nameOf = (parameter: unknown): string => {
  const name = record(parameter)?.["name"];
  return typeof name === "string" ? escapeText(name, 40) : "";
};

const listed = (parts: ReadonlyArray<string>, size: number): string =>
  [...parts, ...(size > parts.length ? [`… (+${size - parts.length} more)`] : [])].join(", ");

/** One value by its ABI parameter. */
export const valueText = (parameter: unknown, value: unknown, depth: number = 0): string => {
  if (depth > maxDepth) return "…";
  const type = String(record(parameter)?.["type"] ?? "");
  if (typeof value === "string") {
    if (type === "address") return checksummed(value);
    return type.startsWith("bytes") || type === "function" ? shortHex(value, 32) : quoted(value);
  }
  if (Array.isArray(value)) {
    const inner = type.endsWith("]") ? { ...record(parameter), type: type.replace(/\[\d*\]$/, "") } : null;
    const components = inner === null ? parametersOf(parameter, "components") : [];
    const parts = value
      .slice(0, maxItems)
      .map((item: unknown, index) => valueText(inner ?? components[index], item, depth + 1));
    return inner === null ? `(${listed(parts, value.length)})` : `[${listed(parts, value.length)}]`;
  }
  const fields = record(value);
  if (fields !== null) {
    const components = parametersOf(parameter, "components");
    const keys = Object.keys(fields);
    const parts = keys.slice(0, maxItems).map((key) => {
      const component = components.find((one) => record(one)?.["name"] === key);
      return `${escapeText(key, 40)}: ${valueText(component, fields[key], depth + 1)}`;
    });
    return `{${listed(parts, keys.length)}}`;
  }
  return value === maxUint256 ? "2^256 − 1" : escapeText(String(value), 96);
};

const bounded = (text: string): string =>
  text.length > maxLength ? `${text.slice(0, maxLength)}… (+${text.length - maxLength} characters)` : text;

/** `name(parameter: value, …)`. */
export const callText = (name: string, parameters: ReadonlyArray<unknown>, args: ReadonlyArray<unknown>): string => {
  const parts = args.slice(0, maxItems).map((value, index) => {
    const label = nameOf(parameters[index]);
    return `${label === "" ? "" : `${label}: `}${valueText(parameters[index], value)}`;
  });
  return bounded(`${escapeText(name, 80)}(${listed(parts, args.length)})`);
};

/** Calldata in words: the function with its arguments where the ABI item is known, else selector and size. */
export const dataText = (data: string, item: unknown): string | null => {
  if (data === "0x") return null;
  const size = (data.length - 2) >> 1;
  const name = record(item)?.["name"];
  if (typeof name === "string") {
    if (size > maxBytes) return `${escapeText(name, 80)}(…) with ${size} bytes of data`;
    const inputs = parametersOf(item, "inputs");
    if (!isDecodable(inputs)) return `${escapeText(name, 80)}(…) with ${size} bytes of data`;
    const decoded = Result.try({
      try: () => {
        // why: `item` made these bytes, or came with a JSON that says so; anything else throws and is caught
        const { args } = decodeFunctionData({ abi: [item as AbiFunction], data: data as `0x${string}` });
        return callText(name, inputs, (args ?? []) as ReadonlyArray<unknown>);
      },
      catch: () => null,
    });
    if (Result.isSuccess(decoded)) return decoded.success;
  }
  return size >= 4 ? `selector ${escapeText(data.slice(0, 10))}, ${size} bytes of data` : shortHex(data);
};

/** A return value in words; null when the function returns nothing. */
export const resultText = (result: DecodedResult): string | null => {
  if (result.data.length > 2 + maxBytes * 2) return `${(result.data.length - 2) >> 1} bytes`;
  const outputs = parametersOf(result.item, "outputs");
  if (outputs.length === 0) return null;
  if (!isDecodable(outputs)) return shortHex(result.data);
  return Result.getOrElse(
    Result.try({
      try: () => {
        const value = result.value;
        return bounded(
          outputs.length === 1
            ? valueText(outputs[0], value)
            : valueText({ type: "tuple", components: outputs }, value),
        );
      },
      catch: () => null,
    }),
    () => shortHex(result.data),
  );
};

const customText = (layer: RevertCustom): string => {
  const inputs = parametersOf(layer.item, "inputs");
  const fallback = () => escapeText(layer.signature, 160);
  if (layer.data.length > 2 + maxBytes * 2 || !isDecodable(inputs)) return fallback();
  return Result.getOrElse(
    Result.try({ try: () => callText(layer.name, inputs, layer.args), catch: () => null }),
    fallback,
  );
};

const provenanceText = (layer: RevertCustom): string => {
  const [first] = layer.provenance;
  if (first === undefined) return "";
  const source = first.source === null ? "" : escapeText(first.source, 80);
  switch (first.kind) {
    case "address":
      return source === "" ? " (by the ABI of the contract)" : ` (by the ABI given for ${checksummed(source)})`;
    case "caller":
      return " (by an ABI you gave)";
    case "builtin":
      return source === "" ? " (by the built-in table)" : ` (by the built-in table: ${source})`;
  }
};

const meaningText = (meaning: string | null): string => (meaning === null ? "" : `: ${escapeText(meaning)}`);

/** One layer of a revert, arguments included. */
export const layerText = (layer: RevertLayer): string => {
  switch (layer._tag) {
    case "Empty":
      return "no reason";
    case "Reason":
      return `${quoted(layer.reason)}${meaningText(layer.meaning)}`;
    case "Panic":
      return `Panic(0x${layer.code.toString(16).padStart(2, "0")}): ${escapeText(layer.meaning)}`;
    case "Custom":
      return `${customText(layer)}${meaningText(layer.meaning)}${provenanceText(layer)}`;
    case "Ambiguous":
      return `one of ${layer.candidates.slice(0, maxItems).map(customText).join(" or ")}`;
    case "Unknown":
      return `unknown data ${shortHex(layer.data)}`;
  }
};

/** A revert from the outside in, arguments included. */
export const revertText = (revert: Revert): string =>
  bounded(
    revert.layers
      .slice(0, maxItems)
      .map(({ layer, path }) => `${path === "" ? "" : `${escapeText(path, 60)}: `}${layerText(layer)}`)
      .join(" ← "),
  );

/** Wei in the unit it reads best in, with the exact wei beside where the unit is another. */
export const weiText = (wei: bigint, symbol: string): string => {
  const shown = formatWei(wei, symbol);
  return wei === 0n || shown.endsWith(" wei") ? shown : `${shown} (${wei} wei)`;
};

/** A price of native units in a currency, e.g. `{ currency: "USD", amount: "2480.15" }` for one ETH. */
export interface Price {
  readonly currency: string;
  /** Decimal string: what one whole native unit costs. */
  readonly amount: string;
}

/**
 * Wei in a currency: two decimals, or as many as the first two digits that are not 0 need; never
 * rounded to nothing. Empty when the price is no decimal number.
 */
export const fiatText = (wei: bigint, price: Price | undefined): string => {
  const parsed = price === undefined ? null : /^(\d{1,30})(?:\.(\d{1,30}))?$/.exec(price.amount);
  if (price === undefined || parsed === null) return "";
  const fraction = parsed[2] ?? "";
  const decimals = 18 + fraction.length;
  const exact = wei * BigInt(`${parsed[1]}${fraction}`);
  const size = exact < 0n ? -exact : exact;
  const digits = size.toString().length;
  const places = size === 0n ? 2 : Math.max(2, Math.min(decimals, decimals - digits + 2));
  const unit = 10n ** BigInt(decimals - places);
  const rounded = (size + unit / 2n) / unit;
  return ` ≈ ${formatUnits(exact < 0n ? -rounded : rounded, places)} ${escapeText(price.currency, 8)}`;
};

/** Epoch seconds as a date where they are one. */
export const dateText = (seconds: bigint): string =>
  seconds >= 0n && seconds <= 253_402_300_799n
    ? new Date(Number(seconds) * 1000).toISOString().replace(".000Z", "Z")
    : `second ${seconds}`;
