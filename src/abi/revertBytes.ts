/** Whether bytes are those of a Solidity revert. */
import { isBytes } from "../primitives/bytes.js";

const errorSelector = "0x08c379a0";
const panicSelector = "0x4e487b71";

const word = (data: string, index: number): bigint => BigInt(`0x${data.slice(10 + index * 64, 74 + index * 64)}`);

/**
 * Whether bytes that came back as a *success* are in truth `Error(string)` or `Panic(uint256)`, as
 * some nodes answer `eth_call`. Strict: selector, offset, length and total size must all fit, which
 * no return value of a Solidity function does by chance (those are multiples of 32 bytes).
 */
export const looksLikeRevert = (data: string): boolean => {
  const head = data.slice(0, 10).toLowerCase();
  if (head === panicSelector) return data.length === 74 && isBytes(data) && word(data, 0) <= 0xffn;
  if (head !== errorSelector || data.length < 138 || (data.length - 10) % 64 !== 0 || !isBytes(data)) return false;
  const size = word(data, 1);
  const words = BigInt((data.length - 138) / 64);
  return word(data, 0) === 32n && size <= words * 32n && size > (words - 1n) * 32n;
};
