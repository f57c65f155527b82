/** Compares signed transactions with a clearance. Apart from `ready`: most pages never read signatures. Pure. */
import * as Arr from "effect/Array";
import { SignedMismatch } from "../errors/nonces.js";
import { plainJson } from "../primitives/json.js";
import { readSigned } from "../transaction/signer.js";
import { type Request, type Signable, signingHash } from "../transaction/request.js";
import { digestOf } from "./ready.js";
import { reportVersion, type Clearance } from "./schema.js";

const textOf = (value: unknown): string =>
  typeof value === "object" && value !== null ? JSON.stringify(plainJson(value)) : String(value ?? "none");

const other = (field: string, expected: unknown, actual: unknown): SignedMismatch =>
  new SignedMismatch({ field, expected: textOf(expected), actual: textOf(actual) });

/** The first field in which two requests differ; null when they are one. */
const fieldOf = (cleared: Request, signed: Request): keyof Request | null => {
  const names = Object.keys({ ...cleared, ...signed }) as ReadonlyArray<keyof Request>;
  return names.find((name) => textOf(cleared[name]).toLowerCase() !== textOf(signed[name]).toLowerCase()) ?? null;
};

const differs = (cleared: Signable, raw: string, at: string): SignedMismatch | null => {
  // why: plain JavaScript may sign with anything
  const text = typeof raw === "string" ? raw : typeof raw;
  const signed = readSigned(text);
  if (signed === null) return other(`${at}raw`, "a signed transaction", text.slice(0, 66));
  // why: the wrong key is the usual mistake, and with it every other field may be right
  if (signed.from !== cleared.from) return other(`${at}from`, cleared.from, signed.from);
  if (signingHash(cleared.request) === signingHash(signed.request)) return null;
  const field = fieldOf(cleared.request, signed.request);
  return field === null ? null : other(`${at}${field}`, cleared.request[field], signed.request[field]);
};

/**
 * The first thing in which these signed transactions are not what the clearance allows: `from` with both accounts
 * where another key signed, a field with both values, in a bundle with its place (`[1].from`); null when they are
 * exactly that. `count`: how many there are. `senders`, `digest`: the clearance was changed after it was given. Signatures
 * (`signs`) are not compared: they are no transactions.
 */
export const mismatch = (clearance: Clearance, signed: ReadonlyArray<string>): SignedMismatch | null => {
  const { signs, requests, senders, chainId } = clearance;
  if (senders.length !== requests.length) return other("senders", requests.length, senders.length);
  if (signed.length !== requests.length) return other("count", requests.length, signed.length);
  if (requests.length + signs.length === 0) return other("count", "at least one", 0);
  const cleared = Arr.zipWith(requests, senders, (request, from) => ({ from, request }));
  const digest = digestOf(reportVersion, chainId, cleared, signs);
  // why: the clearance may have been changed as well; its own words must give the same digest
  if (digest === null || digest !== clearance.digest) return other("digest", clearance.digest, digest);
  for (const [index, signable] of cleared.entries()) {
    const found = differs(signable, signed[index] ?? "", requests.length === 1 ? "" : `[${index}].`);
    if (found !== null) return found;
  }
  const signables = signed.flatMap((raw) => readSigned(raw) ?? []);
  const own = digestOf(reportVersion, chainId, signables, signs);
  return own === clearance.digest ? null : other("digest", clearance.digest, own);
};

/**
 * True if these signed transactions are exactly the requests that the clearance allows: every field, in order, and
 * signed by the senders it names. Anything else is false, never an exception; {@link mismatch} says what.
 *
 * @example
 * ```ts
 * import { createPreflight } from "evm-preflight/promise";
 * import { Report } from "evm-preflight";
 * import { privateKeyToAccount } from "viem/accounts";
 *
 * const account = privateKeyToAccount("0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d");
 * const preflight = createPreflight({ url: "http://127.0.0.1:8545" });
 * const report = await preflight.preflight({ from: account.address, to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", value: 1n });
 * const clearance = await preflight.ready(report);
 * const signed = await account.signTransaction(clearance.requests[0]);
 * const other = await account.signTransaction({ ...clearance.requests[0], value: 2n });
 * console.log(Report.matches(clearance, [signed]), Report.matches(clearance, [other])); // true false
 * await preflight.dispose();
 * ```
 */
export const matches = (clearance: Clearance, signed: ReadonlyArray<string>): boolean =>
  mismatch(clearance, signed) === null;
