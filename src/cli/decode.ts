/** `evm-preflight decode`: revert data, calldata and logs in words. Asks nobody. */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import * as Argument from "effect/cli/Argument";
import * as Command from "effect/cli/Command";
import type { Abi, AbiFunction } from "abitype";
import { decodeEventLog, toEventSignature, toFunctionSelector, toFunctionSignature } from "viem";
import { decodeRevert } from "../abi/decodeRevert.js";
import { describeCall, describeCalldata, describeValue } from "../abi/print.js";
import { describeLayer } from "../abi/revertText.js";
import type { Hex } from "../primitives/hex.js";
import { escapeText } from "../primitives/text.js";
import { isDecodable } from "../abi/decodable.js";
import { Exited, exitCodes, wrong, type WrongUsage } from "./exit.js";
import { readAbi } from "./files.js";
import { text, toggle } from "./flags.js";
import { print } from "./terminal.js";

/** One reading of the bytes. */
export interface Reading {
  readonly kind: "revert" | "call" | "event";
  readonly signature: string;
  readonly text: string;
}

const revertReadings = (data: Hex, abi: Abi | null): ReadonlyArray<Reading> =>
  decodeRevert(data, abi === null ? [] : [abi]).layers.flatMap(({ path, layer }): ReadonlyArray<Reading> => {
    if (layer._tag === "Unknown" || layer._tag === "Empty") return [];
    const signature =
      layer._tag === "Custom"
        ? layer.signature
        : layer._tag === "Reason"
          ? "Error(string)"
          : layer._tag === "Panic"
            ? "Panic(uint256)"
            : layer.candidates.map((candidate) => candidate.signature).join(" or ");
    const text = `${path === "" ? "" : `${escapeText(path, 60)}: `}${describeLayer(layer, { sources: true })}`;
    return [{ kind: "revert", signature: escapeText(signature, 400), text }];
  });

const callReadings = (data: Hex, abi: Abi): ReadonlyArray<Reading> =>
  abi
    .filter((item): item is AbiFunction => item.type === "function")
    .filter((item) => toFunctionSelector(item) === data.slice(0, 10).toLowerCase())
    .flatMap((item) => {
      const text = describeCalldata(data, item);
      return text === null || text.startsWith("selector ")
        ? []
        : [{ kind: "call", signature: toFunctionSignature(item), text }];
    });

const eventReadings = (data: Hex, topics: ReadonlyArray<`0x${string}`>, abi: Abi): ReadonlyArray<Reading> =>
  abi.flatMap((item): ReadonlyArray<Reading> => {
    if (item.type !== "event" || !isDecodable(item.inputs)) return [];
    const decoded = Result.try({
      try: () => {
        const [first, ...rest] = topics;
        if (first === undefined) return null;
        // why: viem's types want literal topics; wrong ones throw and are caught
        const { args } = decodeEventLog({ abi: [item], data, topics: [first, ...rest] as never, strict: true });
        const values = args === undefined ? [] : Object.entries(args as Readonly<Record<string, unknown>>);
        const parameters = values.map(
          ([name], index) => item.inputs.find((input) => input.name === name) ?? item.inputs[index],
        );
        return describeCall(
          item.name,
          parameters,
          values.map(([, value]) => value),
        );
      },
      catch: () => null,
    });
    return Result.isFailure(decoded) || decoded.success === null
      ? []
      : [{ kind: "event", signature: toEventSignature(item), text: decoded.success }];
  });

/** Every reading of `data` that holds: as a log when topics are given, else as a revert and as a call. */
export const readingsOf = (data: Hex, abi: Abi | null, topics: ReadonlyArray<`0x${string}`>): ReadonlyArray<Reading> =>
  topics.length > 0
    ? eventReadings(data, topics, abi ?? [])
    : [...revertReadings(data, abi), ...callReadings(data, abi ?? [])];

const hex = (text: string, name: string): Effect.Effect<Hex, WrongUsage> => {
  if (!/^0x[0-9a-fA-F]*$/.test(text))
    return Effect.fail(wrong(name, `must be hex with 0x, got "${escapeText(text, 40)}"`));
  return text.length % 2 === 0
    ? Effect.succeed(text as Hex)
    : Effect.fail(wrong(name, "has an odd number of hex digits"));
};

const readTopics = Effect.fnUntraced(function* (text: string) {
  const topics = text.split(",").map((topic) => topic.trim());
  const stranger = topics.findIndex((topic) => !/^0x[0-9a-fA-F]{64}$/.test(topic));
  if (stranger !== -1 || topics.length > 4)
    return yield* wrong(
      `--topics${stranger === -1 ? "" : `[${stranger}]`}`,
      "must be up to four 32-byte words, separated by commas",
    );
  return topics as ReadonlyArray<`0x${string}`>;
});

export const decode = Command.make(
  "decode",
  {
    data: Argument.String("data").pipe(Argument.withDescription("revert data, calldata, or a log's data; 0x…")),
    abi: text("abi", "ABI file, or a signature in quotes"),
    topics: text("topics", "a log's topics, separated by commas; the data is then a log's"),
    json: toggle("json", "print the readings as JSON"),
  },
  Effect.fnUntraced(function* (given) {
    const data = yield* hex(given.data, "data");
    const abi = Option.isNone(given.abi) ? null : yield* readAbi(given.abi.value);
    const topics = Option.isNone(given.topics) ? [] : yield* readTopics(given.topics.value);
    if (topics.length > 0 && abi === null) return yield* wrong("--abi", "is missing; a log needs one to be read");
    const readings = readingsOf(data, abi, topics);
    yield* print(
      given.json
        ? JSON.stringify({ data, readings }, null, 2)
        : readings.length > 0
          ? readings.map(({ kind, text }) => `${kind}  ${text}`).join("\n")
          : data.length === 2
            ? "no data: a revert without a reason, or an empty call"
            : `nothing known begins with ${describeValue({ type: "bytes4" }, data.slice(0, 10))}; give the contract's ABI with --abi`,
    );
    return yield* new Exited({ code: readings.length > 0 ? exitCodes.ready : exitCodes.unknown });
  }),
).pipe(
  Command.withDescription("Decode revert data by the built-in errors and an ABI; with an ABI also calldata and logs"),
  Command.withExamples([
    {
      command: `evm-preflight decode 0x08c379a0… --abi MyContract.json`,
      description: "Revert data, by the ABI and the built-in errors",
    },
  ]),
);
