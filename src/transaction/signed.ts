/** A signed transaction read back: who signed it, and what. */
import { parseTransaction, serializeTransaction, type TransactionSerialized } from "viem";
import type { Address } from "../primitives/hex.js";
import { signingHash, type Request, type Signable } from "./request.js";
import { recoverSigner } from "./signer.js";
import { safely } from "../primitives/record.js";

/** The fields of a parsed transaction that `Request` has; the signature falls away. */
const requestOf = (
  raw: string,
): { readonly request: Request; readonly signature: { r: string; s: string; yParity: number } } | null => {
  const { r, s, yParity, v, ...fields } = parseTransaction(raw as TransactionSerialized) as Record<string, unknown>;
  if (typeof r !== "string" || typeof s !== "string") return null;
  const parity =
    typeof yParity === "number" ? yParity : typeof v === "bigint" ? Number(v >= 35n ? (v - 35n) % 2n : v - 27n) : null;
  if (parity !== 0 && parity !== 1) return null;
  const known = Object.fromEntries(
    Object.entries(fields).filter(([key, value]) => value !== undefined && !["blobs", "sidecars", "kzg"].includes(key)),
  );
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
  } as unknown as Request;
  return { request, signature: { r, s, yParity: parity } };
};

/**
 * Whether these are the bytes that request and signature make: other encodings of the same fields, and
 * bytes behind the end, are not what any node would take. A blob transaction may travel with its blobs.
 */
const isExact = (
  raw: string,
  { request, signature }: { readonly request: Request; readonly signature: { r: string; s: string; yParity: number } },
): boolean => {
  const { r, s, yParity } = signature;
  const sealed = { r: r as `0x${string}`, s: s as `0x${string}`, yParity, v: BigInt(27 + yParity) };
  const made = serializeTransaction(request, sealed);
  const given = raw.toLowerCase();
  return given === made || (request.type === "eip4844" && given.includes(made.slice(4)));
};

/** The signer and the request of signed bytes; null when they are no signed transaction. */
export const readSigned = (raw: string): Signable | null =>
  safely(() => {
    const parsed = requestOf(raw);
    const hash = parsed === null ? null : signingHash(parsed.request);
    if (parsed === null || hash === null || !isExact(raw, parsed)) return null;
    const from: Address | null = recoverSigner(hash, parsed.signature);
    return from === null ? null : { from, request: parsed.request };
  }, null);
