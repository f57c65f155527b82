/** Which instructions of bytecode can run: jumps followed by the places that the code itself pushes. Pure. */

export const jumpDestination = 0x5b;
export const push1 = 0x60;
export const push32 = 0x7f;
const [and, jump, jumpIf, push0] = [0x16, 0x56, 0x57, 0x5f];
const [dup1, dup16, swap1, swap16] = [0x80, 0x8f, 0x90, 0x9f];

/** What instructions take from the stack and leave on it, from first to last; any other ends. */
const effects: ReadonlyArray<readonly [first: number, last: number, takes: number, leaves: number]> = [
  [0x01, 0x07, 2, 1],
  [0x08, 0x09, 3, 1],
  [0x0a, 0x0b, 2, 1],
  [0x10, 0x14, 2, 1],
  [0x15, 0x15, 1, 1],
  [0x16, 0x18, 2, 1],
  [0x19, 0x19, 1, 1],
  [0x1a, 0x1d, 2, 1],
  [0x1e, 0x1e, 1, 1],
  [0x20, 0x20, 2, 1],
  [0x30, 0x30, 0, 1],
  [0x31, 0x31, 1, 1],
  [0x32, 0x34, 0, 1],
  [0x35, 0x35, 1, 1],
  [0x36, 0x36, 0, 1],
  [0x37, 0x37, 3, 0],
  [0x38, 0x38, 0, 1],
  [0x39, 0x39, 3, 0],
  [0x3a, 0x3a, 0, 1],
  [0x3b, 0x3b, 1, 1],
  [0x3c, 0x3c, 4, 0],
  [0x3d, 0x3d, 0, 1],
  [0x3e, 0x3e, 3, 0],
  [0x3f, 0x40, 1, 1],
  [0x41, 0x48, 0, 1],
  [0x49, 0x49, 1, 1],
  [0x4a, 0x4b, 0, 1],
  [0x50, 0x50, 1, 0],
  [0x51, 0x51, 1, 1],
  [0x52, 0x53, 2, 0],
  [0x54, 0x54, 1, 1],
  [0x55, 0x55, 2, 0],
  [0x58, 0x5a, 0, 1],
  [0x5b, 0x5b, 0, 0],
  [0x5c, 0x5c, 1, 1],
  [0x5d, 0x5d, 2, 0],
  [0x5e, 0x5e, 3, 0],
  [0xa0, 0xa0, 2, 0],
  [0xa1, 0xa1, 3, 0],
  [0xa2, 0xa2, 4, 0],
  [0xa3, 0xa3, 5, 0],
  [0xa4, 0xa4, 6, 0],
  [0xf0, 0xf0, 3, 1],
  [0xf1, 0xf2, 7, 1],
  [0xf4, 0xf4, 6, 1],
  [0xf5, 0xf5, 4, 1],
  [0xfa, 0xfa, 6, 1],
];
const effectOf = effects.reduce<ReadonlyArray<readonly [takes: number, leaves: number] | undefined>>(
  (all, [first, last, takes, leaves]) =>
    all.map((known, opcode) => (opcode >= first && opcode <= last ? [takes, leaves] : known)),
  Array.from({ length: 256 }, () => undefined),
);

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
export const reachedIn = (code: Uint8Array): ReadonlySet<number> | null => {
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
        const effect = effectOf[opcode];
        if (effect === undefined) break;
        for (let count = 0; count < effect[0]; count++) stack.pop();
        for (let count = 0; count < effect[1]; count++) stack.push(null);
      }
    }
  }
  return reached;
};
