/**
 * A transaction, or a list of them, from JSON: strict about every field, so that a slip is named and never guessed. ABIs
 * from files and signatures, and the call that a name and JSON arguments mean.
 */
import * as Result from "effect/Result";
import type { Abi, AbiFunction, AbiParameter } from "abitype";
import { toFunctionSignature } from "viem";
import {
  isSignatures,
  parseSignatures,
  coerceAll,
  elementOf,
  functionsText,
  noFunction,
  type Walk,
} from "../abi/index.js";
import { addressProblem, each, no, type Checked, isHex, isRecord, escapeText } from "../primitives/index.js";
import { isSigning } from "../signing/index.js";
import { fieldNames, fields, type Unit, fieldHint, isOtherForm } from "../transaction/index.js";
import { amount, count, integer, wei } from "./quantity.js";
import { kindOf, parseJson } from "./terminal.js";

const keyword = /^\s*(?:function|event|error|constructor|fallback|receive|struct)\b/;

/** True of a signature, also of an unfinished one. A file whose name is like one is written with its folder: `./f(1)`. */
export const isSignature = (text: string): boolean =>
  /^\s*(?:[a-z]+\s+)?[A-Za-z_$][\w$]*\s*\([^/\\]*$/.test(text) && !/\.\w{1,8}$/.test(text);

/** Human-readable signatures, `function` in front or not. */
const fromSignatures = (signatures: ReadonlyArray<string>, field: string): Checked<Abi> =>
  parseSignatures(
    signatures.map((signature) => (keyword.test(signature) ? signature : `function ${signature}`)),
    field,
  );

const isItem = (item: unknown): boolean =>
  isRecord(item) &&
  typeof item["type"] === "string" &&
  (item["type"] !== "function" || (typeof item["name"] === "string" && Array.isArray(item["inputs"])));

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
  return items.every(isItem)
    ? Result.succeed(json as Abi)
    : no(field, "has an item without a type, or a function without a name or inputs");
};

/** An ABI from the text of a file: JSON, or one signature a line. */
export const abiOfText = (text: string, field: string): Checked<Abi> => {
  const json = parseJson(text);
  if (Result.isSuccess(json)) return abiOf(json.success, field);
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return /^\s*[[{]/.test(text) ? no(field, json.failure) : fromSignatures(lines, field);
};

/** A whole number: of an unsigned type also as an amount with a unit. */
const number = (type: string, json: unknown): Result.Result<bigint, string> => {
  if (typeof json === "string" && /^-\d+$/.test(json)) return Result.succeed(BigInt(json));
  if (typeof json === "number" && Number.isSafeInteger(json)) return Result.succeed(BigInt(json));
  return type.startsWith("u") ? wei(json) : count(json);
};

/** Values as JSON can hold them: large numbers are strings. */
const fromJson: Walk = {
  read: (type, json): Result.Result<unknown, string> => {
    if (/^u?int\d*$/.test(type)) {
      const bits = Number(/\d+/.exec(type)?.[0] ?? 256);
      // viem takes numbers for the sizes that fit one
      return Result.map(number(type, json), (value) => (bits <= 48 ? Number(value) : value));
    }
    if (type === "address" && typeof json === "string" && !json.startsWith("0x"))
      return Result.fail(addressProblem(json));
    const [jsType, problem] =
      type === "bool" ? ["boolean", "must be true or false"] : ["string", `must be a string for ${type}`];
    return typeof json === jsType ? Result.succeed(json) : Result.fail(problem);
  },
  isExact: true,
};

/** The parts of a list or tuple as a text: `[1,2]`, `(1,"a, b")`, one within another; null of any other text. */
const partsOf = (text: string): ReadonlyArray<string> | null => {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[[\](),]|[^"[\](),]+/g) ?? [];
  if (tokens.join("") !== text || !/^[[(]/.test(text)) return null;
  const open: Array<string> = [];
  const parts = [""];
  for (const [index, token] of tokens.entries()) {
    const isEnd = (token === "]" || token === ")") && open.pop() !== undefined && open.length === 0;
    if (isEnd) {
      const isWhole = index === tokens.length - 1 && token === (text.startsWith("[") ? "]" : ")");
      if (!isWhole) return null;
    } else if (token === "," && open.length === 1) parts.push("");
    else if (open.length > 0) parts.push(`${parts.pop() ?? ""}${token}`);
    if (token === "[" || token === "(") open.push(token);
  }
  const trimmed = parts.map((part) => part.trim());
  return open.length > 0 ? null : trimmed.length === 1 && trimmed[0] === "" ? [] : trimmed;
};

/** A part of a list, whose quotes are no part of it. */
const unquoted = (part: string): string => {
  const json = part.startsWith('"') ? parseJson(part) : null;
  return json !== null && Result.isSuccess(json) && typeof json.success === "string" ? json.success : part;
};

/** A typed argument as its parameter takes it in JSON; a text that does not fit stays for the parameter to refuse. */
const typedArgument = (parameter: AbiParameter, text: string): unknown => {
  const element = elementOf(parameter);
  const components = "components" in parameter ? parameter.components : null;
  if (element === null && components === null)
    return parameter.type === "bool" && isBoolean(text) ? text === "true" : text;
  const inner = (part: string, index: number): unknown => {
    const of = element ?? components?.[index];
    return of === undefined ? part : typedArgument(of, unquoted(part));
  };
  return partsOf(text.trim())?.map(inner) ?? Result.getOrElse(parseJson(text), () => text);
};

const isBoolean = (text: string): boolean => text === "true" || text === "false";

/** The call that a signature and arguments mean, as `cast` takes them: what it returns may stand behind, `f(address)(uint256)`. */
export const callOf = (signature: string, args: ReadonlyArray<string>): Checked<JsonFields> =>
  Result.flatMap(abiOf(signature.replace(/\)\s*\(/, ") returns ("), "signature"), (abi) => {
    const item = abi.find(({ type }) => type === "function");
    if (item?.type !== "function")
      return no("signature", 'must be that of a function, such as "transfer(address,uint256)"');
    const values = args.map((text, index) => {
      const parameter = item.inputs[index];
      return parameter === undefined ? text : typedArgument(parameter, text);
    });
    return Result.succeed({ abi, args: values });
  });

/** Fields as JSON has them. */
export type JsonFields = Readonly<Record<string, unknown>>;

const argumentsOf = (inputs: ReadonlyArray<AbiParameter>, args: unknown, field: string) =>
  Array.isArray(args) ? coerceAll(inputs, args, fromJson, field) : no(field, "must be a JSON array");

/**
 * The function with its arguments ready: by name, by signature (`transfer(address,uint256)`), or the only one there is. Of
 * several with the same name the one whose parameters take the arguments. `abi` then holds that one alone, and all that is
 * no function.
 */
const abiCall = (abi: Abi, name: string | null, args: unknown, path: (field: string) => string) => {
  if (!Array.isArray(args)) return no(path("args"), "must be a JSON array");
  const functions = abi.filter((item): item is AbiFunction => item.type === "function");
  const names = functions.map((item) => item.name);
  const isNot = (problem: string) => no(path("functionName"), problem);
  if (name === null && functions.length !== 1) return isNot(`is missing; ${functionsText(names)}`);
  const named = functions.filter((item) => name === null || item.name === name || toFunctionSignature(item) === name);
  const tried = named.map((item) => ({ item, values: argumentsOf(item.inputs, args, path("args")) }));
  const [match = tried[0], other] = tried.filter(({ values }) => Result.isSuccess(values));
  if (match === undefined) return isNot(noFunction((name ?? "").replace(/\(.*$/s, ""), names));
  if (other !== undefined)
    return isNot(`is one of several: ${named.map((item) => toFunctionSignature(item)).join(", ")}; give its signature`);
  return Result.map(match.values, (values) => ({
    abi: abi.filter((item) => item.type !== "function" || item === match.item),
    functionName: match.item.name,
    args: values,
  }));
};

/** Reads wei; of what is typed always with one of `units`. */
const weiIn =
  (...units: ReadonlyArray<string>) =>
  (value: unknown, isTyped: boolean): Result.Result<bigint, string> =>
    isTyped && (typeof value === "string" || typeof value === "number") ? amount(units)(String(value)) : wei(value);

const readers: Readonly<Record<Unit, (value: unknown, isTyped: boolean) => Result.Result<unknown, string>>> = {
  wei: weiIn("ether", "gwei", "wei"),
  "wei per gas": weiIn("gwei", "wei"),
  "wei per blob gas": weiIn("gwei", "wei"),
  gas: count,
  count: integer,
};

/** Returns what was read, or what is wrong with the field. */
export const named = <A>(field: string, read: Result.Result<A, string>): Checked<A> =>
  Result.mapError(read, (problem) => ({ field, problem }));

/** A number by its unit; what is none is passed on as it is, for the pipeline to check. */
const readField = (name: string, value: unknown, field: string, isTyped: boolean): Checked<unknown> => {
  if (!Object.hasOwn(fields, name)) return Result.succeed(value);
  const { unit, wire } = fields[name as keyof typeof fields];
  if (unit !== null) return named(field, readers[unit](value, isTyped));
  return wire === "authorizationList" ? authorizations(value, field) : Result.succeed(value);
};

/** Names that other tools write. */
const synonyms: Readonly<Record<string, string>> = { input: "data", gasLimit: "gas", function: "functionName" };

const nameOf = (key: string): string => (Object.hasOwn(synonyms, key) ? (synonyms[key] ?? key) : key);

const authorizations = (value: unknown, field: string): Checked<unknown> =>
  Array.isArray(value)
    ? each(value, (entry: unknown, index) => authorization(entry, `${field}[${index}]`))
    : no(field, "must be an array");

const authorization = (entry: unknown, field: string): Checked<JsonFields> =>
  Result.gen(function* () {
    if (!isRecord(entry)) return yield* no(field, "must be an object");
    const read: Record<string, unknown> = { ...entry };
    for (const name of ["chainId", "nonce", "yParity"])
      if (entry[name] !== undefined && entry[name] !== null)
        read[name] = yield* named(`${field}.${name}`, integer(entry[name]));
    return read;
  });

const callFields = (entry: JsonFields, path: (field: string) => string): Checked<JsonFields> => {
  const { abi: input, functionName, args = [], bytecode } = entry;
  if (input === undefined || input === null) {
    const stray = ["functionName", "args"].find((name) => entry[name] !== undefined);
    return stray === undefined ? Result.succeed({}) : no(path("abi"), `is missing; ${stray} needs it`);
  }
  if (functionName !== undefined && typeof functionName !== "string")
    return no(path("functionName"), "must be a string");
  return Result.flatMap(abiOf(input, path("abi")), (abi): Checked<JsonFields> => {
    if (bytecode === undefined) return abiCall(abi, functionName ?? null, args, path);
    const inputs = abi.find((item) => item.type === "constructor")?.inputs ?? [];
    return Result.map(argumentsOf(inputs, args, path("args")), (values) => ({ abi, args: values }));
  });
};

const isField = (key: string): boolean => fieldNames.includes(key) || Object.hasOwn(synonyms, key);

/** Another form than our own fields, for the pipeline's table; numbers that JSON-RPC would not write are read here. */
const otherForm = (json: JsonFields, path: (field: string) => string): Checked<JsonFields> =>
  Result.gen(function* () {
    const read = new Map<string, unknown>();
    for (const [key, value] of Object.entries(json)) {
      const isRead = value === null || (typeof value === "string" && value.startsWith("0x"));
      read.set(key, isRead ? value : yield* readField(nameOf(key), value, path(key), false));
    }
    return Object.fromEntries(read);
  });

/** One transaction; `path` names a field for errors. `from` and the others may still be wrong: the pipeline checks every field. */
const transactionOf = (json: unknown, path: (field: string) => string, isTyped: boolean): Checked<unknown> => {
  // the pipeline reads every field of a signature
  if (isSigning(json)) return Result.succeed(json);
  if (isHex(json) && isOtherForm(json)) return Result.succeed(json);
  if (!isRecord(json)) return no(path(""), "must be an object");
  if (Object.keys(json).some((key) => !isField(key)) && isOtherForm(json)) return otherForm(json, path);
  return Result.gen(function* () {
    const entry: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(json)) {
      const name = nameOf(key);
      if (!fieldNames.includes(name))
        return yield* no(path(escapeText(key, 40)), `is not a field of a transaction${fieldHint(key)}`);
      if (entry[name] !== undefined) return yield* no(path(key), `is given twice, as ${name} too`);
      if (value !== null) entry[name] = value;
    }
    if (isTyped && typeof entry["args"] === "string")
      entry["args"] = yield* named(path("args"), parseJson(entry["args"]));
    const { abi: _, functionName: __, args: ___, ...plain } = entry;
    const read: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(plain)) read[name] = yield* readField(name, value, path(name), isTyped);
    return { ...read, ...(yield* callFields(entry, path)) };
  });
};

/** One transaction object, or an array of them; `isTyped`: by somebody, amounts with a unit, and `args` also as a text of JSON. */
export const inputOf = (json: unknown, isTyped = false): Checked<unknown> =>
  Array.isArray(json)
    ? each(json, (entry: unknown, at) =>
        transactionOf(entry, (field) => (field === "" ? `[${at}]` : `[${at}].${field}`), isTyped),
      )
    : transactionOf(json, (field) => field || "transaction", isTyped);

/** {@link inputOf} from text: JSON, or bytes as hex. */
export const inputOfText = (text: string): Checked<unknown> => {
  if (isHex(text.trim())) return inputOf(text.trim());
  return Result.flatMap(named("input", parseJson(text)), (json) => {
    const kind = kindOf(json);
    if (kind !== null && !kind.includes("transaction"))
      return no("input", `is ${kind}, not a transaction or an array of them`);
    const isOther =
      kind === null && isRecord(json) && !isSigning(json) && Object.keys(json).some((key) => !isField(key));
    return isOther && !isOtherForm(json) ? no("input", "is no transaction: it has neither from nor to") : inputOf(json);
  });
};
