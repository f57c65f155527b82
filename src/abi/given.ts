/** ABIs as callers hand them in: JSON, or human-readable signatures. */
import { parseAbi, type Abi } from "abitype";
import * as Result from "effect/Result";
import type * as Schema from "effect/Schema";
import { no, type Checked } from "../primitives/problem.js";
import { remembered } from "../primitives/remembered.js";
import { escapeText } from "../primitives/text.js";

/** What viem says about a value, bounded and harmless. */
export const reason = (error: unknown): string =>
  escapeText(
    error instanceof Error ? ("shortMessage" in error ? String(error.shortMessage) : error.message) : String(error),
    512,
  );

/** What abitype says about a signature, in one line: which part it means stands below its first. */
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
  const structs = signatures.filter((one) => /^\s*struct\b/.test(one));
  return signatures.findIndex((signature) =>
    isWrong(structs)
      ? structs.includes(signature) && !isWrong(structs.filter((one) => one !== signature))
      : isWrong([...structs, signature]),
  );
};

/** An ABI from human-readable signatures, as abitype reads them. */
export const parseSignatures = (signatures: ReadonlyArray<string>, field: string): Checked<Abi> =>
  Result.mapError(parse(signatures), (problem) => {
    const index = wrongIn(signatures);
    return { field: index === -1 ? field : `${field}[${index}]`, problem: `is no ABI: ${problem}` };
  });

/** Whether it is a list of signatures. */
export const isSignatures = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string");

/** The JSON form of an ABI: an array of objects with a `type`, or of signatures. */
export const asAbi = (value: unknown, field: string): Checked<ReadonlyArray<Schema.Json>> =>
  Result.flatMap(isSignatures(value) ? parseSignatures(value, field) : Result.succeed(value), (abi) =>
    Result.flatMap(
      // why: the report keeps it as JSON; what JSON cannot hold (undefined, functions) is no part of an ABI
      Result.try({
        try: (): unknown => JSON.parse(JSON.stringify(abi) ?? "null"),
        catch: (error) => ({ field, problem: `is not JSON: ${reason(error)}` }),
      }),
      (json) =>
        Array.isArray(json) &&
        json.every((item) => typeof item === "object" && item !== null && typeof item.type === "string")
          ? Result.succeed(json as ReadonlyArray<Schema.Json>)
          : no(field, "must be a JSON ABI, an array of items with a type, or an array of human-readable signatures"),
    ),
  );

const asList = remembered((abi: ReadonlyArray<unknown>) => asAbi(abi, ""));

/**
 * {@link asAbi} of what is only decoded with: a list is read once, for callers hand in the same ones again and
 * again. Calldata is always encoded by the ABI as it is now.
 */
export const asKnownAbi = (value: unknown, field: string): Checked<ReadonlyArray<Schema.Json>> =>
  Array.isArray(value)
    ? Result.mapError(asList(value), (wrong) => ({ ...wrong, field: `${field}${wrong.field}` }))
    : asAbi(value, field);
