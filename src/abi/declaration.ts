/** Declarations as the built-in tables hold them: `name(type name,(type name) name)`, as items. */
import { itemJson } from "./itemJson.js";
import { signatureOf, type IndexedItem, type IndexedParameter } from "./abiIndex.js";

/** The top-level parts of a comma-separated list. */
const parts = (list: string): ReadonlyArray<string> => {
  const found: Array<string> = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index <= list.length; index += 1) {
    const character = list[index];
    if (character === "(") depth += 1;
    else if (character === ")") depth -= 1;
    else if ((character === "," && depth === 0) || character === undefined) {
      if (index > start) found.push(list.slice(start, index));
      start = index + 1;
    }
  }
  return found;
};

const parameter = (text: string): IndexedParameter => {
  const end = text.startsWith("(") ? text.lastIndexOf(")") + 1 : 0;
  const space = text.indexOf(" ", end);
  const [type, said] = space < 0 ? [text, ""] : [text.slice(0, space), text.slice(space + 1)];
  const indexed = said.startsWith("indexed ");
  const name = indexed ? said.slice("indexed ".length) : said;
  const known = indexed ? { name, indexed } : { name };
  if (end === 0) return { ...known, type };
  return { ...known, type: `tuple${type.slice(end)}`, components: parts(type.slice(1, end - 1)).map(parameter) };
};

/** The item that a declaration of a source means. */
export const itemOf = (type: "error" | "function" | "event", source: string, declaration: string): IndexedItem => {
  const open = declaration.indexOf("(");
  const name = declaration.slice(0, open);
  const inputs = parts(declaration.slice(open + 1, -1)).map(parameter);
  return {
    name,
    signature: signatureOf(name, inputs),
    inputs,
    item: itemJson({ type, name, inputs }),
    provenance: { kind: "builtin", source },
    address: null,
    anonymous: false,
  };
};
