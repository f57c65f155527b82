/**
 * Whether bytecode can know more than state: a sweep over every instruction that can be reached, by jumps followed to the
 * places that the code itself pushes. Pure.
 */
import { hexToBytes } from "viem";
import type { Hex } from "../primitives/hex.js";

const [address, balance, selfBalance, gas, and] = [0x30, 0x31, 0x47, 0x5a, 0x16];
const [jump, jumpIf, jumpDestination] = [0x56, 0x57, 0x5b];
const [push0, push1, push2, push20, push32] = [0x5f, 0x60, 0x61, 0x73, 0x7f];
const [dup1, dup16, swap1, swap16] = [0x80, 0x8f, 0x90, 0x9f];

/** `30 32-34` as opcodes, in hex from first to last. */
const opcodesIn = (ranges: string): ReadonlyArray<number> =>
  ranges.split(" ").flatMap((range) => {
    const [first = 0, last = first] = range.split("-").map((opcode) => Number.parseInt(opcode, 16));
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });

/** Opcodes by how many words they take from the stack and leave on it; any other ends. */
const byEffect: ReadonlyArray<readonly [takes: number, leaves: number, opcodes: string]> = [
  [0, 0, "5b"],
  [0, 1, "30 32-34 36 38 3a 3d 41-48 4a-4b 58-5a"],
  [1, 0, "50"],
  [1, 1, "15 19 1e 31 35 3b 3f-40 49 51 54 5c"],
  [2, 0, "52-53 55 5d a0"],
  [2, 1, "01-07 0a-0b 10-14 16-18 1a-1d 20"],
  [3, 0, "37 39 3e 5e a1"],
  [3, 1, "08-09 f0"],
  [4, 0, "3c a2"],
  [4, 1, "f5"],
  [5, 0, "a3"],
  [6, 0, "a4"],
  [6, 1, "f4 fa"],
  [7, 1, "f1-f2"],
];
const effectOf = new Map(
  byEffect.flatMap(([takes, leaves, opcodes]) =>
    opcodesIn(opcodes).map((opcode) => [opcode, { takes, leaves }] as const),
  ),
);

/**
 * Opcodes that depend on nothing but state, calldata and gas, and make no state of their own. Not among them: BALANCE, for
 * what the sender owns while it runs tells what was paid for gas, and so the base fee; GASPRICE, BLOCKHASH, COINBASE,
 * TIMESTAMP, NUMBER, PREVRANDAO, GASLIMIT, BASEFEE, BLOBBASEFEE and SLOTNUM; CREATE, CREATE2 and SELFDESTRUCT; and what
 * may be anything in a later fork.
 */
const ofState = new Set(opcodesIn("00-0b 10-1e 20 30 32-39 3b-3f 46-47 49 50-a4 f1-f4 fa fd-fe"));

/** Words on top of the stack that the code pushed, the top last; null = any other. Below them may be anything. */
type Stack = ReadonlyArray<number | null>;

/** Deeper than this nothing is remembered. */
const mostWords = 64;
/** States that are followed, and instructions in all of them; who has more may jump anywhere. */
const mostStates = 20_000;
const mostSteps = 2_000_000;

/** Places that a jump may go to: JUMPDESTs outside of push data. */
const destinationsOf = (code: Uint8Array): ReadonlySet<number> => {
  const found = new Set<number>();
  for (let at = 0; at < code.length; at++) {
    const opcode = code[at] ?? 0;
    if (opcode === jumpDestination) found.add(at);
    else if (opcode >= push1 && opcode <= push32) at += opcode - push1 + 1;
  }
  return found;
};

const numberIn = (bytes: Uint8Array): number | null => {
  const value = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
  return Number.isSafeInteger(value) ? value : null;
};

/** The offsets of all instructions that can run; null where a jump may go anywhere, for what it takes was not pushed as it is. */
const reachedIn = (code: Uint8Array): ReadonlySet<number> | null => {
  const destinations = destinationsOf(code);
  const reached = new Set<number>();
  const known = new Set<string>();
  const waiting: Array<{ readonly from: number; readonly stack: Stack }> = [];
  let steps = 0;
  const follow = (from: number, stack: Stack): void => {
    // why: what is no place to jump to makes no difference behind this one
    const kept = stack.slice(-mostWords).map((word) => (word !== null && destinations.has(word) ? word : null));
    const first = kept.findIndex((word) => word !== null);
    const words = first < 0 ? [] : kept.slice(first);
    const name = `${from}|${words.join()}`;
    if (known.has(name)) return;
    known.add(name);
    waiting.push({ from, stack: words });
  };
  follow(0, []);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const stack = [...next.stack];
    const pop = (): number | null => stack.pop() ?? null;
    for (let at = next.from; at < code.length; at++) {
      if (++steps > mostSteps || known.size > mostStates) return null;
      const opcode = code[at] ?? 0;
      if (opcode === jumpDestination && at !== next.from) {
        follow(at, stack);
        break;
      }
      reached.add(at);
      if (opcode === jump || opcode === jumpIf) {
        const to = pop();
        if (opcode === jumpIf) pop();
        if (to === null) return null;
        if (destinations.has(to)) follow(to, stack);
        if (opcode === jump) break;
      } else if (opcode >= push0 && opcode <= push32) {
        const size = opcode - push0;
        stack.push(numberIn(code.subarray(at + 1, at + 1 + size)));
        at += size;
      } else if (opcode >= dup1 && opcode <= dup16) stack.push(stack.at(dup1 - opcode - 1) ?? null);
      else if (opcode >= swap1 && opcode <= swap16) {
        const depth = opcode - swap1 + 2;
        while (stack.length < depth) stack.unshift(null);
        const other = stack.length - depth;
        [stack[other], stack[stack.length - 1]] = [stack.at(-1) ?? null, stack[other] ?? null];
      } else if (opcode === and) {
        const [one, other] = [pop(), pop()];
        // why: compilers mask what they keep of a function before they jump there
        stack.push(one === null || other === null ? null : Number(BigInt(one) & BigInt(other)));
      } else {
        const effect = effectOf.get(opcode);
        if (effect === undefined) break;
        for (let count = 0; count < effect.takes; count++) stack.pop();
        for (let count = 0; count < effect.leaves; count++) stack.push(null);
      }
    }
  }
  return reached;
};

/** STOP, JUMP, RETURN, REVERT, INVALID: what follows is reached by a jump only. */
const ends: ReadonlySet<number> = new Set([0x00, 0x56, 0xf3, 0xfd, 0xfe]);

/** CALL, CALLCODE, DELEGATECALL, STATICCALL. */
const calls: ReadonlySet<number> = new Set([0xf1, 0xf2, 0xf4, 0xfa]);
/** What `transfer` and `send` of Solidity leave a payee. */
const stipend = "08fc";

/** What older compilers mask an address with. */
const mask = "f".repeat(40);

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
      else if (!ofState.has(opcode)) return { isBeyondState: true, readsOwnBalance: true };
      const isMask = opcode === push20 && data() === mask;
      if (opcode === address || (own === "masking" && opcode === and)) own = "address";
      else own = own === "address" && isMask ? "masking" : "none";
      if (ends.has(opcode)) isReached = false;
    }
    at += pushed;
  }
  return { isBeyondState: false, readsOwnBalance };
};
