/** Recovers who signed, synchronously over secp256k1: authorisations, and signed transactions, which are read back. */
import { secp256k1 } from "@noble/curves/secp256k1";
import { keccak256, parseTransaction, serializeTransaction, type TransactionSerialized } from "viem";
import { hashAuthorization } from "viem/utils";
import type { Address } from "../primitives/hex.js";
import { remembered, safely } from "../primitives/record.js";
import { maxAuthorizations, type Authorization } from "./fields.js";
import { signingHash, type Request, type Signable } from "./request.js";

const digits = (hex: string): string => hex.replace(/^0x/, "").padStart(64, "0");

/** The address whose key signed `hash`; null when the signature is none. */
export const recoverSigner = (
  hash: string,
  { r, s, yParity }: { readonly r: string; readonly s: string; readonly yParity: number },
): Address | null =>
  safely(() => {
    const signature = secp256k1.Signature.fromCompact(`${digits(r)}${digits(s)}`).addRecoveryBit(yParity);
    // EIP-2: every chain refuses the upper half of s
    if (signature.hasHighS()) return null;
    const key = signature.recoverPublicKey(digits(hash)).toHex(false);
    return `0x${keccak256(`0x${key.slice(2)}`).slice(-40)}` as Address;
  }, null);

/** The authorities of the last authorisations, by what these say: a recovery takes a millisecond, and a report asks for each five times. */
const authorities = remembered<Address | null>(2 * maxAuthorizations, 512);

/** The account that an EIP-7702 authorisation speaks for; null when its signature is none. */
export const authorityOf = ({ address, chainId, nonce, ...signature }: Authorization): Address | null =>
  safely(() => {
    const key = `${address}/${chainId}/${nonce}/${signature.r}/${signature.s}/${signature.yParity}`;
    return authorities(key, () => recoverSigner(hashAuthorization({ address, chainId, nonce }), signature));
  }, null);

/** A signed transaction, parsed: the fields that `Request` has, and the signature. */
const parsedOf = (raw: string) => {
  const { r, s, yParity, v, ...fields } = parseTransaction(raw as TransactionSerialized) as Record<string, unknown>;
  if (typeof r !== "string" || typeof s !== "string") return null;
  const parity =
    typeof yParity === "number" ? yParity : typeof v === "bigint" ? Number(v >= 35n ? (v - 35n) % 2n : v - 27n) : null;
  if (parity !== 0 && parity !== 1) return null;
  const known = Object.fromEntries(
    Object.entries(fields).filter(([key, value]) => value !== undefined && !["blobs", "sidecars", "kzg"].includes(key)),
  ) as Partial<Request>;
  // why: viem's parser leaves out what is zero or empty
  const request = {
    nonce: 0,
    value: 0n,
    gas: 0n,
    data: "0x",
    ...(fields["type"] === "legacy" || fields["type"] === "eip2930"
      ? {}
      : { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }),
    ...known,
  } as Request;
  return { request, signature: { r, s, yParity: parity } };
};

/**
 * True if these are the bytes that request and signature make: other encodings of the same fields, and
 * bytes behind the end, are not what any node would take. A blob transaction may travel with its blobs.
 */
const isExact = (raw: string, { request, signature }: NonNullable<ReturnType<typeof parsedOf>>): boolean => {
  const { r, s, yParity } = signature;
  const sealed = { r: r as `0x${string}`, s: s as `0x${string}`, yParity, v: BigInt(27 + yParity) };
  const exact = serializeTransaction(request, sealed);
  const text = raw.toLowerCase();
  return text === exact || (request.type === "eip4844" && text.includes(exact.slice(4)));
};

/** The signer and the request of signed bytes; null when they are no signed transaction. */
export const readSigned = (raw: string): Signable | null =>
  safely(() => {
    const parsed = parsedOf(raw);
    const hash = parsed === null ? null : signingHash(parsed.request);
    if (parsed === null || hash === null || !isExact(raw, parsed)) return null;
    const from: Address | null = recoverSigner(hash, parsed.signature);
    return from === null ? null : { from, request: parsed.request };
  }, null);
