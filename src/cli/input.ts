/** A transaction, or a list of them, from JSON: strict about every field, so that a slip is named and never guessed. */
import * as Result from "effect/Result";
import { isRecord } from "../primitives/record.js";
import { each, no, type Checked } from "../primitives/problem.js";
import { escapeText } from "../primitives/text.js";
import type { LooseCall } from "../Transaction.js";
import { fieldNames, fields, type Unit } from "../transaction/fields.js";
import { abiCall, abiOf, constructorArguments } from "./abi.js";
import { fieldHint } from "../transaction/validate.js";
import { count, integer, wei } from "./quantity.js";

type Fields = Readonly<Record<string, unknown>>;

const readers: Readonly<Record<Unit, (value: unknown) => Result.Result<unknown, string>>> = {
  wei,
  "wei per gas": wei,
  "wei per blob gas": wei,
  gas: count,
  count: integer,
};

/** A number by its unit; what is none is passed on as it is, for the pipeline to check. */
const readField = (name: keyof typeof fields, value: unknown, field: string): Checked<unknown> => {
  const { unit, wire } = fields[name];
  if (unit === null) return wire === "authorizationList" ? authorizations(value, field) : Result.succeed(value);
  return Result.mapError(readers[unit](value), (problem) => ({ field, problem }));
};

/** Names that other tools write. */
const synonyms: Readonly<Record<string, string>> = { input: "data", gasLimit: "gas", function: "functionName" };

const authorizations = (value: unknown, field: string): Checked<unknown> =>
  Array.isArray(value)
    ? each(value, (entry: unknown, index) => authorization(entry, `${field}[${index}]`))
    : no(field, "must be an array");

const authorization = (entry: unknown, field: string): Checked<Fields> => {
  if (!isRecord(entry)) return no(field, "must be an object");
  const given = ["chainId", "nonce", "yParity"].filter((name) => entry[name] !== undefined && entry[name] !== null);
  const numbers = each(given, (name) =>
    Result.mapBoth(integer(entry[name]), {
      onSuccess: (value) => [name, value] as const,
      onFailure: (problem) => ({ field: `${field}.${name}`, problem }),
    }),
  );
  return Result.map(numbers, (read) => ({ ...entry, ...Object.fromEntries(read) }));
};

const callFields = (entry: Fields, path: (field: string) => string): Checked<Fields> => {
  const { abi: given, functionName, args = [], bytecode } = entry;
  if (given === undefined || given === null) {
    const stray = ["functionName", "args"].find((name) => entry[name] !== undefined);
    return stray === undefined ? Result.succeed({}) : no(path("abi"), `is missing; ${stray} needs it`);
  }
  if (functionName !== undefined && typeof functionName !== "string")
    return no(path("functionName"), "must be a string");
  return Result.flatMap(abiOf(given, path("abi")), (abi): Checked<Fields> => {
    if (bytecode !== undefined)
      return Result.map(constructorArguments(abi, args, path("args")), (values) => ({ abi, args: values }));
    return Result.map(abiCall(abi, functionName ?? null, args, path), (call) => ({ ...call }));
  });
};

/** One transaction; `path` names a field for errors. */
const transactionOf = (json: unknown, path: (field: string) => string): Checked<LooseCall> => {
  if (!isRecord(json)) return no(path(""), "must be an object");
  return Result.gen(function* () {
    const entry: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(json)) {
      const name = Object.hasOwn(synonyms, key) ? (synonyms[key] ?? key) : key;
      if (!fieldNames.includes(name))
        return yield* no(path(escapeText(key, 40)), `is not a field of a transaction${fieldHint(key)}`);
      if (entry[name] !== undefined) return yield* no(path(key), `is given twice, as ${name} too`);
      if (value !== null) entry[name] = value;
    }
    const { abi: _, functionName: __, args: ___, ...plain } = entry;
    const read: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(plain))
      read[name] = name in fields ? yield* readField(name as keyof typeof fields, value, path(name)) : value;
    const call = yield* callFields(entry, path);
    // why: the pipeline's own checks take unknown fields apart; `from` and the others may still be wrong here
    return { ...read, ...call } as unknown as LooseCall;
  });
};

/** One transaction object, or an array of them. */
export const inputOf = (json: unknown): Checked<LooseCall | ReadonlyArray<LooseCall>> => {
  if (!Array.isArray(json)) return transactionOf(json, (field) => (field === "" ? "transaction" : field));
  return each(json, (entry: unknown, index) =>
    transactionOf(entry, (field) => (field === "" ? `[${index}]` : `[${index}].${field}`)),
  );
};

/** {@link inputOf} from text. */
export const inputOfText = (text: string): Checked<LooseCall | ReadonlyArray<LooseCall>> =>
  Result.flatMap(
    Result.try({
      try: (): unknown => JSON.parse(text),
      catch: (error) => ({
        field: "input",
        problem: `is no JSON: ${escapeText(error instanceof Error ? error.message : String(error), 120)}`,
      }),
    }),
    inputOf,
  );
