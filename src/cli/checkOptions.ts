/** What `check` is asked, from flags, a file or stdin. */
import * as Effect from "effect/Effect";
import type * as FileSystem from "effect/FileSystem";
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import type * as Stdio from "effect/Stdio";
import type { Problem } from "../primitives/problem.js";
import type { Address } from "../primitives/hex.js";
import { escapeText } from "../primitives/text.js";
import { named } from "../report/options.js";
import * as Policy from "../Policy.js";
import type { Options } from "../Preflight.js";
import { KnownEndpoint } from "../rpc/knownEndpoint.js";
import type { LooseCall } from "../Transaction.js";
import { wrong, type WrongUsage } from "./exit.js";
import { readAbi, readText } from "./files.js";
import { flagOf, transactionFlags, type CheckFlags } from "./flags.js";
import { inputOf, inputOfText } from "./input.js";
import { amount, block, duration } from "./quantity.js";

type Text = Option.Option<string>;

/** Complaints about the input, with the flag in place of the field when it came from flags. */
export const complaint = (flags: CheckFlags, { field, problem }: Problem): WrongUsage => {
  const [, name = "", rest = ""] = /^(\w+)(.*)$/.exec(field) ?? [];
  const flag = Option.isSome(flags.input) ? null : flagOf(name);
  return wrong(flag === null ? field : `${flag}${rest}`, problem);
};

const parsed = (text: string): Result.Result<unknown, string> =>
  Result.try({ try: (): unknown => JSON.parse(text), catch: () => `is no JSON: ${escapeText(text, 60)}` });

const json = (text: string, name: string): Effect.Effect<unknown, WrongUsage> =>
  Effect.mapError(Effect.fromResult(parsed(text)), (problem) => wrong(name, problem));

const argsForm = `must be one JSON array in quotes, such as '["0x…", "1000000"]'`;

/** The flags that take an amount, and the units that it may have been meant in. */
const amounts = {
  value: amount(["ether", "gwei", "wei"]),
  maxFeePerGas: amount(["gwei", "wei"]),
  maxPriorityFeePerGas: amount(["gwei", "wei"]),
  gasPrice: amount(["gwei", "wei"]),
} satisfies { readonly [K in keyof typeof transactionFlags]?: unknown };

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
    if (Option.isSome(flags.args) && Result.isFailure(parsed(flags.args.value)))
      return yield* wrong("--args", argsForm);
    if (stray !== undefined)
      return yield* wrong(
        flagOf(stray) ?? stray,
        `cannot stand together with the input file ${escapeText(flags.input.value, 60)}; write it into the file`,
      );
    const text = yield* readText(flags.input.value, "input");
    return yield* Effect.mapError(Effect.fromResult(inputOfText(text)), (error) => complaint(flags, error));
  }
  if (entries["from"] === undefined)
    return yield* wrong("--from", "is missing; or give a JSON file with the transaction, or - for stdin");
  if (Option.isSome(flags.abi) && !isForDecoding(flags)) entries["abi"] = yield* readAbi(flags.abi.value);
  for (const [name, readAmount] of Object.entries(amounts)) {
    const given = entries[name];
    if (typeof given !== "string") continue;
    entries[name] = yield* Effect.mapError(Effect.fromResult(readAmount(given)), (problem) =>
      wrong(flagOf(name) ?? name, problem),
    );
  }
  if (Option.isSome(flags.args)) {
    const args = parsed(flags.args.value);
    if (Result.isFailure(args)) return yield* wrong("--args", `${args.failure}; it ${argsForm}`);
    entries["args"] = args.success;
  }
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
  return yield* Effect.mapError(Policy.fromJson(data), ({ field, problem }) => wrong(`--${field}`, problem));
});

/** The headers of `--header`; what they hold is never repeated. */
export const readHeaders = (
  headers: ReadonlyArray<string>,
): Effect.Effect<Readonly<Record<string, string>>, WrongUsage> =>
  Effect.map(
    Effect.forEach(headers, (given, index) => {
      const [, name, value] =
        /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}):[ \t]*([\t\x20-\x7e\x80-\xff]{1,8192})$/.exec(given) ?? [];
      return name === undefined || value === undefined
        ? Effect.fail(wrong(`--header[${index}]`, 'must be one header in quotes, "name: value", in one line'))
        : Effect.succeed([name.toLowerCase(), value.trim()] as const);
    }),
    (pairs) => Object.fromEntries(pairs),
  );

const decodeEndpoint = Schema.decodeUnknownEffect(KnownEndpoint);

/** What the file of `--endpoint` tells of it. */
export const readEndpoint = Effect.fnUntraced(function* (
  path: Text,
): Effect.fn.Return<{ readonly endpoint?: KnownEndpoint }, WrongUsage, FileSystem.FileSystem | Stdio.Stdio> {
  if (Option.isNone(path)) return {};
  const data = yield* json(yield* readText(path.value, "--endpoint"), "--endpoint");
  const endpoint = yield* Effect.mapError(decodeEndpoint(data), ({ message }) =>
    wrong("--endpoint", `is not what doctor --json writes: ${escapeText(message.replace(/\s+/g, " "), 200)}`),
  );
  return { endpoint };
});

/** Addresses, separated by commas. */
const addresses = (text: string): Result.Result<ReadonlyArray<Address>, string> =>
  Result.mapError(
    named.delegateTargets.check(
      text.split(",").map((one) => one.trim()),
      "",
    ),
    ({ field, problem }) => `${field} ${problem}`,
  );

/** The options of the run. */
export const readOptions = Effect.fnUntraced(function* (
  flags: CheckFlags,
): Effect.fn.Return<Options, WrongUsage, FileSystem.FileSystem | Stdio.Stdio> {
  const asked = yield* read("--block", flags.block, block);
  const deadline = yield* read("--deadline", flags.deadline, duration);
  const targets = yield* read("--delegate-targets", flags.delegateTargets, addresses);
  return {
    traceReverts: true,
    ...(targets === null ? {} : { delegateTargets: targets }),
    ...(Option.isSome(flags.abi) && isForDecoding(flags) ? { abis: [yield* readAbi(flags.abi.value)] } : {}),
    ...(asked === null ? {} : { block: asked }),
    ...(deadline === null ? {} : { deadline }),
    ...(Option.isNone(flags.feeLevel) ? {} : { feeLevel: flags.feeLevel.value }),
    ...(Option.isNone(flags.policies) ? {} : { policies: yield* readPolicies(flags.policies.value) }),
  };
});
