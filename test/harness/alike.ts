/**
 * Suites that `npm test` runs as `npm run test:all` does: `npm run test:rest` leaves them out. Every other reads the
 * variable of `test:all`, starts a process of its own, or imports what does.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const parts = fileURLToPath(new URL("parts.ts", import.meta.url));

/** `npm test` leaves them out: what is compiled, built or measured, and long proofs that draw what happens on a chain. */
export const beside: ReadonlyArray<string> = [
  ...readdirSync(join(root, "test/types")).flatMap((file) => (file.endsWith(".test.ts") ? [`test/types/${file}`] : [])),
  ...["test/contracts/artifacts.test.ts", "test/witness/bytecode.test.ts"],
  ...["test/rpc/memory.test.ts", "test/publisher.test.ts", "test/preflight/bounded.test.ts"],
  ...["test/preflight/families.test.ts", "test/preflight/movedHeads.test.ts", "test/preflight/moving.test.ts"],
  ...["test/preflight/zoo.test.ts", "test/watch/storm.test.ts", "test/bot.test.ts"],
];

/** The modules of a relative path that a module names, by `import` or `import()`. */
const namedIn = (file: string, code: string): ReadonlyArray<string> =>
  [...code.matchAll(/"(\.{1,2}\/[^"\n]+)\.js"/g)].map(([, path = ""]) => `${resolve(dirname(file), path)}.ts`);

/** A module of the tests by itself, and the modules that it names. */
interface Module {
  readonly isOther: boolean;
  readonly named: ReadonlyArray<string>;
}

const moduleOf = (file: string): Module => {
  let code: string;
  try {
    code = readFileSync(file, "utf8");
  } catch {
    return { isOther: false, named: [] };
  }
  const isOther =
    file === parts || code.includes("TEST_ALL") || (file.endsWith(".test.ts") && code.includes("child_process"));
  return { isOther, named: namedIn(file, code) };
};

/** True if the module, or one that it imports at any depth, is not the same in both. */
const reachesOther = (file: string, modules: Map<string, Module>): boolean => {
  const seen = new Set([file]);
  for (const each of seen) {
    const { isOther, named } = modules.get(each) ?? moduleOf(each);
    modules.set(each, { isOther, named });
    if (isOther) return true;
    for (const one of named) seen.add(one);
  }
  return false;
};

/** The suites of `test`, by path from the root, that are the same in both. */
export const alike = (): ReadonlyArray<string> => {
  const folder = join(root, "test");
  const modules = new Map<string, Module>();
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((file) => join(folder, file))
    .filter((file) => file.endsWith(".test.ts") && !reachesOther(file, modules))
    .map((file) => relative(root, file))
    .filter((file) => !beside.includes(file));
};
