/** ABIs as callers hand them in, JSON or human-readable signatures; and a call or deployment by one as calldata, with the argument that does not fit named. */
import { parseAbi, type Abi, type AbiFunction, type AbiParameter } from "abitype";
import * as Result from "effect/Result";
import type * as Schema from "effect/Schema";
import { fromAbi } from "ox/AbiItem";
import { encode } from "ox/AbiParameters";
import { concat } from "../primitives/bytes.js";
import { no, type Checked, each, nearest } from "../primitives/problem.js";
import { memoizeList, isRecord, remembered } from "../primitives/record.js";
import { escapeText } from "../primitives/text.js";
import { isHex, type Hex } from "../primitives/hex.js";
import { selectorOf, signatureOf } from "./abiIndex.js";
import { arrayOf, type Parameter } from "./layout.js";

/** Returns what the encoder says about a value, bounded and harmless. */
export const reason = (error: unknown): string =>
  escapeText(
    error instanceof Error ? ("shortMessage" in error ? String(error.shortMessage) : error.message) : String(error),
    512,
  );

/** Returns what abitype says about a signature, in one line: which part it means stands below its first. */
const complaint = (error: unknown): string =>
  escapeText(
    String(error instanceof Error ? error.message : error)
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("Version:"))
      .join(" "),
    512,
  );

const parse = (signatures: ReadonlyArray<string>): Result.Result<Abi, string> =>
  Result.try({ try: () => parseAbi(signatures as readonly string[]) as Abi, catch: complaint });

const isWrong = (signatures: ReadonlyArray<string>): boolean => Result.isFailure(parse(signatures));

/** The first signature that is none; -1 when they fail only together. Structs are needed to read the others. */
const wrongIn = (signatures: ReadonlyArray<string>): number => {
  const structs = signatures.filter((signature) => /^\s*struct\b/.test(signature));
  return signatures.findIndex((signature) =>
    isWrong(structs)
      ? structs.includes(signature) && !isWrong(structs.filter((struct) => struct !== signature))
      : isWrong([...structs, signature]),
  );
};

/** An ABI from human-readable signatures, as abitype reads them. */
export const parseSignatures = (signatures: ReadonlyArray<string>, field: string): Checked<Abi> =>
  Result.mapError(parse(signatures), (problem) => {
    const index = wrongIn(signatures);
    return { field: index === -1 ? field : `${field}[${index}]`, problem: `is no ABI: ${problem}` };
  });

/** True if it is a list of signatures. */
export const isSignatures = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string");

const jsonOf = <A>(make: () => A): Checked<A> =>
  Result.try({ try: make, catch: (error) => ({ field: "", problem: `is not JSON: ${reason(error)}` }) });

/** Parses a text of JSON. Nobody can change the value: it is handed out again for the same text. */
const frozen = (text: string): Checked<unknown> =>
  jsonOf(() => JSON.parse(text, (_, value: unknown) => Object.freeze(value)) as unknown);

/** The items of an ABI. */
const itemsOf = (json: unknown): Checked<ReadonlyArray<Schema.Json>> =>
  Array.isArray(json) && json.every((item: unknown) => isRecord(item) && typeof item["type"] === "string")
    ? Result.succeed(json)
    : no("", "must be a JSON ABI, an array of items with a type, or an array of human-readable signatures");

/** The same, as a part of `field`. */
const under = <A>(field: string, checked: Checked<A>): Checked<A> =>
  Result.mapError(checked, (wrong) => ({ ...wrong, field: `${field}${wrong.field}` }));

const abis = remembered<Checked<ReadonlyArray<Schema.Json>>>(32, 65_536);

/**
 * The JSON form of an ABI: an array of objects with a `type`, or of signatures. The same one for the same JSON, so that
 * what is worked out of it is worked out once, and what a caller has changed in place is seen.
 */
export const asAbi = (value: unknown, field: string): Checked<ReadonlyArray<Schema.Json>> =>
  under(
    field,
    // why: the report keeps it as JSON; what JSON cannot hold (undefined, functions) is no part of an ABI
    Result.flatMap(
      jsonOf(() => JSON.stringify(value) ?? "null"),
      (text) =>
        abis(text, () =>
          Result.flatMap(frozen(text), (json) =>
            isSignatures(json)
              ? Result.flatMap(parseSignatures(json, ""), (abi) => Result.flatMap(frozen(JSON.stringify(abi)), itemsOf))
              : itemsOf(json),
          ),
        ),
    ),
  );

const asList = memoizeList((abi: ReadonlyArray<unknown>) => asAbi(abi, ""));

/**
 * {@link asAbi} of what is only decoded with: a list is read once, for callers hand in the same ones again and
 * again. Calldata is always encoded by the ABI as it is now.
 */
export const asKnownAbi = (value: unknown, field: string): Checked<ReadonlyArray<Schema.Json>> =>
  Array.isArray(value) ? under(field, asList(value)) : asAbi(value, field);

/* An ABI call or deployment to calldata, with the argument that does not fit named. */

/** More names, and longer ones, than a sentence bears. */
const most = { listed: 12, characters: 64 } as const;

const listed = (names: ReadonlyArray<string>): string => {
  const texts = names.slice(0, most.listed).map((name) => escapeText(name, most.characters));
  return names.length > texts.length ? `${texts.join(", ")} and ${names.length - texts.length} more` : texts.join(", ");
};

/** `the ABI has transfer, approve`, each name once. */
export const functionsText = (names: ReadonlyArray<string>): string =>
  names.length === 0 ? "the ABI has no functions" : `the ABI has ${listed([...new Set(names)])}`;

/** Why a function is not found, with the name that may have been meant. */
export const noFunction = (name: string, names: ReadonlyArray<string>): string => {
  const closest = nearest(name, names);
  return `the ABI has no function ${escapeText(name, 80)}; ${closest === null ? functionsText(names) : `did you mean ${listed([closest])}?`}`;
};

/** The calldata, and what is needed to read the answer. */
export interface Encoded {
  readonly data: Hex;
  /** The called function's ABI item; null for raw calls and deployments. */
  readonly item: Schema.Json;
  /** The ABI that came with the call; null for raw calls. */
  readonly abi: ReadonlyArray<Schema.Json> | null;
}

/** Returns what a value of an elementary type must be: the encoder takes `true` for a number and anything for bytes. */
const problemOf = (type: string, value: unknown): string | null => {
  if (/^u?int\d*$/.test(type))
    return typeof value === "bigint" || Number.isSafeInteger(value) ? null : "must be a bigint or a whole number";
  if (type === "bool") return typeof value === "boolean" ? null : "must be a boolean";
  if (type === "string") return typeof value === "string" ? null : "must be a string";
  if (/^bytes\d*$/.test(type)) return isHex(value) && value.length % 2 === 0 ? null : "must be hex bytes with 0x";
  return null;
};

// One walk over a value beside its parameter: the first part that does not fit is named by its path.

/** How a walk reads. */
export interface Walk {
  /** A value of an elementary type, or what is wrong with it. */
  readonly read: (type: string, value: unknown) => Result.Result<unknown, string>;
  /** True if lengths and fields must be those of the type; if not, the encoder is the judge of them. */
  readonly isExact: boolean;
}

/** A tuple's components from an object by their names. */
const fieldsOf = (
  components: ReadonlyArray<Parameter>,
  input: Readonly<Record<string, unknown>>,
  reading: Walk,
  field: string,
): Checked<unknown> => {
  const stray = reading.isExact && Object.keys(input).find((key) => !components.some(({ name }) => name === key));
  if (typeof stray === "string") return no(`${field}.${escapeText(stray, 40)}`, "is not a field of this tuple");
  const fields = each(components, (component): Checked<readonly [string, unknown]> => {
    const name = component.name ?? "";
    const path = `${field}.${escapeText(name, 40)}`;
    return reading.isExact && !Object.hasOwn(input, name)
      ? no(path, "is missing")
      : Result.map(coerce(component, input[name], reading, path), (value) => [name, value]);
  });
  return Result.map(fields, (all) => Object.fromEntries(all));
};

/** One value by its parameter; `field` is its path. */
export const coerce = (parameter: Parameter, value: unknown, reading: Walk, field: string): Checked<unknown> => {
  const { type, components } = parameter;
  const array = arrayOf(type);
  if (array !== null) {
    if (!Array.isArray(value)) return no(field, `must be an array for ${type}`);
    if (reading.isExact && array.length !== null && value.length !== array.length)
      return no(field, `must have ${array.length} entries for ${type}, got ${value.length}`);
    const element = { type: array.element, components };
    return each(value, (item, index) => coerce(element, item, reading, `${field}[${index}]`));
  }
  if (type !== "tuple") return Result.mapError(reading.read(type, value), (problem) => ({ field, problem }));
  if (Array.isArray(value)) return coerceAll(components ?? [], value, reading, field);
  return isRecord(value)
    ? fieldsOf(components ?? [], value, reading, field)
    : no(field, "must be an object or an array");
};

/** Values in the order of their parameters: arguments, or a tuple given as an array. */
export const coerceAll = (
  parameters: ReadonlyArray<Parameter>,
  values: ReadonlyArray<unknown>,
  reading: Walk,
  field: string,
): Checked<ReadonlyArray<unknown>> =>
  reading.isExact && values.length !== parameters.length
    ? no(field, `must have ${parameters.length} ${parameters.length === 1 ? "entry" : "entries"}, got ${values.length}`)
    : each(parameters, (parameter, index) => coerce(parameter, values[index], reading, `${field}[${index}]`));

/** Values as code writes them; everything else is the encoder's to judge. */
const typed: Walk = {
  read: (type, value) => {
    const problem = problemOf(type, value);
    return problem === null ? Result.succeed(value) : Result.fail(problem);
  },
  isExact: false,
};

/** Values as texts, or as JSON that holds large numbers as texts; there "false" is no boolean, for encoders take it for true. */
const written = (isJson: boolean): Walk => ({
  read: (type, text) => {
    if (type === "bool" && !isJson && (text === "true" || text === "false")) return Result.succeed(text === "true");
    if (/^u?int/.test(type) && typeof text === "string" && /^(?:-?\d+|0x[\da-f]+)$/i.test(text))
      return Result.succeed(BigInt(text));
    return typed.read(type, text);
  },
  isExact: true,
});

/** A list of a Safe's builder as JSON: of elementary values, whose quotation marks say nothing, each is a text. */
const listOf = (text: string, isJson: boolean): Checked<unknown> =>
  jsonOf(() => JSON.parse(isJson ? text : text.replace(/"?([^\s,"[\]]+)"?/g, '"$1"')));

/** The arguments of a function of an ABI, from a text for each name of an input, as a Safe's builder reads it. */
export const argumentsOfTexts = (
  [item]: ReadonlyArray<Schema.Json>,
  texts: Readonly<Record<string, unknown>>,
  field: string,
): Checked<ReadonlyArray<unknown>> =>
  each(withInputs("function", item) ? item.inputs : [], (input, index) => {
    const name = input.name || String(index);
    const path = `${field}.${escapeText(name, 40)}`;
    const text = Object.hasOwn(texts, name) ? texts[name] : undefined;
    if (typeof text !== "string") return no(path, "must be a text");
    // why: the builder takes these for JSON, and what is none for a call without data
    const isJson = input.type.startsWith("tuple") || input.type.startsWith("string[");
    const isWhole = arrayOf(input.type) === null && !isJson;
    return Result.flatMap(isWhole ? Result.succeed(text) : under(path, listOf(text, isJson)), (value) =>
      coerce(input, value, written(isJson), path),
    );
  });

/** An address with capital letters has to be right by its checksum. */
const strict = { checksumAddress: true };

/** Arguments as an encoder writes them; the first that its parameter does not take is named. */
const encodeArguments = (
  inputs: ReadonlyArray<AbiParameter>,
  args: ReadonlyArray<unknown>,
  name: (field: string) => string,
): Checked<Hex> => {
  for (const [index, input] of inputs.entries()) {
    const result = Result.flatMap(
      Result.mapError(coerce(input, args[index], typed, ""), ({ field, problem }) =>
        escapeText(field === "" ? problem : `${field} ${problem}`, 512),
      ),
      () => Result.try({ try: () => encode([input], [args[index]], strict), catch: reason }),
    );
    const whom = `${input.type}${input.name ? ` ${input.name}` : ""}`;
    if (Result.isFailure(result)) return no(name(`args[${index}]`), `does not fit ${whom}: ${result.failure}`);
  }
  return Result.try({
    try: () => encode(inputs, args, strict),
    catch: (error) => ({ field: name("args"), problem: reason(error) }),
  });
};

const withInputs = (type: string, item: unknown): item is { readonly inputs: ReadonlyArray<AbiParameter> } =>
  isRecord(item) && item["type"] === type && Array.isArray(item["inputs"]);

/** The function of several of one name that takes the arguments; where none does, the first, or the one that takes nothing. */
const overloadOf = <F extends AbiFunction>(named: ReadonlyArray<F>, name: string, args: ReadonlyArray<unknown>) => {
  const { inputs } = fromAbi(named, name as never, { args, prepare: false } as never) as AbiFunction;
  return named.find((item) => item.inputs === inputs);
};

/** The functions of an ABI that was read, which nothing changes any more. */
const functionsIn = memoizeList((abi: ReadonlyArray<Schema.Json>) =>
  abi.filter(
    (item): item is Schema.Json & AbiFunction =>
      withInputs("function", item) && "name" in item && typeof item["name"] === "string",
  ),
);

/** A call of a function of the ABI; `name` makes a path of a field. */
export const encodeFunction = (
  abi: ReadonlyArray<Schema.Json>,
  functionName: unknown,
  args: unknown,
  name: (field: string) => string,
): Checked<Encoded> => {
  if (typeof functionName !== "string") return no(name("functionName"), "must name a function of the ABI");
  if (!Array.isArray(args)) return no(name("args"), "must be an array");
  const functions = functionsIn(abi);
  const names = () => functions.map((item) => item.name);
  const named = functions.filter((item) => item.name === functionName);
  const isMoreThanName = functionName.includes("(") || /^0x[0-9a-f]{8}$/.test(functionName);
  if (named.length === 0 && !isMoreThanName) return no(name("functionName"), noFunction(functionName, names()));
  return Result.flatMap(
    Result.try({
      try: () =>
        named.length === 0
          ? functions.find((item) => {
              const signature = signatureOf(item.name, item.inputs);
              return signature === functionName || selectorOf(signature) === functionName;
            })
          : named.length === 1
            ? named[0]
            : overloadOf(named, functionName, args),
      catch: (error) => ({ field: name("args"), problem: reason(error) }),
    }),
    (item) => {
      if (item === undefined) return no(name("functionName"), noFunction(functionName, names()));
      const { length } = item.inputs;
      if (length !== args.length)
        return no(name("args"), `${escapeText(functionName, 80)} takes ${length} arguments, got ${args.length}`);
      return Result.map(encodeArguments(item.inputs, args, name), (encoded): Encoded => {
        return { data: concat(selectorOf(signatureOf(item.name, item.inputs)), encoded), item, abi };
      });
    },
  );
};

/** A deployment through the ABI's constructor. */
export const encodeDeployment = (
  abi: ReadonlyArray<Schema.Json>,
  bytecode: Hex,
  args: unknown,
  name: (field: string) => string,
): Checked<Encoded> => {
  if (!Array.isArray(args)) return no(name("args"), "must be an array");
  const inputs = abi.find((item) => withInputs("constructor", item))?.inputs ?? [];
  if (inputs.length !== args.length)
    return no(name("args"), `the constructor takes ${inputs.length} arguments, got ${args.length}`);
  return Result.map(encodeArguments(inputs, args, name), (encoded) => ({
    data: concat(bytecode, encoded),
    item: null,
    abi,
  }));
};

/** A call of a batch: its receiver, wei that go with it, and its calldata. */
type BatchedCall = Readonly<{ to: Hex; value: bigint; data: Hex }>;

const callsType = [
  { type: "tuple[]", components: [{ type: "address" }, { type: "uint256" }, { type: "bytes" }] },
] as const;
const encodeCalls = (calls: ReadonlyArray<BatchedCall>): Hex =>
  encode(callsType, [calls.map(({ to, value, data }) => [to, value, data] as const)]);

/** ERC-7821: the calls are one after the other, and all are undone where one fails. */
export const batchMode: Hex = `0x01${"0".repeat(62)}`;

/** Calldata by which an account makes calls, in the forms that are known: ERC-7821, and that of ERC-4337's own accounts. */
export const encodeBatch = {
  erc7821: (calls: ReadonlyArray<BatchedCall>): Hex =>
    concat("0xe9ae5c53", encode([{ type: "bytes32" }, { type: "bytes" }], [batchMode, encodeCalls(calls)])),
  executeBatch: (calls: ReadonlyArray<BatchedCall>): Hex => concat("0x34fcd5be", encodeCalls(calls)),
} as const;
