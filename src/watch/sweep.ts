/** Whether bytecode can know more than state: a sweep over every instruction that can be reached. Pure. */
import { hexToBytes } from "viem";
import type { Hex } from "../primitives/hex.js";
import { jumpDestination, push1, push32, reachedIn } from "./reach.js";

/**
 * What a contract may do that the state alone does not decide, or that makes state of its own. What the sender owns
 * while it runs tells what was paid for gas, and so the base fee.
 */
const beyondState: ReadonlySet<number> = new Set([
  0x31, // BALANCE
  0x3a, // GASPRICE
  0x40, // BLOCKHASH
  0x41, // COINBASE
  0x42, // TIMESTAMP
  0x43, // NUMBER
  0x44, // PREVRANDAO
  0x45, // GASLIMIT
  0x48, // BASEFEE
  0x4a, // BLOBBASEFEE
  0x4b, // SLOTNUM
  0xf0, // CREATE
  0xf5, // CREATE2
  0xff, // SELFDESTRUCT
]);

/** Opcodes that depend on nothing but state, calldata and gas, from first to last; any other may be anything in a later fork. */
const known: ReadonlyArray<readonly [first: number, last: number]> = [
  [0x00, 0x0b],
  [0x10, 0x1e],
  [0x20, 0x20],
  [0x30, 0x30],
  [0x32, 0x39],
  [0x3b, 0x3f],
  [0x46, 0x47],
  [0x49, 0x49],
  [0x50, 0xa4],
  [0xf1, 0xf4],
  [0xfa, 0xfa],
  [0xfd, 0xfe],
];
const isKnown = (opcode: number): boolean => known.some(([first, last]) => opcode >= first && opcode <= last);

/** STOP, JUMP, RETURN, REVERT, INVALID: what follows is reached by a jump only. */
const ends: ReadonlySet<number> = new Set([0x00, 0x56, 0xf3, 0xfd, 0xfe]);

/** CALL, CALLCODE, DELEGATECALL, STATICCALL. */
const calls: ReadonlySet<number> = new Set([0xf1, 0xf2, 0xf4, 0xfa]);
const gas = 0x5a;
const push2 = 0x61;
/** What `transfer` and `send` of Solidity leave a payee. */
const stipend = "08fc";

const [address, and, balance, selfBalance] = [0x30, 0x16, 0x31, 0x47];
const mask = "f".repeat(40);

const push20 = 0x73;

/** What a sweep found. */
export interface Swept {
  /** Whether the code may read the block, the price, or what gas is left, or make or end accounts. */
  readonly isBeyondState: boolean;
  /** Whether it may read the balance of the account that it runs as. */
  readonly readsOwnBalance: boolean;
}

/**
 * Sweeps runtime code. Where some jump may go anywhere, every JUMPDEST outside of push data counts as reached; what is
 * neither reached from above nor by a jump never runs, as the metadata that compilers append.
 */
export const sweep = (code: Hex): Swept => {
  const bytes = hexToBytes(code);
  const reached = reachedIn(bytes);
  let isReached = true;
  let readsOwnBalance = false;
  // why: before SELFBALANCE a contract asked for its own by ADDRESS BALANCE, with the address masked by older compilers
  let own: "none" | "address" | "masking" = "none";
  // why: an access list makes a call cheaper, so that what is decided by gas is decided otherwise than in the transaction
  let given: "all" | "stipend" | "some" = "some";
  for (let at = 0; at < bytes.length; at++) {
    const opcode = bytes[at] ?? 0;
    const pushed = opcode >= push1 && opcode <= push32 ? opcode - push1 + 1 : 0;
    const data = () => code.slice(2 + 2 * (at + 1), 2 + 2 * (at + 1 + pushed)).toLowerCase();
    if (opcode === jumpDestination) isReached = true;
    if (reached?.has(at) ?? isReached) {
      const isOwn = opcode === selfBalance || (opcode === balance && own === "address");
      const isCall = calls.has(opcode);
      if (isCall ? given === "some" : given === "all") return { isBeyondState: true, readsOwnBalance: true };
      if (opcode === gas) given = "all";
      else if (opcode === push2 && data() === stipend) given = "stipend";
      else if (isCall || opcode === jumpDestination) given = "some";
      if (isOwn) readsOwnBalance = true;
      else if (beyondState.has(opcode) || !isKnown(opcode)) return { isBeyondState: true, readsOwnBalance: true };
      const isMask = opcode === push20 && data() === mask;
      if (opcode === address || (own === "masking" && opcode === and)) own = "address";
      else own = own === "address" && isMask ? "masking" : "none";
      if (ends.has(opcode)) isReached = false;
    }
    at += pushed;
  }
  return { isBeyondState: false, readsOwnBalance };
};
