/** Marks what a module computes while it loads, so that bundlers may leave out what nobody uses. */
import ts from "typescript";

/** Whether a node is a function of its own, whose calls happen later if at all. */
const isLater = (node: ts.Node): boolean => ts.isFunctionLike(node) || ts.isClassStaticBlockDeclaration(node);

/** The nodes of an expression, while the module loads, that are of a kind. */
const within = (node: ts.Node, isOf: (node: ts.Node) => boolean): ReadonlyArray<ts.Node> => {
  if (isLater(node)) return [];
  const found: Array<ts.Node> = isOf(node) ? [node] : [];
  ts.forEachChild(node, (child) => void found.push(...within(child, isOf)));
  return found;
};

const isCall = (node: ts.Node): boolean => ts.isCallExpression(node) || ts.isNewExpression(node);

/** What might run a getter, an iterator or a `toString`, or throw, so that bundlers keep it whoever uses it; no mark is for these. */
const isKept = (node: ts.Node): boolean =>
  ts.isSpreadElement(node) ||
  ts.isSpreadAssignment(node) ||
  ts.isTemplateExpression(node) ||
  (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.AsteriskAsteriskToken);

/** What a statement computes for the names that it declares. Other statements keep their calls: they are there for their effect. */
const computedBy = (statement: ts.Statement): ReadonlyArray<ts.Node> => {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations;
  return ts.isClassDeclaration(statement) ? [...(statement.heritageClauses ?? []), ...statement.members] : [];
};

/** The values of a statement's names that only the call of a function can mark. */
const wrappedIn = (statement: ts.Statement): ReadonlyArray<ts.Node> =>
  computedBy(statement).flatMap((declared) =>
    ts.isVariableDeclaration(declared) &&
    ts.isIdentifier(declared.name) &&
    declared.initializer !== undefined &&
    within(declared.initializer, isKept).length > 0
      ? [declared.initializer]
      : [],
  );

const mark = "/* @__PURE__ */ ";

/**
 * Marks the calls that define a module's constants and classes, so that a bundler may leave out the ones
 * nobody uses: without the mark, `const A = Schema.Struct(…)` might do something, and stays.
 */
export const markPure = (code: string): string => {
  const source = ts.createSourceFile("module.js", code, ts.ScriptTarget.ES2022, true, ts.ScriptKind.JS);
  const wrapped = source.statements.flatMap(wrappedIn);
  const calls = source.statements.flatMap(computedBy).flatMap((node) => within(node, isCall));
  const marks: ReadonlyArray<readonly [place: number, text: string]> = [
    ...wrapped.map((node) => [node.getStart(), `${mark}(() => (`] as const),
    ...wrapped.map((node) => [node.end, "))()"] as const),
    ...[...new Set(calls.map((node) => node.getStart()))].map((place) => [place, mark] as const),
  ];
  // sorted stably: a wrapping begins before what it holds
  return [...marks]
    .sort(([left], [right]) => left - right)
    .reduceRight((text, [place, mark]) => `${text.slice(0, place)}${mark}${text.slice(place)}`, code);
};
