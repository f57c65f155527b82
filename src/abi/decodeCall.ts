/**
 * Calldata by its selector: by the caller's ABIs, else by what many contracts share. A selector is four bytes that any
 * contract may use for anything, so that a reading tells what the bytes look like, and nothing is decided by it.
 */
import type * as Schema from "effect/Schema";
import { isBytes } from "../primitives/hex.js";
import { checksummed, escapeText } from "../primitives/text.js";
import { safely } from "../primitives/record.js";
import { indexOf, provenanceAt, type AbiSources, type IndexedItem } from "./abiIndex.js";
import { wellKnown } from "./wellKnown.js";
import { decodeLog, type RawLog } from "./decodeLogs.js";
import { hasDecodable } from "./type.js";
import { leavesOf } from "./layout.js";
import { describeCalldata, most, sizeOf } from "./print.js";
import type { Provenance } from "./revert.js";

/** One function that the calldata fits. */
export interface DecodedCall {
  /** The function's name. */
  readonly name: string;
  /** e.g. `transfer(address,uint256)`. */
  readonly signature: string;
  /** The JSON ABI item. */
  readonly item: Schema.Json;
  /** `builtin`: by nothing but the selector; `source` then names the standard or the contract that has this function. */
  readonly provenance: ReadonlyArray<Provenance>;
}

const fits = ({ item, inputs }: IndexedItem, data: string): boolean =>
  hasDecodable(item, "inputs") && safely(() => leavesOf(inputs, data.slice(10), true) !== null, false);

/** Items that read alike, as one with the provenance of all. */
const together = (items: ReadonlyArray<IndexedItem>, address: string | null): ReadonlyArray<DecodedCall> => {
  const found = new Map<string, DecodedCall>();
  for (const one of items) {
    const key = `${one.name}${JSON.stringify(one.inputs)}`;
    const { name, signature, item } = one;
    const provenance = [...(found.get(key)?.provenance ?? []), provenanceAt(one, address)];
    found.set(key, { name, signature, item, provenance });
  }
  return [...found.values()];
};

/**
 * The functions that the calldata fits: those of ABIs given for `address` (the contract that is called), else of the
 * caller's others, else of the built-in table. Several where only the contract's own ABI could tell them apart; none
 * where nothing fits. Bytes behind the arguments are allowed, as Solidity does.
 */
export const decodeCall = (
  data: string,
  abis: AbiSources = [],
  options: { readonly address?: string | null } = {},
): ReadonlyArray<DecodedCall> => {
  if (!isBytes(data) || data.length < 10 || sizeOf(data) > most.bytes) return [];
  const selector = data.slice(0, 10).toLowerCase();
  const address = options.address?.toLowerCase() ?? null;
  const given = indexOf(abis).functions(selector);
  const own = given.filter((item) => address !== null && item.address === address);
  for (const items of [own, given, wellKnown.functions(selector)]) {
    const fitting = items.filter((item) => fits(item, data));
    if (fitting.length > 0) return together(fitting, address);
  }
  return [];
};

/** Where a reading comes from: ` (by selector: ERC-20)`. */
const originText = (provenance: ReadonlyArray<Provenance>): string => {
  const [first] = provenance;
  if (first === undefined) return "";
  if (first.kind === "builtin")
    return ` (by selector: ${provenance.map(({ source }) => escapeText(source ?? "", 60)).join(", ")})`;
  return first.kind === "address" && first.source !== null
    ? ` (by the ABI given for ${checksummed(first.source)})`
    : " (by an ABI you gave)";
};

/** One reading of calldata, with its arguments and where it comes from. */
const describeReading = (data: string, { item, provenance }: DecodedCall): string =>
  `${describeCalldata(data, item) ?? ""}${originText(provenance)}`;

/** Calldata of which no function is known, in one line: every reading, else selector and size; null for none. */
export const describeRawCall = (
  data: string,
  abis: AbiSources = [],
  options: { readonly address?: string | null } = {},
): string | null => {
  const readings = decodeCall(data, abis, options).map((reading) => describeReading(data, reading));
  return readings.length === 0 ? describeCalldata(data, null) : escapeText(readings.join(" or "), most.line);
};

/** The name of an event that no ABI explains, by nothing but its topic; null where none is known. */
export const eventByTopic = (log: RawLog): string | null => {
  const decoded = decodeLog(log, wellKnown);
  return decoded === null ? null : `${escapeText(decoded.name, 60)} (by topic)`;
};
