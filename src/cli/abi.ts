/** ABIs from files and signatures, and the call that a name and JSON arguments mean. */
import * as Result from "effect/Result";
import type { Abi, AbiFunction, AbiParameter } from "abitype";
import { toFunctionSignature } from "viem";
import { coerceAll, type Reading } from "../abi/coerce.js";
import { isSignatures, parseSignatures } from "../abi/given.js";
import { functionsText, noFunction } from "../abi/encode.js";
import { addressProblem, no, type Checked } from "../primitives/problem.js";
import { escapeText } from "../primitives/text.js";
import { count, wei } from "./quantity.js";

const keyword = /^\s*(?:function|event|error|constructor|fallback|receive|struct)\b/;

/** Human-readable signatures, `function` in front or not. */
const fromSignatures = (signatures: ReadonlyArray<string>, field: string): Checked<Abi> =>
  parseSignatures(
    signatures.map((one) => (keyword.test(one) ? one : `function ${one}`)),
    field,
  );

const isItem = (item: unknown): boolean =>
  typeof item === "object" && item !== null && "type" in item && typeof item.type === "string";

/** An ABI from JSON: a JSON ABI, an artifact with an `abi`, a list of signatures, or one. */
export const abiOf = (json: unknown, field: string): Checked<Abi> => {
  if (typeof json === "string")
    return Result.mapError(fromSignatures([json], field), ({ problem }) => ({ field, problem }));
  if (!Array.isArray(json))
    return typeof json === "object" && json !== null && "abi" in json
      ? abiOf(json.abi, field)
      : no(field, "must be a JSON ABI, an artifact with an abi, or signatures");
  const items: ReadonlyArray<unknown> = json;
  if (isSignatures(items)) return fromSignatures(items, field);
  return items.every(isItem) ? Result.succeed(json as Abi) : no(field, "has an item without a type");
};

/** An ABI from the text of a file: JSON, or one signature a line. */
export const abiOfText = (text: string, field: string): Checked<Abi> => {
  const json = Result.try({
    try: (): unknown => JSON.parse(text),
    catch: (error) => escapeText(error instanceof Error ? error.message : String(error), 200),
  });
  if (Result.isSuccess(json)) return abiOf(json.success, field);
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return /^\s*[[{]/.test(text) ? no(field, `is no JSON: ${json.failure}`) : fromSignatures(lines, field);
};

/** A whole number: of an unsigned type also as an amount with a unit. */
const number = (type: string, json: unknown): Result.Result<bigint, string> => {
  if (typeof json === "string" && /^-\d+$/.test(json)) return Result.succeed(BigInt(json));
  if (typeof json === "number" && Number.isSafeInteger(json)) return Result.succeed(BigInt(json));
  return type.startsWith("u") ? wei(json) : count(json);
};

/** Values as JSON can hold them: large numbers are strings. */
const fromJson: Reading = {
  read: (type, json): Result.Result<unknown, string> => {
    if (/^u?int\d*$/.test(type)) {
      const bits = Number(/\d+/.exec(type)?.[0] ?? 256);
      // viem takes numbers for the sizes that fit one
      return Result.map(number(type, json), (value) => (bits <= 48 ? Number(value) : value));
    }
    if (type === "address" && typeof json === "string" && !json.startsWith("0x"))
      return Result.fail(addressProblem(json));
    const [wanted, problem] =
      type === "bool" ? ["boolean", "must be true or false"] : ["string", `must be a string for ${type}`];
    return typeof json === wanted ? Result.succeed(json) : Result.fail(problem);
  },
  isExact: true,
};

const argumentsOf = (
  inputs: ReadonlyArray<AbiParameter>,
  args: unknown,
  field: string,
): Checked<ReadonlyArray<unknown>> =>
  Array.isArray(args) ? coerceAll(inputs, args, fromJson, field) : no(field, "must be a JSON array");

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
  const names = functions.map((item) => item.name);
  if (named.length === 0)
    return no(
      path("functionName"),
      name === null ? `is missing; ${functionsText(names)}` : noFunction(name.replace(/\(.*$/s, ""), names),
    );
  if (name === null && named.length > 1) return no(path("functionName"), `is missing; ${functionsText(names)}`);
  const tried = named.map((item) => ({ item, values: argumentsOf(item.inputs, args, path("args")) }));
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
export const constructorArguments = (abi: Abi, args: unknown, field: string): Checked<ReadonlyArray<unknown>> =>
  argumentsOf(abi.find((item) => item.type === "constructor")?.inputs ?? [], args, field);
