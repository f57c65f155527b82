/** Uniswap's Universal Router: commands in place of calls, and which of them are known to be one. Pure and total. */
import type { Address, Hex } from "../primitives/hex.js";
import { called, plain, type Call, type Command, type Form, type Found, type Held } from "./batchForms.js";
import { argumentsAt, bytesAt, countAt, dataAt, itemsAt, placeOf, pointedAt, wordDigits, wordsFrom } from "./words.js";

/** Calldata with another argument in front of those of `rest`, from whose beginning `pointers` count. */
const behind = (selector: Hex, first: Address, rest: Hex, pointers: ReadonlyArray<number>): Hex | null => {
  const heads = wordsFrom(rest, dataAt, Math.max(...pointers) + 1);
  const moved = heads.map((word, index) => (pointers.includes(index) ? BigInt.asUintN(256, word + 32n) : word));
  const words = [BigInt(first), ...moved].map((word) => word.toString(16).padStart(wordDigits, "0"));
  const isWhole = pointers.every((index) => index < heads.length);
  return isWhole ? `${selector}${words.join("")}${rest.slice(dataAt + heads.length * wordDigits)}` : null;
};

/** Uniswap's Permit2, at the same address on nearly every chain it is on; where nothing lives there, nothing answers. */
export const permit2: Address = "0x000000000022d473030f116ddee9f6b43ac78ba3";

/** Commands by which a router calls Permit2 for its caller, and which words of their inputs are pointers. */
const permits: Readonly<Record<number, readonly [selector: Hex, ...pointers: ReadonlyArray<number>]>> = {
  // PERMIT2_PERMIT_BATCH(PermitBatch,bytes), PERMIT2_PERMIT(PermitSingle,bytes)
  0x03: ["0x2a2d80d1", 0, 1],
  0x0a: ["0x2b67b570", 6],
};
/** EXECUTE_SUB_PLAN(bytes,bytes[]): Uniswap's, and that of earlier routers and of others'. */
const subPlans: ReadonlySet<number> = new Set([0x20, 0x21]);
/** The bits of a command that are its number; some routers take one bit more. */
const numberBits = 0x3f;

/** What a router makes of a command. */
const commanded = (call: Call, number: string, input: Hex): Held => {
  const flags = Number.parseInt(number, 16);
  const command: Command = { number, type: flags & 0x7f, input, isCall: false };
  const held: Held = { ...call, ...plain, data: input, isOwn: true, mayFail: flags >= 0x80, command };
  const [selector, ...pointers] = permits[flags & numberBits] ?? [null];
  const data = selector === null ? null : behind(selector, call.from, input, pointers);
  if (data === null) return held;
  const { mayFail } = held;
  return { ...called(call, permit2, data), mayFail, isMeans: true, command: { ...command, isCall: true } };
};

/** Numbers of commands, a byte each, and their inputs in a list, where arguments begin at `start`. */
const planAt = (start: number): Form =>
  function* (call) {
    const { data } = call;
    const numbers = bytesAt(data, pointedAt(data, start, start)) ?? "0x";
    let at = dataAt;
    for (const item of itemsAt(data, pointedAt(data, placeOf(1, start), start))) {
      const input = bytesAt(data, item);
      const number = numbers.slice(at, at + 2);
      at += 2;
      yield input === null || number === "" ? null : commanded(call, number, input);
    }
    if (at !== numbers.length) yield null;
  };

/** Uniswap's Universal Router: commands in place of calls. */
export const plan = planAt(argumentsAt);

/** Whether an input is a plan: routers number their commands otherwise. */
const isPlan = ({ data }: Call): boolean =>
  bytesAt(data, pointedAt(data, dataAt, dataAt)) !== null &&
  countAt(data, pointedAt(data, placeOf(1, dataAt), dataAt)) !== null;

/** The calls within a command. */
export const planWithin = (call: Call, { type }: Command): Iterable<Found> =>
  subPlans.has(type & numberBits) && isPlan(call) ? planAt(dataAt)(call) : [];
