/** Writes a user's modules that name everything the package exports, and compiles them. */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../harness/sources.js";
import type { Export } from "./exported.js";
import type { Installed } from "./packed.js";

/** `never` fits every constraint. */
const given = (parameters: number): string =>
  parameters === 0 ? "" : `<${Array.from({ length: parameters }, () => "never").join(", ")}>`;

/**
 * The lines for one exported name: an alias of a type; its properties one by one, so that the compiler
 * has to write the type of each; and a value again, with everything its type speaks of.
 */
const linesOf = ({ name, type, value }: Export, index: number): ReadonlyArray<string> => {
  const lines: Array<string> = [];
  if (type !== null) {
    lines.push(`export type Type${index} = door.${name}${given(type.parameters)};`);
    const properties = type.properties.map((property) => `${property}: given.${property}`);
    // of a generic type, `never` may leave nothing that has properties
    if (properties.length > 0 && type.parameters === 0)
      lines.push(`export const parts${index} = (given: Type${index}) => ({ ${properties.join(", ")} });`);
  }
  if (value) lines.push(`export const value${index} = door.${name};`);
  return lines;
};

/** One module for each door. */
const modulesOf = (exports: ReadonlyArray<Export>): ReadonlyMap<string, string> => {
  const doors = [...new Set(exports.map(({ door }) => door))];
  return new Map(
    doors.map((door) => {
      const own = exports.filter((each) => each.door === door);
      const lines = own.flatMap((each, index) => linesOf(each, index));
      return [
        `${door.replaceAll("/", "-")}.mts`,
        [`import * as door from ${JSON.stringify(door)};`, ...lines, ""].join("\n"),
      ];
    }),
  );
};

/**
 * What every user's project may be expected to set, and nothing that hides a mistake in declarations.
 * `DOM` is for effect and ox, which speak of `CryptoKey`; `@types/node` 20 does not declare it.
 */
const settings = {
  strict: true,
  skipLibCheck: false,
  target: "ES2022",
  module: "NodeNext",
  lib: ["ES2022", "DOM"],
  types: [] as ReadonlyArray<string>,
  declaration: true,
  emitDeclarationOnly: true,
  rootDir: ".",
  outDir: "out",
};

/** Puts the modules, and the hand-written ones of `consumers/`, into the app that installed the package. */
export const writeConsumers = (installed: Installed, exports: ReadonlyArray<Export>): void => {
  const consumers = join(installed.folder, "app");
  mkdirSync(consumers, { recursive: true });
  for (const [name, text] of modulesOf(exports)) writeFileSync(join(consumers, name), text);
  for (const name of ["esm.mts", "cjs.cts"])
    copyFileSync(join(root, "test/doors/consumers", name), join(consumers, name));
  writeFileSync(
    join(installed.folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: settings, include: ["app"] }, null, 2),
  );
};

/** The compiler's complaints; none when all is well. `compiler` is a folder of node_modules. */
export const compile = (
  installed: Installed,
  compiler: string,
  options: ReadonlyArray<string> = [],
): ReadonlyArray<string> => {
  const tsc = join(root, "node_modules", compiler, "bin/tsc");
  const { stdout, stderr, status } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.json", ...options], {
    cwd: installed.folder,
    encoding: "utf8",
  });
  const lines = `${stdout}${stderr}`.split("\n").filter((line) => line !== "");
  return lines.length === 0 && status !== 0 ? [`${compiler} ended with ${status}`] : lines;
};
