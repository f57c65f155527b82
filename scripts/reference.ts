/** Reads what the package exports from its sources: every name with its signature, its documentation and its fields. */
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The entries of the package that have a page, and what most programs need of each: both in the order in which one needs them. */
export const needed: Readonly<Record<string, ReadonlyArray<string>>> = {
  promise: ["createPreflight", "PreflightClient", "Connection", "Defaults", "Deliver", "guardProvider"],
  static: ["createPreflight", "guardProvider", "Connection"],
  viem: ["preflightActions", "guard"],
  Preflight: ["preflight", "Options", "scan", "prove", "ready", "maxSendable", "reserving", "make", "watch", "settle"],
  Report: ["Report", "ready", "matches", "diff", "toText", "toHtml", "toMarkdown", "toJson", "fromJson", "Finding"],
  Policy: [
    ...["maxSpent", "minReceived", "noUnlimitedApprovals", "noNewApprovals", "noInnerFailures", "maxFee"],
    ...["fromJson", "make"],
  ],
  Step: ["make", "blocker", "warning", "info", "staticCall", "balanceOf", "account"],
  Errors: ["isVerdict", "classify", "decodeRevert", "InvalidTransaction", "NotProven", "InsufficientFunds"],
  Rpc: ["layerHttp", "layerClient", "layerTransport", "layerProvider", "quorum"],
  Transaction: ["check"],
  Chains: ["layerWith"],
  Eth: ["call", "getBalance", "getTransactionCount", "watchHeads"],
  Nonces: ["withNonce", "reserve", "commit", "keep", "bootstrap"],
  NonceStore: ["layerMemory"],
  redis: ["layer"],
  postgres: ["layer", "migrate"],
  testing: ["layerScripted", "layerRecorder", "layerReplay"],
};

export const modules: ReadonlyArray<string> = Object.keys(needed);

/** A property of an exported type. */
export interface Field {
  readonly name: string;
  readonly type: string;
  readonly optional: boolean;
  readonly doc: string;
  /** The entry that has it too and that this one extends, such as `Preflight.Options`. */
  readonly of: string | null;
  /** The entries that its type names, outside of functions. */
  readonly names: ReadonlyArray<string>;
}

/** One exported name. */
export interface Entry {
  readonly name: string;
  readonly signature: string;
  /** The entry of another page that it is, such as `Preflight.Options`. */
  readonly sameAs: string | null;
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

const linksAsCode = (text: string): string =>
  text.replace(/\{@link ([^}]*)\}/g, (_, name: string) => `\`${name.trim()}\``);

const plain = (parts: ReadonlyArray<ts.SymbolDisplayPart>): string => linksAsCode(ts.displayPartsToString([...parts]));

/** What stands in front of a module's first statement. */
const docOfModule = (source: ts.SourceFile): string => {
  const [, text = ""] = /^\/\*\*([^]*?)\*\//.exec(source.text) ?? [];
  const lines = text.split("\n").map((line) => line.replace(/^\s*\* ?/, ""));
  return linksAsCode(lines.join("\n")).trim();
};

const isOurs = (declaration: ts.Declaration): boolean =>
  declaration.getSourceFile().fileName.startsWith(join(root, "src"));

/** Where each exported thing is explained, by its symbol: `Preflight.Options`. Others only point there. */
type Homes = ReadonlyMap<ts.Symbol, string>;

/** The properties that an interface has of others which have an entry, `Omit` seen through, with that entry. */
const inheritedOf = (checker: ts.TypeChecker, symbol: ts.Symbol, homes: Homes): ReadonlyMap<string, string> => {
  const inherited = new Map<string, string>();
  for (const declaration of symbol.declarations?.filter(ts.isInterfaceDeclaration) ?? []) {
    for (const node of declaration.heritageClauses?.flatMap(({ types }) => types) ?? []) {
      const type = checker.getTypeAtLocation(node);
      const [base = type] = type.aliasSymbol?.name === "Omit" ? (type.aliasTypeArguments ?? []) : [];
      const origin = base.aliasSymbol ?? base.symbol;
      const further = inheritedOf(checker, origin, homes);
      for (const { name } of checker.getPropertiesOfType(type)) {
        // why: a mapped type has no table of its own
        const home =
          (origin.flags & ts.SymbolFlags.Interface) === 0 ? undefined : (homes.get(origin) ?? further.get(name));
        if (home !== undefined) inherited.set(name, home);
      }
    }
    for (const member of declaration.members) inherited.delete(member.name?.getText() ?? "");
  }
  return inherited;
};

/** The entries that a type names: itself, or those of its members and arguments. */
const namesIn = (checker: ts.TypeChecker, type: ts.Type, homes: Homes): ReadonlyArray<string> => {
  const home = [type.aliasSymbol, type.symbol].flatMap((one) => (one && homes.get(one)) ?? []);
  if (home.length > 0) return home.slice(0, 1);
  const isReference = (type.flags & ts.TypeFlags.Object) !== 0 && "target" in type;
  const parts = type.isUnionOrIntersection()
    ? type.types
    : [...(type.aliasTypeArguments ?? []), ...(isReference ? checker.getTypeArguments(type as ts.TypeReference) : [])];
  return parts.flatMap((part) => (part === type ? [] : namesIn(checker, part, homes)));
};

/** The properties of a type that are written in our sources; those of other libraries are theirs to document. */
const fieldsOf = (checker: ts.TypeChecker, symbol: ts.Symbol, homes: Homes): ReadonlyArray<Field> => {
  const inherited = inheritedOf(checker, symbol, homes);
  const type = checker.getDeclaredTypeOfSymbol(symbol);
  if ((type.flags & ts.TypeFlags.Object) === 0) return [];
  return checker.getPropertiesOfType(type).flatMap((property) => {
    const [declaration] = property.declarations ?? [];
    if (declaration === undefined || !isOurs(declaration) || !/^[A-Za-z]\w*$/.test(property.name)) return [];
    const typeOf = checker.getTypeOfSymbol(property);
    const written = checker.typeToString(typeOf, declaration, printed);
    return [
      {
        name: property.name,
        type: cut(written),
        optional: (property.flags & ts.SymbolFlags.Optional) !== 0,
        doc: plain(property.getDocumentationComment(checker)),
        of: inherited.get(property.name) ?? null,
        names: namesIn(checker, typeOf, homes),
      },
    ];
  });
};

/** A declaration as it is written, without its documentation and its body. */
const writtenType = (symbol: ts.Symbol, hasFields: boolean): string => {
  const [declaration] = (symbol.declarations ?? []).filter(
    (one) => ts.isTypeAliasDeclaration(one) || ts.isInterfaceDeclaration(one) || ts.isClassDeclaration(one),
  );
  if (declaration === undefined) return "";
  if (ts.isTypeAliasDeclaration(declaration)) {
    return hasFields ? `type ${symbol.name}` : cut(declaration.getText().replace(/^export /, ""));
  }
  if (ts.isInterfaceDeclaration(declaration) && declaration.members.some(ts.isCallSignatureDeclaration))
    return cut(declaration.getText().replace(/^export /, ""));
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

const symbolOf = (checker: ts.TypeChecker, exported: ts.Symbol): ts.Symbol =>
  (exported.flags & ts.SymbolFlags.Alias) === 0 ? exported : checker.getAliasedSymbol(exported);

const entryOf = (checker: ts.TypeChecker, exported: ts.Symbol, page: string, homes: Homes): Entry => {
  const symbol = symbolOf(checker, exported);
  const isType = (symbol.flags & typeFlags) !== 0;
  const isClass = (symbol.flags & ts.SymbolFlags.Class) !== 0;
  const isValue = !isClass && (symbol.flags & ts.SymbolFlags.Value) !== 0;
  const fields = isType ? fieldsOf(checker, symbol, homes) : [];
  const signature = [
    isValue ? writtenValue(checker, symbol) : "",
    isType ? writtenType(symbol, fields.length > 0) : "",
  ];
  const home = homes.get(symbol) ?? null;
  return {
    name: exported.name,
    sameAs: home === `${page}.${exported.name}` ? null : home,
    signature: signature.filter((line) => line !== "").join("\n"),
    doc: plain(symbol.getDocumentationComment(checker)) || docOfNamespace(symbol),
    examples: symbol
      .getJsDocTags(checker)
      .filter(({ name }) => name === "example")
      .map(({ text = [] }) => plain(text).replace(/^```ts\n|\n```$/g, "")),
    fields,
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
  const sources = files.map((file, index) => {
    const name = modules[index] ?? "";
    const source = program.getSourceFile(file);
    const symbol = source === undefined ? undefined : checker.getSymbolAtLocation(source);
    if (source === undefined || symbol === undefined) throw new Error(`${relative(root, file)} exports nothing`);
    return { name, isNamespace: /^[A-Z]/.test(name), source, exported: checker.getExportsOfModule(symbol) };
  });
  const homes = new Map<ts.Symbol, string>();
  // why: the doors hand on much of the namespaces, and each namespace little of another
  for (const { name, exported } of sources.toSorted((left, right) => +right.isNamespace - +left.isNamespace))
    for (const one of exported) {
      const symbol = symbolOf(checker, one);
      if (!homes.has(symbol)) homes.set(symbol, `${name}.${one.name}`);
    }
  return sources.map(({ name, isNamespace, source, exported }) => {
    const first = needed[name] ?? [];
    /** What is needed first, then what is called, then the types. */
    const placeOf = (entry: string): number =>
      first.includes(entry) ? first.indexOf(entry) : first.length + (/^[A-Z]/.test(entry) ? 1 : 0);
    return {
      name,
      from: isNamespace ? `import { ${name} } from "evm-preflight"` : `import { … } from "evm-preflight/${name}"`,
      doc: docOfModule(source),
      entries: exported
        .map((one) => entryOf(checker, one, name, homes))
        .sort((left, right) => placeOf(left.name) - placeOf(right.name) || (left.name < right.name ? -1 : 1)),
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
