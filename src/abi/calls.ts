/**
 * Calldata as data: the function, its arguments, and the calls inside; and that data in words, the only place that makes
 * them. A selector is four bytes that any contract may use for anything: where nothing but the selector tells, `by` says so.
 */
import * as Schema from "effect/Schema";
import type { AbiParameter } from "abitype";
import { Address, Hex, isBytes } from "../primitives/hex.js";
import { checksummed, escapeText } from "../primitives/text.js";
import { type Currency, formatWei } from "../primitives/units.js";
import { type Abis, type AbiSources, indexOf } from "./abiIndex.js";
import { type CallOptions, functionsOf, type KnownFunction } from "./decodeCall.js";
import { commandOf, innerCalls, type InnerCall, type InnerCallList } from "./innerCalls.js";
import { leavesOf, type Parameter, valuesOf } from "./layout.js";
import { argumentsText, type PrintStyle, most, sizeOf, wholeLook } from "./print.js";
import type { Command } from "./batchForms.js";
import type { Provenance } from "./revert.js";
import { argumentsOf, DecodedArgument, type Room } from "./values.js";

const functionFields = {
  /** The function's name, or the router's command; null where nothing names it. */
  function: Schema.NullOr(Schema.String),
  /** e.g. `transfer(address,uint256)`; null where nothing names it. */
  signature: Schema.NullOr(Schema.String),
  /** Its arguments, in order. */
  arguments: Schema.Array(DecodedArgument),
  /** How many further arguments are left out, for size. */
  moreArguments: Schema.Int,
  /**
   * How it is known. `abi`: by an ABI that the caller gave. `selector`: by nothing but the first four bytes, which any
   * contract may use otherwise. `command`: by the number of a router's command, likewise. `names`: by the caller's sources
   * of names, in `report.names` alone. null: not at all.
   */
  by: Schema.NullOr(Schema.Literals(["abi", "selector", "command", "names"])),
  /** The address that an `abi` was given for; for the others, the standards and contracts that have the function. */
  sources: Schema.Array(Schema.String),
};

/** A function that calldata fits. */
export const DecodedFunction = Schema.Struct(functionFields);
export interface DecodedFunction extends Schema.Schema.Type<typeof DecodedFunction> {}

const inner = Schema.suspend((): Schema.Codec<DecodedCall> => DecodedCall);
const callFields = {
  ...functionFields,
  /** The called account. Inside: null = the contract that makes the call, by a call to itself or a router's command. */
  to: Schema.NullOr(Address),
  /** Wei that goes with it; null = what the call around it came with, or none. */
  value: Schema.NullOr(Schema.BigInt),
  /** True where the code of `to` runs as the caller's own (DELEGATECALL). */
  isDelegate: Schema.Boolean,
  /** True if the batch goes on where this call fails. */
  mayFail: Schema.Boolean,
  /** The first four bytes of the calldata, or as many as there are; of a router's command its number, with its flags. */
  selector: Hex,
  /** Bytes of calldata; of a command, of its input. */
  size: Schema.Int,
  /** Other readings of the calldata; only the contract's own ABI could decide. */
  others: Schema.Array(DecodedFunction),
};
/** One call as data: whom it calls, what, and the calls inside it. */
export interface DecodedCall extends Schema.Schema.Type<Schema.Struct<typeof callFields>> {
  /** The calls inside it, in order, up to four levels. */
  readonly calls: ReadonlyArray<DecodedCall>;
  /** How many more are right inside it, not read. */
  readonly more: number;
}
/** One call as data: whom it calls, what, and the calls inside it. */
export const DecodedCall: Schema.Codec<DecodedCall> = Schema.Struct({
  ...callFields,
  calls: Schema.Array(inner),
  more: Schema.Int,
}).annotate({ identifier: "DecodedCall" });

/** Values of one calldata, all calls inside included, and what is kept of each. */
const limits = { items: 64, depth: 8, bytes: 256 } as const;
const mostValues = 1_024;

const nothing: DecodedFunction = {
  ...{ function: null, signature: null, arguments: [], moreArguments: 0, by: null, sources: [] },
};

/** The values without their names, which a record could hold but once each. */
const nameless = ({ type, components }: Parameter): AbiParameter =>
  ({ type, name: "", ...(components === undefined ? {} : { components: components.map(nameless) }) }) as AbiParameter;

/** The arguments in `bytes`, as far as there is room; null where they are not exactly an encoder's. */
const argumentsIn = (inputs: ReadonlyArray<Parameter>, bytes: string, room: Room) => {
  const isOver = sizeOf(bytes) > most.bytes;
  const values = inputs.length === 0 || isOver ? [] : valuesOf(inputs.map(nameless), bytes);
  if (values === null) return null;
  const kept = argumentsOf(inputs, values, limits, room);
  return { arguments: kept, moreArguments: inputs.length - kept.length };
};

const originOf = (provenance: ReadonlyArray<Provenance>): Pick<DecodedFunction, "by" | "sources"> => {
  const isShared = provenance[0]?.kind === "builtin";
  const telling = isShared ? provenance : provenance.filter(({ kind }) => kind === "address").slice(0, 1);
  return { by: isShared ? "selector" : "abi", sources: telling.flatMap(({ source }) => source ?? []) };
};

const functionOf = (data: string, { name, signature, inputs, provenance }: KnownFunction, room: Room) => {
  const read = argumentsIn(inputs, `0x${data.slice(10)}`, room);
  return read === null ? [] : [{ function: name, signature, ...read, ...originOf(provenance) }];
};

/** Reads a router's command; nothing of one whose input is not as its number has it. */
const commandFunction = (command: Command, room: Room): ReadonlyArray<DecodedFunction> => {
  const item = commandOf(command);
  const read = item === null ? null : argumentsIn(item.inputs, command.input, room);
  if (item === null || read === null) return [];
  const { name, signature, provenance } = item;
  return [{ function: name, signature, ...read, ...originOf([provenance]), by: "command" }];
};

const callOf = (
  { to, value, isDelegate, data, mayFail, command, ...within }: InnerCall,
  self: string | null,
  { abis, room }: { readonly abis: Abis; readonly room: Room },
  item: unknown = null,
): DecodedCall => {
  const address = to ?? self;
  const known =
    command === null
      ? functionsOf(data, abis, { address, item }).flatMap((fitting) => functionOf(data, fitting, room))
      : commandFunction(command, room);
  const [first = nothing, ...others] = known;
  return {
    ...first,
    ...{ to: to as Address | null, value, isDelegate, mayFail, size: sizeOf(data), others },
    selector: command === null ? (data.slice(0, 10).toLowerCase() as Hex) : `0x${command.number}`,
    calls: within.calls.map((call) => callOf(call, address, { abis, room })),
    more: within.more,
  };
};

/** Calldata for `address`, with `value` wei, as data; null where there is none, or what stands there is no hex. `item` = the ABI item that made it. */
export const callIn = (
  data: string,
  abis: Abis,
  { address = null, value = null, item = null }: CallOptions & { readonly value?: bigint | null } = {},
): DecodedCall | null => {
  if (!isBytes(data) || data === "0x") return null;
  const to = address?.toLowerCase() ?? null;
  const within: InnerCallList = innerCalls(data, abis, { address });
  const call = { ...within, to, value, isDelegate: false, data, mayFail: false, command: null };
  return callOf(call, null, { abis, room: { values: mostValues } }, item);
};

/**
 * Calldata as data: its function with its arguments, by the ABI or the ABIs, else by what many contracts share, and the
 * calls inside, those of `multicall(bytes[])`, Safes, Multicall3, bundlers and routers. null for no calldata; where nothing
 * names the function, `function` is null. Never throws, whatever the bytes.
 *
 * @example
 * ```ts
 * import { Errors } from "evm-preflight";
 *
 * const data = `0xa9059cbb${"3C44CdDdB6a900fa2b585dd299e03d12FA4293BC".padStart(64, "0")}${"2a".padStart(64, "0")}`;
 * const call = Errors.decodeCall(data);
 * console.log(call?.signature, call?.by, call?.arguments[1]?.value); // transfer(address,uint256) selector 42n
 * ```
 */
export const decodeCall = (
  data: string,
  abi: AbiSources = [],
  options: { readonly address?: string | null } = {},
): DecodedCall | null => callIn(data, indexOf(abi), options);

/** The functions of other ABIs that calldata fits to its last byte. */
export const namedFunctions = (data: string, abis: Abis): ReadonlyArray<DecodedFunction> => {
  const room = { values: mostValues };
  return functionsOf(data, abis)
    .filter(({ inputs }) => leavesOf(inputs, data.slice(10)) !== null)
    .flatMap((known) => functionOf(data, known, room))
    .map((known) => ({ ...known, by: "names", sources: [] }));
};

/** Returns the text of where a function is known from: ` (by selector: ERC-20)`. */
const originText = ({ by, sources }: DecodedFunction): string => {
  const [source] = sources;
  if (by === null || by === "command") return "";
  if (by === "names") return " (by your names)";
  if (by === "selector") return ` (by selector: ${sources.map((source) => escapeText(source, 60)).join(", ")})`;
  return source === undefined ? " (by an ABI you gave)" : ` (by the ABI given for ${checksummed(source)})`;
};

/** A function with its arguments, without where it is known from. */
export const functionText = (decoded: DecodedFunction, look: PrintStyle = wholeLook): string =>
  argumentsText(decoded.function ?? "", decoded.arguments, decoded.moreArguments, look);

/** Describes what a call does, without whom it calls, in one bounded line; null for nothing but value. */
export const callText = (call: DecodedCall, look: PrintStyle = wholeLook): string | null => {
  const { by, mayFail, others, selector, size } = call;
  if (call.function !== null) {
    const text = [call, ...others]
      .map((reading) => `${functionText(reading, look)}${originText(reading)}`)
      .join(" or ");
    return escapeText(by === "command" && mayFail ? `${text}, which may fail` : text, most.line);
  }
  if (selector.length === 4 && size > 1) return `command ${selector} with ${size} bytes of input`;
  return size === 0
    ? null
    : size < 4
      ? escapeText(selector)
      : `selector ${escapeText(selector)}, ${size} bytes of data`;
};

/** Calldata of which no more is wanted, in one line: every function that it fits, else selector and size; null for none. */
export const describeRawCall = (data: string, abis: Abis = [], options: CallOptions = {}): string | null => {
  const call = callIn(data, abis, options);
  return call === null ? null : callText(call);
};

/** One of the calls within calldata for `self`, in one line. */
export const innerText = (call: InnerCall, self: string, abis: Abis): string | null =>
  callText(callOf({ ...call, calls: [] }, self, { abis, room: { values: mostValues } }));

/** How calls read: the native currency, and how parties and values are written. */
export interface CallLook {
  readonly currency?: Currency | undefined;
  readonly look?: PrintStyle | undefined;
}

/** One call in a line: `to 0x… with 1 ETH: deposit() (by selector: WETH9)`. */
const lineOf = (call: DecodedCall, { currency, look = wholeLook }: CallLook): string => {
  const { to, value, isDelegate } = call;
  const text = callText(call, look);
  const whom =
    to === null ? "" : isDelegate ? `with the code of ${look.address(to)} in its own place` : `to ${look.address(to)}`;
  const amount = value === null || value === 0n ? "" : ` with ${formatWei(value, currency)}`;
  const what = text ?? (amount === "" ? "nothing" : "nothing else");
  return whom === "" ? `${what}${amount}` : `${whom}${amount}: ${what}`;
};

/**
 * Calls within a call for people, a line each in order: its place, as far to the right as it is within others, and what
 * it is. `place` is `1`, `2`, and `2.1` for the first within the second.
 */
export const innerLines = (
  { calls, more }: Pick<DecodedCall, "calls" | "more">,
  look: CallLook = {},
  above: string = "",
  indent: string = "  ",
): ReadonlyArray<Readonly<Record<"indent" | "place" | "text", string>>> => [
  ...calls.flatMap((call, index) => {
    const place = `${above}${index + 1}`;
    return [{ indent, place, text: lineOf(call, look) }, ...innerLines(call, look, `${place}.`, `  ${indent}`)];
  }),
  ...(more === 0 ? [] : [{ indent, place: `${above}…`, text: `${more} more, not read` }]),
];
