/** Answers to `eth_simulateV1`, changed on the way. */
import type { Hex } from "viem";

export type Wire = { [key: string]: unknown };
export type BlockWire = Wire & { calls: Array<Wire & { returnData: Hex }> };

/** The one block of an answer. */
export const blockOf = (result: unknown): BlockWire => (result as [BlockWire])[0];

/** The answer with another block. */
export const rewritten = (change: (block: BlockWire) => BlockWire) => (result: unknown) => [
  change(structuredClone(blockOf(result))),
];

/** The witness, which is the first and the last call of a block, says something else. */
export const witnessSays = (change: (data: Hex) => Hex) =>
  rewritten((block) => ({
    ...block,
    calls: block.calls.map((call, index) =>
      index === 0 || index === block.calls.length - 1 ? { ...call, returnData: change(call.returnData) } : call,
    ),
  }));

/** Words of the environment, which is the witness's first answer; by their place in it. */
export const words = { parentHash: 2, baseFee: 4 } as const;

/** The witness sees another environment: one word of it is `value`, 64 digits of hex. */
export const environmentSays = (word: keyof typeof words, value: string) =>
  witnessSays((data) => {
    const at = 12 + words[word] * 64;
    return `${data.slice(0, at)}${value}${data.slice(at + 64)}` as Hex;
  });
