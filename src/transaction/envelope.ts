/** The bytes of a transaction: its fields in the order of its type, as RLP, in the envelope of the type (EIP-2718). */
import * as Rlp from "ox/Rlp";
import { concat, numberToHex } from "../primitives/bytes.js";
import { isAddress, isEven, isHash, type Hex } from "../primitives/hex.js";
import { isRecord } from "../primitives/record.js";
import { maxUint256 } from "../primitives/units.js";

/** A transaction by its bytes. Amounts in wei, prices in wei per gas, null = absent. */
export interface Fields {
  readonly type: string | null;
  readonly chainId: bigint | null;
  readonly nonce: bigint;
  readonly gas: bigint;
  readonly gasPrice: bigint | null;
  readonly maxFeePerGas: bigint | null;
  readonly maxPriorityFeePerGas: bigint | null;
  readonly maxFeePerBlobGas: bigint | null;
  readonly to: Hex | null;
  readonly value: bigint;
  readonly input: Hex;
  readonly accessList: ReadonlyArray<{ readonly address: Hex; readonly storageKeys: ReadonlyArray<Hex> }> | null;
  readonly blobVersionedHashes: ReadonlyArray<Hex> | null;
  readonly authorizationList: ReadonlyArray<
    Readonly<Record<"chainId" | "nonce" | "yParity" | "r" | "s", bigint>> & { readonly address: Hex }
  > | null;
}

/** A field that is signed. */
export type Name = Exclude<keyof Fields, "type">;

/** The same fields as somebody hands them in: none is what its type says until it was written. */
export type Unchecked = Readonly<Record<Name, unknown>> & Pick<Fields, "type">;

/** Bytes, or a list of such. */
export type Item = Hex | ReadonlyArray<Item>;

/** Writes a value of its kind; null for every other value, which must never become other bytes than its own. */
type Writer = (value: unknown) => Item | null;

/** A number as RLP has it: without leading zeros, and zero as no bytes. */
const scalar = (value: bigint): Hex => (value === 0n ? "0x" : numberToHex(value));
const upTo =
  (most: bigint): Writer =>
  (value) =>
    typeof value === "bigint" && value >= 0n && value <= most ? scalar(value) : null;
const bytes =
  (isThis: (value: unknown) => value is Hex): Writer =>
  (value) =>
    isThis(value) ? value : null;
/** The items, if there is one for each value. */
const all = (items: ReadonlyArray<Item | null>): ReadonlyArray<Item> | null => {
  const known = items.filter((item) => item !== null);
  return known.length === items.length ? known : null;
};
const list =
  (each: Writer): Writer =>
  (value) =>
    // why: a list with holes has nothing to map there
    Array.isArray(value) ? all(Array.from(value, (entry: unknown) => each(entry))) : null;
const tuple =
  (parts: Readonly<Record<string, Writer>>) =>
  (value: unknown): ReadonlyArray<Item> | null =>
    isRecord(value) ? all(Object.entries(parts).map(([name, write]) => write(value[name]))) : null;

const amount = upTo(maxUint256);
/** Numbers of a signature, in order; null where one is none. */
export const amountItems = (values: ReadonlyArray<unknown>): ReadonlyArray<Item> | null => all(values.map(amount));

const address = bytes(isAddress);
const hashes = list(bytes(isHash));

const signedPart = { chainId: amount, address, nonce: amount };
const signedItems = tuple({ ...signedPart, yParity: upTo(255n), r: amount, s: amount });
const unsignedItems = tuple({ ...signedPart, authority: address, r: amount, s: amount });

/**
 * An authorisation as its bytes have it: what is signed, then the signature. EIP-7702: a parity is one byte. Before it is signed
 * its authority is in that place, which makes bytes that no node takes.
 */
export const authorizationItems = (value: unknown): ReadonlyArray<Item> | null =>
  (isRecord(value) && "authority" in value ? unsignedItems : signedItems)(value);

const writers: Readonly<Record<Name, Writer>> = {
  ...{ chainId: amount, nonce: amount, gas: amount, value: amount },
  ...{ gasPrice: amount, maxFeePerGas: amount, maxPriorityFeePerGas: amount, maxFeePerBlobGas: amount },
  ...{ to: address, input: bytes(isEven), blobVersionedHashes: hashes },
  accessList: list(tuple({ address, storageKeys: hashes })),
  authorizationList: list(authorizationItems),
};

/** A field as its bytes have it; null where the value is not exactly of the field's kind. */
export const itemOf = (name: Name, value: unknown): Item | null => writers[name](value);

const call = ["gas", "to", "value", "input"] as const;
const capped = ["chainId", "nonce", "maxPriorityFeePerGas", "maxFeePerGas", ...call, "accessList"] as const;

/** The signed fields by type, in order (EIP-155, EIP-2930, EIP-1559, EIP-4844, EIP-7702). Blobs are not covered by the hash. */
const orders: ReadonlyMap<string, ReadonlyArray<Name>> = new Map<string, ReadonlyArray<Name>>([
  ["0x0", ["nonce", "gasPrice", ...call]],
  ["0x1", ["chainId", "nonce", "gasPrice", ...call, "accessList"]],
  ["0x2", capped],
  ["0x3", [...capped, "maxFeePerBlobGas", "blobVersionedHashes"]],
  ["0x4", [...capped, "authorizationList"]],
]);

/** The signed fields of a type, in order; none of a type that is not known. */
export const orderOf = (type: string | null): ReadonlyArray<Name> => orders.get(type === null ? "0x0" : type) ?? [];

/** True if it is of the type that has no number: EIP-155, or before. */
export const isLegacy = (type: string | null): boolean => type === null || type === "0x0";

/**
 * The signed fields in order; null where one is missing or not of its kind, and of a type that is not known. `gasPrice` beside a
 * fee cap is the price that was paid, and no field.
 */
export const itemsOf = (fields: Unchecked): ReadonlyArray<Item> | null => {
  const order = orderOf(fields.type);
  // why: blobs and authorisations cannot deploy
  const mayDeploy = !order.includes("blobVersionedHashes") && !order.includes("authorizationList");
  const items = all(
    order.map((name) => (name === "to" && fields.to === null && mayDeploy ? "0x" : itemOf(name, fields[name]))),
  );
  return order.length === 0 ? null : items;
};

/** The bytes of a type around the items. */
export const sealed = (type: string | null, items: ReadonlyArray<Item>): Hex =>
  concat(isLegacy(type) ? "0x" : numberToHex(BigInt(type ?? 0), { size: 1 }), Rlp.fromHex(items));
