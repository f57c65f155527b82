/** Uniswap's Universal Router: commands in place of calls. Pure and total. */
import type { Hex } from "../primitives/hex.js";
import { plain, type Call, type Command, type Form, type Found, type Held } from "./batchForms.js";
import { argumentsAt, bytesAt, dataAt, itemsAt, placeOf, pointedAt } from "./words.js";

/** EXECUTE_SUB_PLAN(bytes,bytes[]) */
const subPlan = 0x21;

/** What a router makes of a command. */
const commanded = (call: Call, number: string, input: Hex): Held => {
  const flags = Number.parseInt(number, 16);
  // why: routers pass over the bit between the flag and the number, or know no number that has it
  const command: Command = { number, type: flags & 0x3f, input };
  return { ...call, ...plain, data: input, isOwn: true, mayFail: flags >= 0x80, command };
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

/** The calls within a command. */
export const planWithin = (call: Call, { type }: Command): Iterable<Found> =>
  type === subPlan ? planAt(dataAt)(call) : [];
