/** What `check` is asked, from flags, a file or stdin. */
import * as Effect from "effect/Effect";
import type * as FileSystem from "effect/FileSystem";
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import type * as Stdio from "effect/Stdio";
import type { Problem } from "../primitives/problem.js";
import { escapeText } from "../primitives/text.js";
import * as Policy from "../Policy.js";
import type { Options } from "../Preflight.js";
import type { LooseCall } from "../Transaction.js";
import { wrong, type WrongUsage } from "./exit.js";
import { readAbi, readText } from "./files.js";
import { flagOf, transactionFlags, type CheckFlags } from "./flags.js";
import { inputOf, inputOfText } from "./input.js";
import { block, duration } from "./quantity.js";

type Text = Option.Option<string>;

/** Complaints about the input, with the flag in place of the field when it came from flags. */
export const complaint = (flags: CheckFlags, { field, problem }: Problem): WrongUsage => {
  const [, name = "", rest = ""] = /^(\w+)(.*)$/.exec(field) ?? [];
  const flag = Option.isSome(flags.input) ? null : flagOf(name);
  return wrong(flag === null ? field : `${flag}${rest}`, problem);
};

const json = (text: string, name: string): Effect.Effect<unknown, WrongUsage> =>
  Effect.fromResult(
    Result.try({
      try: (): unknown => JSON.parse(text),
      catch: () => wrong(name, `is no JSON: ${escapeText(text, 60)}`),
    }),
  );

/** The fields that were given as flags, `abi` not counted: it may be there for decoding only. */
const given = (flags: CheckFlags): Record<string, unknown> =>
  Object.fromEntries(
    Object.keys(transactionFlags).flatMap((name) => {
      const value = flags[name as keyof typeof transactionFlags];
      return Option.isSome(value) && name !== "abi" ? [[name, value.value]] : [];
    }),
  );

/** Whether `--abi` only decodes: the call is there already, as data or in a file. */
const isForDecoding = (flags: CheckFlags): boolean =>
  Option.isSome(flags.input) ||
  (Option.isSome(flags.data) && Option.isNone(flags.functionName) && Option.isNone(flags.args));

/** The transaction or bundle. */
export const readInput = Effect.fnUntraced(function* (
  flags: CheckFlags,
): Effect.fn.Return<LooseCall | ReadonlyArray<LooseCall>, WrongUsage, FileSystem.FileSystem | Stdio.Stdio> {
  const entries = given(flags);
  const stray = Object.keys(entries)[0];
  if (Option.isSome(flags.input)) {
    if (stray !== undefined)
      return yield* wrong(flagOf(stray) ?? stray, "cannot stand together with an input file; write it into the file");
    const text = yield* readText(flags.input.value, "input");
    return yield* Effect.mapError(Effect.fromResult(inputOfText(text)), (error) => complaint(flags, error));
  }
  if (entries["from"] === undefined)
    return yield* wrong("--from", "is missing; or give a JSON file with the transaction, or - for stdin");
  if (Option.isSome(flags.abi) && !isForDecoding(flags)) entries["abi"] = yield* readAbi(flags.abi.value);
  if (Option.isSome(flags.args)) entries["args"] = yield* json(flags.args.value, "--args");
  return yield* Effect.mapError(Effect.fromResult(inputOf(entries)), (error) => complaint(flags, error));
});

const read = <A>(flag: string, value: Text, parse: (text: string) => Result.Result<A, string>) =>
  Option.isNone(value)
    ? Effect.succeed(null)
    : Effect.mapError(Effect.fromResult(parse(value.value)), (problem) => wrong(flag, problem));

const readPolicies = Effect.fnUntraced(function* (
  path: string,
): Effect.fn.Return<ReadonlyArray<Policy.Policy>, WrongUsage, FileSystem.FileSystem | Stdio.Stdio> {
  const data = yield* json(yield* readText(path, "--policies"), "--policies");
  if (!Array.isArray(data)) return yield* wrong("--policies", "must be a JSON array of policies");
  return yield* Effect.forEach(data as ReadonlyArray<Parameters<typeof Policy.fromData>[0]>, (entry, index) => {
    const policy = Policy.fromData(entry);
    return policy === null
      ? Effect.fail(wrong(`--policies[${index}]`, "is no policy this version knows"))
      : Effect.succeed(policy);
  });
});

/** The options of the run. */
export const readOptions = Effect.fnUntraced(function* (
  flags: CheckFlags,
): Effect.fn.Return<Options, WrongUsage, FileSystem.FileSystem | Stdio.Stdio> {
  const asked = yield* read("--block", flags.block, block);
  const deadline = yield* read("--deadline", flags.deadline, duration);
  return {
    ...(Option.isSome(flags.abi) && isForDecoding(flags) ? { abis: [yield* readAbi(flags.abi.value)] } : {}),
    ...(asked === null ? {} : { block: asked }),
    ...(deadline === null ? {} : { deadline }),
    ...(Option.isNone(flags.feeLevel) ? {} : { feeLevel: flags.feeLevel.value }),
    ...(Option.isNone(flags.policies) ? {} : { policies: yield* readPolicies(flags.policies.value) }),
  };
});
