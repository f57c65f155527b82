/** The same worked out by viem: what bytes it makes of a request, and what it reads out of signed ones. */
import {
  keccak256,
  parseTransaction,
  serializeTransaction,
  type Hex,
  type TransactionSerializable,
  type TransactionSerialized,
} from "viem";
import { hashAuthorization } from "viem/utils";

import { recoverSigner } from "../rooms/transaction.js";

/** The result, or null where it throws. */
export const orNull = <A>(run: () => A): A | null => {
  try {
    return run();
  } catch {
    return null;
  }
};

export const bytesByViem = (request: unknown): Hex | null =>
  orNull(() => serializeTransaction(request as TransactionSerializable));

/** The signer of signed bytes, and the hash that was signed; null where they are not the very bytes that viem makes of what it reads. */
export const readByViem = (
  raw: string,
): { readonly from: string; readonly signed: Hex; readonly request: object } | null =>
  orNull(() => {
    const { r, s, yParity, v, ...fields } = parseTransaction(raw as TransactionSerialized) as Record<string, unknown>;
    const { blobs: _, sidecars, kzg: __, ...request } = fields;
    const parity =
      typeof yParity === "number"
        ? yParity
        : Number((v as bigint) >= 35n ? ((v as bigint) - 35n) % 2n : (v as bigint) - 27n);
    const seal = { r: r as Hex, s: s as Hex, yParity: parity, v: BigInt(27 + parity) };
    const exact = serializeTransaction(request as TransactionSerializable, seal);
    const isWhole = sidecars === undefined ? raw.toLowerCase() === exact : raw.toLowerCase().includes(exact.slice(4));
    const signed = keccak256(serializeTransaction(request as TransactionSerializable));
    const from = isWhole ? recoverSigner(signed, { r: seal.r, s: seal.s, yParity: parity }) : null;
    return from === null ? null : { from, signed, request };
  });

/** The account that an authorisation speaks for. */
export const authorityByViem = (authorization: unknown): string | null =>
  orNull(() => {
    const { address, chainId, nonce, ...signature } = authorization as Parameters<typeof hashAuthorization>[0] & {
      readonly address: Hex;
      readonly r: Hex;
      readonly s: Hex;
      readonly yParity: number;
    };
    return recoverSigner(hashAuthorization({ address, chainId, nonce }), signature);
  });
