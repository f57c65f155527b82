/** Checks that signed bytes are what was leased. Pure. */
import * as Result from "effect/Result";
import { type Hash, type Hex, keccak256, safely } from "../primitives/index.js";
import { SignedMismatch } from "../errors/index.js";
import { authorityOf, readSigned, withoutBlobs } from "../transaction/index.js";
import type { LaneId } from "./lane.js";
import type { Attempt } from "./laneRules.js";

const mismatch = (field: string, expected: unknown, actual: unknown) =>
  Result.fail(new SignedMismatch({ field, expected: String(expected), actual: String(actual) }));

/** The transaction hash. A blob transaction is sent with its blobs, which its hash does not cover. */
export const hashOf = (raw: Hex): Hash | null =>
  safely(() => {
    const bytes = raw.startsWith("0x03") ? withoutBlobs(raw) : raw;
    return bytes === null ? null : keccak256(bytes);
  }, null);

/**
 * The attempt that `raw` is, where it is signed by the lane's account for its chain with `nonce`, and
 * uses as many nonces as were leased: an authorisation of its own sender uses a second one.
 */
export const attemptOf = (
  raw: string,
  lane: LaneId,
  nonce: bigint,
  width: 1 | 2,
): Result.Result<Attempt, SignedMismatch> => {
  // why: plain JavaScript may sign with anything
  if (typeof raw !== "string") return mismatch("raw", "a signed transaction", typeof raw);
  const bytes = raw.toLowerCase() as Hex;
  const signed = readSigned(bytes);
  const hash = signed === null ? null : hashOf(bytes);
  if (signed === null || hash === null) return mismatch("raw", "a signed transaction", raw.slice(0, 66));
  const { from, request } = signed;
  if (BigInt(request.nonce) !== nonce) return mismatch("nonce", nonce, request.nonce);
  if (request.chainId !== lane.chainId) return mismatch("chainId", lane.chainId, request.chainId);
  if (from.toLowerCase() !== lane.address) return mismatch("from", lane.address, from);
  const authorizations = "authorizationList" in request ? (request.authorizationList ?? []) : [];
  const own = authorizations.filter((each) => authorityOf(each)?.toLowerCase() === lane.address).length;
  if (own !== width - 1) return mismatch("authorizationList", `${width - 1} of the sender`, `${own} of the sender`);
  return Result.succeed({ hash, raw: bytes });
};
