/** What the package exports and which of its own types that speaks of, read from its declarations. */
import { join, relative, sep } from "node:path";
import ts from "typescript";
import type { Installed, Manifest } from "./packed.js";

/** One name that users can write. */
export interface Export {
  readonly door: string;
  /** `Report.Finding`, or `createPreflight`. */
  readonly name: string;
  readonly symbol: ts.Symbol;
  /** Where a type is wanted: how many type parameters it has that have no default, and its properties. */
  readonly type: { readonly parameters: number; readonly properties: ReadonlyArray<string> } | null;
  /** It can be written where a value is wanted. */
  readonly value: boolean;
}

/** A type of ours that users meet and cannot name. */
export interface Unnameable {
  readonly name: string;
  /** The module that declares it, from the package's root. */
  readonly file: string;
  /** The first exported name that leads to it. */
  readonly by: string;
}

export interface Exported {
  readonly exports: ReadonlyArray<Export>;
  readonly unnameable: ReadonlyArray<Unnameable>;
}

/** `.` is `evm-preflight`. */
const specifierOf = (door: string): string => join("evm-preflight", door).split(sep).join("/");

/** The doors, as users write them; `evm-preflight/Report` is a namespace of the main door. */
export const doorsOf = (manifest: Manifest): ReadonlyArray<string> =>
  Object.entries(manifest.exports)
    .filter(([door, target]) => typeof target !== "string" && !/^\.\/[A-Z]/.test(door))
    .map(([door]) => specifierOf(door));

const typeFlags = ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias | ts.SymbolFlags.Class | ts.SymbolFlags.Enum;

/** The symbol itself, not the import or export that hands it on. */
const follow = (checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol =>
  (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);

const isModule = (symbol: ts.Symbol): boolean => symbol.declarations?.some(ts.isSourceFile) === true;

const parametersOf = (symbol: ts.Symbol): number =>
  Math.max(
    0,
    ...(symbol.declarations ?? []).map((declaration) =>
      ts.isInterfaceDeclaration(declaration) ||
      ts.isTypeAliasDeclaration(declaration) ||
      ts.isClassDeclaration(declaration)
        ? (declaration.typeParameters ?? []).filter((parameter) => parameter.default === undefined).length
        : 0,
    ),
  );

/** The properties of a type that can be written after a dot; those that symbols name belong to effect. */
const propertiesOf = (checker: ts.TypeChecker, symbol: ts.Symbol): ReadonlyArray<string> => {
  const type = checker.getDeclaredTypeOfSymbol(symbol);
  if ((type.flags & ts.TypeFlags.Object) === 0) return [];
  return checker
    .getPropertiesOfType(type)
    .map(({ name }) => name)
    .filter((name) => /^[A-Za-z]\w*$/.test(name));
};

/** Everything a module exports, and what the namespaces export that it exports. */
const exportsOf = (checker: ts.TypeChecker, module: ts.Symbol, door: string, prefix = ""): ReadonlyArray<Export> => {
  // What is exported as a type only is no property of the module.
  const values = checker.getTypeOfSymbol(module);
  return checker.getExportsOfModule(module).flatMap((exported) => {
    const symbol = follow(checker, exported);
    const name = `${prefix}${exported.name}`;
    if (isModule(symbol)) return exportsOf(checker, symbol, door, `${name}.`);
    const isType = (symbol.flags & typeFlags) !== 0;
    const type = isType ? { parameters: parametersOf(symbol), properties: propertiesOf(checker, symbol) } : null;
    return [{ door, name, symbol, type, value: checker.getPropertyOfType(values, exported.name) !== undefined }];
  });
};

/** The names that a declaration writes where a type is wanted; those after `typeof`, and the bases of classes, too. */
const mentionsIn = (checker: ts.TypeChecker, declaration: ts.Node): ReadonlyArray<ts.Symbol> => {
  const found: Array<ts.Symbol> = [];
  const add = (name: ts.Node) => {
    const symbol = checker.getSymbolAtLocation(name);
    if (symbol !== undefined) found.push(follow(checker, symbol));
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTypeReferenceNode(node)) add(node.typeName);
    else if (ts.isExpressionWithTypeArguments(node)) add(node.expression);
    else if (ts.isTypeQueryNode(node) && !ts.isImportTypeNode(node.exprName)) add(node.exprName);
    else if (ts.isImportTypeNode(node) && node.qualifier !== undefined) add(node.qualifier);
    ts.forEachChild(node, visit);
  };
  visit(declaration);
  return found;
};

/** The types of ours that are met on the way from the exported names and that none of them is. */
const unnameableIn = (
  checker: ts.TypeChecker,
  exports: ReadonlyArray<Export>,
  ours: (file: ts.SourceFile) => string | null,
): ReadonlyArray<Unnameable> => {
  const named = new Set(exports.map(({ symbol }) => symbol));
  const seen = new Map<ts.Symbol, string>();
  const found: Array<Unnameable> = [];
  for (const { symbol, name } of exports) if (!seen.has(symbol)) seen.set(symbol, name);
  // A map is read while it grows: what is met is itself asked what it mentions.
  for (const [symbol, by] of seen) {
    for (const declaration of symbol.declarations ?? []) {
      const file = ours(declaration.getSourceFile());
      if (file === null || ts.isTypeParameterDeclaration(declaration) || ts.isSourceFile(declaration)) continue;
      for (const mentioned of mentionsIn(checker, declaration)) if (!seen.has(mentioned)) seen.set(mentioned, by);
      if (named.has(symbol) || (symbol.flags & typeFlags) === 0) continue;
      if (!found.some((each) => each.name === symbol.name && each.file === file))
        found.push({ name: symbol.name, file, by });
    }
  }
  return found;
};

/** Reads the declarations of an installed package, as its users' compiler would. */
export const readExported = (installed: Installed, doors: ReadonlyArray<string>): Exported => {
  const entry = join(installed.folder, "doors.mts");
  const text = doors.map((door, index) => `import * as door${index} from ${JSON.stringify(door)};`).join("\n");
  const options: ts.CompilerOptions = {
    strict: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    skipLibCheck: true,
    types: [],
    noEmit: true,
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (file) => file === entry || fileExists(file);
  host.readFile = (file) => (file === entry ? text : readFile(file));
  host.getSourceFile = (file, ...rest) =>
    file === entry
      ? ts.createSourceFile(file, text, ...(rest.slice(0, 1) as [ts.ScriptTarget]))
      : getSourceFile(file, ...rest);
  const program = ts.createProgram([entry], options, host);
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(entry);
  const exports = (source?.statements ?? ([] as ReadonlyArray<ts.Statement>)).flatMap((statement, index) => {
    const module = ts.isImportDeclaration(statement)
      ? checker.getSymbolAtLocation(statement.moduleSpecifier)
      : undefined;
    const door = doors[index] ?? "";
    if (module === undefined) throw new Error(`the compiler does not find ${door}`);
    return exportsOf(checker, module, door);
  });
  const ours = (file: ts.SourceFile) => {
    const path = relative(installed.package, file.fileName).split(sep).join("/");
    return path.startsWith("..") ? null : path;
  };
  return { exports, unnameable: unnameableIn(checker, exports, ours) };
};
