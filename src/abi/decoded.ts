/**
 * Return values and events as data: the bytes and the ABI item that explains them. The values
 * themselves are read on demand, so the JSON form loses nothing. Made by `decodeLogs.ts`.
 */
import * as Schema from "effect/Schema";
import type { AbiEvent, AbiFunction } from "abitype";
import { decodeEventLog, decodeFunctionResult, toEventSelector } from "viem";
import { Hash, Hex } from "../primitives/hex.js";
import { hasDecodable } from "./decodable.js";
import { Provenance } from "./revert.js";
import { safely } from "../primitives/safely.js";

/** What a call returned, read by its function's ABI item. */
export class DecodedResult extends Schema.Class<DecodedResult>("DecodedResult")({
  name: Schema.String,
  item: Schema.Json,
  data: Hex,
}) {
  /** The return value as viem gives it: one value, or an array of several; undefined where the item does not fit. */
  get value(): unknown {
    // why: an item of somebody's JSON may be made to keep a decoder busy for ever
    if (!hasDecodable(this.item, "outputs")) return undefined;
    return safely(
      (): unknown => decodeFunctionResult({ abi: [this.item as unknown as AbiFunction], data: this.data }),
      undefined,
    );
  }
}

/** An event that an ABI item explains. */
export class DecodedLog extends Schema.Class<DecodedLog>("DecodedLog")({
  name: Schema.String,
  signature: Schema.String,
  item: Schema.Json,
  topics: Schema.Array(Hash),
  data: Hex,
  provenance: Schema.Array(Provenance),
}) {
  /** The arguments by name, or by position where the ABI names none; an indexed dynamic value is its hash. */
  get args(): unknown {
    if (!hasDecodable(this.item, "inputs")) return undefined;
    const item = this.item as unknown as AbiEvent;
    // viem finds an event by its first topic, which an anonymous event lacks
    const topics = item.anonymous === true ? [toEventSelector(this.signature), ...this.topics] : this.topics;
    return safely(
      (): unknown =>
        decodeEventLog({
          abi: [item],
          data: this.data,
          topics: topics as unknown as [signature: `0x${string}`, ...args: Array<`0x${string}`>],
          strict: true,
        }).args,
      undefined,
    );
  }
}
