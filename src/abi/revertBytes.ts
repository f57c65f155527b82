/** Whether bytes are those of a Solidity revert. */
import { isBytes } from "../primitives/bytes.js";
import { argumentsAt, wordDigits, wordsFrom } from "./words.js";

const errorSelector = "0x08c379a0";
const panicSelector = "0x4e487b71";

/**
 * Whether bytes that came back as a *success* are in truth `Error(string)` or `Panic(uint256)`, as
 * some nodes answer `eth_call`. Strict: selector, offset, length and total size must all fit, which
 * no return value of a Solidity function does by chance (those are multiples of 32 bytes).
 */
export const looksLikeRevert = (data: string): boolean => {
  const head = data.slice(0, argumentsAt).toLowerCase();
  if ((head !== panicSelector && head !== errorSelector) || !isBytes(data)) return false;
  const [first = 0n, size = 0n] = wordsFrom(data, argumentsAt, 2);
  if (head === panicSelector) return data.length === 74 && first <= 0xffn;
  if (data.length < 138 || (data.length - argumentsAt) % wordDigits !== 0) return false;
  const words = BigInt((data.length - 138) / wordDigits);
  return first === 32n && size <= words * 32n && size > (words - 1n) * 32n;
};
