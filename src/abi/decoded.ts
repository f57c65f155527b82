/**
 * Return values and events as data: the bytes and the ABI item that explains them. The values
 * themselves are read on demand, so the JSON form loses nothing. Made by `decodeLogs.ts`.
 */
import * as Schema from "effect/Schema";
import { decodeEventLog, decodeFunctionResult, toEventSelector } from "viem";
import { Hash, Hex } from "../primitives/hex.js";
import { hasDecodable } from "./decodable.js";
import { Provenance } from "./revert.js";
import { safely } from "../primitives/safely.js";

/** What a call returned, read by its function's ABI item. */
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
    const { name, item, data } = this;
    if (!hasDecodable(item, "outputs")) return undefined;
    const { outputs } = item;
    const abi = [{ type: "function", name, inputs: [], outputs, stateMutability: "view" }] as const;
    return safely((): unknown => decodeFunctionResult({ abi, data }), undefined);
  }
}

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
  /** What is not indexed, ABI-encoded. */
  data: Hex,
  /** Whose ABIs name it. */
  provenance: Schema.Array(Provenance),
}) {
  /** The arguments by name, or by position where the ABI names none; an indexed dynamic value is its hash. */
  get args(): unknown {
    const { name, item } = this;
    if (!hasDecodable(item, "inputs")) return undefined;
    const isAnonymous = "anonymous" in item && item["anonymous"] === true;
    // viem finds an event by its first topic, which an anonymous event lacks
    const [first, ...indexed] = isAnonymous ? [toEventSelector(this.signature), ...this.topics] : this.topics;
    if (first === undefined) return undefined;
    return safely(
      (): unknown =>
        decodeEventLog({
          abi: [{ type: "event", name, inputs: item.inputs, anonymous: isAnonymous }],
          data: this.data,
          topics: [first, ...indexed],
          strict: true,
        }).args,
      undefined,
    );
  }
}
