/**
 * The revert data of a call, decoded: the shape of every decoded revert.
 *
 * Decoded values are never stored: they are read again from the bytes and the ABI item, so the
 * JSON form loses nothing. Decoding itself is in `revertOf.ts`.
 */
import * as Schema from "effect/Schema";
import { getSelector } from "ox/AbiItem";
import { isBytes, Address, Hex, nullable } from "../primitives/hex.js";
import { argumentsAt, wordDigits, wordsFrom } from "./words.js";
import { hasDecodable, valuesOf } from "./layout.js";
import { safely } from "../primitives/record.js";

/** The origin of the ABI item that explains the bytes. */
export const Provenance = Schema.Struct({
  /** `address`: the caller gave this ABI for the address that reverted; `caller`: one of the caller's other ABIs; `builtin`: the library's table. */
  kind: Schema.Literals(["address", "caller", "builtin"]),
  /** The address, or the name of the package that the built-in item was read from. */
  source: nullable(Schema.String),
});
export type Provenance = typeof Provenance.Type;

/** No bytes at all: `require` without a reason, a missing function, `revert()`. */
export class RevertEmpty extends Schema.TaggedClass<RevertEmpty>()("Empty", {
  /** The revert data as it came. */
  data: Hex,
}) {}

/** `Error(string)`. */
export class RevertReason extends Schema.TaggedClass<RevertReason>()("Reason", {
  /** The revert data as it came. */
  data: Hex,
  /** The contract's own words, unescaped, at most 4,096 characters of them. Escape before showing. */
  reason: Schema.String,
  /** The meaning of a well-known short code, e.g. Safe's `GS013`; null otherwise. */
  meaning: nullable(Schema.String),
}) {}

/** `Panic(uint256)`. */
export class RevertPanic extends Schema.TaggedClass<RevertPanic>()("Panic", {
  /** The revert data as it came. */
  data: Hex,
  /** Solidity's panic code. */
  code: Schema.BigInt,
  /** Solidity's meaning of the code. */
  meaning: Schema.String,
}) {}

/** A custom error that an ABI explains; it re-encodes to the same bytes. */
export class RevertCustom extends Schema.TaggedClass<RevertCustom>()("Custom", {
  /** The revert data as it came. */
  data: Hex,
  /** e.g. `ERC20InsufficientBalance`. */
  name: Schema.String,
  /** e.g. `ERC20InsufficientBalance(address,uint256,uint256)`. */
  signature: Schema.String,
  /** The JSON ABI item. */
  item: Schema.Json,
  /** The origins of the ABIs that name it. */
  provenance: Schema.Array(Provenance),
  /** The meaning of the error, where the library knows. */
  meaning: nullable(Schema.String),
}) {
  /** The decoded arguments, in order; none where the item does not fit the bytes, as in a forged report. */
  get args(): ReadonlyArray<unknown> {
    // why: an item of somebody's JSON may be made to keep a decoder busy for ever
    const { name, item, data } = this;
    if (!hasDecodable(item, "inputs")) return [];
    const { inputs } = item;
    const isOther = safely(() => getSelector({ type: "error", name, inputs }) !== data.slice(0, argumentsAt), true);
    return (isOther ? null : valuesOf(inputs, `0x${data.slice(argumentsAt)}`)) ?? [];
  }
}

/** Several ABI items explain the same bytes; none is preferred. */
export class RevertAmbiguous extends Schema.TaggedClass<RevertAmbiguous>()("Ambiguous", {
  /** The revert data as it came. */
  data: Hex,
  /** The errors that it may be. */
  candidates: Schema.Array(RevertCustom),
}) {}

/** Bytes that nothing here explains. */
export class RevertUnknown extends Schema.TaggedClass<RevertUnknown>()("Unknown", {
  /** The revert data as it came. */
  data: Hex,
  /** The first four bytes, where there are four. */
  selector: nullable(Hex),
}) {}

/** One revert, without what is nested inside. */
export const RevertLayer = Schema.Union([
  RevertEmpty,
  RevertReason,
  RevertPanic,
  RevertCustom,
  RevertAmbiguous,
  RevertUnknown,
]);
export type RevertLayer = typeof RevertLayer.Type;

/**
 * A decoded revert from the outside in: `layers[0]` is what the call itself returned; each further
 * layer was found inside an earlier one, at `path` from the outermost (e.g. `inner`, `reason`,
 * `results[2].data`).
 */
export class Revert extends Schema.Class<Revert>("Revert")({
  /** The raw bytes as returned. */
  data: Hex,
  /** From the outermost error to the innermost; `path` says where in the one above it stood. */
  layers: Schema.NonEmptyArray(Schema.Struct({ path: Schema.String, layer: RevertLayer })),
  /** The contract that reverted, where known. */
  address: nullable(Address),
}) {}

const errorSelector = "0x08c379a0";
const panicSelector = "0x4e487b71";

/**
 * True for bytes that came back as a *success* but are `Error(string)` or `Panic(uint256)`, as from some nodes'
 * `eth_call`. Strict: selector, offset, length and total size must all fit, which
 * no return value of a Solidity function does by chance (those are multiples of 32 bytes).
 */
export const looksLikeRevert = (data: string): boolean => {
  const head = data.slice(0, argumentsAt).toLowerCase();
  if ((head !== panicSelector && head !== errorSelector) || !isBytes(data)) return false;
  const [first = 0n, size = 0n] = wordsFrom(data, argumentsAt, 2);
  if (head === panicSelector) return data.length === 74 && first <= 0xffn;
  if (data.length < 138 || (data.length - argumentsAt) % wordDigits !== 0) return false;
  const words = BigInt((data.length - 138) / wordDigits);
  return first === 32n && size <= words * 32n && size > (words - 1n) * 32n;
};
