/**
 * The leaves of every answer. Each is one linear check, so that neither a huge nor a hostile string
 * costs more than reading it once.
 */
import type { Address, Hash, Hex } from "../primitives/hex.js";
import { decoded, leaf } from "./shape.js";

/** Hex of any length, with no copy made of it. */
export const isHex = (value: unknown): value is string => typeof value === "string" && /^0x[0-9a-fA-F]*$/.test(value);

export const isBytes = (value: unknown): value is Hex => isHex(value) && value.length % 2 === 0;

const isText = (value: unknown): value is string => typeof value === "string";

/** Bytes of any length. */
export const Bytes = leaf(isBytes);
/** 32 bytes. */
export const Word = leaf((value): value is Hash => isHex(value) && value.length === 66);
/** 20 bytes. */
export const Account = leaf((value): value is Address => isHex(value) && value.length === 42);
export const Text = leaf(isText);
/** A decimal fraction, as text. */
export const Decimal = leaf((value): value is string => isText(value) && value.length <= 80);
export const Finite = leaf((value): value is number => Number.isFinite(value));
export const Flag = leaf((value): value is boolean => typeof value === "boolean");
export const Anything = leaf((_value): _value is unknown => true);

const QuantityText = leaf(
  (value): value is `0x${string}` => typeof value === "string" && /^0x[0-9a-fA-F]{1,64}$/.test(value),
);

/** A quantity of at most 256 bits; leading zeros are tolerated. */
export const Quantity = decoded(QuantityText, BigInt, (value): value is bigint => typeof value === "bigint");

/** A quantity that fits a number: an index or a count. */
export const Index = decoded(QuantityText, Number, (value): value is number => Number.isSafeInteger(value));

/** An EIP-2718 type byte, written the one way: `0x2`, `0x7e`. */
export const TypeByte = decoded(
  QuantityText,
  (text) => `0x${BigInt(text).toString(16)}` as const,
  (value): value is `0x${string}` => isText(value),
);

/** `0x1` and `0x0` as words. */
export const Status = decoded(
  leaf((value): value is "0x0" | "0x1" => value === "0x1" || value === "0x0"),
  (status) => (status === "0x1" ? "success" : "failure"),
  (value): value is "success" | "failure" => value === "success" || value === "failure",
);
