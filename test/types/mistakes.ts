/** What users write wrong, and where and how a compiler is to say so, through every door. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../harness/sources.js";

/** By name: a call's arguments, `‹…›` around what must be underlined; and all that must be said there. */
export const mistakes: ReadonlyArray<readonly [name: string, written: string, ...words: ReadonlyArray<string>]> = [
  [
    "a wrong function name",
    '{ from, to, abi, ‹functionName›: "transfr", args: [to, 1n] }',
    "Type '\"transfr\"' is not assignable to type",
    "Did you mean '\"transfer\"'?",
  ],
  [
    "a wrong argument",
    '{ from, to, abi, functionName: "transfer", args: [to, ‹1›] }',
    "Type 'number' is not assignable to type 'bigint'.",
  ],
  [
    "too few arguments",
    '{ from, to, abi, functionName: "transfer", ‹args›: [to] }',
    "'readonly [to: `0x${string}`, amount: bigint]'",
    "Source has 1 element(s) but target requires 2.",
  ],
  [
    "too many arguments",
    '{ from, to, abi, functionName: "transfer", ‹args›: [to, 1n, 2n] }',
    "'readonly [to: `0x${string}`, amount: bigint]'",
    "Source has 3 element(s) but target allows only 2.",
  ],
  [
    "no arguments where there must be some",
    '‹{› from, to, abi, functionName: "transfer" }',
    "Property 'args' is missing",
    "'{ readonly args: readonly [to: `0x${string}`, amount: bigint]; }'",
  ],
  [
    "arguments where there are none",
    '{ from, to, abi, functionName: "pause", args: [‹1›] }',
    "Type 'number' is not assignable to type 'undefined'.",
  ],
  ["a call without a target", '‹{› from, abi, functionName: "pause" }', "Property 'to' is missing", "FunctionCall"],
  [
    "calldata beside an ABI",
    '{ from, to, abi, functionName: "pause", ‹data›: "0x" }',
    "is not assignable to type 'undefined'",
  ],
  [
    "value for a function that is not payable",
    '{ from, to, abi, functionName: "pause", ‹value›: 1n }',
    "Type 'bigint' is not assignable to type 'undefined'.",
  ],
  [
    "value, though none, for a function that is not payable",
    '{ from, to, abi, functionName: "transfer", args: [to, 1n], ‹value›: 0n }',
    "Type 'bigint' is not assignable to type 'undefined'.",
  ],
  [
    "value for a view function in a bundle",
    '[{ from, to }, { from, to, abi: ["function total() view"], functionName: "total", ‹value›: 1n }]',
    "Type 'bigint' is not assignable to type 'undefined'.",
  ],
  [
    "a misspelt field",
    "{ from, to, ‹valeu›: 1n }",
    "'valeu' does not exist in type 'RawCall'. Did you mean to write 'value'?",
  ],
  [
    "a misspelt field beside an ABI",
    '{ from, to, abi, functionName: "pause", ‹valeu›: 1n }',
    "'valeu' does not exist",
    "Did you mean to write 'value'?",
  ],
  ["another name of the sender", "{ ‹sender›: from, to }", "'sender' does not exist in type 'RawCall'."],
  [
    "no sender",
    "‹{› to }",
    "Property 'from' is missing in type '{ to: `0x${string}`; }' but required in type 'RawCall'.",
  ],
  [
    "a name for an address",
    '{ ‹from›: "alice.eth", to }',
    "Type '\"alice.eth\"' is not assignable to type '`0x${string}`'.",
  ],
  ["a number of wei", "{ from, to, ‹value›: 1 }", "Type 'number' is not assignable to type 'bigint'."],
  [
    "a constructor's wrong argument",
    '{ from, abi, bytecode: "0x60", args: [‹1›] }',
    "Type 'number' is not assignable to type 'bigint'.",
  ],
  [
    "no constructor's arguments",
    '‹{› from, abi, bytecode: "0x60" }',
    "Property 'args' is missing",
    "'{ readonly args: readonly [supply: bigint]; }'",
  ],
  [
    "a signature that is none",
    '{ from, to, abi: [‹"functon pause()"›], functionName: "pause" }',
    "has a signature that is none",
  ],
  [
    "a wrong function name in a bundle",
    '[{ from, to }, { from, to, abi, ‹functionName›: "transfr", args: [to, 1n] }]',
    "Type '\"transfr\"' is not assignable to type",
    "Did you mean '\"transfer\"'?",
  ],
  [
    "a wrong argument in a bundle",
    '[{ from, to }, { from, to, abi, functionName: "transfer", args: [to, ‹1›] }]',
    "Type 'number' is not assignable to type 'bigint'.",
  ],
  [
    "a misspelt field in a bundle",
    "[{ from, to }, { from, to, ‹valeu›: 1n }]",
    "'valeu' does not exist in type 'RawCall'. Did you mean to write 'value'?",
  ],
  [
    "no sender in a bundle",
    "[{ from, to }, ‹{› to }]",
    "Property 'from' is missing in type '{ to: `0x${string}`; }' but required in type 'RawCall'.",
  ],
  ["no transaction in a bundle", "[{ from, to }, ‹7›]", "Type 'number' is not assignable to type 'RawCall'."],
  [
    "a misspelt option",
    "{ from, to }, { ‹deadlin›: 1_000 }",
    "'deadlin' does not exist in type",
    "Did you mean to write 'deadline'?",
  ],
  [
    "a wrong option",
    '{ from, to }, { ‹feeLevel›: "ludicrous" }',
    "Type '\"ludicrous\"' is not assignable to type",
    '"normal"',
  ],
  [
    "too many arguments of a constructor",
    '{ from, abi, bytecode: "0x60", ‹args›: [1n, 2n] }',
    "Source has 2 element(s) but target allows only 1.",
  ],
  [
    "a wrong function name in a list that is made",
    '‹[from, to].map((each) => ({ from, to, abi, functionName: "transfr", args: [each, 1n] }) as const)›',
    "Did you mean '\"transfer\"'?",
  ],
  [
    "a wrong argument in a list that is made",
    '‹[from, to].map((each) => ({ from, to, abi, functionName: "transfer", args: [each, 1] }) as const)›',
    "Type 'number' is not assignable to type 'bigint'.",
  ],
  [
    "too few arguments in a list that is made",
    '‹[from, to].map((each) => ({ from, to, abi, functionName: "transfer", args: [each] }) as const)›',
    "Source has 1 element(s) but target requires 2.",
  ],
  [
    "no arguments in a list that is made",
    '‹[from, to].map((each) => ({ from, to, abi, functionName: "transfer" }) as const)›',
    "Property 'args' is missing",
  ],
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
  '{ from, to, abi: anyAbi, functionName: "anything", value: 1n }',
  '{ from, to, abi, functionName: "buy", value: 1n }',
  '{ from, to, abi, functionName: "buy", args: [1n], value: 1n }',
  '{ from, to, abi, functionName: "pause", value: undefined }',
  '[{ from, to }, { from, to, abi, functionName: "transfer", args: [to, 1n] }, { from, data: "0x60" }]',
  '[from, to].map((each) => ({ from, to: each, abi, functionName: "transfer", args: [each, 1n] }) as const)',
  '{ from, to, abi, functionName: "safe", args: [to] }',
  '{ from, to, abi, functionName: "safe", args: [to, "0x"] }',
  '{ from, abi: ["function pause()"], bytecode: "0x60" }',
  "raws",
  "[...raws, { from, to }]",
  "input",
  "raw",
  "{ from, raw }",
  "[raw, { from, to }]",
  "{ from, ...request }",
  "mined",
  "prepared",
  "rpc",
  "{ account: key, to, value: 1n }",
  "{ account: from, to, value: 1n }",
  "{ from, to, value: 1n, gasLimit: 21_000n }",
  '{ from, to, value: "0x1", gas: "0x5208" }',
  "{ from, to, gasLimit: 21_000n, chainId: 1n, type: 2, accessList: null }",
  '{ method: "eth_sendTransaction", params: [{ from, to, value: "0x1" }] }',
  "{ from, to }, { deadline: 1_000 }",
];

const opening = [
  'import * as Effect from "effect/Effect";',
  'import { Preflight, type Report, type Transaction } from "evm-preflight";',
  'import { createPreflight, type Sign } from "evm-preflight/promise";',
  'import { preflightActions } from "evm-preflight/viem";',
  'import { createPublicClient, http, parseAbi, type Abi, type RpcTransactionRequest } from "viem";',
  'import type { PrivateKeyAccount } from "viem/accounts";',
  "declare const from: `0x${string}`;",
  "declare const to: `0x${string}`;",
  "declare const anyAbi: Abi;",
  "declare const input: Transaction.Input;",
  "declare const raws: ReadonlyArray<Transaction.RawCall>;",
  "declare const sign: Sign;",
  "declare const raw: `0x${string}`;",
  "declare const request: Report.Request;",
  "declare const mined: Awaited<ReturnType<typeof client.getTransaction>>;",
  "declare const prepared: Awaited<ReturnType<typeof client.prepareTransactionRequest>>;",
  "declare const rpc: RpcTransactionRequest;",
  "declare const key: PrivateKeyAccount;",
  "const none = Effect.succeed([]);",
  'const abi = parseAbi(["constructor(uint256 supply)", "function transfer(address to, uint256 amount)", "function pause()", "function safe(address to)", "function safe(address to, bytes data)", "function buy() payable", "function buy(uint256 amount)"]);',
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
const wrong = mistakes.flatMap(([name, written, ...words]) =>
  callers.map((caller) => ({ name, written, words, caller })),
);
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
