/** Reads what the package exports from its sources: every name with its signature, its documentation and its fields. */
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The entries of the package that have a page, by their module in `src`. */
export const modules: ReadonlyArray<string> = [
  ...["Preflight", "Report", "Policy", "Step", "Errors", "Eth", "Rpc", "Nonces", "NonceStore", "Chains", "Transaction"],
  ...["promise", "viem", "redis", "postgres", "testing"],
];

/** A property of an exported type. */
export interface Field {
  readonly name: string;
  readonly type: string;
  readonly optional: boolean;
  readonly doc: string;
}

/** One exported name. */
export interface Entry {
  readonly name: string;
  readonly signature: string;
  readonly doc: string;
  /** The code of its `@example`s. */
  readonly examples: ReadonlyArray<string>;
  readonly fields: ReadonlyArray<Field>;
}

/** One module: a namespace of the main door, or a door. */
export interface Page {
  readonly name: string;
  /** How it is imported. */
  readonly from: string;
  readonly doc: string;
  readonly entries: ReadonlyArray<Entry>;
}

const printed = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope;
const typeFlags = ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias | ts.SymbolFlags.Class;

/** Types longer than this are cut: nobody reads them, and the compiler shows them. */
const longestType = 480;

const cut = (text: string): string => (text.length > longestType ? `${text.slice(0, longestType)} …` : text);

const plain = (parts: ReadonlyArray<ts.SymbolDisplayPart>): string =>
  ts.displayPartsToString([...parts]).replace(/\{@link ([^}]*)\}/g, (_, name: string) => `\`${name.trim()}\``);

/** What stands in front of a module's first statement. */
const docOfModule = (source: ts.SourceFile): string => {
  const [, text = ""] = /^\/\*\*([^]*?)\*\//.exec(source.text) ?? [];
  return text
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""))
    .join("\n")
    .replace(/\{@link ([^}]*)\}/g, (_, name: string) => `\`${name.trim()}\``)
    .trim();
};

const isOurs = (declaration: ts.Declaration): boolean =>
  declaration.getSourceFile().fileName.startsWith(join(root, "src"));

/** The properties of a type that are written in our sources; those of other libraries are theirs to document. */
const fieldsOf = (checker: ts.TypeChecker, symbol: ts.Symbol): ReadonlyArray<Field> => {
  const type = checker.getDeclaredTypeOfSymbol(symbol);
  if ((type.flags & ts.TypeFlags.Object) === 0) return [];
  return checker.getPropertiesOfType(type).flatMap((property) => {
    const [declaration] = property.declarations ?? [];
    if (declaration === undefined || !isOurs(declaration) || !/^[A-Za-z]\w*$/.test(property.name)) return [];
    const written = checker.typeToString(checker.getTypeOfSymbol(property), declaration, printed);
    return [
      {
        name: property.name,
        type: cut(written),
        optional: (property.flags & ts.SymbolFlags.Optional) !== 0,
        doc: plain(property.getDocumentationComment(checker)),
      },
    ];
  });
};

/** A declaration as it is written, without its documentation and its body. */
const writtenType = (checker: ts.TypeChecker, symbol: ts.Symbol): string => {
  const [declaration] = (symbol.declarations ?? []).filter(
    (one) => ts.isTypeAliasDeclaration(one) || ts.isInterfaceDeclaration(one) || ts.isClassDeclaration(one),
  );
  if (declaration === undefined) return "";
  if (ts.isTypeAliasDeclaration(declaration)) {
    const fields = fieldsOf(checker, symbol).length > 0;
    return fields ? `type ${symbol.name}` : cut(declaration.getText().replace(/^export /, ""));
  }
  const kind = ts.isClassDeclaration(declaration) ? "class" : "interface";
  const parameters = ts.isInterfaceDeclaration(declaration)
    ? (declaration.typeParameters ?? []).map((one) => one.name.text).join(", ")
    : "";
  return `${kind} ${symbol.name}${parameters === "" ? "" : `<${parameters}>`}`;
};

const writtenValue = (checker: ts.TypeChecker, symbol: ts.Symbol): string => {
  const [declaration] = symbol.declarations ?? [];
  if (declaration === undefined) return "";
  // why: the name of a module is its path
  if (ts.isSourceFile(declaration)) return "a namespace of functions";
  const type = checker.getTypeOfSymbol(symbol);
  const text = checker.typeToString(type, declaration, printed);
  return /^Schema\.|^Struct<|^Union<|^Literals</.test(text)
    ? `const ${symbol.name}: a Schema`
    : `const ${symbol.name}: ${cut(text)}`;
};

/** What stands in front of a module that is exported as a namespace. */
const docOfNamespace = ({ declarations: [declaration] = [] }: ts.Symbol): string =>
  declaration !== undefined && ts.isSourceFile(declaration) ? docOfModule(declaration) : "";

const entryOf = (checker: ts.TypeChecker, exported: ts.Symbol): Entry => {
  const symbol = (exported.flags & ts.SymbolFlags.Alias) === 0 ? exported : checker.getAliasedSymbol(exported);
  const isType = (symbol.flags & typeFlags) !== 0;
  const isClass = (symbol.flags & ts.SymbolFlags.Class) !== 0;
  const isValue = !isClass && (symbol.flags & ts.SymbolFlags.Value) !== 0;
  const signature = [isValue ? writtenValue(checker, symbol) : "", isType ? writtenType(checker, symbol) : ""];
  return {
    name: exported.name,
    signature: signature.filter((line) => line !== "").join("\n"),
    doc: plain(symbol.getDocumentationComment(checker)) || docOfNamespace(symbol),
    examples: symbol
      .getJsDocTags(checker)
      .filter(({ name }) => name === "example")
      .map(({ text = [] }) => plain(text).replace(/^```ts\n|\n```$/g, "")),
    fields: isType ? fieldsOf(checker, symbol) : [],
  };
};

/** Every page, in the order of {@link modules}. */
export const readReference = (): ReadonlyArray<Page> => {
  const config = ts.getParsedCommandLineOfConfigFile(
    join(root, "tsconfig.build.json"),
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: ({ messageText }) => {
        throw new Error(ts.flattenDiagnosticMessageText(messageText, "\n"));
      },
    },
  );
  const files = modules.map((name) => join(root, "src", `${name}.ts`));
  const program = ts.createProgram(files, { ...config?.options, noEmit: true });
  const checker = program.getTypeChecker();
  return files.map((file, index) => {
    const name = modules[index] ?? "";
    const source = program.getSourceFile(file);
    const symbol = source === undefined ? undefined : checker.getSymbolAtLocation(source);
    if (source === undefined || symbol === undefined) throw new Error(`${relative(root, file)} exports nothing`);
    const isNamespace = /^[A-Z]/.test(name);
    return {
      name,
      from: isNamespace ? `import { ${name} } from "evm-preflight"` : `import { … } from "evm-preflight/${name}"`,
      doc: docOfModule(source),
      entries: checker
        .getExportsOfModule(symbol)
        .map((exported) => entryOf(checker, exported))
        .sort((left, right) => (left.name < right.name ? -1 : 1)),
    };
  });
};

/** The exported names and fields that nothing is said of. */
export const undocumented = (pages: ReadonlyArray<Page>): ReadonlyArray<string> => [
  ...new Set(
    pages.flatMap((page) =>
      page.entries.flatMap(({ name, doc, fields }) => [
        ...(doc === "" ? [`${page.name}.${name}`] : []),
        ...fields.filter((field) => field.doc === "").map((field) => `${page.name}.${name}: ${field.name}`),
      ]),
    ),
  ),
];
