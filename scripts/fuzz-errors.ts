/**
 * Fuzzes `classify` and `decodeRevert`: mutates recorded answers and the corpus for a given time and
 * checks what must hold for any input. A finding is written into the corpus, where a test replays it.
 *
 *   npm run fuzz -- [--seconds 60] [--seed 1] [--corpus test/fixtures/corpus] [--slow 50]
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { ClassifyInput } from "../src/errors/classify.js";
import { checkClassified, checkDecoded } from "../test/errors/invariants.js";

const { values: flags } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    seed: { type: "string", default: String(process.hrtime.bigint() % 1_000_000n) },
    corpus: { type: "string", default: "test/fixtures/corpus" },
    slow: { type: "string", default: "50" },
  },
});

/** A small generator of its own, so that a seed repeats a run. */
let state = Number(flags.seed) >>> 0 || 1;
const random = (below: number): number => {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) % below;
};
const pick = <A>(from: ReadonlyArray<A>): A | undefined => from[random(from.length)];

const lines = (name: string): ReadonlyArray<ClassifyInput> =>
  readFileSync(`test/fixtures/${name}`, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as ClassifyInput);

interface Entry {
  readonly classify?: ClassifyInput;
  readonly decode?: string;
}

const entries = readdirSync(flags.corpus)
  .filter((name) => name.endsWith(".json"))
  .map((name) => JSON.parse(readFileSync(`${flags.corpus}/${name}`, "utf8")) as Entry);
const answers = [
  ...lines("dialects.jsonl"),
  ...lines("wordings.jsonl"),
  ...entries.flatMap((entry) => entry.classify ?? []),
];
const hexIn = JSON.stringify(answers).match(/0x(?:[0-9a-f]{2})*/g) ?? [];
const bytes = [
  ...new Set([...hexIn, ...entries.flatMap((entry) => entry.decode ?? []), "0x08c379a0", "0x4e487b71", "0x65c8fd4d"]),
];
const texts = [
  ...new Set(answers.flatMap((answer) => JSON.stringify(answer.error ?? "").match(/[A-Za-z][^"\\]{3,80}/g) ?? [])),
];
const pieces = [
  "\u0000",
  "\u202e",
  "\u{e0041}",
  "\ud800",
  "{",
  "}",
  '{"code":3}',
  "[0x1, 0x2]",
  " ",
  ": ",
  "0x",
  "9".repeat(90),
  "a".repeat(5000),
  "(",
];

const mutateText = (text: string): string => {
  const at = random(text.length + 1);
  switch (random(7)) {
    case 0:
      return text.slice(0, at) + (pick(pieces) ?? "") + text.slice(at);
    case 1:
      return text.slice(0, at);
    case 2:
      return `${text}${pick([": ", " ", ""]) ?? ""}${pick(texts) ?? ""}`;
    case 3:
      return `${pick(texts) ?? ""}${pick([": ", " "]) ?? ""}${text}`;
    case 4:
      return text.replace(/\d+/, String(random(2) === 0 ? random(1e9) : "1".repeat(random(100))));
    case 5:
      return text.repeat(1 + random(40)).slice(0, 200_000);
    default:
      return JSON.stringify({ code: pick([3, -32000, 429, 4]), message: text, data: pick(bytes) });
  }
};

const codes = [
  3,
  4,
  429,
  -32000,
  -32003,
  -32005,
  -32015,
  -32016,
  -32601,
  -32602,
  -32603,
  -38014,
  -3200,
  4444,
  "-32000",
  null,
  -0,
  1e300,
];

const mutate = (value: unknown, depth: number): unknown => {
  if (depth > 8) return value;
  if (typeof value === "string") return mutateText(value);
  if (typeof value === "number") return pick(codes);
  if (Array.isArray(value))
    return [...value.map((item) => (random(3) === 0 ? mutate(item, depth + 1) : item)), pick(texts)];
  if (typeof value === "object" && value !== null) {
    switch (random(6)) {
      case 0:
        return {
          [pick(["data", "error", "cause", "originalError", "message", "0x".padEnd(66, "a")]) ?? "data"]: value,
          code: pick(codes),
          message: pick(texts),
        };
      case 1:
        return { ...value, data: pick(bytes) };
      case 2:
        return { ...value, message: pick(texts), code: pick(codes) };
      default:
        return Object.fromEntries(
          Object.entries(value).map(([key, field]) => [key, random(2) === 0 ? mutate(field, depth + 1) : field]),
        );
    }
  }
  return pick([value, pick(texts), 0, null, [], {}]);
};

const mutateBytes = (data: string): string => {
  const at = 2 + 2 * random(Math.max(1, data.length >> 1));
  const word = pick(["0".repeat(62) + "20", "f".repeat(64), "0".repeat(56) + "00010000", "0".repeat(64)]) ?? "";
  switch (random(6)) {
    case 0:
      return data.slice(0, at) + word + data.slice(at);
    case 1:
      return data.slice(0, at) + word + data.slice(at + 64);
    case 2:
      return data.slice(0, at);
    case 3:
      return data + (pick(bytes) ?? "0x").slice(2);
    case 4:
      return `${data}${word.repeat(random(200))}`;
    default:
      return data.slice(0, at) + random(256).toString(16).padStart(2, "0") + data.slice(at + 2);
  }
};

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const seen = new Map<string, number>();
let findings = 0;

const report = (entry: Entry, why: string): void => {
  findings += 1;
  const written = JSON.stringify({ ...entry, why }, null, 2);
  const name = `${flags.corpus}/finding-${createHash("sha256").update(written).digest("hex").slice(0, 12)}.json`;
  writeFileSync(name, `${written}\n`);
  say(`${name}: ${why}`);
};

/** Runs one entry; gives what it was classified as, or null when it broke a rule. */
const run = (entry: Entry): string | null => {
  const start = process.hrtime.bigint();
  let shape: string | null = null;
  try {
    shape = entry.decode === undefined ? checkClassified(entry.classify ?? { method: "" }) : checkDecoded(entry.decode);
  } catch (error) {
    report(entry, String(error));
  }
  const ms = Number(process.hrtime.bigint() - start) / 1e6;
  if (ms > Number(flags.slow)) {
    // the first run may have waited for the compiler or the collector
    const again = process.hrtime.bigint();
    if (entry.decode === undefined) checkClassified(entry.classify ?? { method: "" });
    else checkDecoded(entry.decode);
    const second = Number(process.hrtime.bigint() - again) / 1e6;
    if (second > Number(flags.slow)) report(entry, `took ${second.toFixed(0)} ms`);
  }
  return shape;
};

const pool: Array<Entry> = [...answers.map((classify) => ({ classify })), ...bytes.map((decode) => ({ decode }))];
for (const entry of pool) run(entry);

const until = process.hrtime.bigint() + BigInt(Math.round(Number(flags.seconds) * 1e9));
let runs = 0;
while (process.hrtime.bigint() < until && findings < 20) {
  const parent = pick(pool) ?? {};
  const entry: Entry =
    parent.decode === undefined
      ? {
          classify: {
            ...parent.classify,
            ...(mutate({ error: parent.classify?.error ?? null }, 0) as object),
            method: parent.classify?.method ?? "eth_call",
          },
        }
      : { decode: mutateBytes(parent.decode) };
  const size = JSON.stringify(entry).length;
  if (size > 400_000) continue;
  runs += 1;
  const shape = run(entry);
  if (shape === null) continue;
  // what reaches a new answer, or an old one in a new size, is worth mutating further
  const key = `${shape} ${Math.round(Math.log2(size))} ${runs % 50 === 0 ? runs : ""}`;
  if (!seen.has(key) && pool.length < 5000) pool.push(entry);
  seen.set(key, (seen.get(key) ?? 0) + 1);
}
say(`seed ${flags.seed}: ${runs} inputs, ${seen.size} kinds of answers, ${findings} findings`);
process.exitCode = findings === 0 ? 0 : 1;
