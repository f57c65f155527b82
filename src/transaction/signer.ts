/** Recovers who signed, synchronously over secp256k1: authorisations, and signed transactions, which are read back. */
import { secp256k1 } from "@noble/curves/secp256k1";
import { sha256 } from "@noble/hashes/sha2";
import * as Result from "effect/Result";
import * as Struct from "effect/Struct";
import * as Rlp from "ox/Rlp";
import { bytesToHex, hexToBytes, keccak256, numberToHex } from "../primitives/bytes.js";
import { isHex, lower, type Address, type Hash, type Hex } from "../primitives/hex.js";
import { bytes, given, no } from "../primitives/problem.js";
import { remembered, safely } from "../primitives/record.js";
import { isUnsigned, maxAuthorizations, type Authorization, type UnsignedAuthorization } from "./fields.js";
import { amountItems, isLegacy, itemsOf, orderOf, sealed, type Item } from "./envelope.js";
import {
  authorizationHash,
  envelopes,
  fieldsIn,
  signingHash,
  unsignedBytes,
  type Request,
  type Signable,
} from "./request.js";
import type { ReadBytes } from "./forms.js";

const digits = (hex: string): string => hex.replace(/^0x/, "").padStart(64, "0");

const addressOf = (publicKey: string): Address => `0x${keccak256(`0x${publicKey.slice(2)}`).slice(-40)}` as Address;

/** The address of a private key. */
export const addressOfKey = (key: Hex): Address =>
  addressOf(bytesToHex(secp256k1.getPublicKey(digits(key), false)).slice(2));

/** The signature of an authorisation (EIP-7702) by a private key. */
export const signAuthorization = (key: Hex, { address, chainId, nonce }: Omit<UnsignedAuthorization, "authority">) => {
  const hash = authorizationHash({ authority: addressOfKey(key), address, chainId, nonce });
  const { r, s, recovery } = secp256k1.sign(digits(hash ?? ""), digits(key));
  return { r, s, yParity: recovery };
};

/** The address whose key signed `hash`; null when the signature is none. */
export const recoverSigner = (
  hash: string,
  { r, s, yParity }: { readonly r: string; readonly s: string; readonly yParity: number },
): Address | null =>
  safely(() => {
    const signature = secp256k1.Signature.fromCompact(`${digits(r)}${digits(s)}`).addRecoveryBit(yParity);
    // EIP-2: every chain refuses the upper half of s
    if (signature.hasHighS()) return null;
    return addressOf(signature.recoverPublicKey(digits(hash)).toHex(false));
  }, null);

/** The authorities of the last authorisations, by what these say: a recovery takes a millisecond, and a report asks for each five times. */
const authorities = remembered<Address | null>(2 * maxAuthorizations, 512);

/** The account that an EIP-7702 authorisation speaks for, the one it names before it is signed; null when its signature is none. */
export const authorityOf = (authorization: Authorization | UnsignedAuthorization): Address | null =>
  safely(() => {
    if (isUnsigned(authorization)) return authorization.authority;
    const { address, chainId, nonce, ...signature } = authorization;
    // why: ahead of what is remembered, where "1" and 1 are one key
    const hash = authorizationHash(authorization);
    if (hash === null) return null;
    const key = `${address}/${chainId}/${nonce}/${signature.r}/${signature.s}/${signature.yParity}`;
    return authorities(key, () => recoverSigner(hash, signature));
  }, null);

/** The number that bytes are; undefined where they are a list. */
const amountIn = (item: Item | undefined): bigint | undefined =>
  typeof item === "string" ? BigInt(item === "0x" ? 0 : item) : undefined;
const countIn = (item: Item | undefined): number => Number(amountIn(item) ?? Number.NaN);
const wordIn = (item: Item | undefined): Hash | undefined => {
  const amount = amountIn(item);
  return amount === undefined ? undefined : numberToHex(amount, { size: 32 });
};
/** The entries of a list of lists; undefined where it is none. */
const entriesIn = <A>(items: Item, read: (entry: ReadonlyArray<Item>) => A): ReadonlyArray<A | undefined> | undefined =>
  typeof items === "string" ? undefined : items.map((item) => (typeof item === "string" ? undefined : read(item)));

/** A field of the bytes as a request has it, of whatever kind they are; undefined where a request leaves it out. */
const readers: Readonly<Record<string, (item: Item) => unknown>> = {
  to: (item) => (item === "0x" ? undefined : item),
  input: (item) => item,
  blobVersionedHashes: (item) => item,
  chainId: countIn,
  nonce: countIn,
  accessList: (item) =>
    item.length === 0 ? undefined : entriesIn(item, ([address, storageKeys]) => ({ address, storageKeys })),
  authorizationList: (item) =>
    entriesIn(item, ([chainId, address, nonce, yParity, r, s]) => ({
      ...{ address, chainId: countIn(chainId), nonce: countIn(nonce), yParity: countIn(yParity) },
      ...{ r: wordIn(r), s: wordIn(s) },
    })),
};

/** The parity in `v`, and the chain that it binds. */
const ofLegacy = (v: bigint) =>
  v < 35n ? { parity: v - 27n, bound: {} } : { parity: (v - 35n) % 2n, bound: { chainId: Number((v - 35n) / 2n) } };

/** The request that the bytes of a type's fields are, with what else the signature says of it. */
const requestIn = (type: Request["type"], list: ReadonlyArray<Item>, bound: object): Request => {
  const names = orderOf(envelopes[type]);
  const read = names.map((name, at) => [name === "input" ? "data" : name, (readers[name] ?? amountIn)(list[at] ?? [])]);
  const known = Object.entries({ type, ...Object.fromEntries(read), ...bound }).filter(
    ([, value]) => value !== undefined,
  );
  // the fields are those of the type, in its order; `parsedOf` checks that they make the very bytes again
  return Object.fromEntries(known) as Request;
};

/** Signed bytes in lower case as their type, and its items with those of the signature; null where they are of none. */
const itemsIn = (raw: Hex) => {
  const type = Struct.keys(envelopes).find((each) =>
    isLegacy(envelopes[each]) ? raw.slice(2, 4) >= "c0" : raw.startsWith(`0x0${envelopes[each].slice(2)}`),
  );
  if (type === undefined) return null;
  const outer = Rlp.toHex(isLegacy(envelopes[type]) ? raw : `0x${raw.slice(4)}`);
  if (typeof outer === "string") return null;
  // why: a blob transaction may travel with its blobs, their commitments and proofs, a version in front (EIP-4844, EIP-7594)
  const isWrapped = type === "eip4844" && (outer.length === 4 || (outer.length === 5 && outer[1] === "0x01"));
  const [list, ...blobs] = isWrapped ? outer : [outer];
  return list === undefined || typeof list === "string" ? null : { type, list, blobs };
};

/**
 * A signed transaction, parsed: the request, its signature, and the items of both. Null where request and
 * signature do not make the very same bytes: other encodings of the same fields, and bytes behind the end, are not what
 * any node would take.
 */
const parsedOf = (text: string) => {
  const raw = isHex(text) ? lower(text) : "0x";
  const known = itemsIn(raw);
  if (known === null) return null;
  const { type, list, blobs } = known;
  const envelope = envelopes[type];
  const [v, r, s] = list.slice(orderOf(envelope).length).map(amountIn);
  if (v === undefined || r === undefined || s === undefined) return null;
  const { parity, bound } = isLegacy(envelope) ? ofLegacy(v) : { parity: v, bound: {} };
  const request = requestIn(type, list, bound);
  const fields = fieldsIn(request);
  const [items, sealing] = [fields === null ? null : itemsOf(fields), amountItems([v, r, s])];
  if (items === null || sealing === null || (parity !== 0n && parity !== 1n)) return null;
  const signed = [...items, ...sealing];
  return raw === sealed(envelope, blobs.length === 0 ? signed : [signed, ...blobs])
    ? { request, signed, envelope, blobs, signature: { r: numberToHex(r), s: numberToHex(s), yParity: Number(parity) } }
    : null;
};

/** The bytes of a signed transaction without blobs, which its hash does not cover; null where it is none. */
export const withoutBlobs = (raw: Hex): Hex | null =>
  safely(() => {
    const parsed = parsedOf(raw);
    return parsed === null ? null : sealed(parsed.envelope, parsed.signed);
  }, null);

/** The signer and the request of signed bytes; null when they are no signed transaction. */
export const readSigned = (raw: string): Signable | null =>
  safely(() => {
    const parsed = parsedOf(raw);
    const hash = parsed === null ? null : signingHash(parsed.request);
    if (parsed === null || hash === null) return null;
    const from: Address | null = recoverSigner(hash, parsed.signature);
    return from === null ? null : { from, request: parsed.request };
  }, null);

/** The request that unsigned bytes are; null where they are of none. */
const readUnsigned = (raw: Hex): Request | null => {
  const known = itemsIn(raw);
  if (known === null) return null;
  const { type, list } = known;
  const [chain, ...others] = list.slice(orderOf(envelopes[type]).length);
  const bound = isLegacy(envelopes[type]) && others.length === 2 ? { chainId: countIn(chain) } : {};
  const request = requestIn(type, list, bound);
  return unsignedBytes(request) === raw ? request : null;
};

/** True if the commitments beside a blob transaction are those of its hashes; the proofs are the node's to check. */
const areCommitted = ({ blobVersionedHashes = [] }: Request, beside: ReadonlyArray<Item>): boolean => {
  if (beside.length === 0) return true;
  const commitments = beside.at(-2);
  const hashes = Array.isArray(commitments)
    ? commitments.map((each: Hex) => `0x01${bytesToHex(sha256(hexToBytes(each))).slice(4)}`)
    : [];
  return hashes.length === blobVersionedHashes.length && hashes.every((hash, at) => hash === blobVersionedHashes[at]);
};

/** The call that a request is; an empty access list is a field of one type alone. */
const callOf = ({ type, accessList, ...request }: Request) => ({
  ...request,
  accessList: type === "eip2930" ? (accessList ?? []) : accessList,
});

/** Bytes as the call they are: of signed ones the sender is recovered, beside unsigned ones he has to be given. */
export const readBytes: ReadBytes = ({ raw, call, name }, defaults) =>
  Result.gen(function* () {
    const { path = "", bytes: hex } = raw ?? {};
    const text = lower(yield* bytes(hex, path));
    // why: unsigned legacy bytes with a chain have the places of a signature, too
    const unsigned = safely(() => readUnsigned(text), null);
    if (unsigned !== null && unsigned.chainId === undefined)
      return yield* no(path, "binds no chain (EIP-155): with one it would be another transaction; give its fields");
    if (unsigned !== null)
      return given(call["from"]) || defaults.from !== null
        ? { call: { ...callOf(unsigned), from: call["from"] }, origin: {} }
        : yield* no(name("from"), "is missing: unsigned bytes name no sender; give { from, raw }");
    const parsed = safely(() => parsedOf(text), null);
    if (parsed === null)
      return yield* no(
        path,
        "is no transaction of type 0 to 4: bytes are left over, missing, or written in another way",
      );
    const { request, signature, signed, envelope, blobs } = parsed;
    if (!areCommitted(request, blobs))
      return yield* no(path, "has commitments of blobs that are not blobVersionedHashes");
    const hash = signingHash(request);
    const from = hash === null ? null : recoverSigner(hash, signature);
    if (from === null) return yield* no(path, "has a signature that is none");
    const named = call["from"];
    if (given(named) && !(typeof named === "string" && lower(named) === from))
      return yield* no(name("from"), `differs from the signer of ${path}, who is ${from}`);
    return { call: { ...callOf(request), from }, origin: { raw: sealed(envelope, signed) } };
  });
