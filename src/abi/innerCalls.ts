/**
 * Calls within a call: what multicalls, Safes and Uniswap's Universal Router are told to call, read out of their
 * arguments, and theirs in turn. Like every reading by a selector it tells what the bytes look like, and nothing is
 * decided by it. Bounded in depth and number; an encoding that is not exactly an encoder's is not looked into.
 */
import type { AbiParameter } from "abitype";
import { decodeAbiParameters, type DecodeAbiParametersReturnType } from "viem";
import { safely } from "../primitives/safely.js";
import { checksummed } from "../primitives/text.js";
import { formatWei } from "../primitives/units.js";
import type { AbiSources } from "./abiIndex.js";
import { itemOf } from "./declaration.js";
import { decodeCall, describeRawCall } from "./decodeCall.js";
import { leavesOf } from "./layout.js";
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
  /** What is called, in one escaped line; null for nothing but value. */
  readonly text: string | null;
  /** The calls within it, in order. */
  readonly calls: ReadonlyArray<InnerCall>;
  /** How many more are within it, not read. */
  readonly more: number;
}

/** A call as the arguments hold it. */
interface Raw {
  readonly to: string | null;
  readonly value: bigint | null;
  readonly isDelegate: boolean;
  /** Calldata; of a command its input. */
  readonly data: string;
  /** The number of a router's command in hex, with the flag that lets it fail. */
  readonly command: string | null;
}

type Reader = (data: string) => ReadonlyArray<Raw>;

/** Values of parameters (`data` without selector), where the bytes are exactly an encoder's; null where they are not. */
const valuesOf = <const P extends ReadonlyArray<AbiParameter>>(
  parameters: P,
  data: string,
): DecodeAbiParametersReturnType<P> | null =>
  leavesOf(parameters, data.slice(2), true) === null
    ? null
    : safely(() => decodeAbiParameters(parameters, data as `0x${string}`), null);

const reader =
  <const P extends ReadonlyArray<AbiParameter>>(
    parameters: P,
    read: (values: DecodeAbiParametersReturnType<P>) => ReadonlyArray<Raw>,
  ): Reader =>
  (data) => {
    const values = valuesOf(parameters, `0x${data.slice(10)}`);
    return values === null ? [] : read(values);
  };

const raw = (to: string | null, data: string, value: bigint | null = null, isDelegate = false): Raw => ({
  ...{ to, data, value, isDelegate },
  command: null,
});

const [address, bool, uint, uint8, bytes] = [
  { type: "address" },
  { type: "bool" },
  { type: "uint256" },
  { type: "uint8" },
  { type: "bytes" },
] as const;
const pairs = { type: "tuple[]", components: [address, bytes] } as const;
const triples = { type: "tuple[]", components: [address, bool, bytes] } as const;
const quadruples = { type: "tuple[]", components: [address, bool, uint, bytes] } as const;
const list = { type: "bytes[]" } as const;

const ofPairs = reader([pairs], ([calls]) => calls.map(([to, data]) => raw(to, data)));
const ofTried = reader([bool, pairs], ([, calls]) => calls.map(([to, data]) => raw(to, data)));
const ofOwn = reader([uint, list], ([, calls]) => calls.map((data) => raw(null, data)));
const ofSafe = reader([address, uint, bytes, uint8], ([to, value, data, operation]) => [
  raw(to, data, value, operation === 1),
]);

/** Transactions of a Safe, packed: operation, address, value, length, data. */
const packed = (data: string): ReadonlyArray<Raw> => {
  const found: Array<Raw> = [];
  for (let at = 2; at < data.length;) {
    const [operation, to, value, size] = [
      data.slice(at, at + 2),
      data.slice(at + 2, at + 42),
      data.slice(at + 42, at + 106),
      data.slice(at + 106, at + 170),
    ];
    const end = at + 170 + (/^0{48}/.test(size) ? 2 * Number.parseInt(size, 16) : Number.NaN);
    // why: bytes that are no such list are not read at all
    if (!(end <= data.length) || (operation !== "00" && operation !== "01")) return [];
    found.push(raw(`0x${to}`, `0x${data.slice(at + 170, end)}`, BigInt(`0x${value}`), operation === "01"));
    at = end;
  }
  return found;
};

/** The commands of a router with their inputs; none where they are not as many. */
const commanded = (numbers: string, inputs: ReadonlyArray<string>): ReadonlyArray<Raw> => {
  const given = numbers.slice(2).match(/../g) ?? [];
  return given.length === inputs.length
    ? inputs.map((data, index) => ({ ...raw(null, data), command: given[index] ?? "" }))
    : [];
};

/** By signature. */
const readers: Readonly<Record<string, Reader>> = {
  "aggregate((address,bytes)[])": ofPairs,
  "blockAndAggregate((address,bytes)[])": ofPairs,
  "tryAggregate(bool,(address,bytes)[])": ofTried,
  "tryBlockAndAggregate(bool,(address,bytes)[])": ofTried,
  "aggregate3((address,bool,bytes)[])": reader([triples], ([calls]) => calls.map(([to, , data]) => raw(to, data))),
  "aggregate3Value((address,bool,uint256,bytes)[])": reader([quadruples], ([calls]) =>
    calls.map(([to, , value, data]) => raw(to, data, value)),
  ),
  "multicall(bytes[])": reader([list], ([calls]) => calls.map((data) => raw(null, data))),
  "multicall(uint256,bytes[])": ofOwn,
  "multicall(bytes32,bytes[])": ofOwn,
  "execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)": reader(
    [address, uint, bytes, uint8, uint, uint, uint, address, address, bytes],
    ([to, value, data, operation]) => [raw(to, data, value, operation === 1)],
  ),
  "execTransactionFromModule(address,uint256,bytes,uint8)": ofSafe,
  "multiSend(bytes)": reader([bytes], ([transactions]) => packed(transactions)),
  "execute(bytes,bytes[])": reader([bytes, list], ([numbers, inputs]) => commanded(numbers, inputs)),
  "execute(bytes,bytes[],uint256)": reader([bytes, list, uint], ([numbers, inputs]) => commanded(numbers, inputs)),
};

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
  const plan = item.name === "EXECUTE_SUB_PLAN" ? valuesOf([bytes, list], data) : null;
  const text = describeCall(item.name, item.inputs, values);
  return [(flags & 0x80) === 0 ? text : `${text}, which may fail`, plan === null ? [] : commanded(...plan)];
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

const read = (call: Raw, { abis, self }: Whose, depth: number, room: Room): InnerCall => {
  const { to, value, isDelegate, data, command } = call;
  const known = { to, value, isDelegate };
  if (command !== null) {
    const [text, plan] = commandOf(command, data);
    return { ...known, text, ...within(plan, { abis, self }, depth, room) };
  }
  const address = to ?? self;
  const text = describeRawCall(data, abis, { address });
  return { ...known, text, ...within(rawCallsIn(data, abis, address), { abis, self: address }, depth, room) };
};

/** The calls of the first reading that has any. */
const rawCallsIn = (data: string, abis: AbiSources, address: string | null): ReadonlyArray<Raw> => {
  for (const { signature } of decodeCall(data, abis, { address })) {
    const calls = readers[signature]?.(data.toLowerCase()) ?? [];
    if (calls.length > 0) return calls;
  }
  return [];
};

/** The calls within calldata for a contract (`address`), in order: up to four levels and 64 calls of all. */
export const innerCalls = (
  data: string,
  abis: AbiSources = [],
  { address = null }: { readonly address?: string | null } = {},
): Pick<InnerCall, "calls" | "more"> =>
  within(rawCallsIn(data, abis, address), { abis, self: address }, 0, { calls: mostCalls });

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
