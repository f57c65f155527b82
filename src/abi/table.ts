/** The errors that occur daily, by selector. The rows are written by `scripts/build-error-table.mjs`. */
import type * as Schema from "effect/Schema";
import type { IndexedItem, IndexedParameter } from "./abiIndex.js";
import { signatureOf } from "./abiIndex.js";
import { accounts } from "./table/accounts.js";
import { exchanges } from "./table/exchanges.js";
import { openzeppelin } from "./table/openzeppelin.js";
import { tokens } from "./table/tokens.js";
import { uniswap } from "./table/uniswap.js";

interface Row {
  readonly source: string;
  readonly declaration: string;
}

const bySelector = (): ReadonlyMap<string, ReadonlyArray<Row>> => {
  const rows = new Map<string, Array<Row>>();
  for (const { source, errors } of [...openzeppelin, ...tokens, ...accounts, ...uniswap, ...exchanges]) {
    for (const error of errors) {
      const selector = `0x${error.slice(0, 8)}`;
      const row = { source, declaration: error.slice(9) };
      const list = rows.get(selector);
      if (list === undefined) rows.set(selector, [row]);
      else list.push(row);
    }
  }
  return rows;
};

const table = /* @__PURE__ */ bySelector();

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
  const [type, name] = space < 0 ? [text, ""] : [text.slice(0, space), text.slice(space + 1)];
  if (end === 0) return { name, type };
  return { name, type: `tuple${type.slice(end)}`, components: parts(type.slice(1, end - 1)).map(parameter) };
};

/** The JSON form of one parameter: what ABIs in JSON carry, nothing undefined. */
const json = ({ name, type, components }: IndexedParameter): Schema.Json =>
  components === undefined ? { name: name ?? "", type } : { name: name ?? "", type, components: components.map(json) };

const itemOf = ({ source, declaration }: Row): IndexedItem => {
  const open = declaration.indexOf("(");
  const name = declaration.slice(0, open);
  const inputs = parts(declaration.slice(open + 1, -1)).map(parameter);
  return {
    name,
    signature: signatureOf(name, inputs),
    inputs,
    item: { type: "error", name, inputs: inputs.map(json) },
    provenance: { kind: "builtin", source },
    address: null,
    anonymous: false,
  };
};

/** The built-in errors with this selector (`0x` and eight lower-case digits). */
export const builtinErrors = (selector: string): ReadonlyArray<IndexedItem> => (table.get(selector) ?? []).map(itemOf);
