/** The transaction to sign: its exact fields, its unsigned bytes, and the digest over a bundle of them. */
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import { concatHex, keccak256, numberToHex, serializeTransaction } from "viem";
import { Address, Hash, Hex } from "../primitives/hex.js";
import { AccessListEntry, Authorization, type Transaction } from "./schema.js";

const common = { chainId: Schema.Int, nonce: Schema.Int, data: Hex, value: Schema.BigInt, gas: Schema.BigInt };
const anyTarget = { ...common, to: Schema.optionalKey(Address) };
const gasPrice = { gasPrice: Schema.BigInt };
const feeCap = { maxFeePerGas: Schema.BigInt, maxPriorityFeePerGas: Schema.BigInt };
const accessList = Schema.Array(AccessListEntry);
const absent = Schema.optionalKey(Schema.Never);
const noGasPrice = { gasPrice: absent };
const noFeeCap = { maxFeePerGas: absent, maxPriorityFeePerGas: absent };
const noBlobs = { blobVersionedHashes: absent, maxFeePerBlobGas: absent };
const noAuthorizations = { authorizationList: absent };

/** What viem's `signTransaction` takes, exactly: its types accept it as it is. */
export const Request = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("legacy"),
    ...{ ...anyTarget, ...gasPrice, ...noFeeCap, ...noBlobs, ...noAuthorizations },
    accessList: absent,
  }),
  Schema.Struct({
    type: Schema.Literal("eip2930"),
    ...{ ...anyTarget, ...gasPrice, ...noFeeCap, ...noBlobs, ...noAuthorizations },
    accessList,
  }),
  Schema.Struct({
    type: Schema.Literal("eip1559"),
    ...{ ...anyTarget, ...feeCap, ...noGasPrice, ...noBlobs, ...noAuthorizations },
    accessList: Schema.optionalKey(accessList),
  }),
  Schema.Struct({
    type: Schema.Literal("eip4844"),
    ...{ ...common, ...feeCap, ...noGasPrice, ...noAuthorizations },
    to: Address,
    accessList: Schema.optionalKey(accessList),
    blobVersionedHashes: Schema.Array(Hash),
    maxFeePerBlobGas: Schema.BigInt,
  }),
  Schema.Struct({
    type: Schema.Literal("eip7702"),
    ...{ ...common, ...feeCap, ...noGasPrice, ...noBlobs },
    to: Address,
    accessList: Schema.optionalKey(accessList),
    authorizationList: Schema.Array(Authorization),
  }),
]);
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
  const { to, accessList, authorizationList, blobVersionedHashes, maxFeePerBlobGas } = transaction;
  const given = { chainId, nonce, gas, data: transaction.data, value: transaction.value };
  const target = { ...given, ...(to === null ? {} : { to }) };
  if (gasPrice !== null)
    return accessList === null
      ? { type: "legacy", ...target, gasPrice }
      : { type: "eip2930", ...target, gasPrice, accessList };
  if (maxFeePerGas === null || maxPriorityFeePerGas === null) return null;
  const priced = { maxFeePerGas, maxPriorityFeePerGas, ...(accessList === null ? {} : { accessList }) };
  if (authorizationList === null && blobVersionedHashes === null) return { type: "eip1559", ...target, ...priced };
  // Neither of the two can deploy.
  if (to === null) return null;
  if (authorizationList !== null) return { type: "eip7702", ...given, ...priced, to, authorizationList };
  if (blobVersionedHashes === null || maxFeePerBlobGas === null) return null;
  return { type: "eip4844", ...given, ...priced, to, blobVersionedHashes, maxFeePerBlobGas };
};

/** The unsigned EIP-2718 bytes (EIP-155 for legacy); null when the fields do not make a transaction. */
export const unsignedBytes = (request: Request): Hex | null =>
  Result.getOrElse(
    Result.try(() => serializeTransaction(request)),
    () => null,
  );

/** keccak256 of the unsigned bytes: what the key signs. */
export const signingHash = (request: Request): Hash | null => {
  const bytes = unsignedBytes(request);
  return bytes === null ? null : keccak256(bytes);
};

/**
 * Whether a request is that transaction with only its open fields filled in: target, data, value and
 * lists are the input's, and so is every number that the caller fixed.
 */
export const isRequestOf = (transaction: Transaction, request: Request): boolean => {
  const built = buildRequest(transaction, {
    chainId: transaction.chainId ?? request.chainId,
    nonce: transaction.nonce ?? request.nonce,
    gas: transaction.gas ?? request.gas,
    gasPrice: transaction.gasPrice,
    maxFeePerGas: transaction.maxFeePerGas ?? request.maxFeePerGas ?? null,
    maxPriorityFeePerGas: transaction.maxPriorityFeePerGas ?? request.maxPriorityFeePerGas ?? null,
  });
  const hash = built === null ? null : signingHash(built);
  return hash !== null && hash === signingHash(request);
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
export const digestOf = (version: number, chainId: number, signables: ReadonlyArray<Signable>): Hash | null =>
  Result.getOrElse(
    Result.try(() => {
      const parts: Array<`0x${string}`> = [numberToHex(version, { size: 32 }), numberToHex(chainId, { size: 32 })];
      for (const { from, request } of signables) {
        const hash = signingHash(request);
        if (hash === null) return null;
        parts.push(from.toLowerCase() as Address, hash);
      }
      return keccak256(concatHex(parts));
    }),
    () => null,
  );
