/** ABI values as data: each with its name and its type, in a bounded tree that counts what it leaves out. Total, whatever the parameter and the value. */
import * as Schema from "effect/Schema";
import { isRecord } from "../primitives/record.js";
import { elementOf } from "./layout.js";

/** One value of calldata, with its name and its type. */
export interface DecodedArgument {
  /** The parameter's name; empty where the ABI gives none, and of a list's elements. */
  readonly name: string;
  /** The Solidity type as JSON ABIs write it: `uint256`, `address[]`, `tuple`. */
  readonly type: string;
  /**
   * Integers as bigints, in JSON as decimal strings; addresses in lower case, bytes as hex. A tuple's fields and a list's
   * elements are values themselves.
   */
  readonly value: bigint | boolean | string | ReadonlyArray<DecodedArgument>;
  /** Number of further elements, fields, bytes or characters that are left out here. */
  readonly more: number;
}

const integer = /^u?int\d{0,3}$/;
const about = { name: Schema.String, more: Schema.Int };
const inner = Schema.suspend((): Schema.Codec<DecodedArgument> => DecodedArgument);
/** One value of calldata, with its name and its type. */
export const DecodedArgument: Schema.Codec<DecodedArgument> = Schema.Union([
  Schema.Struct({ ...about, type: Schema.String.check(Schema.isPattern(integer)), value: Schema.BigInt }),
  Schema.Struct({
    ...about,
    // why: in JSON a number is a string, too
    type: Schema.String.check(Schema.isPattern(/^(?!u?int\d{0,3}$)/)),
    value: Schema.Union([Schema.Boolean, Schema.String, Schema.Array(inner)]),
  }),
]).annotate({ identifier: "DecodedArgument" });

/** How many values may still be written, of all arguments together. */
export interface Room {
  values: number;
}

/** Returns the value under a name, where the item is an object at all. */
export const fieldOf = (item: unknown, name: string): unknown => (isRecord(item) ? item[name] : undefined);

export const parametersOf = (item: unknown, field: "inputs" | "outputs" | "components"): ReadonlyArray<unknown> => {
  const list = fieldOf(item, field);
  return Array.isArray(list) ? list : [];
};

const wordOf = (item: unknown, field: "name" | "type"): string => {
  const word = fieldOf(item, field);
  return typeof word === "string" ? word : "";
};
export const nameOf = (parameter: unknown): string => wordOf(parameter, "name");

const most = { name: 80, type: 128 } as const;

/**
 * Values of parameters in their order, as many as there is room for. `limits`: elements of a list and fields of a tuple
 * (`items`), lists and tuples within each other, bytes of a `bytes` and characters of a `string`.
 */
export const argumentsOf = (
  parameters: ReadonlyArray<unknown>,
  values: ReadonlyArray<unknown>,
  limits: Readonly<Record<"items" | "depth" | "bytes", number>>,
  room: Room,
  depth = 0,
): ReadonlyArray<DecodedArgument> => {
  const found: Array<DecodedArgument> = [];
  for (const [index, value] of values.slice(0, limits.items).entries()) {
    if (room.values <= 0) break;
    found.push(argumentOf(parameters[index], value, limits, room, depth));
  }
  return found;
};

const scalarOf = (type: string, value: unknown, bytes: number) => {
  if (integer.test(type))
    return typeof value === "bigint" || Number.isSafeInteger(value)
      ? { type, value: BigInt(value as bigint | number), more: 0 }
      : { type: "", value: String(value), more: 0 };
  if (typeof value === "boolean") return { type, value, more: 0 };
  const text = String(value);
  if (type === "address") return { type, value: text.toLowerCase(), more: 0 };
  const isHex = type.startsWith("bytes") || type === "function";
  const kept = text.slice(0, isHex ? 2 + 2 * bytes : bytes);
  return { type, value: kept, more: Math.ceil((text.length - kept.length) / (isHex ? 2 : 1)) };
};

/** One value by its ABI parameter. */
export const argumentOf = (
  parameter: unknown,
  value: unknown,
  limits: Parameters<typeof argumentsOf>[2],
  room: Room,
  depth = 0,
): DecodedArgument => {
  room.values--;
  const [name, type] = [nameOf(parameter).slice(0, most.name), wordOf(parameter, "type").slice(0, most.type)];
  const element = elementOf({ ...(isRecord(parameter) ? parameter : {}), name: "", type });
  if (!Array.isArray(value) && !isRecord(value)) return { name, ...scalarOf(type, value, limits.bytes) };
  const isNamed = !Array.isArray(value);
  const values: ReadonlyArray<unknown> = isNamed ? Object.values(value) : value;
  const components = parametersOf(parameter, "components");
  const fields = isNamed
    ? Object.keys(value).map(
        (key) => ({ ...Object(components.find((component) => nameOf(component) === key)), name: key }) as object,
      )
    : element === null
      ? components
      : values.slice(0, limits.items).map(() => element);
  const kept = depth > limits.depth ? [] : argumentsOf(fields, values, limits, room, depth + 1);
  return { name, type: integer.test(type) ? "" : type, value: kept, more: values.length - kept.length };
};
