/** The house rules that can be read from the sources: floors, cycles, where IO lives, words and weights. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { apart } from "../vitest.config.js";
import { linesOf, moduleOf, root, targetOf, walkFiles, type Import, type Module } from "./harness/sources.js";

/** Floors from the bottom. Files of one group may import each other; groups of one floor may not. */
const floors: ReadonlyArray<{ readonly floor: number; readonly group: string; readonly paths: RegExp }> = [
  { floor: 0, group: "primitives", paths: /^src\/primitives\/.+\.ts$/ },
  { floor: 0.5, group: "abi", paths: /^src\/abi\/.+\.ts$/ },
  { floor: 1, group: "errors", paths: /^src\/(errors\/.+|Errors)\.ts$/ },
  { floor: 1.5, group: "transaction", paths: /^src\/(Transaction|transaction\/.+)\.ts$/ },
  { floor: 1.5, group: "witness", paths: /^src\/witness\/.+\.ts$/ },
  // What is signed and is no transaction, and the calls that would use it.
  { floor: 1.6, group: "signing", paths: /^src\/signing\/.+\.ts$/ },
  { floor: 2, group: "rpc", paths: /^src\/(Rpc|rpc\/.+)\.ts$/ },
  { floor: 2, group: "chains", paths: /^src\/(Chains|chains\/.+)\.ts$/ },
  { floor: 2, group: "nonces", paths: /^src\/(NonceStore|nonces\/(?!protocol\/).+)\.ts$/ },
  { floor: 3, group: "eth", paths: /^src\/(Eth|eth\/.+)\.ts$/ },
  { floor: 3.5, group: "report", paths: /^src\/report\/.+\.ts$/ },
  { floor: 3.8, group: "effects", paths: /^src\/effects\/.+\.ts$/ },
  { floor: 4, group: "reading", paths: /^src\/steps\/reading\/.+\.ts$/ },
  { floor: 4.6, group: "steps' door", paths: /^src\/steps\/index\.ts$/ },
  { floor: 4.5, group: "steps", paths: /^src\/steps\/(?!index\.ts$)[^/]+\.ts$/ },
  { floor: 4.8, group: "settlement", paths: /^src\/settle\/[^/]+\.ts$/ },
  { floor: 5, group: "Report", paths: /^src\/Report\.ts$/ },
  // Below the pipeline that evaluates it, above the report that it judges.
  { floor: 5.5, group: "Policy", paths: /^src\/(Policy|policy\/.+)\.ts$/ },
  // Below the pipeline that asks it, above the report that it checks.
  { floor: 5.5, group: "Step", paths: /^src\/Step\.ts$/ },
  { floor: 6, group: "Nonces", paths: /^src\/(Nonces|nonces\/protocol\/.+)\.ts$/ },
  { floor: 6, group: "pipeline", paths: /^src\/pipeline\/.+\.ts$/ },
  // Callers of the pipeline, which knows nothing of them.
  { floor: 6.1, group: "watch", paths: /^src\/watch\/.+\.ts$/ },
  { floor: 6.2, group: "settle", paths: /^src\/settle\/ask\/.+\.ts$/ },
  { floor: 6.4, group: "Preflight", paths: /^src\/Preflight\.ts$/ },
  { floor: 6.5, group: "facade", paths: /^src\/promise\/.+\.ts$/ },
  // Between the pipeline and a key or a wallet.
  { floor: 6.6, group: "guard", paths: /^src\/guard\/.+\.ts$/ },
  // Over everything that finds.
  { floor: 6.3, group: "catalogue", paths: /^src\/catalogue\.ts$/ },
  { floor: 7, group: "index", paths: /^src\/index\.ts$/ },
  { floor: 7, group: "promise", paths: /^src\/promise\.ts$/ },
  // Over the Promise door, whose connections its guard takes.
  { floor: 7.1, group: "viem", paths: /^src\/viem\.ts$/ },
  // The Promise door, but for what asks several endpoints.
  { floor: 7.1, group: "static", paths: /^src\/static\.ts$/ },
  { floor: 7, group: "redis", paths: /^src\/redis\.ts$/ },
  { floor: 7, group: "postgres", paths: /^src\/postgres\.ts$/ },
  { floor: 7, group: "testing", paths: /^src\/testing\.ts$/ },
  // A program over the doors.
  { floor: 7.5, group: "cli", paths: /^src\/(cli|cli\/.+)\.ts$/ },
];

const placeOf = (file: string) => floors.find(({ paths }) => paths.test(file));

const say = ({ file, line, specifier }: Import, why: string) => `${file}:${line} imports "${specifier}": ${why}`;

/** Imports that go up, sideways, or between steps. */
const floorBreaches = (modules: ReadonlyArray<Module>): ReadonlyArray<string> =>
  modules.flatMap(({ file, imports }) => {
    const here = placeOf(file);
    if (here === undefined) return [`${file}: belongs to no floor`];
    return imports.flatMap((each) => {
      const target = targetOf(file, each.specifier);
      if (target === null) return [];
      const there = placeOf(target);
      if (there === undefined) return [say(each, "belongs to no floor")];
      if (here.group === "steps" && there.group === "rpc" && !each.typeOnly)
        return [say(each, "a step asks through Eth, never Rpc")];
      if (there.floor < here.floor) return [];
      if (there.group === here.group) {
        return here.group === "steps" ? [say(each, "steps never import each other")] : [];
      }
      return [say(each, `floor ${here.floor} may not import floor ${there.floor}`)];
    });
  });

/** Rooms of the core. Their doors are `src/<room>/index.ts`; what stands beside the core comes in by them alone. */
const core = [
  ...["primitives", "abi", "errors", "transaction", "witness", "signing", "rpc", "chains", "eth", "report", "effects"],
  ...["steps", "policy"],
  "pipeline",
];

/** Rooms beside the core, which knows nothing of them: who may also come in by the public doors (`src/*.ts`). */
const satellites: Readonly<Record<string, { readonly isOverDoors: boolean }>> = {
  nonces: { isOverDoors: false },
  quorum: { isOverDoors: false },
  settle: { isOverDoors: false },
  watch: { isOverDoors: false },
  // Programs and Promises over the doors.
  cli: { isOverDoors: true },
  guard: { isOverDoors: true },
  promise: { isOverDoors: true },
};

/** What stands beside the core and takes from another that does, and what for: file by file, for a page loads few of them. The list only shrinks. */
const beside: Readonly<Record<string, string>> = {
  "cli → nonces": "repairs lanes",
  "cli → settle": "prints settlements",
  "guard → nonces": "keeps what it has signed in a store",
  "guard → promise": "works on the connection of a Promise door",
  "guard → settle": "compares what a wallet has sent with what was cleared",
  "promise → nonces": "delivers by lanes",
  "promise → watch": "watches as an iterator",
};

const renderings = "renderings: a page that only asks loads none";
const signedBytes = "the door reads signed bytes, too: a page loads the curve with an authorisation";
const classifier = "the classifier: a page loads it with its first error";
const sending = "the pipeline comes in by the same door, and neither sends, watches nor keeps what an endpoint is";

/** Imports past a door, and why. The list only shrinks. */
const pastDoors: Readonly<Record<string, string>> = {
  "promise → src/pipeline/own.ts": "says what a pipeline is made of: a page loads the pipeline itself later",
  "promise → src/eth/watchHeads.ts": "is loaded with the watching, and no page that only asks shall load it",
  "promise → src/eth/watchLogs.ts": "is loaded with the watching, and no page that only asks shall load it",
  // A bundler that cuts by files has what a door names in the first part of a page, where anything of it is used later.
  "promise → src/report/json.ts": renderings,
  "promise → src/report/summary.ts": renderings,
  "promise → src/report/text.ts": renderings,
  "settle → src/report/amounts.ts": renderings,
  "settle → src/report/diff.ts": renderings,
  "watch → src/report/diff.ts": renderings,
  "watch → src/report/freshness.ts": signedBytes,
  "watch → src/report/ready.ts": signedBytes,
  "cli → src/report/document.ts": renderings,
  "cli → src/report/html.ts": renderings,
  "cli → src/report/json.ts": renderings,
  "cli → src/report/markdown.ts": renderings,
  "cli → src/report/text.ts": renderings,
  "guard → src/signing/signIn.ts": "sign-ins: a page loads the kinds of signatures with the first that is proven",
  "nonces → src/errors/sendOutcome.ts": classifier,
  "promise → src/rpc/connection.ts":
    "checks the connection of both Promise entries, which a page has before the pipeline",
  "promise → src/rpc/observe.ts": sending,
  "quorum → src/rpc/requests.ts": sending,
};

/** The room of a file; null for a public door that belongs to none. `Chains.ts` and `NonceStore.ts` are the services of rooms. */
const roomOf = (file: string): string | null =>
  file.startsWith("src/rpc/quorum/")
    ? "quorum"
    : file === "src/Chains.ts"
      ? "chains"
      : file === "src/NonceStore.ts" || file === "src/Nonces.ts"
        ? "nonces"
        : (/^src\/([^/]+)\//.exec(file)?.[1] ?? null);

/** The list of codes of findings. The code of a finding is one of them, so the one import that goes up is of its type. */
const catalogue = "src/catalogue.ts";
const isOfCodes = ({ file, specifier, typeOnly }: Import): boolean =>
  typeOnly && file === "src/report/finding.ts" && targetOf(file, specifier) === catalogue;

/** Public doors that are of the core alone: a name or a service, without any of what stands beside it. */
const ofCore = /^src\/(Transaction|Policy|Step|Chains|Errors|Report)\.ts$/;

/** Imports of the core that know of what stands beside it: statically, lazily or by type. */
const callerBreaches = (modules: ReadonlyArray<Module>): ReadonlyArray<string> =>
  modules.flatMap(({ file, imports }) =>
    !core.includes(roomOf(file) ?? "")
      ? []
      : imports.flatMap((each) => {
          const target = targetOf(file, each.specifier);
          const room = target === null ? null : roomOf(target);
          const isKnown = target === null || (room === null ? ofCore.test(target) : core.includes(room));
          return isKnown ? [] : [say(each, "is no part of the core")];
        }),
  );

/** Why an import goes past a door; null where it does not. `used` gets the exceptions that it rests on. */
const pastDoor = (file: string, target: string, used: Set<string>): string | null => {
  const isPublic = (path: string) => !path.slice("src/".length).includes("/");
  const [here, there] = [isPublic(file) ? null : roomOf(file), roomOf(target)];
  // why: a code is declared in the file that decides it, and nothing else of that file is taken
  if (file === catalogue) return null;
  if (here === there || (here === null && there !== "pipeline")) return null;
  const satellite = satellites[here ?? ""];
  if (there === null) return satellite?.isOverDoors === false ? "is a public door" : null;
  // A public door puts rooms together, and a room of the core may know another one from inside.
  if (satellite === undefined && there !== "pipeline") return null;
  if (isPublic(target) && satellite?.isOverDoors === true) return null;
  const listed = `${here} → ${target}`;
  if (listed in pastDoors) {
    used.add(listed);
    return null;
  }
  if (there in satellites) {
    const pair = `${here} → ${there}`;
    used.add(pair);
    return pair in beside ? null : "stands beside the core, too";
  }
  return target === `src/${there}/index.ts` ? null : `come in by src/${there}/index.ts`;
};

/** Imports past the door of a room. */
const doorBreaches = (modules: ReadonlyArray<Module>, used = new Set<string>()): ReadonlyArray<string> =>
  modules.flatMap(({ file, imports }) =>
    imports.flatMap((each) => {
      const target = targetOf(file, each.specifier);
      const why = target === null ? null : pastDoor(file, target, used);
      return why === null ? [] : [say(each, why)];
    }),
  );

/** How often the folders of the pipeline import what lies beside them in it. Each number only goes down. */
const inwards: Readonly<Record<string, number>> = { endpoint: 9, extras: 9, gas: 3, worlds: 9 };

/** Two places that import each other, of those that `placed` names. */
const mutual = (
  modules: ReadonlyArray<Module>,
  placed: (file: string) => string | null,
): ReadonlyArray<readonly [a: string, b: string]> => {
  const pairs = new Set(
    modules.flatMap(({ file, imports }) =>
      imports.flatMap(({ specifier }) => {
        const [here, there] = [placed(file), placed(targetOf(file, specifier) ?? "")];
        return here === null || there === null || here === there ? [] : [`${here} → ${there}`];
      }),
    ),
  );
  return [...pairs].flatMap((pair) => {
    const [a = "", b = ""] = pair.split(" → ");
    return a < b && pairs.has(`${b} → ${a}`) ? [[a, b] as const] : [];
  });
};

const folderOf = (file: string): string | null => /^src\/pipeline\/([^/]+)\/./.exec(file)?.[1] ?? null;

/** One import cycle as a path, or null. */
const findCycle = (modules: ReadonlyArray<Module>): string | null => {
  const graph = new Map(
    modules.map(({ file, imports }) => [
      file,
      imports.flatMap(({ specifier }) => targetOf(file, specifier) ?? []).filter((target) => target !== file),
    ]),
  );
  const done = new Set<string>();
  const walk = (file: string, path: ReadonlyArray<string>): string | null => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file].join(" → ");
    if (done.has(file)) return null;
    for (const next of graph.get(file) ?? []) {
      const cycle = walk(next, [...path, file]);
      if (cycle !== null) return cycle;
    }
    done.add(file);
    return null;
  };
  for (const file of graph.keys()) {
    const cycle = walk(file, []);
    if (cycle !== null) return cycle;
  }
  return null;
};

/** What talks to the outside, by module; `*` = all of it. */
const ioOfViem = new Set(
  ["createClient", "createPublicClient", "createWalletClient", "createTestClient", "createTransport"].concat([
    "http",
    "webSocket",
    "custom",
    "fallback",
    "ipc",
    "*",
    "default",
  ]),
);
const mayTalk = new Set(["rpc", "cli", "testing", "guard"]);

/** IO outside the floors that may do it. */
const ioBreaches = (modules: ReadonlyArray<Module>): ReadonlyArray<string> =>
  modules.flatMap(({ file, imports, text }) => {
    if (mayTalk.has(placeOf(file)?.group ?? "")) return [];
    const imported = imports
      .filter(({ specifier, names, typeOnly }) => {
        if (specifier.startsWith("node:")) return true;
        if (typeOnly) return false;
        if (specifier.startsWith("effect/http") || specifier.startsWith("@effect/platform")) return true;
        if (/^viem\/(actions|node|clients)/.test(specifier)) return true;
        return specifier === "viem" && names.some((name) => ioOfViem.has(name));
      })
      .map((each) => say(each, "only Rpc (and the cli and testing doors) talk to the outside"));
    const called = linesOf(text)
      .filter(({ code }) => /(?<![.\w])(fetch|XMLHttpRequest|WebSocket)\s*\(/.test(code))
      .map(({ line }) => `${file}:${line} calls the network: only Rpc does`);
    return [...imported, ...called];
  });

/** The only rooms that load viem: they come in after the doors, on demand. Its entry is half of what a door would cost. */
const mayLoadViem = new Set(["cli", "guard"]);

/** Files outside of them that load viem, and those of the guard that its door loads. */
const viemBreaches = (modules: ReadonlyArray<Module>): ReadonlyArray<string> =>
  modules.flatMap(({ file, imports }) => {
    // The reader of sign-ins (ERC-4361) is loaded with the first signature, or by a guard, which has viem.
    if (file === "src/promise/reverted.ts" || file === "src/signing/signIn.ts") return [];
    if (
      mayLoadViem.has(placeOf(file)?.group ?? "") &&
      file !== "src/guard/failures.ts" &&
      file !== "src/guard/provider.ts"
    )
      return [];
    return imports
      .filter(({ specifier, typeOnly }) => /^viem(\/|$)/.test(specifier) && !typeOnly)
      .map((each) => say(each, "take it from `primitives/bytes.ts`: a door must not load viem's entry"));
  });

const forbiddenCode: ReadonlyArray<readonly [RegExp, string]> = [
  [/(:|\bas|<|,|\||&)\s*any\b(?!\s*\()/, "`any`"],
  [/(?<![.\w])async\b(?!\s*:)/, "`async`: use Effect"],
  [/(?<![.\w])try\s*\{/, "`try`: use Effect.try or Result.try"],
  [/\bDate\.now\b|\bnew Date\(\)/, "the wall clock: use Clock"],
  [/(?<![.\w])throw\b/, "`throw`: fail with a typed error"],
  [/\bconsole\.\w+\(/, "console: return it, or log at Debug"],
];
const forbiddenText: ReadonlyArray<readonly [RegExp, string]> = [
  [/\b(TODO|FIXME|XXX|HACK)\b|not implemented/i, "unfinished work"],
  [/@ts-(ignore|expect-error|nocheck)/, "a silenced compiler"],
  [/^\s*(\/\/|\*)\s*[-=─═*]{4,}/, "a divider comment"],
  [/from "effect"/, 'the barrel: import "effect/<Module>"'],
];

/** Words that must not stand in the sources. */
const wordBreaches = (modules: ReadonlyArray<Module>): ReadonlyArray<string> =>
  modules.flatMap(({ file, text }) =>
    linesOf(text).flatMap(({ line, code, raw }) => [
      ...forbiddenCode
        .filter(([pattern]) => pattern.test(code))
        .map(([, what]) => `${file}:${line} has ${what}: ${raw.trim()}`),
      ...forbiddenText
        .filter(([pattern]) => pattern.test(raw))
        .map(([, what]) => `${file}:${line} has ${what}: ${raw.trim()}`),
    ]),
  );

/** The first line of a comment with text; a comment of several line comments counts by each. */
const comment = /(?:\/\*\*(?:\s*\n\s*\*)?|(?<=^|\s)\/\/) (?:why: |guard: )?(\S.*)/g;
const relativeClause = /^(What|Who|Whose|Whom|Where|Whether|Of)\b/;

const nameBreaches = (files: ReadonlyArray<string>): ReadonlyArray<string> =>
  files.filter((file) => file.split("/").some((part) => /^(utils?|helpers?|common|shared|misc)(\.|$)/i.test(part)));

/** The steps that ask a question, one file each; what they share is below them, in `steps/reading`. */
const questioningSteps = ["approvals", "assets", "code", "estimate", "fee", "funds", "nonce", "simulate"];

/** What other rooms may take out of `errors/`, by its door, too: the errors themselves, and what makes one of a node's words. */
const errorRooms = ["index", "classify", "input", "nonces", "rpc", "sendOutcome", "verdicts"];

const errorBreaches = (modules: ReadonlyArray<Module>): ReadonlyArray<string> =>
  modules.flatMap(({ file, imports }) =>
    placeOf(file)?.group === "errors" && file !== "src/errors/index.ts"
      ? []
      : imports.flatMap((each) => {
          const target = /^src\/errors\/(.+)\.ts$/.exec(targetOf(file, each.specifier) ?? "")?.[1];
          return target === undefined || errorRooms.includes(target) ? [] : [say(each, "is no error")];
        }),
  );

/** Lists beside each other joined by an index: a case is one record. */
const indexBreaches = (modules: ReadonlyArray<Module>): ReadonlyArray<string> =>
  modules.flatMap(({ file, text }) =>
    file.startsWith("src/pipeline/")
      ? linesOf(text).flatMap(({ line, code }) =>
          /\w\[index\]/.test(code) ? [`${file}:${line} looks a case up by index`] : [],
        )
      : [],
  );

/** Names by which a log or a call is looked up and its rows are made: `effects/` does it once, and everything else asks `effectsIn`. */
const lookUps = [
  ...["eventOf", "knownEvents", "knownCalls", "callRowOf"],
  ...["toldIn", "askedIn", "executionsIn", "announcedBy", "requestedBy", "returnedBy"],
];

const lookUpBreaches = (modules: ReadonlyArray<Module>): ReadonlyArray<string> =>
  modules.flatMap(({ file, imports }) =>
    /^src\/(abi|effects)\//.test(file)
      ? []
      : imports.flatMap((each) =>
          each.names.some((name) => lookUps.includes(name)) ? [say(each, "read the rows of effects/")] : [],
        ),
  );

/** What tests name in spite of their rooms' entries: a mock stands in a file's place, so it names the file. */
const mocked: Readonly<Record<string, ReadonlyArray<string>>> = {
  // Counts the calls of what must be worked on once.
  "test/preflight/work.test.ts": ["src/abi/abiIndex.ts", "src/abi/decodeLogs.ts"],
  // Counts how often a log and a call are looked up, and how often their readers run.
  "test/effects/reads.test.ts": ["src/abi/known/events.ts", "src/abi/known/calls.ts", "src/effects/rights.ts"],
  // What is loaded with the first revert or error, and whose loading fails or hangs.
  "test/preflight/explained.test.ts": ["src/abi/table.ts"],
  "test/preflight/authorities.test.ts": ["src/transaction/signer.ts"],
  "test/rpc/judging.test.ts": ["src/errors/classify.ts"],
};

/** Tests know the doors, and of a room what its entry names: no test moves with a file. */
const entryBreaches = (tests: ReadonlyArray<Module>): ReadonlyArray<string> =>
  tests.flatMap(({ file, imports }) => {
    const ofEntry = /^test\/rooms\/(.+)\.ts$/.exec(file)?.[1];
    return imports.flatMap((each) => {
      const target = targetOf(file, each.specifier) ?? "";
      if (ofEntry !== undefined)
        return target.startsWith(`src/${ofEntry}/`) ? [] : [say(each, `is not in src/${ofEntry}`)];
      const room = /^src\/([^/]+)\/./.exec(target)?.[1];
      if (room === undefined || (mocked[file] ?? []).includes(target)) return [];
      return [say(each, `tests take it from test/rooms/${room}.ts`)];
    });
  });

const modulesOf = (paths: ReadonlyArray<string>): ReadonlyArray<Module> =>
  paths.filter((file) => file.endsWith(".ts")).map((file) => moduleOf(file, readFileSync(join(root, file), "utf8")));

const files = walkFiles("src");
const modules = modulesOf(files).map((module) => ({
  ...module,
  imports: module.imports.filter((each) => !isOfCodes(each)),
}));

/** Code lines of each folder of `src` (the files beside the folders are "."), as last counted. Lower a number with its folder. */
const weights: Readonly<Record<string, number>> = {
  ".": 875,
  abi: 2284,
  chains: 593,
  cli: 2330,
  effects: 512,
  errors: 1796,
  eth: 1851,
  guard: 1236,
  nonces: 3260,
  pipeline: 8850,
  policy: 342,
  primitives: 900,
  promise: 813,
  report: 4420,
  rpc: 2858,
  settle: 930,
  signing: 1700,
  steps: 5320,
  transaction: 1270,
  watch: 102,
  witness: 406,
};

/** A folder may outgrow its number by this share. */
const roomToGrow = 0.05;

/** Lines that are neither blank, comment nor import. */
const codeLinesOf = (text: string): number => {
  let within: "block" | "import" | null = null;
  return text.split("\n").filter((raw) => {
    const line = raw.trim();
    if (within === "block") {
      if (line.includes("*/")) within = null;
      return false;
    }
    if (line === "" || line.startsWith("//")) return false;
    if (line.startsWith("/*")) {
      if (!line.includes("*/")) within = "block";
      return false;
    }
    if (within === "import" || /^import\b|^export (type )?(\*|\{[^=]*$|\{.*\} from)/.test(line)) {
      within = line.endsWith(";") ? null : "import";
      return false;
    }
    return true;
  }).length;
};

const topOf = (file: string): string => /^src\/([^/]+)\//.exec(file)?.[1] ?? ".";

/** Folders that weigh more than they may, and folders without a number. */
const weightBreaches = (
  modules: ReadonlyArray<Pick<Module, "file" | "text">>,
  weights: Readonly<Record<string, number>>,
): ReadonlyArray<string> => {
  const folders = new Map<string, number>();
  for (const { file, text } of modules) folders.set(topOf(file), (folders.get(topOf(file)) ?? 0) + codeLinesOf(text));
  return [...folders].flatMap(([folder, lines]) => {
    const weight = weights[folder];
    if (weight === undefined) return [`${folder}: ${lines} code lines, and no number`];
    const most = Math.floor(weight * (1 + roomToGrow));
    return lines > most ? [`${folder}: ${lines} code lines, at most ${most}`] : [];
  });
};

describe("the sources", () => {
  it("import only from lower floors", () => expect(floorBreaches(modules)).toEqual([]));
  it("have one file per questioning step", () =>
    expect(files.flatMap((file) => /^src\/steps\/(?!index\.)([^/]+)\.ts$/.exec(file)?.[1] ?? []).sort()).toEqual(
      questioningSteps,
    ));
  it("load viem's entry only after the doors", () => {
    expect(viemBreaches(modules)).toEqual([]);
    const eager = (file: string, text: string) => viemBreaches([moduleOf(file, text)]);
    expect(eager("src/report/ready.ts", 'import { keccak256 } from "viem";')).toHaveLength(1);
    expect(eager("src/guard/provider.ts", 'import { createSiweMessage } from "viem/siwe";')).toHaveLength(1);
    expect(eager("src/report/ready.ts", 'import type { Client } from "viem";')).toEqual([]);
  });
  it("take nothing but errors out of errors/", () => expect(errorBreaches(modules)).toEqual([]));
  it("carry a case through the pipeline as one record", () => expect(indexBreaches(modules)).toEqual([]));
  it("look a log or a call up in effects/ alone", () => {
    expect(lookUpBreaches(modules)).toEqual([]);
    const text = 'import { eventOf } from "../abi/words.js";';
    expect(lookUpBreaches([moduleOf("src/steps/assets.ts", text)])).toHaveLength(1);
    const reader = 'import { toldIn } from "../effects/told.js";';
    expect(lookUpBreaches([moduleOf("src/steps/assets.ts", reader)])).toHaveLength(1);
  });
  it("keep the core ignorant of what stands beside it", () => expect(callerBreaches(modules)).toEqual([]));
  it("come into a room by its door, and past it only as listed", () => {
    const used = new Set<string>();
    expect(doorBreaches(modules, used)).toEqual([]);
    expect([...used].sort()).toEqual([...Object.keys(beside), ...Object.keys(pastDoors)].sort());
  });
  it("have no two rooms that import each other, nor two folders of the pipeline", () => {
    expect(mutual(modules, roomOf)).toEqual([]);
    expect(mutual(modules, folderOf)).toEqual([]);
    const counted = Object.keys(inwards).map((folder) => {
      const inside = modules.filter(({ file }) => folderOf(file) === folder);
      const targets = inside.flatMap(({ file, imports }) =>
        imports.map(({ specifier }) => targetOf(file, specifier) ?? ""),
      );
      return [folder, targets.filter((target) => /^src\/pipeline\/[^/]+$/.test(target)).length];
    });
    expect(Object.fromEntries(counted)).toEqual(inwards);
  });
  it("have no import cycle", () => expect(findCycle(modules)).toBeNull());
  it("talk to the outside only in Rpc and the doors made for it", () => expect(ioBreaches(modules)).toEqual([]));
  it("contain no forbidden word", () => expect(wordBreaches(modules)).toEqual([]));
  it("define the list of codes in one place, as a type", () => {
    const importing = modulesOf(files).flatMap(({ file, imports }) =>
      imports.filter(({ specifier }) => targetOf(file, specifier) === catalogue),
    );
    expect(importing.map(({ file, names }) => [file, names])).toEqual([["src/report/finding.ts", []]]);
    expect(importing.every(isOfCodes)).toBe(true);
  });
  it("have at most one in twenty comments that begin with a relative clause", () => {
    const comments = files.flatMap((file) => [...readFileSync(join(root, file), "utf8").matchAll(comment)]);
    const relative = comments.filter(([, text = ""]) => relativeClause.test(text));
    expect(comments.length).toBeGreaterThan(1_000);
    expect(relative.length / comments.length).toBeLessThanOrEqual(0.05);
  });
  it("have no file for leftovers", () => expect(nameBreaches(files)).toEqual([]));
  it("mark each guard that `npm run mutations` breaks exactly once", () =>
    execFileSync(process.execPath, [join(root, "scripts/mutations.mjs"), "--list"], { stdio: "pipe" }));
  it("keep each folder within a twentieth of its budgeted lines", () =>
    expect(weightBreaches(modules, weights)).toEqual([]));
});

describe("the tests", () => {
  const tests = modulesOf(walkFiles("test"));

  it("import the sources through the doors and test/rooms", () => expect(entryBreaches(tests)).toEqual([]));
  it("have a process for themselves where they replace modules: what is replaced stays so for the next file", () => {
    const replacing = tests.filter(({ text }) => /\bvi\.(?:mock|doMock)\(/.test(text)).map(({ file }) => file);
    expect(replacing.filter((file) => file !== "test/architecture.test.ts").sort()).toEqual([...apart].sort());
  });
  it("name no more files than they mock", () =>
    expect(
      Object.entries(mocked).flatMap(([file, targets]) => {
        const named = tests.find((each) => each.file === file)?.imports.map((each) => targetOf(file, each.specifier));
        return targets.filter((target) => named?.includes(target) !== true);
      }),
    ).toEqual([]));
});

describe("these rules", () => {
  const breach = (file: string, text: string) => floorBreaches([moduleOf(file, text)]);

  it("name the line of an import that goes up, also of a type-only one", () =>
    expect(breach("src/errors/a.ts", '\nimport type { Rpc } from "../Rpc.js";')).toEqual([
      'src/errors/a.ts:2 imports "../Rpc.js": floor 1 may not import floor 2',
    ]));
  it("see sideways imports, re-exports, import types and dynamic imports", () => {
    expect(breach("src/Rpc.ts", 'import { a } from "./Chains.js";')).toHaveLength(1);
    expect(breach("src/Rpc.ts", 'export * from "./Eth.js";')).toHaveLength(1);
    expect(breach("src/Rpc.ts", 'type A = import("./Eth.js").A;')).toHaveLength(1);
    expect(breach("src/Rpc.ts", 'const a = () => import("./Eth.js");')).toHaveLength(1);
    expect(breach("src/steps/code.ts", 'import { a } from "./nonce.js";')).toHaveLength(1);
    expect(breach("src/steps/code.ts", 'import { Rpc } from "../Rpc.js";')).toHaveLength(1);
    expect(breach("src/stray.ts", "")).toHaveLength(1);
  });
  it("allow what the house allows", () => {
    expect(
      breach("src/steps/code.ts", 'import type { Rpc } from "../Rpc.js";\nimport { a } from "./reading/tokens.js";'),
    ).toEqual([]);
    expect(breach("src/rpc/http.ts", 'import { Rpc } from "../Rpc.js";')).toEqual([]);
  });
  it("keep every room of the core ignorant of what stands beside it", () => {
    for (const room of Object.keys(satellites).map((name) => (name === "quorum" ? "rpc/quorum" : name)))
      for (const file of ["src/pipeline/scan.ts", "src/steps/code.ts", "src/errors/a.ts", "src/rpc/a.ts"])
        expect(callerBreaches([moduleOf(file, `import type { A } from "../${room}/a.js";`)])).toHaveLength(1);
    expect(callerBreaches([moduleOf("src/Preflight.ts", 'import { a } from "./watch/a.js";')])).toEqual([]);
    expect(callerBreaches([moduleOf("src/report/a.ts", 'const a = import("../Rpc.js");')])).toHaveLength(1);
    expect(callerBreaches([moduleOf("src/report/a.ts", 'import { a } from "../NonceStore.js";')])).toHaveLength(1);
    expect(callerBreaches([moduleOf("src/report/a.ts", 'import { a } from "../Chains.js";')])).toEqual([]);
  });
  it("come into a room by its door", () => {
    const into = (text: string, file = "src/watch/a.ts") => doorBreaches([moduleOf(file, text)]);
    for (const past of ["../pipeline/scan.js", "../report/schema.js", "../nonces/lane.js", "../Preflight.js"])
      expect([past, into(`import type { A } from "${past}";`).length]).toEqual([past, 1]);
    expect(into('const a = import("../report/html.js");')).toHaveLength(1);
    expect(into('import { a } from "../../report/schema.js";', "src/rpc/quorum/a.ts")).toHaveLength(1);
    expect(into('import { a } from "../service.js";', "src/rpc/quorum/a.ts")).toHaveLength(1);
    for (const door of ["../pipeline/index.js", "../report/index.js", "./b.js"])
      expect(into(`import type { A } from "${door}";`)).toEqual([]);
    expect(into('import { a } from "../Preflight.js";', "src/cli/a.ts")).toEqual([]);
    expect(into('import { a } from "../nonces/lane.js";', "src/cli/a.ts")).toEqual([]);
    expect(into('import { a } from "../watch/watch.js";', "src/cli/a.ts")).toHaveLength(1);
    expect(into('import { a } from "./pipeline/scan.js";', "src/Preflight.ts")).toHaveLength(1);
    expect(into('import { a } from "./report/schema.js";', "src/Preflight.ts")).toEqual([]);
    expect(into('import { a } from "../report/schema.js";', "src/steps/code.ts")).toEqual([]);
    expect(doorBreaches([moduleOf("src/pipeline/a.ts", 'import { a } from "./scan.js";')])).toEqual([]);
  });
  it("see two places that import each other", () => {
    const both = [
      moduleOf("src/abi/a.ts", 'import { b } from "../errors/b.js";'),
      moduleOf("src/errors/c.ts", 'import type { A } from "../abi/d.js";'),
    ];
    expect(mutual(both, roomOf)).toEqual([["abi", "errors"]]);
    expect(mutual(both.slice(1), roomOf)).toEqual([]);
  });
  it("see a test that names a file of a room, however it does", () => {
    const named = (text: string, file = "test/abi/a.test.ts") => entryBreaches([moduleOf(file, text)]);
    expect(named('\nimport type { A } from "../../src/abi/type.js";')).toEqual([
      'test/abi/a.test.ts:2 imports "../../src/abi/type.js": tests take it from test/rooms/abi.ts',
    ]);
    expect(named('const a = import("../../src/abi/type.js");')).toHaveLength(1);
    expect(named('const a = await original<typeof import("../../src/abi/type.js")>();')).toHaveLength(1);
    expect(named('vi.doMock("../../src/abi/type.js");')).toHaveLength(1);
    expect(named('const a = await vi.importActual("../../src/abi/type.js");')).toHaveLength(1);
    expect(named('import { a } from "../../src/steps/fee.js";', "test/preflight/work.test.ts")).toHaveLength(1);
    expect(named('export { a } from "../../src/steps/fee.js";', "test/rooms/abi.ts")).toHaveLength(1);
    expect(named('export { a } from "../../src/abi/type.js";', "test/rooms/abi.ts")).toEqual([]);
    expect(named('import { a } from "../rooms/abi.js";\nimport { b } from "../../src/Rpc.js";')).toEqual([]);
  });
  it("count only code, without comments, blanks and imports", () => {
    const text =
      '/** a\n * b */\nimport {\n  c,\n} from "./c.js";\nexport { d } from "./d.js";\n\n// e\nconst f = 1;\n';
    expect(codeLinesOf(text)).toBe(1);
  });
  it("find a folder above its budget, and one without a budget", () => {
    const module = (file: string, lines: number) => ({ file, text: "const a = 1;\n".repeat(lines) });
    expect(weightBreaches([module("src/abi/a.ts", 21)], { abi: 20 })).toEqual([]);
    expect(weightBreaches([module("src/abi/a.ts", 20), module("src/abi/known/b.ts", 2)], { abi: 20 })).toEqual([
      "abi: 22 code lines, at most 21",
    ]);
    expect(weightBreaches([module("src/a.ts", 3)], { abi: 20 })).toEqual([".: 3 code lines, and no number"]);
  });
  it("find cycles inside a group", () =>
    expect(
      findCycle([
        moduleOf("src/errors/a.ts", 'import "./b.js";'),
        moduleOf("src/errors/b.ts", 'import "./c.js";'),
        moduleOf("src/errors/c.ts", 'import "./a.js";'),
      ]),
    ).toBe("src/errors/a.ts → src/errors/b.ts → src/errors/c.ts → src/errors/a.ts"));
  it("see IO however it is imported", () => {
    const io = (text: string) => ioBreaches([moduleOf("src/Eth.ts", text)]);
    expect(io('import { http } from "viem";')).toHaveLength(1);
    expect(io('import { getBlock } from "viem/actions";')).toHaveLength(1);
    expect(io('import * as fs from "node:fs";')).toHaveLength(1);
    expect(io("const a = fetch(url);")).toHaveLength(1);
    expect(io('import { keccak256, type Client } from "viem"; // fetch(it)')).toEqual([]);
  });
  it("find forbidden words in code and pass over prose", () => {
    const words = (text: string) => wordBreaches([moduleOf("src/Eth.ts", text)]);
    for (const bad of [
      "const a: any = 1;",
      "const a = b as any;",
      "type A = Array<any>;",
      "// TODO: later",
      "// @ts-ignore",
      'import { Effect } from "effect";',
      "const f = async () => 1;",
      "try { f() } catch {}",
      "const now = Date.now();",
    ])
      expect([bad, words(bad).length]).toEqual([bad, 1]);
    expect(words('/** any contract; try { it } */ const a = "any"; // as any other')).toEqual([]);
  });
});
