/** What users write wrong, and where and how a compiler is to say so, through every door. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../harness/sources.js";

/** A call's arguments; `‹…›` stands around what must be underlined. */
interface Mistake {
  readonly name: string;
  readonly written: string;
  /** All of these must be said there. */
  readonly words: ReadonlyArray<string>;
}

export const mistakes: ReadonlyArray<Mistake> = [
  {
    name: "a wrong function name",
    written: '{ from, to, abi, ‹functionName›: "transfr", args: [to, 1n] }',
    words: ["Type '\"transfr\"' is not assignable to type", "Did you mean '\"transfer\"'?"],
  },
  {
    name: "a wrong argument",
    written: '{ from, to, abi, functionName: "transfer", args: [to, ‹1›] }',
    words: ["Type 'number' is not assignable to type 'bigint'."],
  },
  {
    name: "too few arguments",
    written: '{ from, to, abi, functionName: "transfer", ‹args›: [to] }',
    words: ["'readonly [to: `0x${string}`, amount: bigint]'", "Source has 1 element(s) but target requires 2."],
  },
  {
    name: "too many arguments",
    written: '{ from, to, abi, functionName: "transfer", ‹args›: [to, 1n, 2n] }',
    words: ["'readonly [to: `0x${string}`, amount: bigint]'", "Source has 3 element(s) but target allows only 2."],
  },
  {
    name: "no arguments where there must be some",
    written: '‹{› from, to, abi, functionName: "transfer" }',
    words: ["Property 'args' is missing", "'{ readonly args: readonly [to: `0x${string}`, amount: bigint]; }'"],
  },
  {
    name: "arguments where there are none",
    written: '{ from, to, abi, functionName: "pause", args: [‹1›] }',
    words: ["Type 'number' is not assignable to type 'undefined'."],
  },
  {
    name: "a call without a target",
    written: '‹{› from, abi, functionName: "pause" }',
    words: ["Property 'to' is missing", "FunctionCall"],
  },
  {
    name: "calldata beside an ABI",
    written: '{ from, to, abi, functionName: "pause", ‹data›: "0x" }',
    words: ["is not assignable to type 'undefined'"],
  },
  {
    name: "a misspelt field",
    written: "{ from, to, ‹valeu›: 1n }",
    words: ["'valeu' does not exist in type 'RawCall'. Did you mean to write 'value'?"],
  },
  {
    name: "a misspelt field beside an ABI",
    written: '{ from, to, abi, functionName: "pause", ‹valeu›: 1n }',
    words: ["'valeu' does not exist", "Did you mean to write 'value'?"],
  },
  {
    name: "viem's name of the sender",
    written: "{ ‹account›: from, to }",
    words: ["'account' does not exist in type 'RawCall'."],
  },
  {
    name: "no sender",
    written: "‹{› to }",
    words: ["Property 'from' is missing in type '{ to: `0x${string}`; }' but required in type 'RawCall'."],
  },
  {
    name: "a name for an address",
    written: '{ ‹from›: "alice.eth", to }',
    words: ["Type '\"alice.eth\"' is not assignable to type '`0x${string}`'."],
  },
  {
    name: "a number of wei",
    written: "{ from, to, ‹value›: 1 }",
    words: ["Type 'number' is not assignable to type 'bigint'."],
  },
  {
    name: "a constructor's wrong argument",
    written: '{ from, abi, bytecode: "0x60", args: [‹1›] }',
    words: ["Type 'number' is not assignable to type 'bigint'."],
  },
  {
    name: "no constructor's arguments",
    written: '‹{› from, abi, bytecode: "0x60" }',
    words: ["Property 'args' is missing", "'{ readonly args: readonly [supply: bigint]; }'"],
  },
  {
    name: "a signature that is none",
    written: '{ from, to, abi: [‹"functon pause()"›], functionName: "pause" }',
    words: ["has a signature that is none"],
  },
  {
    name: "a wrong function name in a bundle",
    written: '[{ from, to }, { from, to, abi, ‹functionName›: "transfr", args: [to, 1n] }]',
    words: ["Type '\"transfr\"' is not assignable to type", "Did you mean '\"transfer\"'?"],
  },
  {
    name: "a wrong argument in a bundle",
    written: '[{ from, to }, { from, to, abi, functionName: "transfer", args: [to, ‹1›] }]',
    words: ["Type 'number' is not assignable to type 'bigint'."],
  },
  {
    name: "a misspelt field in a bundle",
    written: "[{ from, to }, { from, to, ‹valeu›: 1n }]",
    words: ["'valeu' does not exist in type 'RawCall'. Did you mean to write 'value'?"],
  },
  {
    name: "no sender in a bundle",
    written: "[{ from, to }, ‹{› to }]",
    words: ["Property 'from' is missing in type '{ to: `0x${string}`; }' but required in type 'RawCall'."],
  },
  {
    name: "no transaction in a bundle",
    written: "[{ from, to }, ‹7›]",
    words: ["Type 'number' is not assignable to type 'RawCall'."],
  },
  {
    name: "a misspelt option",
    written: "{ from, to }, { ‹deadlin›: 1_000 }",
    words: ["'deadlin' does not exist in type", "Did you mean to write 'deadline'?"],
  },
  {
    name: "a wrong option",
    written: '{ from, to }, { ‹feeLevel›: "ludicrous" }',
    words: ["Type '\"ludicrous\"' is not assignable to type", '"normal"'],
  },
];

const callers = [
  "Preflight.preflight",
  "Preflight.scan",
  "Preflight.estimateGas",
  "Preflight.reserving(() => none)",
  "preflight.run",
  "preflight.deliver(sign)",
  "client.preflight",
];

/** What compiles as well through every door: the mistakes are not found by refusing everything. */
const right = [
  "{ from, to, value: 1n }",
  '{ from, to, data: "0x12", nonce: 1, gas: 21_000n }',
  '{ from, data: "0x60" }',
  '{ from, abi, bytecode: "0x60", args: [1n] }',
  '{ from, to, abi, functionName: "transfer", args: [to, 1n] }',
  '{ from, to, abi, functionName: "pause" }',
  '{ from, to, abi: parseAbi(["function pause()"]), functionName: "pause" }',
  '{ from, to, abi: ["function pause()"], functionName: "pause" }',
  '{ from, to, abi: anyAbi, functionName: "anything", args: [1] }',
  '[{ from, to }, { from, to, abi, functionName: "transfer", args: [to, 1n] }, { from, data: "0x60" }]',
  '[from, to].map((each) => ({ from, to: each, abi, functionName: "transfer", args: [each, 1n] }) as const)',
  "input",
  "{ from, to }, { deadline: 1_000 }",
];

const opening = [
  'import * as Effect from "effect/Effect";',
  'import { Preflight, type Transaction } from "evm-preflight";',
  'import { createPreflight, type Sign } from "evm-preflight/promise";',
  'import { preflightActions } from "evm-preflight/viem";',
  'import { createPublicClient, http, parseAbi, type Abi } from "viem";',
  "declare const from: `0x${string}`;",
  "declare const to: `0x${string}`;",
  "declare const anyAbi: Abi;",
  "declare const input: Transaction.Input;",
  "declare const sign: Sign;",
  "const none = Effect.succeed([]);",
  'const abi = parseAbi(["constructor(uint256 supply)", "function transfer(address to, uint256 amount)", "function pause()"]);',
  'const preflight = createPreflight({ url: "http://127.0.0.1:8545" });',
  "const client = createPublicClient({ transport: http() }).extend(preflightActions());",
];

/** What is said at one place. */
interface Said {
  readonly line: number;
  readonly column: number;
  readonly text: string;
}

const marks = /[‹›]/g;
const wrong = mistakes.flatMap((mistake) => callers.map((caller) => ({ ...mistake, caller })));
const lines = [
  ...opening,
  ...callers.flatMap((caller) => right.map((written) => `void ${caller}(${written});`)),
  ...wrong.map(({ caller, written }) => `void ${caller}(${written.replace(marks, "")});`),
];
const firstWrong = lines.length - wrong.length + 1;

/** What should be said of the module, by caller and mistake. */
export const expected = wrong.map(({ caller, name, written, words }, index) => ({
  ...{ what: `${name}, through ${caller}`, words },
  line: firstWrong + index,
  column: `void ${caller}(${written}`.indexOf("‹") + 1,
}));

const settings = {
  strict: true,
  skipLibCheck: true,
  target: "ES2022",
  module: "NodeNext",
  lib: ["ES2022", "DOM"],
  noEmit: true,
};

/** Writes the module into a folder whose `node_modules` have the package; `more` are compiler options. */
export const writeMistakes = (folder: string, more: object = {}): void => {
  writeFileSync(join(folder, "mistakes.mts"), lines.join("\n"));
  writeFileSync(
    join(folder, "mistakes.json"),
    JSON.stringify({ compilerOptions: { ...settings, ...more }, files: ["mistakes.mts"] }),
  );
};

/** What a compiler says of the module; a line that is indented belongs to the one above. */
export const sayings = (folder: string, compiler: string): ReadonlyArray<Said> => {
  const tsc = join(root, "node_modules", compiler, "bin/tsc");
  const { stdout } = spawnSync(process.execPath, [tsc, "-p", "mistakes.json", "--pretty", "false"], {
    ...{ cwd: folder, encoding: "utf8" as const },
  });
  return stdout.split(/\n(?=\S)/).map((text) => {
    const [, file, line, column] = /^(.*)\((\d+),(\d+)\): error/.exec(text) ?? [];
    if (file !== "mistakes.mts") throw new Error(`the compiler says ${text}`);
    return { line: Number(line), column: Number(column), text };
  });
};

/** The mistakes that are not said where and as they should be, and whatever is said beside them. */
export const unexplained = (said: ReadonlyArray<Said>): ReadonlyArray<string> => {
  const silent = expected.flatMap(({ what, words, line, column }) => {
    const here = said.filter((one) => one.line === line);
    const [one] = here;
    const fits = here.length === 1 && one?.column === column && words.every((word) => one.text.includes(word));
    return fits ? [] : [`${what} (${line},${column}): ${here.map(({ text }) => text).join("; ") || "nothing is said"}`];
  });
  return [...silent, ...said.filter(({ line }) => line < firstWrong).map(({ text }) => text)];
};
