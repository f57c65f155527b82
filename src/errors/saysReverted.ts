/**
 * Whether a text says, in its first words, that a call reverted.
 *
 * Only the beginning counts: what follows is the contract's own text, and a contract may write
 * anything there, such as the words of a rate limit.
 */

import { isBytes } from "../primitives/bytes.js";
import type { Hex } from "../primitives/hex.js";

// a request id in brackets, then up to three short labels such as `err:`, `rpc error:`, `failed with 50000000 gas:`
const labels = String.raw`^\s*(?:\[[^\]]{0,120}\]\s*)?(?:[\w .'"()-]{1,64}:\s+){0,3}`;
const says = [
  String.raw`(?:evm )?execution (?:was |has )?revert`,
  String.raw`executionreverted\b`,
  String.raw`vm exception[^:]{0,60}:[^:]{0,24}\brevert`,
  String.raw`(?:the )?(?:transaction|contract|call|contract call|message call|simulation|inner call) (?:was |has )?revert`,
  String.raw`the contract function [^\n]{1,120} revert`,
  String.raw`evm revert`,
  String.raw`reverted\b`,
  String.raw`revert(?=$|[\s:(,.])`,
  String.raw`vm execution error\.?:? ?revert`,
  String.raw`message execution failed[^\n]{0,60}revert reason`,
  String.raw`contract_revert_executed`,
  String.raw`revert opcode executed`,
].join("|");
const pattern = new RegExp(`${labels}(?:${says})`, "i");

/** True when `text` begins by saying that the call reverted. */
export const saysReverted = (text: string): boolean => pattern.test(text.length > 512 ? text.slice(0, 512) : text);

// Nethermind and parity: `Reverted 0x…`, `err: 0x… (supplied gas N)`, `0x…`; EDR: `… (return data: 0x…)`
const leadingBytes = /^(?:err: )?(?:revert(?:ed)?:?\s+)?(0x[0-9a-fA-F]*)(?=$|[\s"])/i;
const edrBytes =
  /^(?:Error: )?VM Exception while processing transaction: reverted with an unrecognized custom error \(return data: (0x[0-9a-fA-F]*)\)$/;

/** Bytes that a node wrote as text where its own words are expected; never read from a contract's words. */
export const bytesInText = (text: string): Hex | null => {
  const found = (leadingBytes.exec(text) ?? edrBytes.exec(text))?.[1];
  return isBytes(found) ? found : null;
};
