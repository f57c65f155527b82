/** Whether code can do under one fork what it cannot under the one before. Pure. */
import type { Hex } from "../primitives/hex.js";

/**
 * Instructions that Amsterdam has and Osaka has not, or that may do more there: an account that is made may be larger,
 * and have more init code.
 */
const changed: ReadonlySet<number> = new Set([
  0x4b, // SLOTNUM
  0xe6, // DUPN
  0xe7, // SWAPN
  0xe8, // EXCHANGE
  0xf0, // CREATE
  0xf5, // CREATE2
  0xff, // SELFDESTRUCT
]);

const [jumpDestination, push1, push32] = [0x5b, 0x60, 0x7f] as const;

/** Opcodes that Osaka and Amsterdam have, from first to last; behind any other nothing runs under either. */
const shared: ReadonlyArray<readonly [first: number, last: number]> = [
  [0x01, 0x0b],
  [0x10, 0x1e],
  [0x20, 0x20],
  [0x30, 0x4a],
  [0x50, 0x55],
  [0x57, 0xa4],
  [0xf1, 0xf2],
  [0xf4, 0xf4],
  [0xfa, 0xfa],
];

/**
 * Whether an instruction of the code that can be reached is another under Amsterdam than under Osaka. A linear sweep:
 * jumps go to JUMPDESTs outside of push data alone, and what is behind an end is reached by a jump only.
 */
export const isOfLaterFork = (code: Hex): boolean => {
  let isReached = true;
  for (let at = 2; at + 1 < code.length; at += 2) {
    const opcode = Number.parseInt(code.slice(at, at + 2), 16);
    if (opcode === jumpDestination) isReached = true;
    if (isReached && changed.has(opcode)) return true;
    if (!shared.some(([first, last]) => opcode >= first && opcode <= last)) isReached = false;
    if (opcode >= push1 && opcode <= push32) at += 2 * (opcode - push1 + 1);
  }
  return false;
};
