/**
 * Events and return values as data: the bytes and the ABI item that explains them, by the caller's ABIs. The values
 * themselves are read on demand, so the JSON form loses nothing. Pure and total; bytes that are not exactly what an
 * encoder writes for the item are not decoded.
 */
import * as Schema from "effect/Schema";
import type { AbiEventParameter, AbiFunction } from "abitype";
import { Hash, Hex, isBytes, isHash } from "../primitives/hex.js";
import { hasDecodable, leavesOf, valuesOf } from "./layout.js";
import { Provenance } from "./revert.js";
import { isRecord, safely } from "../primitives/record.js";
import {
  type Abis,
  bySignature,
  type IndexedItem,
  indexOf,
  itemJson,
  provenanceAt,
  signatureOf,
  topicOf,
} from "./abiIndex.js";

/** The return values of a call, read by its function's ABI item. */
export class DecodedResult extends Schema.Class<DecodedResult>("DecodedResult")({
  /** The function's name. */
  name: Schema.String,
  /** The function's JSON ABI item. */
  item: Schema.Json,
  /** The return data as it came. */
  data: Hex,
}) {
  /** The return value as viem gives it: one value, or an array of several; undefined where the item does not fit. */
  get value(): unknown {
    // why: an item of somebody's JSON may be made to keep a decoder busy for ever
    const { item, data } = this;
    const values: ReadonlyArray<unknown> = (hasDecodable(item, "outputs") ? valuesOf(item.outputs, data) : null) ?? [];
    return values.length > 1 ? values : values[0];
  }
}

const isReference = (type: string): boolean =>
  type === "string" || type === "bytes" || type.startsWith("tuple") || type.endsWith("]");

/** Arguments of an event by name, or by position where one has no name; undefined where there are none, and where the bytes do not fit. */
const argumentsOf = (inputs: ReadonlyArray<AbiEventParameter>, topics: ReadonlyArray<Hash>, data: Hex): unknown => {
  const placed = inputs.map((input, place) => ({ input, key: input.name ?? "", place }));
  const inTopics = placed.filter(({ input }) => input.indexed === true);
  const inData = placed.filter(({ input }) => input.indexed !== true);
  const words = inTopics.map(({ input }, at): ReadonlyArray<unknown> | null => {
    const word: string = topics[at] ?? "";
    return isReference(input.type) && word !== "" ? [word] : valuesOf([input], word);
  });
  const found = [
    ...words,
    valuesOf(
      inData.map(({ input }) => input),
      data,
    ),
  ];
  if (inputs.length === 0 || found.includes(null)) return undefined;
  const values = found.flatMap((some) => some ?? []);
  const isNamed = placed.every(({ key }) => key !== "");
  const all = [...inTopics, ...inData].map(({ key, place }, at) => [isNamed ? key : place, values[at]] as const);
  return isNamed ? Object.fromEntries(all) : Object.assign([], Object.fromEntries(all));
};

/** An event that an ABI item explains. */
export class DecodedLog extends Schema.Class<DecodedLog>("DecodedLog")({
  /** The event's name. */
  name: Schema.String,
  /** Its canonical signature. */
  signature: Schema.String,
  /** The event's JSON ABI item. */
  item: Schema.Json,
  /** The log's topics, 32 bytes each. */
  topics: Schema.Array(Hash),
  /** The values that are not indexed, ABI-encoded. */
  data: Hex,
  /** The origins of the ABIs that name it. */
  provenance: Schema.Array(Provenance),
}) {
  /** The arguments by name, or by position where the ABI names none; an indexed dynamic value is its hash. */
  get args(): unknown {
    const { name, item, signature, topics, data } = this;
    if (!hasDecodable(item, "inputs")) return undefined;
    const { inputs } = item;
    const isAnonymous = "anonymous" in item && item["anonymous"] === true;
    const first = isAnonymous ? safely(() => topicOf(signature), null) : topics[0];
    const isOther = safely(() => topicOf(signatureOf(name, inputs)) !== first, true);
    return isOther ? undefined : argumentsOf(inputs, isAnonymous ? topics : topics.slice(1), data);
  }
}

/** The most bytes of one log or result that are decoded. */
const most = 262_144;

/** True if the topics and data are exactly an encoding of the event. */
const fits = (item: IndexedItem, topics: ReadonlyArray<Hash>, data: string): boolean => {
  const indexed = item.inputs.filter((input) => input.indexed === true);
  const values = item.anonymous ? topics : topics.slice(1);
  if (indexed.length !== values.length) return false;
  // an indexed value of a reference type is the hash of its encoding: any word fits
  const clean = indexed.every(
    (input, index) => isReference(input.type) || leavesOf([input], values[index]?.slice(2) ?? "") !== null,
  );
  return (
    clean &&
    leavesOf(
      item.inputs.filter((input) => input.indexed !== true),
      data.slice(2),
    ) !== null
  );
};

/** The items of the event that a log is, as a node gives it, the nearest first; null where no ABI explains it. */
export const eventOf = (
  log: { readonly address: string; readonly topics: ReadonlyArray<string>; readonly data: string },
  sources: Abis,
): readonly [IndexedItem, ...ReadonlyArray<IndexedItem>] | null => {
  const { topics, data } = log;
  if (!Array.isArray(topics) || topics.length > 4 || typeof log.address !== "string") return null;
  const index = indexOf(sources);
  const address = log.address.toLowerCase();
  const named = typeof topics[0] === "string" ? index.events(topics[0].toLowerCase()) : [];
  // any contract's anonymous event fits many logs: only an ABI given for this address may claim one
  const anonymous = index.anonymous().filter((item) => item.address === address);
  const candidates = [...named, ...anonymous];
  // why: no ABI tells of most logs, and to check their words costs more than to find that out
  if (candidates.length === 0 || !topics.every(isHash) || !isBytes(data) || data.length > 2 + most * 2) return null;
  const ordered = [
    ...candidates.filter((item) => item.address === address),
    ...candidates.filter((item) => item.address !== address),
  ].filter((item) => fits(item, topics, data));
  return bySignature(ordered)[0] ?? null;
};

/**
 * The event that a log is, or null where no ABI explains it. ABIs given for the log's address come
 * first. Where several events fit, the first in the caller's order is taken and the provenance
 * names the ABIs that agree with it.
 */
export const decodeLog = (log: Parameters<typeof eventOf>[0], sources: Abis): DecodedLog | null => {
  const group = eventOf(log, sources);
  if (group === null) return null;
  const { name, signature, item } = group[0];
  const { topics, data } = log;
  const provenance = group.map((source) => provenanceAt(source, log.address.toLowerCase()));
  // an event was found only for words that are hex
  return new DecodedLog({ name, signature, item, topics: topics.filter(isHash), data: data as Hex, provenance });
};

const isFunction = (item: unknown): item is AbiFunction =>
  isRecord(item) && typeof item["name"] === "string" && Array.isArray(item["outputs"]);

/**
 * Decodes the return values of a call by its function's ABI item; null where the bytes are not what the item
 * promises. Bytes after the promised values are allowed, as Solidity does.
 */
export const decodeResult = (data: string, item: AbiFunction | Schema.Json): DecodedResult | null => {
  if (!isBytes(data) || data.length > 2 + most * 2 || !isFunction(item)) return null;
  // a malformed item of the caller's may make the walk or viem throw
  return safely(() => {
    if (leavesOf(item.outputs, data.slice(2), true) === null) return null;
    const result = new DecodedResult({ name: item.name, item: itemJson(item), data });
    return item.outputs.length > 0 && result.value === undefined ? null : result;
  }, null);
};
