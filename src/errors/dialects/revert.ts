/** Reverts, before anything else is read: the words after them are the contract's and may say anything. */
import { looksLikeRevert } from "../../abi/revert.js";
import type { Hex } from "../../primitives/hex.js";
import { type Flat, type Level, bytesInText, saysReverted } from "../flatten.js";
import { ExecutionReverted } from "../verdicts.js";
import type { Answer } from "./evidence.js";

/** HTTP answers that never come from an execution. */
const refusals: ReadonlySet<number | null> = new Set([401, 403, 429]);

/** Codes whose `data` is a transaction hash: a sent transaction that timed out or was refused. */
const hashCodes: ReadonlySet<number | null> = new Set([4, 5]);

// Nethermind and parity put the verdict into `data` under a code that others use for other things; the codes for
// anything at all need the bytes: Solidity's own errors, or one of an ABI that the caller gave
const vmError = (flat: Flat, { code, bytes, texts }: Level): boolean =>
  ((code === -32015 || code === -32016) && texts.some((text) => bytesInText(text) !== null)) ||
  // why: a gateway that fails after it passed bytes on says so, too: a send is not refused by that
  (vmCodes.has(code) &&
    !(code === -32603 && flat.method.startsWith("eth_send")) &&
    bytes !== null &&
    (looksLikeRevert(bytes) || flat.isKnownError(bytes)));
const vmCodes: ReadonlySet<number | null> = new Set([-32000, -32015, -32016, -32603]);

// released anvil (1.3.6 to 1.7.1) answers every failed simulated call with this pair
const anvilCall = (flat: Flat, level: Level): boolean => flat.scope === "call" && level.code === -3200;

const reverts = (flat: Flat, level: Level): boolean =>
  level.code === 3 || level.texts.some(saysReverted) || vmError(flat, level) || anvilCall(flat, level);

/** The revert bytes: under the level that speaks of the revert first, then deeper, then above, then `returnData`. */
const bytesOf = (flat: Flat, at: number): Hex | null => {
  const levels = [...flat.levels.slice(at), ...flat.levels.slice(0, at)].filter(({ code }) => !hashCodes.has(code));
  const found = levels.flatMap(({ bytes }) => (bytes === null ? [] : [bytes]));
  if (flat.returnData !== null) found.push(flat.returnData);
  return found.find((bytes) => bytes.length > 2) ?? found[0] ?? null;
};

/** An execution that reverted, with its bytes where the node kept them. */
export const revert = (flat: Flat): Answer => {
  if (refusals.has(flat.httpStatus)) return undefined;
  const at = flat.levels.findIndex((level) => reverts(flat, level));
  if (at < 0) return undefined;
  const texts = flat.levels[at]?.texts ?? [];
  const text = texts.find(saysReverted) ?? texts[0] ?? null;
  // the bytes were checked when they were found; a megabyte is not checked twice
  return new ExecutionReverted({ data: bytesOf(flat, at), text, raw: flat.raw }, { disableChecks: true });
};
