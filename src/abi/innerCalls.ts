/**
 * Calls within a call: what multicalls, Safes and Uniswap's Universal Router are told to call, read out of their
 * arguments, and theirs in turn. Like every reading by a selector it tells what the bytes look like, and nothing is
 * decided by it. Bounded in depth and number; an encoding that is not exactly an encoder's is not looked into.
 */
import { checksummed } from "../primitives/text.js";
import { formatWei } from "../primitives/units.js";
import type { AbiSources } from "./abiIndex.js";
import { itemOf } from "./declaration.js";
import { decodeCall, describeRawCall } from "./decodeCall.js";
import { planOf, readers, valuesOf, type Raw } from "./innerForms.js";
import { describeCall, most, sizeOf } from "./print.js";
import { commands } from "./table/commands.js";

/** Calls that are read of one calldata, all levels together. */
const mostCalls = 64;

/** One call within another. */
export interface InnerCall {
  /** Who is called; null = the contract that reads it: a call to itself, or a command. */
  readonly to: string | null;
  /** Wei that goes with it; null = what the call itself came with, or none. */
  readonly value: bigint | null;
  /** Whether the code of `to` runs in the caller's place (`delegatecall`), with all that is the caller's. */
  readonly isDelegate: boolean;
  /** Calldata; of a command its input. */
  readonly data: string;
  /** Whether the batch goes on where this call fails: by its own flag, or by the batch's. */
  readonly mayFail: boolean;
  /** What is called, in one escaped line; null for nothing but value. */
  readonly text: string | null;
  /** The signature of the function that makes the calls within it; null where there are none. */
  readonly form: string | null;
  /** The calls within it, in order. */
  readonly calls: ReadonlyArray<InnerCall>;
  /** How many more are within it, not read. */
  readonly more: number;
}

/** What is within a call. */
export type Within = Pick<InnerCall, "calls" | "more" | "form">;

const named = new Map(
  commands.split("\n").map((line) => {
    const [number = "", declaration = ""] = line.split("|");
    return [number, itemOf("function", "", declaration)] as const;
  }),
);

/** A command of which no more is known. */
const unnamed = (command: string, data: string): string => `command 0x${command} with ${sizeOf(data)} bytes of input`;

/** A command in words, and the commands of a plan within it. */
const commandOf = (command: string, data: string): readonly [text: string, within: ReadonlyArray<Raw>] => {
  const flags = Number.parseInt(command, 16);
  const number = (flags & 0x7f).toString(16).padStart(2, "0");
  const item = named.get(number);
  const values = item === undefined ? null : valuesOf(item.inputs, data);
  if (item === undefined || values === null) return [unnamed(command, data), []];
  const plan = item.name === "EXECUTE_SUB_PLAN" ? planOf(data) : [];
  const text = describeCall(item.name, item.inputs, values);
  return [(flags & 0x80) === 0 ? text : `${text}, which may fail`, plan];
};

/** What is still to be read, of all levels together. */
interface Room {
  calls: number;
}

interface Whose {
  readonly abis: AbiSources;
  /** Whose ABI explains a call to the contract itself. */
  readonly self: string | null;
}

const within = (
  calls: ReadonlyArray<Raw>,
  whose: Whose,
  depth: number,
  room: Room,
): Pick<InnerCall, "calls" | "more"> => {
  const kept = depth >= most.depth ? [] : calls.slice(0, room.calls);
  room.calls -= kept.length;
  return { calls: kept.map((call) => read(call, whose, depth + 1, room)), more: calls.length - kept.length };
};

/** The calls within calldata, and the function that makes them. */
const withinData = (data: string, abis: AbiSources, self: string | null, depth: number, room: Room): Within => {
  const [form, calls] = rawCallsIn(data, abis, self);
  return { form, ...within(calls, { abis, self }, depth, room) };
};

const read = (call: Raw, { abis, self }: Whose, depth: number, room: Room): InnerCall => {
  const { to, value, isDelegate, mayFail, data, command } = call;
  const known = { to, value, isDelegate, mayFail, data };
  if (command !== null) {
    const [text, plan] = commandOf(command, data);
    return {
      ...known,
      text,
      form: plan.length === 0 ? null : "EXECUTE_SUB_PLAN",
      ...within(plan, { abis, self }, depth, room),
    };
  }
  const address = to ?? self;
  return { ...known, text: describeRawCall(data, abis, { address }), ...withinData(data, abis, address, depth, room) };
};

/** The calls of the first reading that has any. */
const rawCallsIn = (
  data: string,
  abis: AbiSources,
  address: string | null,
): readonly [form: string | null, calls: ReadonlyArray<Raw>] => {
  for (const { signature } of decodeCall(data, abis, { address })) {
    const calls = readers[signature]?.(data.toLowerCase()) ?? [];
    if (calls.length > 0) return [signature, calls];
  }
  return [null, []];
};

/** The calls within calldata for a contract (`address`), in order: up to four levels and `limit` calls of all, 64 by default. */
export const innerCalls = (
  data: string,
  abis: AbiSources = [],
  { address = null, limit = mostCalls }: { readonly address?: string | null; readonly limit?: number } = {},
): Within => withinData(data, abis, address, 0, { calls: limit });

/** One call in a line: `to 0x… with 1 ETH: deposit() (by selector: WETH9)`. */
const lineOf = ({ to, value, isDelegate, text }: InnerCall, symbol: string | undefined): string => {
  const whom =
    to === null ? "" : isDelegate ? `with the code of ${checksummed(to)} in its own place` : `to ${checksummed(to)}`;
  const amount = value === null || value === 0n ? "" : ` with ${formatWei(value, symbol)}`;
  const what = text ?? (amount === "" ? "nothing" : "nothing else");
  return whom === "" ? `${what}${amount}` : `${whom}${amount}: ${what}`;
};

/** Calls within a call for people, a line each in order; `place` is `1`, `2`, and `2.1` for the first within the second. */
export const innerLines = (
  { calls, more }: Pick<InnerCall, "calls" | "more">,
  symbol?: string,
  above: string = "",
): ReadonlyArray<{ readonly place: string; readonly text: string }> => [
  ...calls.flatMap((call, index) => {
    const place = `${above}${index + 1}`;
    return [{ place, text: lineOf(call, symbol) }, ...innerLines(call, symbol, `${place}.`)];
  }),
  ...(more === 0 ? [] : [{ place: `${above}…`, text: `${more} more, not read` }]),
];

/** As far to the right as the call is within others. */
export const indentOf = (place: string): string => "  ".repeat(place.split(".").length);
