/**
 * Events and return values by the caller's ABIs. Pure and total; bytes that are not exactly what an
 * encoder writes for the item are not decoded.
 */
import type { AbiFunction } from "abitype";
import type * as Schema from "effect/Schema";
import { bySignature, indexOf, provenanceAt, type AbiSources, type IndexedItem } from "./abiIndex.js";
import { itemJson } from "./itemJson.js";
import { leavesOf } from "./layout.js";
import { isBytes } from "../primitives/bytes.js";
import { DecodedLog, DecodedResult } from "./decoded.js";
import type { Hash } from "../primitives/hex.js";
import { safely } from "../primitives/safely.js";

/** The most bytes of one log or result that are decoded. */
const most = 262_144;

/** A log as a node gives it. */
export interface RawLog {
  /** The contract that emitted it. */
  readonly address: string;
  /** Its topics, 32 bytes each; the first is the event's signature. */
  readonly topics: ReadonlyArray<string>;
  /** What is not indexed, ABI-encoded. */
  readonly data: string;
}

const isTopic = (topic: unknown): topic is Hash => typeof topic === "string" && topic.length === 66 && isBytes(topic);

const isReference = (type: string): boolean =>
  type === "string" || type === "bytes" || type.startsWith("tuple") || type.endsWith("]");

/** Whether the topics and data are exactly an encoding of the event. */
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

/**
 * The event that a log is, or null where no ABI explains it. ABIs given for the log's address come
 * first. Where several events fit, the first in the caller's order is taken and the provenance
 * names the ABIs that agree with it.
 */
export const decodeLog = (log: RawLog, sources: AbiSources): DecodedLog | null => {
  const { topics, data } = log;
  if (!Array.isArray(topics) || topics.length > 4 || typeof log.address !== "string") return null;
  const index = indexOf(sources);
  const address = log.address.toLowerCase();
  const named = typeof topics[0] === "string" ? index.events(topics[0].toLowerCase()) : [];
  // any contract's anonymous event fits many logs: only an ABI given for this address may claim one
  const anonymous = index.anonymous().filter((item) => item.address === address);
  const candidates = [...named, ...anonymous];
  // why: no ABI tells of most logs, and to check their words costs more than to find that out
  if (candidates.length === 0 || !topics.every(isTopic) || !isBytes(data) || data.length > 2 + most * 2) return null;
  const ordered = [
    ...candidates.filter((item) => item.address === address),
    ...candidates.filter((item) => item.address !== address),
  ].filter((item) => fits(item, topics, data));
  const group = bySignature(ordered)[0];
  if (group === undefined) return null;
  const [first] = group;
  return new DecodedLog({
    name: first.name,
    signature: first.signature,
    item: first.item,
    topics: [...topics],
    data,
    provenance: group.map((item) => provenanceAt(item, address)),
  });
};

const isFunction = (item: unknown): item is AbiFunction =>
  typeof item === "object" &&
  item !== null &&
  "name" in item &&
  typeof item.name === "string" &&
  "outputs" in item &&
  Array.isArray(item.outputs);

/**
 * What a call returned, by its function's ABI item; null where the bytes are not what the item
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
