/** The entries of a transaction's lists: what is kept of them, and how they are read. */
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import { Address, Hash } from "../primitives/hex.js";
import { address, given, hash, integer, listOf, nonce, record, type Read } from "./read.js";

/** One entry of an EIP-2930 access list. */
export const AccessListEntry = Schema.Struct({
  address: Address,
  /** Slots of its storage, 32 bytes each. */
  storageKeys: Schema.Array(Hash),
});

/** A signed EIP-7702 authorisation, as viem's `signAuthorization` returns it. */
export const Authorization = Schema.Struct({
  /** The delegate; the zero address clears the delegation. */
  address: Address,
  /** 0 = every chain. */
  chainId: Schema.Int,
  /** The authority's nonce. */
  nonce: Schema.Int,
  /** The signature's r, 32 bytes. */
  r: Hash,
  /** The signature's s, 32 bytes. */
  s: Hash,
  /** 0 or 1. */
  yParity: Schema.Int,
});
export type Authorization = typeof Authorization.Type;

/** A signed authorisation as callers write it: the parity by itself or in `v`. */
export interface GivenAuthorization extends Omit<Authorization, "yParity"> {
  /** 0 or 1. */
  readonly yParity?: number | undefined;
  /** 27 or 28. */
  readonly v?: bigint | undefined;
}

export const accessListEntry: Read<typeof AccessListEntry.Type> = (value, field) =>
  Result.gen(function* () {
    const entry = yield* record(value, field);
    return {
      address: yield* address(entry["address"], `${field}.address`),
      storageKeys: yield* listOf(hash)(entry["storageKeys"] ?? [], `${field}.storageKeys`),
    };
  });

export const authorization: Read<Authorization> = (value, field) =>
  Result.gen(function* () {
    const entry = yield* record(value, field);
    const parity = given(entry["yParity"])
      ? entry["yParity"]
      : typeof entry["v"] === "bigint"
        ? Number(entry["v"] >= 27n ? entry["v"] - 27n : entry["v"])
        : undefined;
    return {
      address: yield* address(entry["address"] ?? entry["contractAddress"], `${field}.address`),
      chainId: yield* integer()(entry["chainId"], `${field}.chainId`),
      nonce: yield* nonce(entry["nonce"], `${field}.nonce`),
      r: yield* hash(entry["r"], `${field}.r`),
      s: yield* hash(entry["s"], `${field}.s`),
      yParity: yield* integer(1)(parity, `${field}.yParity`),
    };
  });
