/** Marks what a module computes while it loads, so that bundlers may leave out what nobody uses. */
import ts from "typescript";

/** Whether a node is a function of its own, whose calls happen later if at all. */
const isLater = (node: ts.Node): boolean => ts.isFunctionLike(node) || ts.isClassStaticBlockDeclaration(node);

/** Where the calls of an expression begin that are made while the module loads. */
const callsIn = (node: ts.Node): ReadonlyArray<number> => {
  if (isLater(node)) return [];
  const own = ts.isCallExpression(node) || ts.isNewExpression(node) ? [node.getStart()] : [];
  const inner: Array<number> = [];
  ts.forEachChild(node, (child) => void inner.push(...callsIn(child)));
  return [...own, ...inner];
};

/** What a statement computes for the names that it declares. Other statements keep their calls: they are there for their effect. */
const computedBy = (statement: ts.Statement): ReadonlyArray<ts.Node> => {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations;
  return ts.isClassDeclaration(statement) ? [...(statement.heritageClauses ?? []), ...statement.members] : [];
};

/**
 * Marks the calls that define a module's constants and classes, so that a bundler may leave out the ones
 * nobody uses: without the mark, `const A = Schema.Struct(…)` might do something, and stays.
 */
export const markPure = (code: string): string => {
  const source = ts.createSourceFile("module.js", code, ts.ScriptTarget.ES2022, true, ts.ScriptKind.JS);
  const places = new Set(source.statements.flatMap(computedBy).flatMap(callsIn));
  return [...places]
    .sort((left, right) => right - left)
    .reduce((text, place) => `${text.slice(0, place)}/* @__PURE__ */ ${text.slice(place)}`, code);
};
