/** Every TypeScript block of README and guides compiles; what a guide begins with runs, as every example of the reference does, and prints what it says. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { modules, readReference } from "../scripts/reference.js";
import { buildBin } from "./cli/bin.js";
import { mineAnvil, startAnvil, type Node } from "./harness/anvil.js";
import { isWhole } from "./harness/parts.js";
import { complaintsOf, snippetsOf } from "./harness/snippets.js";
import { root } from "./harness/sources.js";

const pages = ["README.md", ...readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"))].map(
  (name, at) => ({
    name,
    text: readFileSync(join(root, at === 0 ? "." : "docs", name), "utf8"),
  }),
);
const blocks = pages.flatMap(({ name, text }) =>
  snippetsOf(text).map((code, index) => ({ name: `${name} ${index}`, code })),
);
/** What a guide shows first: a program, or a line for a shell. */
const openings = pages.slice(1).flatMap(({ name, text }) => {
  const [, language = "", code = ""] = /^```(\w+)\n([^]*?)^```$/m.exec(text) ?? [];
  return name === "README.md" ? [] : [{ name, language, code }];
});
const examples = readReference().flatMap(({ name, entries }) =>
  entries.flatMap((entry) => entry.examples.map((code, index) => ({ name: `${name}.${entry.name} ${index}`, code }))),
);

/** What the README's reader has already: imports of earlier blocks, and a world around the sample. */
const imports: Readonly<Record<string, string>> = {
  createPreflight: `import { createPreflight } from "evm-preflight/promise";`,
  Errors: `import { Errors } from "evm-preflight";`,
  Policy: `import { Policy } from "evm-preflight";`,
  Rpc: `import { Rpc } from "evm-preflight";`,
};
const world: Readonly<Record<string, string>> = {
  from: "declare const from: `0x${string}`;",
  to: "declare const to: `0x${string}`;",
  usdc: "declare const usdc: `0x${string}`;",
  url: "declare const url: string;",
  mine: "declare const mine: string;",
  theirs: "declare const theirs: string;",
  input: `declare const input: import("evm-preflight").Transaction.RawCall;`,
  preflight: `declare const preflight: import("evm-preflight/promise").PreflightClient;`,
  report: `declare const report: import("evm-preflight").Report.Report;`,
  account: `declare const account: import("viem/accounts").PrivateKeyAccount;`,
  logger: "declare const logger: { info(event: object): void };",
};
const moduleOf = (code: string): string => {
  const declared = (name: string) =>
    new RegExp(`import [^;]*\\b${name}\\b[^;]* from |const [^;=]*\\b${name}\\b[^;=]*=(?!=)`).test(code);
  const used = (name: string) => new RegExp(`\\b${name}\\b`).test(code);
  const lines = Object.entries({ ...imports, ...world }).flatMap(([name, line]) =>
    used(name) && !declared(name) ? [line] : [],
  );
  return [...lines, code, "export {};"].join("\n");
};

describe("the TypeScript of README and guides", () => {
  it("is found in the pages", () => {
    expect(blocks.length).toBeGreaterThan(5);
    expect(examples.length).toBeGreaterThan(9);
  });

  it.skipIf(!isWhole)(
    "compiles, as the examples of the reference do",
    () => {
      const files = new Map([
        ...blocks.map(({ name, code }) => [`${name.replace(/\W/g, "-")}.ts`, moduleOf(code)] as const),
        ...examples.map(({ name, code }) => [`${name.replace(/\W/g, "-")}.ts`, `${code}\nexport {};`] as const),
        ["wrong.ts", moduleOf("const wrong: string = createPreflight({ url });")] as const,
      ]);
      const complaints = complaintsOf(files);
      expect(complaints.filter((line) => !line.startsWith("wrong.ts"))).toEqual([]);
      expect(complaints).toHaveLength(1);
    },
    180_000,
  );
});

describe("the examples of the reference", () => {
  let node: Node;
  let folder: string;
  beforeAll(async () => {
    node = await startAnvil({ noMining: true });
    await mineAnvil(node.url);
    folder = mkdtempSync(join(root, "test/examples-"));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await node.stop();
  });

  it("exist for every page that needs no other server, and for thirty names", () => {
    const pagesWithout = modules.filter((name) => !examples.some((example) => example.name.startsWith(`${name}.`)));
    expect(pagesWithout).toEqual(["redis", "postgres"]);
    expect(examples.length).toBeGreaterThanOrEqual(30);
  });

  it("stand first in every guide", () => {
    expect(openings.filter(({ language }) => language !== "ts" && language !== "sh")).toEqual([]);
  });

  const shells = openings.filter(({ language }) => language === "sh");
  it("contain commands of our own, or scripts of the package", async () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly scripts: object };
    const lines = shells.flatMap(({ name, code }) =>
      code.split("\n").flatMap((text) => (text === "" ? [] : [{ name, words: text.replace(/ +#.*/, "").split(" ") }])),
    );
    const mine = lines.filter(({ words }) => words[0] === "npx");
    expect(mine.map(({ name }) => name)).toEqual(["cli.md", "nodes-and-chains.md"]);
    const others = lines.flatMap(({ words }) =>
      words[0] === "npx" ? [] : [words.slice(0, 2).concat(words.slice(3)).join(" ")],
    );
    expect([...new Set(others)]).toEqual(["npm run"]);
    for (const { words } of lines) if (words[0] === "npm") expect(Object.keys(scripts)).toContain(words[2]);
    const bin = await buildBin();
    try {
      for (const { words } of mine) {
        const [, program, ...args] = words.map((word) => word.replace("http://127.0.0.1:8545", node.url));
        const { code, stdout } = await bin.run(args);
        // why: of the doctor 2 means that something is missing, as of the embedded node
        expect([program, code]).toEqual(["evm-preflight", args[0] === "check" ? 0 : 2]);
        expect(stdout).toContain(args[0] === "check" ? "READY · " : "eth_simulateV1");
      }
    } finally {
      bin.remove();
    }
  }, 120_000);

  const programs = [...examples, ...openings.filter(({ language }) => language === "ts")];
  it.each(programs)("print what they say: $name", async ({ name, code }) => {
    const file = join(folder, `${name.replace(/\W/g, "-")}.ts`);
    writeFileSync(file, code.replaceAll(/http:\/\/(?:127\.0\.0\.1|localhost):8545/g, node.url));
    const printed: Array<string> = [];
    const log = vi.spyOn(console, "log").mockImplementation((...values) => void printed.push(format(...values)));
    await import(file);
    log.mockRestore();
    const said = [...code.matchAll(/\bconsole\.log\(.*\); \/\/ (.*)$/gm)].map(([, text]) => text);
    expect(said.length).toBeGreaterThan(0);
    expect(printed).toEqual(said);
  });
});
