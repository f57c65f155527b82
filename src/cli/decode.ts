/** `evm-preflight decode`: revert data, calldata and logs in words. Asks nobody. */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Argument from "effect/cli/Argument";
import * as Command from "effect/cli/Command";
import type { Abi } from "abitype";
import { wellKnown } from "../abi/wellKnown.js";
import { decodeCall } from "../abi/decodeCall.js";
import { decodeLog } from "../abi/decodeLogs.js";
import { decodeRevert } from "../abi/table.js";
import { innerCalls, innerLines } from "../abi/innerCalls.js";
import { describeLog, describeCalldata, describeValue, describeLayer } from "../abi/print.js";
import type { Provenance } from "../abi/revert.js";
import type { Hex } from "../primitives/hex.js";
import { escapeText } from "../primitives/text.js";
import { Exited, exitCodes, wrong, type WrongUsage } from "./exit.js";
import { readAbi } from "./files.js";
import { text, toggle } from "./flags.js";
import { jsonText, print } from "./terminal.js";

/** One reading of the bytes. */
export interface Reading {
  readonly kind: "revert" | "call" | "event";
  readonly signature: string;
  readonly text: string;
  /** `selector`: by nothing but its first bytes, which any contract may use otherwise. */
  readonly by: "abi" | "selector";
  /** Whose: standards, contracts and packages that have it; empty for an ABI that was given. */
  readonly sources: ReadonlyArray<string>;
}

const originOf = (provenance: ReadonlyArray<Provenance>): Pick<Reading, "by" | "sources"> =>
  provenance.every(({ kind }) => kind === "builtin")
    ? { by: "selector", sources: provenance.flatMap(({ source }) => source ?? []) }
    : { by: "abi", sources: [] };

const originText = ({ by, sources }: Reading): string =>
  by === "selector" && sources.length > 0 ? `  by selector: ${sources.join(", ")}` : "";

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
    const text = `${path === "" ? "" : `${escapeText(path, 60)}: `}${describeLayer(layer)}`;
    const origin = layer._tag === "Custom" ? originOf(layer.provenance) : ({ by: "selector", sources: [] } as const);
    return [{ kind: "revert", signature: escapeText(signature, 400), text, ...origin }];
  });

const callReadings = (data: Hex, abi: Abi | null): ReadonlyArray<Reading> =>
  decodeCall(data, abi === null ? [] : [abi]).map(({ signature, item, provenance }) => ({
    kind: "call",
    signature: escapeText(signature, 400),
    text: describeCalldata(data, item) ?? "",
    ...originOf(provenance),
  }));

/** Where anonymous events are looked for: a log on the command line has no address. */
const nowhere = "0x0000000000000000000000000000000000000000";

const eventReadings = (data: Hex, topics: ReadonlyArray<Hex>, abi: Abi | null): ReadonlyArray<Reading> => {
  const log = { address: nowhere, topics, data };
  const decoded = decodeLog(log, abi === null ? [] : [{ address: nowhere, abi }]) ?? decodeLog(log, wellKnown);
  if (decoded === null) return [];
  const { signature, provenance } = decoded;
  return [
    { kind: "event", signature: escapeText(signature, 400), text: describeLog(decoded), ...originOf(provenance) },
  ];
};

/** Every reading of `data` that holds: as a log when topics are given, else as a revert and as a call. */
export const readingsOf = (data: Hex, abi: Abi | null, topics: ReadonlyArray<Hex>): ReadonlyArray<Reading> =>
  topics.length > 0 ? eventReadings(data, topics, abi) : [...revertReadings(data, abi), ...callReadings(data, abi)];

/** A reading a line, calls within a call below it; that several fit is said, for none of them is a fact. */
const readingsText = (readings: ReadonlyArray<Reading>, within: ReturnType<typeof innerCalls>): string => {
  const calls = readings.filter(({ kind }) => kind === "call").length;
  return [
    ...readings.map((reading) => `${reading.kind}  ${reading.text}${originText(reading)}`),
    ...innerLines(within).map(({ indent, place, text }) => `${indent}${place}  ${text}`),
    ...(calls > 1 ? [`${calls} functions fit; only the contract's own ABI tells which it is`] : []),
  ].join("\n");
};

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
    const readings = readingsOf(data, abi, topics);
    const within = innerCalls(topics.length > 0 ? "0x" : data, abi === null ? [] : [abi]);
    yield* print(
      given.json
        ? jsonText({ data, readings, ...(within.calls.length === 0 ? {} : within) })
        : readings.length > 0
          ? readingsText(readings, within)
          : data.length === 2
            ? "no data: a revert without a reason, or an empty call"
            : `nothing known begins with ${describeValue({ type: "bytes4" }, data.slice(0, 10))}; give the contract's ABI with --abi`,
    );
    return yield* new Exited({ code: readings.length > 0 ? exitCodes.ready : exitCodes.unknown });
  }),
).pipe(
  Command.withDescription(
    "Decode revert data, calldata and logs by an ABI, else by what many contracts share; exit code 3 where nothing fits",
  ),
  Command.withExamples([
    {
      command: `evm-preflight decode 0x08c379a0… --abi MyContract.json`,
      description: "Revert data, by the ABI and the built-in errors",
    },
  ]),
);
