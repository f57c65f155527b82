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

/** A call as the arguments hold it. */
interface Raw {
  readonly to: string | null;
  readonly value: bigint | null;
  readonly isDelegate: boolean;
  readonly mayFail: boolean;
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
  mayFail: false,
  command: null,
});

/** The calls, each with whether its batch lets it fail. */
const lenient = (calls: ReadonlyArray<Raw>, mayFail = true): ReadonlyArray<Raw> =>
  calls.map((call) => ({ ...call, mayFail }));

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
const bytes32 = { type: "bytes32" } as const;
const executions = { type: "tuple[]", components: [address, uint, bytes] } as const;

const ofPairs = reader([pairs], ([calls]) => calls.map(([to, data]) => raw(to, data)));
const ofTried = reader([bool, pairs], ([isStrict, calls]) =>
  lenient(
    calls.map(([to, data]) => raw(to, data)),
    !isStrict,
  ),
);
const ofOwn = reader([uint, list], ([, calls]) => calls.map((data) => raw(null, data)));
const ofSafe = reader([address, uint, bytes, uint8], ([to, value, data, operation]) => [
  raw(to, data, value, operation === 1),
]);

const ofOne = reader([address, uint, bytes], ([to, value, data]) => [raw(to, data, value)]);
const ofExecutions = reader([executions], ([calls]) => calls.map(([to, value, data]) => raw(to, data, value)));

/** A role's call through a Safe; `role` is a number or 32 bytes. */
const ofRole = (role: typeof uint | typeof bytes32): Reader =>
  reader([address, uint, bytes, uint8, role, bool], ([to, value, data, operation, , isStrict]) =>
    lenient([raw(to, data, value, operation === 1)], !isStrict),
  );

/** ERC-7579: the first byte of a mode is the kind of call, the second whether failures are passed over. */
const ofMode = reader([bytes32, bytes], ([mode, data]): ReadonlyArray<Raw> => {
  const kind = mode.slice(2, 4);
  const mayFail = mode.slice(4, 6) === "01";
  const [to, rest] = [`0x${data.slice(2, 42)}`, data.slice(42)];
  if (kind === "00" && rest.length >= 64)
    return lenient([raw(to, `0x${rest.slice(64)}`, BigInt(`0x${rest.slice(0, 64)}`))], mayFail);
  if (kind === "ff" && to.length === 42) return lenient([raw(to, `0x${rest}`, null, true)], mayFail);
  // why: ERC-7821 may have further data behind the calls
  const [calls] = kind === "01" ? (valuesOf([executions], data) ?? valuesOf([executions, bytes], data) ?? [[]]) : [[]];
  return lenient(
    calls.map(([target, value, input]) => raw(target, input, value)),
    mayFail,
  );
});

/** User operations: what an EntryPoint calls of each account; a failure is passed over, and an event tells of it. */
const operation6 = [address, uint, bytes, bytes, uint, uint, uint, uint, uint, bytes, bytes] as const;
const operation7 = [address, uint, bytes, bytes, bytes32, uint, bytes32, bytes, bytes] as const;
type Operation = readonly [sender: string, nonce: bigint, init: string, data: string, ...rest: ReadonlyArray<unknown>];
const ofOperations = (components: typeof operation6 | typeof operation7): Reader =>
  reader([{ type: "tuple[]", components }, address], ([operations]) =>
    (operations as ReadonlyArray<Operation>).map(([sender, , , data]) => raw(sender, data)),
  );
const ofAggregated = (components: typeof operation6 | typeof operation7): Reader =>
  reader([{ type: "tuple[]", components: [{ type: "tuple[]", components }, address, bytes] }, address], ([groups]) =>
    (groups as ReadonlyArray<readonly [ReadonlyArray<Operation>, ...ReadonlyArray<unknown>]>).flatMap(([operations]) =>
      operations.map(([sender, , , data]) => raw(sender, data)),
    ),
  );

/** Requests to an ERC-2771 forwarder; it appends whose they are to the calldata. */
const request = {
  type: "tuple",
  components: [address, address, uint, uint, { type: "uint48" }, bytes, bytes],
} as const;
const requests = { ...request, type: "tuple[]" } as const;
const legacyRequest = { type: "tuple", components: [address, address, uint, uint, uint, bytes] } as const;
const forwarded = (from: string, to: string, value: bigint, data: string): Raw =>
  raw(to, `${data}${from.slice(2)}`.toLowerCase(), value);

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
    ? inputs.map((data, index) => {
        const command = given[index] ?? "";
        return { ...raw(null, data), command, mayFail: Number.parseInt(command, 16) >= 0x80 };
      })
    : [];
};

/** By signature. */
const readers: Readonly<Record<string, Reader>> = {
  "aggregate((address,bytes)[])": ofPairs,
  "blockAndAggregate((address,bytes)[])": ofPairs,
  "tryAggregate(bool,(address,bytes)[])": ofTried,
  "tryBlockAndAggregate(bool,(address,bytes)[])": ofTried,
  "aggregate3((address,bool,bytes)[])": reader([triples], ([calls]) =>
    calls.map(([to, mayFail, data]) => ({ ...raw(to, data), mayFail })),
  ),
  "aggregate3Value((address,bool,uint256,bytes)[])": reader([quadruples], ([calls]) =>
    calls.map(([to, mayFail, value, data]) => ({ ...raw(to, data, value), mayFail })),
  ),
  "multicall(bytes[])": reader([list], ([calls]) => calls.map((data) => raw(null, data))),
  "multicall(uint256,bytes[])": ofOwn,
  "multicall(bytes32,bytes[])": ofOwn,
  "execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)": reader(
    [address, uint, bytes, uint8, uint, uint, uint, address, address, bytes],
    ([to, value, data, operation]) => [raw(to, data, value, operation === 1)],
  ),
  "execTransactionFromModule(address,uint256,bytes,uint8)": ofSafe,
  "execTransactionFromModuleReturnData(address,uint256,bytes,uint8)": ofSafe,
  "execTransactionWithRole(address,uint256,bytes,uint8,bytes32,bool)": ofRole(bytes32),
  "execTransactionWithRole(address,uint256,bytes,uint8,uint16,bool)": ofRole(uint),
  "handleOps((address,uint256,bytes,bytes,uint256,uint256,uint256,uint256,uint256,bytes,bytes)[],address)":
    ofOperations(operation6),
  "handleOps((address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)[],address)": ofOperations(operation7),
  "handleAggregatedOps(((address,uint256,bytes,bytes,uint256,uint256,uint256,uint256,uint256,bytes,bytes)[],address,bytes)[],address)":
    ofAggregated(operation6),
  "handleAggregatedOps(((address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)[],address,bytes)[],address)":
    ofAggregated(operation7),
  "execute(address,uint256,bytes)": ofOne,
  "execute((address,uint256,bytes)[])": ofExecutions,
  "executeBatch((address,uint256,bytes)[])": ofExecutions,
  "execute(bytes32,bytes)": ofMode,
  "executeFromExecutor(bytes32,bytes)": ofMode,
  "execute((address,address,uint256,uint256,uint48,bytes,bytes))": reader(
    [request],
    ([[from, to, value, , , data]]) => [forwarded(from, to, value, data)],
  ),
  "executeBatch((address,address,uint256,uint256,uint48,bytes,bytes)[],address)": reader(
    [requests, address],
    ([calls, refunds]) =>
      lenient(
        calls.map(([from, to, value, , , data]) => forwarded(from, to, value, data)),
        BigInt(refunds) !== 0n,
      ),
  ),
  "execute((address,address,uint256,uint256,uint256,bytes),bytes)": reader(
    [legacyRequest, bytes],
    ([[from, to, value, , , data]]) => lenient([forwarded(from, to, value, data)]),
  ),
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
