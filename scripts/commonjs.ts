/**
 * Writes the entries for CommonJS beside the built ES modules: `<entry>.cjs`, one line over the module, and `<entry>.d.cts`,
 * which points to the declarations of the module.
 *
 * The types of both are the same, so that what comes from one entry fits into another. Effect has declarations for ES
 * modules alone, and TypeScript refuses a CommonJS file that names one of them under node16 and node18. So a `.d.cts`
 * names none: it takes every type by `resolution-mode`, which TypeScript has since 5.3.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, "dist");
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly exports: Readonly<Record<string, unknown>>;
};
/** The built files of the package's entries, without their endings. */
const entries = Object.keys(exports)
  .filter((entry) => entry !== "./package.json")
  .map((entry) => (entry === "." ? "index" : entry.slice(2)));

const program = ts.createProgram(
  entries.map((entry) => join(dist, `${entry}.d.ts`)),
  { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, types: [] },
);
const checker = program.getTypeChecker();
const typeMeaning = ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias | ts.SymbolFlags.Class | ts.SymbolFlags.Enum;

/** The symbol itself, not the import or export that hands it on. */
const follow = (symbol: ts.Symbol): ts.Symbol =>
  (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);

/** The doc comment of a value, as its editor shows it; `typeof` does not carry it along. */
const docOf = (symbol: ts.Symbol): ReadonlyArray<string> => {
  const declaration = symbol.declarations?.find((each) => !ts.isInterfaceDeclaration(each));
  const holder =
    declaration !== undefined && ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
  const docs = holder === undefined ? [] : ts.getJSDocCommentsAndTags(holder).filter(ts.isJSDoc);
  return docs.slice(-1).map((doc) => doc.getText());
};

const isGeneric = (symbol: ts.Symbol): boolean =>
  symbol.declarations?.some((each) => "typeParameters" in each && each.typeParameters !== undefined) === true;

/** The entry that a symbol is the module of; null where it is none. */
const entryOf = (symbol: ts.Symbol): string | null => {
  const file = symbol.declarations?.find(ts.isSourceFile)?.fileName;
  return entries.find((entry) => file === join(dist, `${entry}.d.ts`)) ?? null;
};

/** Declarations of a module's values, by `path`; names that are only types come by `export type *`, in a namespace one by one. */
const linesOf = (module: ts.Symbol, path: string): ReadonlyArray<string> =>
  checker.getExportsOfModule(module).flatMap((exported) => {
    const { name } = exported;
    const symbol = follow(exported);
    const isValue = checker.getPropertyOfType(checker.getTypeOfSymbol(module), name) !== undefined;
    const isType = (symbol.flags & typeMeaning) !== 0 && (isValue || path !== "module");
    const entry = entryOf(symbol);
    if (entry !== null) return [`export * as ${name} from "./${entry}.cjs";`];
    if (symbol.declarations?.some(ts.isSourceFile) === true)
      return [`export declare namespace ${name} {`, ...linesOf(symbol, `${path}.${name}`), "}"];
    if (isType && isGeneric(symbol)) throw new Error(`${path}.${name}: type parameters are not written`);
    const declared = path === "module" ? "export declare const" : "export const";
    return [
      ...(isValue ? [...docOf(symbol), `${declared} ${name}: typeof ${path}.${name};`] : []),
      ...(isType ? [`export type ${name} = ${path}.${name};`] : []),
    ];
  });

const declarationsOf = (entry: string): string => {
  const source = program.getSourceFile(join(dist, `${entry}.d.ts`));
  const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`dist/${entry}.d.ts is missing, or no module`);
  const from = `"./${entry}.js" with { "resolution-mode": "import" };`;
  return [`import type * as module from ${from}`, `export type * from ${from}`, ...linesOf(module, "module"), ""].join(
    "\n",
  );
};

for (const entry of entries) {
  writeFileSync(join(dist, `${entry}.cjs`), `module.exports = require("./${entry}.js");\n`);
  writeFileSync(join(dist, `${entry}.d.cts`), declarationsOf(entry));
}
