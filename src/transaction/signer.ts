/** Recovers who signed, synchronously over secp256k1: authorisations, and signed transactions, which are read back. */
import { secp256k1 } from "@noble/curves/secp256k1";
import * as Rlp from "ox/Rlp";
import { concat, keccak256, numberToHex } from "../primitives/bytes.js";
import type { Address, Hash, Hex } from "../primitives/hex.js";
import { remembered, safely } from "../primitives/record.js";
import { maxAuthorizations, type Authorization } from "./fields.js";
import { isLegacy, itemsOf, orders, scalar, sealed, type Item } from "./envelope.js";
import { envelopes, fieldsIn, signingHash, type Request, type Signable } from "./request.js";

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
    const said = [scalar(BigInt(chainId)), address, scalar(BigInt(nonce))];
    return authorities(key, () => recoverSigner(keccak256(concat("0x05", Rlp.fromHex(said))), signature));
  }, null);

const bigintOf = (item: Item): bigint => (item === "0x" ? 0n : BigInt(String(item)));
const countOf = (item: Item): number => Number(bigintOf(item));
const hashOf = (item: Item): Hash => numberToHex(bigintOf(item), { size: 32 });
const listOf = <A>(items: Item, read: (item: never) => A): ReadonlyArray<A> => Array.from(items as never, read);

/** A field of the bytes as a request has it; undefined where a request leaves it out. */
const readOf = (name: (typeof orders)[string][number], item: Item): unknown => {
  if (name === "to") return item === "0x" ? undefined : item;
  if (name === "input" || name === "blobVersionedHashes") return item;
  if (name === "chainId" || name === "nonce") return countOf(item);
  if (name === "accessList")
    return item.length === 0
      ? undefined
      : listOf(item, ([address, storageKeys]: ReadonlyArray<Item>) => ({ address, storageKeys }));
  if (name !== "authorizationList") return bigintOf(item);
  return listOf(item, ([chainId = [], address, nonce = [], yParity = [], r = [], s = []]: ReadonlyArray<Item>) => ({
    ...{ address, chainId: countOf(chainId), nonce: countOf(nonce), yParity: countOf(yParity) },
    ...{ r: hashOf(r), s: hashOf(s) },
  }));
};

/** The parity in `v`, and the chain that it binds. */
const ofLegacy = (v: bigint) =>
  v < 35n ? { parity: v - 27n, bound: {} } : { parity: (v - 35n) % 2n, bound: { chainId: Number((v - 35n) / 2n) } };

/** A signed transaction, parsed: the request, and the bytes that it makes with its signature, without blobs. */
const parsedOf = (raw: Hex) => {
  const [type, envelope] = Object.entries(envelopes).find(([, number]) =>
    isLegacy(number) ? raw.slice(2, 4) >= "c0" : raw.startsWith(`0x0${number.slice(2)}`),
  ) ?? ["", ""];
  const order = orders[envelope];
  if (order === undefined) return null;
  const outer = Rlp.toHex(isLegacy(envelope) ? raw : `0x${raw.slice(4)}`);
  // why: a blob transaction may travel with its blobs, their commitments and proofs
  const list = type === "eip4844" && outer.length === 4 ? outer[0] : outer;
  if (!Array.isArray(list)) return null;
  const [v, r, s] = list.slice(order.length).map(bigintOf);
  if (v === undefined || r === undefined || s === undefined || list.length !== order.length + 3) return null;
  const { parity, bound } = isLegacy(envelope) ? ofLegacy(v) : { parity: v, bound: {} };
  const { input: data, ...known } = Object.fromEntries(order.map((name, at) => [name, readOf(name, list[at] ?? [])]));
  const given = Object.entries({ type, ...known, data, ...bound }).filter(([, value]) => value !== undefined);
  // the fields are those of the type, in its order; what they hold is what makes the same bytes again
  const request = Object.fromEntries(given) as Request;
  const fields = fieldsIn(request);
  const items = fields === null ? null : itemsOf(fields);
  if (items === null || (parity !== 0n && parity !== 1n)) return null;
  const exact = sealed(envelope, [...items, ...[v, r, s].map(scalar)]);
  return { request, exact, signature: { r: numberToHex(r), s: numberToHex(s), yParity: Number(parity) } };
};

/** The bytes of a signed transaction without blobs, which its hash does not cover; null where it is none. */
export const withoutBlobs = (raw: Hex): Hex | null => safely(() => parsedOf(raw)?.exact ?? null, null);

/** The signer and the request of signed bytes; null when they are no signed transaction. */
export const readSigned = (raw: string): Signable | null =>
  safely(() => {
    const text = raw.toLowerCase() as Hex;
    const parsed = parsedOf(text);
    const hash = parsed === null ? null : signingHash(parsed.request);
    if (parsed === null || hash === null) return null;
    const { request, exact, signature } = parsed;
    // why: other encodings of the same fields, and bytes behind the end, are not what any node would take
    if (text !== exact && !(request.type === "eip4844" && text.includes(exact.slice(4)))) return null;
    const from: Address | null = recoverSigner(hash, signature);
    return from === null ? null : { from, request };
  }, null);
