/** `evm-preflight decode`: revert data, calldata and logs in words. Asks nobody. */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import * as Argument from "effect/cli/Argument";
import * as Command from "effect/cli/Command";
import type { Abi } from "abitype";
import {
  type DecodedCall,
  decodeCall,
  functionText,
  indexAbis,
  innerLines,
  leastBytes,
  wellKnown,
  decodeLog,
  decodeRevert,
  describeLog,
  describeValue,
  describeLayer,
  type Provenance,
  nobody,
} from "../abi/index.js";
import { no, type Checked, isHash, isHex, type Hash, type Hex, escapeText } from "../primitives/index.js";
import { Exited, exitCodes, orWrong, orWrongField, withExitCodes } from "./exit.js";
import { readAbi, text, toggle } from "./flags.js";
import { list } from "./quantity.js";
import { jsonText, print } from "./terminal.js";

/**
 * One reading of the bytes. `by`: `selector` is by nothing but its first bytes, which any contract may use otherwise;
 * `sources`: the standards, contracts and packages that have it, empty for an ABI that was given.
 */
const reading = (
  kind: "revert" | "call" | "event",
  signature: string,
  text: string,
  shared: ReadonlyArray<string> | null,
) => ({
  ...{ kind, signature: escapeText(signature, 400), text, by: shared === null ? "abi" : "selector" },
  sources: shared ?? [],
});

/** Returns the sources that share it; null where an ABI was given for it. */
const sharedBy = (provenance: ReadonlyArray<Provenance>): ReadonlyArray<string> | null =>
  provenance.every(({ kind }) => kind === "builtin") ? provenance.flatMap(({ source }) => source ?? []) : null;

const revertReadings = (data: Hex, abi: Abi | null) =>
  decodeRevert(data, abi === null ? [] : [abi]).layers.flatMap(({ path, layer }) => {
    if (layer._tag === "Unknown" || layer._tag === "Empty") return [];
    const text = `${path === "" ? "" : `${escapeText(path, 60)}: `}${describeLayer(layer)}`;
    if (layer._tag === "Custom") return [reading("revert", layer.signature, text, sharedBy(layer.provenance))];
    const candidates = layer._tag === "Ambiguous" ? layer.candidates.map(({ signature }) => signature) : [];
    const builtIn = layer._tag === "Reason" ? "Error(string)" : "Panic(uint256)";
    return [reading("revert", candidates.join(" or ") || builtIn, text, [])];
  });

const callReadings = (call: DecodedCall | null) =>
  call?.function == null
    ? []
    : [call, ...call.others].map((fit) =>
        reading("call", fit.signature ?? "", functionText(fit), fit.by === "selector" ? fit.sources : null),
      );

const eventReadings = (data: Hex, topics: ReadonlyArray<Hex>, abi: Abi | null) => {
  // why: a log on the command line has no address, and anonymous events are looked for by one
  const log = { address: nobody, topics, data };
  const decoded = decodeLog(log, abi === null ? [] : [{ address: nobody, abi }]) ?? decodeLog(log, wellKnown);
  return decoded === null
    ? []
    : [reading("event", decoded.signature, describeLog(decoded), sharedBy(decoded.provenance))];
};

/** A reading a line, calls within a call below it; that several fit is said, for none of them is a fact. */
const readingsText = (readings: ReadonlyArray<ReturnType<typeof reading>>, call: DecodedCall | null): string => {
  const calls = readings.filter(({ kind }) => kind === "call").length;
  return [
    ...readings.map(
      ({ kind, text, sources }) =>
        `${kind}  ${text}${sources.length === 0 ? "" : `  by selector: ${sources.join(", ")}`}`,
    ),
    ...(call === null ? [] : innerLines(call)).map(({ indent, place, text }) => `${indent}${place}  ${text}`),
    ...(calls > 1 ? [`${calls} functions fit; only the contract's own ABI tells which it is`] : []),
  ].join("\n");
};

/** Says of bytes that nothing fits which functions and errors begin so, and what is missing of their arguments. */
const lackText = (data: Hex, abi: Abi | null): string => {
  const selector = data.slice(0, 10).toLowerCase();
  const given = (data.length - 10) / 2;
  const own = indexAbis(abi === null ? [] : [abi]);
  const known = [...own.functions(selector), ...own.errors(selector), ...wellKnown.functions(selector)];
  const least = new Map(known.map(({ signature, inputs }) => [signature, leastBytes(inputs)]));
  const lines = [...least].map(([signature, needed]) => {
    const lack = `its arguments take at least ${needed} bytes, and ${given} are there`;
    const strange = "its arguments are not encoded as they should be";
    return `${escapeText(signature, 400)} begins with ${escapeText(selector)}, but ${given < needed ? lack : strange}`;
  });
  if (lines.length > 0) return lines.join("\n");
  return `nothing known begins with ${describeValue({ type: "bytes4" }, data.slice(0, 10))}; give the contract's ABI`;
};

/** Bytes of any length, in hex. */
export const readHex = (text: string): Result.Result<Hex, string> => {
  if (!isHex(text)) return Result.fail(`must be hex with 0x, got "${escapeText(text, 40)}"`);
  return text.length % 2 === 0 ? Result.succeed(text) : Result.fail("has an odd number of hex digits");
};

/** The topics of a log, in a list or between commas; the field that is wrong, by `name`. */
export const readTopics = (input: unknown, name: string): Checked<ReadonlyArray<Hash>> => {
  const topics: unknown = typeof input === "string" ? list(input) : (input ?? []);
  if (!Array.isArray(topics)) return no(name, "must be an array of 32-byte words");
  const stranger = topics.findIndex((topic) => !isHash(topic));
  return stranger !== -1 || topics.length > 4
    ? no(`${name}${stranger === -1 ? "" : `[${stranger}]`}`, "must be up to four 32-byte words, separated by commas")
    : Result.succeed(topics as ReadonlyArray<Hash>);
};

/**
 * Everything that bytes may mean: every reading that holds, as a log when topics are given, else as a revert and as a call; the
 * calls within a call; and both as text.
 */
export const explain = (data: Hex, abi: Abi | null, topics: ReadonlyArray<Hex>) => {
  const isLog = topics.length > 0;
  const call = isLog ? null : decodeCall(data, abi ?? []);
  const readings = isLog ? eventReadings(data, topics, abi) : [...revertReadings(data, abi), ...callReadings(call)];
  const text =
    readings.length > 0
      ? readingsText(readings, call)
      : data.length === 2
        ? "no data: a revert without a reason, or an empty call"
        : lackText(data, abi);
  return { data, readings, ...(call?.function == null ? {} : { call }), text };
};

export const decode = Command.make(
  "decode",
  {
    data: Argument.String("data").pipe(Argument.withDescription("revert data, calldata, or a log's data; 0x…")),
    abi: text("abi", "ABI file, or a signature in quotes"),
    topics: text("topics", "a log's topics, separated by commas; the data is then a log's"),
    json: toggle("json", "print the readings as JSON"),
  },
  Effect.fnUntraced(function* (input) {
    const data = yield* orWrong("data", readHex(input.data));
    const abi = Option.isNone(input.abi) ? null : yield* readAbi(input.abi.value);
    const topics = yield* orWrongField(readTopics(Option.getOrNull(input.topics), "--topics"));
    const { text, ...json } = explain(data, abi, topics);
    yield* print(input.json ? jsonText(json) : text);
    return yield* new Exited({ code: json.readings.length > 0 ? exitCodes.ready : exitCodes.unknown });
  }),
).pipe(
  Command.withDescription(
    "Decode revert data, calldata and logs by an ABI, else by a table of common errors, functions and events",
  ),
  withExitCodes("0 decoded, 3 nothing fits"),
  Command.withExamples([
    {
      command: `evm-preflight decode 0x08c379a0… --abi MyContract.json`,
      description: "Revert data, by the ABI and the built-in errors",
    },
  ]),
);
