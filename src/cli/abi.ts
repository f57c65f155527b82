/** ABIs from files and signatures, and JSON arguments made into what their parameters take. */
import * as Result from "effect/Result";
import { parseAbi, toFunctionSignature, type Abi, type AbiFunction, type AbiParameter } from "viem";
import { InvalidTransaction } from "../errors/input.js";
import { escapeText } from "../primitives/text.js";
import { count, wei } from "./quantity.js";

type Checked<A> = Result.Result<A, InvalidTransaction>;

const no = (field: string, problem: string) => Result.fail(new InvalidTransaction({ field, problem }));
const reason = (error: unknown): string =>
  escapeText(error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error), 200);

const keyword = /^\s*(?:function|event|error|constructor|fallback|receive|struct)\b/;

/** Human-readable signatures, `function` in front or not. */
const fromSignatures = (signatures: ReadonlyArray<string>, field: string): Checked<Abi> =>
  Result.try({
    try: () =>
      parseAbi(signatures.map((one) => (keyword.test(one) ? one : `function ${one}`)) as readonly string[]) as Abi,
    catch: (error) => new InvalidTransaction({ field, problem: `is no ABI: ${reason(error)}` }),
  });

const isItem = (item: unknown): boolean =>
  typeof item === "object" && item !== null && "type" in item && typeof item.type === "string";

/** An ABI from JSON: a JSON ABI, an artifact with an `abi`, a list of signatures, or one. */
export const abiOf = (json: unknown, field: string): Checked<Abi> => {
  if (typeof json === "string") return fromSignatures([json], field);
  if (!Array.isArray(json))
    return typeof json === "object" && json !== null && "abi" in json
      ? abiOf(json.abi, field)
      : no(field, "must be a JSON ABI, an artifact with an abi, or signatures");
  if (json.every((item) => typeof item === "string")) return fromSignatures(json, field);
  return json.every(isItem) ? Result.succeed(json as Abi) : no(field, "has an item without a type");
};

/** An ABI from the text of a file: JSON, or one signature a line. */
export const abiOfText = (text: string, field: string): Checked<Abi> => {
  const json = Result.try({ try: (): unknown => JSON.parse(text), catch: reason });
  if (Result.isSuccess(json)) return abiOf(json.success, field);
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return /^\s*[[{]/.test(text) ? no(field, `is no JSON: ${json.failure}`) : fromSignatures(lines, field);
};

const elementOf = (type: string): { readonly element: string; readonly length: number | null } | null => {
  const match = /^(.*)\[(\d*)\]$/.exec(type);
  return match === null ? null : { element: match[1] ?? "", length: match[2] === "" ? null : Number(match[2]) };
};

/** Components of a tuple from an array, or from an object by their names. */
const tuple = (parameter: AbiParameter, json: unknown, field: string): Checked<unknown> => {
  const components = ("components" in parameter ? parameter.components : undefined) ?? [];
  if (Array.isArray(json)) return list(components, json, field);
  if (typeof json !== "object" || json === null) return no(field, "must be an array or an object");
  const given = json as Readonly<Record<string, unknown>>;
  const stray = Object.keys(given).find((key) => !components.some(({ name }) => name === key));
  if (stray !== undefined) return no(`${field}.${escapeText(stray, 40)}`, "is not a field of this tuple");
  return Result.gen(function* () {
    const fields: Array<readonly [string, unknown]> = [];
    for (const component of components) {
      const name = component.name ?? "";
      if (!Object.hasOwn(given, name)) return yield* no(`${field}.${escapeText(name, 40)}`, "is missing");
      fields.push([name, yield* argument(component, given[name], `${field}.${name}`)]);
    }
    return Object.fromEntries(fields);
  });
};

/** One argument as its parameter takes it: integers from strings, also with a unit for amounts. */
const argument = (parameter: AbiParameter, json: unknown, field: string): Checked<unknown> => {
  const { type } = parameter;
  const array = elementOf(type);
  if (array !== null) {
    if (!Array.isArray(json)) return no(field, `must be an array for ${type}`);
    if (array.length !== null && json.length !== array.length)
      return no(field, `must have ${array.length} entries for ${type}, got ${json.length}`);
    const element = { ...parameter, type: array.element };
    return list(
      json.map(() => element),
      json,
      field,
    );
  }
  if (type === "tuple") return tuple(parameter, json, field);
  if (/^u?int\d*$/.test(type)) {
    const negative = typeof json === "string" && /^-\d+$/.test(json) ? BigInt(json) : null;
    const value =
      negative !== null || (typeof json === "number" && Number.isSafeInteger(json))
        ? Result.succeed(negative ?? BigInt(json as number))
        : type.startsWith("u")
          ? wei(json)
          : count(json);
    const bits = Number(/\d+/.exec(type)?.[0] ?? 256);
    return Result.flatMap(
      Result.mapError(value, (problem) => new InvalidTransaction({ field, problem })),
      // viem takes numbers for the sizes that fit one
      (checked) => Result.succeed(bits <= 48 ? Number(checked) : checked),
    );
  }
  if (type === "bool") return typeof json === "boolean" ? Result.succeed(json) : no(field, "must be true or false");
  return typeof json === "string" ? Result.succeed(json) : no(field, `must be a string for ${type}`);
};

const list = (
  parameters: ReadonlyArray<AbiParameter>,
  json: ReadonlyArray<unknown>,
  field: string,
): Checked<ReadonlyArray<unknown>> => {
  if (json.length !== parameters.length)
    return no(
      field,
      `must have ${parameters.length} ${parameters.length === 1 ? "entry" : "entries"}, got ${json.length}`,
    );
  return Result.gen(function* () {
    const values: Array<unknown> = [];
    for (const [index, parameter] of parameters.entries())
      values.push(yield* argument(parameter, json[index], `${field}[${index}]`));
    return values;
  });
};

/** A call through an ABI with its arguments ready; `abi` holds the one function that is meant, and all that is no function. */
export interface AbiCallArguments {
  readonly abi: Abi;
  readonly functionName: string;
  readonly args: ReadonlyArray<unknown>;
}

/**
 * Finds the function: by name, by signature (`transfer(address,uint256)`), or the only one there is.
 * Of several with the same name the one whose parameters take the arguments.
 */
export const abiCall = (
  abi: Abi,
  name: string | null,
  args: unknown,
  path: (field: string) => string,
): Checked<AbiCallArguments> => {
  if (!Array.isArray(args)) return no(path("args"), "must be a JSON array");
  const functions = abi.filter((item): item is AbiFunction => item.type === "function");
  const named =
    name === null ? functions : functions.filter((item) => item.name === name || toFunctionSignature(item) === name);
  if (named.length === 0)
    return no(path("functionName"), name === null ? "is missing" : `the ABI has no function ${escapeText(name, 80)}`);
  if (name === null && named.length > 1)
    return no(path("functionName"), `is missing; the ABI has ${named.length} functions`);
  const tried = named.map((item) => ({ item, values: list(item.inputs, args, path("args")) }));
  const fitting = tried.filter(({ values }) => Result.isSuccess(values));
  const chosen = fitting[0] ?? tried[0];
  if (chosen === undefined) return no(path("functionName"), "is missing");
  if (fitting.length > 1)
    return no(
      path("functionName"),
      `is one of several: ${named.map((item) => toFunctionSignature(item)).join(", ")}; give its signature`,
    );
  return Result.map(chosen.values, (values) => ({
    abi: abi.filter((item) => item.type !== "function" || item === chosen.item),
    functionName: chosen.item.name,
    args: values,
  }));
};

/** The constructor's arguments. */
export const constructorArguments = (abi: Abi, args: unknown, field: string): Checked<ReadonlyArray<unknown>> => {
  if (!Array.isArray(args)) return no(field, "must be a JSON array");
  const found = abi.find((item) => item.type === "constructor");
  return list(found?.inputs ?? [], args, field);
};
