/** Reading the sources as text and as import lists. */
import { readdirSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

/** The repository. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** One import or re-export. */
export interface Import {
  readonly file: string;
  readonly line: number;
  readonly specifier: string;
  readonly typeOnly: boolean;
  /** Names as the module exports them; `*` for a namespace. */
  readonly names: ReadonlyArray<string>;
}

/** One source file. */
export interface Module {
  /** Path from the root, with `/`. */
  readonly file: string;
  readonly text: string;
  readonly imports: ReadonlyArray<Import>;
}

/** What vitest puts in a module's place, or takes from there. */
const mocking = /^vi\.((do)?(un)?mock|import(Actual|Mock))$/i;

/** Every import and re-export of a source text; type-only, dynamic and mocked ones too. */
const importsOf = (file: string, text: string): ReadonlyArray<Import> => {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const found: Array<Import> = [];
  const add = (node: ts.Node, specifier: string, typeOnly: boolean, names: ReadonlyArray<string>) =>
    found.push({
      file,
      line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1,
      specifier,
      typeOnly,
      names,
    });
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      const bindings = node.importClause?.namedBindings;
      const named = bindings !== undefined && ts.isNamedImports(bindings) ? bindings.elements : [];
      const typeOnly =
        node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword ||
        (named.length > 0 && named.every((element) => element.isTypeOnly) && node.importClause?.name === undefined);
      const names = [
        ...(bindings !== undefined && ts.isNamespaceImport(bindings) ? ["*"] : []),
        ...(node.importClause?.name === undefined ? [] : ["default"]),
        ...named.filter((element) => !element.isTypeOnly).map((element) => (element.propertyName ?? element.name).text),
      ];
      add(node, node.moduleSpecifier.text, typeOnly, typeOnly ? [] : names);
    } else if (
      ts.isExportDeclaration(node) &&
      node.moduleSpecifier !== undefined &&
      ts.isStringLiteral(node.moduleSpecifier)
    ) {
      const named =
        node.exportClause !== undefined && ts.isNamedExports(node.exportClause) ? node.exportClause.elements : null;
      const names =
        named === null
          ? ["*"]
          : named
              .filter((element) => !element.isTypeOnly)
              .map((element) => (element.propertyName ?? element.name).text);
      add(node, node.moduleSpecifier.text, node.isTypeOnly, node.isTypeOnly ? [] : names);
    } else if (
      ts.isCallExpression(node) &&
      (node.expression.kind === ts.SyntaxKind.ImportKeyword || mocking.test(node.expression.getText()))
    ) {
      const argument = node.arguments[0];
      add(node, argument !== undefined && ts.isStringLiteral(argument) ? argument.text : "<computed import>", false, [
        "*",
      ]);
    } else if (
      ts.isImportTypeNode(node) &&
      ts.isLiteralTypeNode(node.argument) &&
      ts.isStringLiteral(node.argument.literal)
    ) {
      add(node, node.argument.literal.text, true, []);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
};

/** The file a relative import means; null for packages. */
export const targetOf = (from: string, specifier: string): string | null =>
  specifier.startsWith(".")
    ? normalize(join(dirname(from), specifier))
        .split(sep)
        .join("/")
        .replace(/\.js$/, ".ts")
    : null;

/** Lines with comments and string contents blanked, so that prose is not taken for code. */
export const linesOf = (
  text: string,
): ReadonlyArray<{ readonly line: number; readonly code: string; readonly raw: string }> => {
  const blank = (found: string) => found.replace(/[^\n]/g, " ");
  const code = text
    .replace(/\/\*[^]*?\*\//g, blank)
    .replace(/(^|[^:"'`])\/\/[^\n]*/g, (found, before: string) => before + blank(found.slice(before.length)))
    .replace(/"(?:[^"\\\n]|\\.)*"/g, (found) => `"${blank(found.slice(1, -1))}"`);
  const raw = text.split("\n");
  return code.split("\n").map((line, index) => ({ line: index + 1, code: line, raw: raw[index] ?? "" }));
};

/** Every file below a folder, from the root, with `/`. */
export const walkFiles = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? walkFiles(`${folder}/${entry.name}`) : [`${folder}/${entry.name}`],
  );

export const moduleOf = (file: string, text: string): Module => ({ file, text, imports: importsOf(file, text) });
