/** The bytes of a transaction: its fields in the order of its type, as RLP, in the envelope of the type (EIP-2718). */
import * as Rlp from "ox/Rlp";
import { concat, numberToHex } from "../primitives/bytes.js";
import type { Hex } from "../primitives/hex.js";

/** What the bytes of a transaction say. Amounts in wei, prices in wei per gas, null = absent. */
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

/** Bytes, or a list of such. */
export type Item = Hex | ReadonlyArray<Item>;

const call = ["gas", "to", "value", "input"] as const;
const capped = ["chainId", "nonce", "maxPriorityFeePerGas", "maxFeePerGas", ...call, "accessList"] as const;

/** The signed fields by type, in order (EIP-155, EIP-2930, EIP-1559, EIP-4844, EIP-7702). Blobs are not covered by the hash. */
export const orders: Readonly<Record<string, ReadonlyArray<Exclude<keyof Fields, "type">>>> = {
  "0x0": ["nonce", "gasPrice", ...call],
  "0x1": ["chainId", "nonce", "gasPrice", ...call, "accessList"],
  "0x2": capped,
  "0x3": [...capped, "maxFeePerBlobGas", "blobVersionedHashes"],
  "0x4": [...capped, "authorizationList"],
};

/** True if it is of the type that has no number: EIP-155, or before. */
export const isLegacy = (type: string | null): boolean => type === null || type === "0x0";

/** A number as RLP has it: without leading zeros, and zero as no bytes. */
export const scalar = (value: bigint): Hex => (value === 0n ? "0x" : numberToHex(value));

const itemOf = (shown: Fields, name: (typeof orders)[string][number]): Item | null => {
  if (name === "accessList") return shown[name]?.map(({ address, storageKeys }) => [address, storageKeys]) ?? null;
  if (name === "authorizationList")
    return (
      shown[name]?.map(({ address, chainId, nonce, yParity, r, s }) => [
        ...[scalar(chainId), address, scalar(nonce)],
        ...[yParity, r, s].map(scalar),
      ]) ?? null
    );
  const value = shown[name];
  return typeof value === "bigint" ? scalar(value) : value;
};

/**
 * The signed fields in order; null where one is not shown, and of a type that is not known. `gasPrice` beside a fee cap is the
 * price that was paid, and no field.
 */
export const itemsOf = (shown: Fields): ReadonlyArray<Item> | null => {
  const [order, { to }] = [orders[shown.type ?? "0x0"] ?? [], shown];
  // why: blobs and authorisations cannot deploy
  const isDeployment = to === null && !order.includes("blobVersionedHashes") && !order.includes("authorizationList");
  const items: Array<Item> = [];
  for (const name of order) {
    const item = itemOf(shown, name) ?? (name === "to" && isDeployment ? "0x" : null);
    if (item === null) return null;
    items.push(item);
  }
  return items.length === 0 ? null : items;
};

/** The bytes of a type around the items. */
export const sealed = (type: string | null, items: ReadonlyArray<Item>): Hex =>
  concat(isLegacy(type) ? "0x" : numberToHex(BigInt(type ?? 0), { size: 1 }), Rlp.fromHex(items));
