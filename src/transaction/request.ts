/** The transaction to sign: its exact fields, its unsigned bytes, and the digest over a bundle of them. */
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import { concatHex, keccak256, numberToHex, serializeTransaction, type TransactionSerializable } from "viem";
import { Address, Hash, Hex } from "../errors/hex.js";
import { AccessListEntry, Authorization, type Transaction } from "./schema.js";

/** What viem's `signTransaction` takes, exactly. */
export const Request = Schema.Struct({
  type: Schema.Literals(["legacy", "eip2930", "eip1559", "eip4844", "eip7702"]),
  chainId: Schema.Int,
  nonce: Schema.Int,
  to: Schema.optionalKey(Address),
  data: Hex,
  value: Schema.BigInt,
  gas: Schema.BigInt,
  gasPrice: Schema.optionalKey(Schema.BigInt),
  maxFeePerGas: Schema.optionalKey(Schema.BigInt),
  maxPriorityFeePerGas: Schema.optionalKey(Schema.BigInt),
  accessList: Schema.optionalKey(Schema.Array(AccessListEntry)),
  authorizationList: Schema.optionalKey(Schema.Array(Authorization)),
  blobVersionedHashes: Schema.optionalKey(Schema.Array(Hash)),
  maxFeePerBlobGas: Schema.optionalKey(Schema.BigInt),
});
export type Request = typeof Request.Type;

/** What a request needs beside the input. */
export interface Filled {
  readonly chainId: number | null;
  readonly nonce: number | null;
  /** Gas limit. */
  readonly gas: bigint | null;
  readonly gasPrice: bigint | null;
  /** Wei per gas. */
  readonly maxFeePerGas: bigint | null;
  readonly maxPriorityFeePerGas: bigint | null;
}

/** The request of a transaction; null while any field is unknown. */
export const buildRequest = (transaction: Transaction, filled: Filled): Request | null => {
  const { chainId, nonce, gas, gasPrice, maxFeePerGas, maxPriorityFeePerGas } = filled;
  if (chainId === null || nonce === null || gas === null) return null;
  const common = {
    chainId,
    nonce,
    gas,
    data: transaction.data,
    value: transaction.value,
    ...(transaction.to === null ? {} : { to: transaction.to }),
    ...(transaction.accessList === null ? {} : { accessList: transaction.accessList }),
  };
  if (gasPrice !== null) return { type: transaction.accessList === null ? "legacy" : "eip2930", ...common, gasPrice };
  if (maxFeePerGas === null || maxPriorityFeePerGas === null) return null;
  const priced = { ...common, maxFeePerGas, maxPriorityFeePerGas };
  if (transaction.authorizationList !== null)
    return { type: "eip7702", ...priced, authorizationList: transaction.authorizationList };
  if (transaction.blobVersionedHashes !== null) {
    if (transaction.maxFeePerBlobGas === null) return null;
    return {
      type: "eip4844",
      ...priced,
      blobVersionedHashes: transaction.blobVersionedHashes,
      maxFeePerBlobGas: transaction.maxFeePerBlobGas,
    };
  }
  return { type: "eip1559", ...priced };
};

/** The unsigned EIP-2718 bytes (EIP-155 for legacy); null when the fields do not make a transaction. */
export const unsignedBytes = (request: Request): Hex | null =>
  // why: viem types `r` and `s` of authorisations and the sidecars more narrowly than what it serialises
  Result.getOrElse(
    Result.try(() => serializeTransaction(request as unknown as TransactionSerializable) as Hex),
    () => null,
  );

/** keccak256 of the unsigned bytes: what the key signs. */
export const signingHash = (request: Request): Hash | null => {
  const bytes = unsignedBytes(request);
  return bytes === null ? null : (keccak256(bytes) as Hash);
};

/** One transaction of a digest. */
export interface Signable {
  readonly from: Address;
  readonly request: Request;
}

/**
 * keccak256 over version, chain id, and per transaction in order its sender and signing hash; null
 * when one cannot be serialised. It finds mistakes, not forgery.
 */
export const digestOf = (version: number, chainId: number, signables: ReadonlyArray<Signable>): Hash | null => {
  const parts: Array<`0x${string}`> = [numberToHex(version, { size: 32 }), numberToHex(chainId, { size: 32 })];
  for (const { from, request } of signables) {
    const hash = signingHash(request);
    if (hash === null) return null;
    parts.push(from.toLowerCase() as Address, hash);
  }
  return keccak256(concatHex(parts)) as Hash;
};
