/** Who signed: synchronous recovery over secp256k1, for authorisations and signed transactions. */
import { secp256k1 } from "@noble/curves/secp256k1";
import { keccak256 } from "viem";
import { hashAuthorization } from "viem/utils";
import type { Address } from "../primitives/hex.js";
import type { Authorization } from "./schema.js";
import { safely } from "../primitives/record.js";

interface Signature {
  readonly r: string;
  readonly s: string;
  readonly yParity: number;
}

const digits = (hex: string): string => hex.replace(/^0x/, "").padStart(64, "0");

/** The address whose key signed `hash`; null when the signature is none. */
export const recoverSigner = (hash: string, { r, s, yParity }: Signature): Address | null =>
  safely(() => {
    const signature = secp256k1.Signature.fromCompact(`${digits(r)}${digits(s)}`).addRecoveryBit(yParity);
    // EIP-2: every chain refuses the upper half of s
    if (signature.hasHighS()) return null;
    const key = signature.recoverPublicKey(digits(hash)).toHex(false);
    return `0x${keccak256(`0x${key.slice(2)}`).slice(-40)}` as Address;
  }, null);

/** The account that an EIP-7702 authorisation speaks for; null when its signature is none. */
export const authorityOf = ({ address, chainId, nonce, ...signature }: Authorization): Address | null =>
  safely(() => recoverSigner(hashAuthorization({ address, chainId, nonce }), signature), null);
