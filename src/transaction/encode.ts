/** An ABI call or deployment to calldata, with the argument that does not fit named. */
import * as Result from "effect/Result";
import type * as Schema from "effect/Schema";
import {
  encodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  getAbiItem,
  type Abi,
  type AbiFunction,
  type AbiParameter,
} from "viem";
import type { Hex } from "../primitives/hex.js";
import { InvalidTransaction } from "../errors/input.js";
import { escapeText } from "../primitives/text.js";

type Checked<A> = Result.Result<A, InvalidTransaction>;
type Call = Readonly<Record<string, unknown>>;

/** The calldata, and what is needed to read the answer. */
export interface Encoded {
  readonly data: Hex;
  /** The called function's ABI item; null for raw calls and deployments. */
  readonly item: Schema.Json;
  /** The ABI that came with the call; null for raw calls. */
  readonly abi: ReadonlyArray<Schema.Json> | null;
}

const no = (field: string, problem: string) => Result.fail(new InvalidTransaction({ field, problem }));
const reason = (error: unknown): string =>
  escapeText(
    error instanceof Error ? ("shortMessage" in error ? String(error.shortMessage) : error.message) : String(error),
    512,
  );

/** What a value of an elementary type must be: the encoder takes `true` for a number and anything for bytes. */
const elementary = (type: string, value: unknown): string | null => {
  if (/^u?int\d*$/.test(type))
    return typeof value === "bigint" || Number.isSafeInteger(value) ? null : "must be a bigint or a whole number";
  if (type === "bool") return typeof value === "boolean" ? null : "must be a boolean";
  if (type === "string") return typeof value === "string" ? null : "must be a string";
  if (/^bytes\d*$/.test(type))
    return typeof value === "string" && /^0x(?:[0-9a-f]{2})*$/i.test(value) ? null : "must be hex bytes with 0x";
  return null;
};

/** What keeps a value from being one of a parameter's, found at any depth; null where the encoder may judge. */
const mistyped = (parameter: AbiParameter, value: unknown): string | null => {
  const list = /^(.*)\[\d*\]$/.exec(parameter.type);
  if (list !== null) {
    if (!Array.isArray(value)) return "must be an array";
    const element = { ...parameter, type: list[1] ?? "" };
    return first(value, (one, index) => at(`[${index}]`, mistyped(element, one)));
  }
  if (parameter.type !== "tuple" || !("components" in parameter)) return elementary(parameter.type, value);
  if (typeof value !== "object" || value === null) return "must be an object or an array";
  return first(parameter.components, (component, index) => {
    const key = Array.isArray(value) ? index : (component.name ?? "");
    return at(`.${key}`, mistyped(component, (value as Readonly<Record<string, unknown>>)[key]));
  });
};

const at = (path: string, problem: string | null): string | null =>
  problem === null ? null : problem.startsWith("must") ? `${path} ${problem}` : `${path}${problem}`;

const first = <A>(values: ReadonlyArray<A>, read: (value: A, index: number) => string | null): string | null => {
  for (let index = 0; index < values.length; index++) {
    const found = read(values[index] as A, index);
    if (found !== null) return found;
  }
  return null;
};

/** The first argument that its parameter does not take, or null when only the whole fails. */
const wrongArgument = (
  inputs: ReadonlyArray<AbiParameter>,
  args: ReadonlyArray<unknown>,
): { index: number; problem: string } | null => {
  for (let index = 0; index < inputs.length; index++) {
    const input = inputs[index];
    if (input === undefined) continue;
    const odd = mistyped(input, args[index]);
    const tried =
      odd === null
        ? Result.try({ try: () => encodeAbiParameters([input], [args[index]]), catch: reason })
        : Result.fail(escapeText(odd, 512));
    if (Result.isFailure(tried))
      return { index, problem: `does not fit ${input.type}${input.name ? ` ${input.name}` : ""}: ${tried.failure}` };
  }
  return null;
};

/** JSON form of an ABI, and whether it is one: an array of objects with a `type`. */
export const asAbi = (value: unknown, field: string): Checked<ReadonlyArray<Schema.Json>> =>
  Result.flatMap(
    // why: the report keeps it as JSON; what JSON cannot hold (undefined, functions) is no part of an ABI
    Result.try({
      try: (): unknown => JSON.parse(JSON.stringify(value) ?? "null"),
      catch: (error) => new InvalidTransaction({ field, problem: `is not JSON: ${reason(error)}` }),
    }),
    (json) =>
      Array.isArray(json) &&
      json.every((item) => typeof item === "object" && item !== null && typeof item.type === "string")
        ? Result.succeed(json as ReadonlyArray<Schema.Json>)
        : no(
            field,
            "must be a JSON ABI: an array of items with a type (parse human-readable ABIs with viem's parseAbi)",
          ),
  );

const withInputs = (type: string, item: unknown): item is { readonly inputs: ReadonlyArray<AbiParameter> } =>
  typeof item === "object" &&
  item !== null &&
  "type" in item &&
  item.type === type &&
  "inputs" in item &&
  Array.isArray(item.inputs);

const encodeFunction = (
  abi: ReadonlyArray<Schema.Json>,
  call: Call,
  name: (field: string) => string,
): Checked<Encoded> => {
  const functionName = call["functionName"];
  if (typeof functionName !== "string") return no(name("functionName"), "must name a function of the ABI");
  const args = call["args"] ?? [];
  if (!Array.isArray(args)) return no(name("args"), "must be an array");
  const named = abi.filter(
    (item): item is Schema.Json & AbiFunction =>
      withInputs("function", item) && "name" in item && item["name"] === functionName,
  );
  const bySignature = functionName.includes("(") || /^0x[0-9a-f]{8}$/i.test(functionName);
  if (named.length === 0 && !bySignature)
    return no(name("functionName"), `the ABI has no function ${escapeText(functionName, 80)}`);
  const only = named.length === 1 ? named[0] : undefined;
  if (only !== undefined && only.inputs.length !== args.length)
    return no(
      name("args"),
      `${escapeText(functionName, 80)} takes ${only.inputs.length} arguments, got ${args.length}`,
    );
  const wrong = only === undefined ? null : wrongArgument(only.inputs, args);
  if (wrong !== null) return no(name(`args[${wrong.index}]`), wrong.problem);
  return Result.flatMap(
    Result.try({
      try: () => ({
        data: encodeFunctionData({ abi: abi as Abi, functionName, args }) as Hex,
        item: (only ?? getAbiItem({ abi: abi as Abi, name: functionName, args })) as Schema.Json | undefined,
      }),
      catch: reason,
    }).pipe(Result.mapError((problem) => new InvalidTransaction({ field: name("args"), problem }))),
    ({ data, item }) => {
      if (item === undefined) return no(name("functionName"), "the ABI has no such function");
      const { inputs } = item as unknown as AbiFunction;
      const odd = only === undefined ? wrongArgument(inputs, args) : null;
      return odd === null ? Result.succeed({ data, item, abi }) : no(name(`args[${odd.index}]`), odd.problem);
    },
  );
};

const encodeDeployment = (
  abi: ReadonlyArray<Schema.Json>,
  bytecode: Hex,
  call: Call,
  name: (field: string) => string,
): Checked<Encoded> => {
  const args = call["args"] ?? [];
  if (!Array.isArray(args)) return no(name("args"), "must be an array");
  const found = abi.find((item) => withInputs("constructor", item));
  const inputs = withInputs("constructor", found) ? found.inputs : [];
  if (inputs.length !== args.length)
    return no(name("args"), `the constructor takes ${inputs.length} arguments, got ${args.length}`);
  const wrong = wrongArgument(inputs, args);
  if (wrong !== null) return no(name(`args[${wrong.index}]`), wrong.problem);
  return Result.try({
    try: (): Encoded => ({ data: encodeDeployData({ abi: abi as Abi, bytecode, args }) as Hex, item: null, abi }),
    catch: (error) => new InvalidTransaction({ field: name("args"), problem: reason(error) }),
  });
};

/** The data of one call, whichever way it was given. */
export const encodeCall = (
  call: Call,
  name: (field: string) => string,
  bytes: (value: unknown, field: string) => Checked<Hex>,
): Checked<Encoded> => {
  const { abi, functionName, data, bytecode, to, args } = call;
  if (abi === undefined || abi === null) {
    if (functionName !== undefined) return no(name("abi"), "is missing; functionName needs it");
    if (args !== undefined) return no(name("abi"), "is missing; args need it");
    if (bytecode !== undefined)
      return no(name("abi"), "is missing; give bytecode with its abi, or the initcode as data");
    return Result.map(
      data === undefined || data === null ? Result.succeed("0x" as Hex) : bytes(data, name("data")),
      (checked) => ({ data: checked, item: null, abi: null }),
    );
  }
  if (data !== undefined && data !== null) return no(name("data"), "cannot stand together with abi");
  return Result.flatMap(asAbi(abi, name("abi")), (items) => {
    if (bytecode === undefined) {
      if (to === undefined || to === null) return no(name("to"), "is missing; an ABI call needs it");
      return encodeFunction(items, call, name);
    }
    if (functionName !== undefined) return no(name("functionName"), "cannot stand together with bytecode");
    if (to !== undefined && to !== null) return no(name("to"), "cannot stand together with bytecode");
    return Result.flatMap(bytes(bytecode, name("bytecode")), (code) => encodeDeployment(items, code, call, name));
  });
};
