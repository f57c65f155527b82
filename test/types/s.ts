import { privateKeyToAccount } from "viem/accounts";
import type { TransactionSerializable } from "viem";
type H = `0x${string}`;
type Base = { readonly chainId: number; readonly nonce: number; readonly to?: H; readonly data: H; readonly value: bigint; readonly gas: bigint };
type AL = ReadonlyArray<{ readonly address: H; readonly storageKeys: ReadonlyArray<H> }>;
type Auth = ReadonlyArray<{ readonly address: H; readonly chainId: number; readonly nonce: number; readonly r: H; readonly s: H; readonly yParity: number }>;
type No<k extends string> = { readonly [key in k]?: never };
type R =
  | (Base & { readonly type: "legacy"; readonly gasPrice: bigint } & No<"maxFeePerGas" | "maxPriorityFeePerGas" | "accessList" | "authorizationList" | "blobVersionedHashes" | "maxFeePerBlobGas">)
  | (Base & { readonly type: "eip2930"; readonly gasPrice: bigint; readonly accessList: AL } & No<"maxFeePerGas" | "maxPriorityFeePerGas" | "authorizationList" | "blobVersionedHashes" | "maxFeePerBlobGas">)
  | (Base & { readonly type: "eip1559"; readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint; readonly accessList?: AL } & No<"gasPrice" | "authorizationList" | "blobVersionedHashes" | "maxFeePerBlobGas">)
  | (Base & { readonly type: "eip7702"; readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint; readonly accessList?: AL; readonly authorizationList: Auth } & No<"gasPrice" | "blobVersionedHashes" | "maxFeePerBlobGas">)
  | (Base & { readonly type: "eip4844"; readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint; readonly accessList?: AL; readonly blobVersionedHashes: ReadonlyArray<H>; readonly maxFeePerBlobGas: bigint } & No<"gasPrice" | "authorizationList">);
declare const r: R;
const account = privateKeyToAccount("0x");
export const a = account.signTransaction(r);
export const b: TransactionSerializable = r;
declare const r1: Extract<R, { type: "legacy" }>;
export const b1: TransactionSerializable = r1;
declare const r2: Extract<R, { type: "eip2930" }>;
export const b2: TransactionSerializable = r2;
declare const r3: Extract<R, { type: "eip1559" }>;
export const b3: TransactionSerializable = r3;
declare const r4: Extract<R, { type: "eip7702" }>;
export const b4: TransactionSerializable = r4;
declare const r5: Extract<R, { type: "eip4844" }>;
export const b5: TransactionSerializable = r5;
