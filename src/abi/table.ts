/** The errors that occur daily, by selector, and the codes that some contracts use instead. The rows are written by `scripts/build-error-table.mjs`. */
import type * as Schema from "effect/Schema";
import { keccak256, stringToHex } from "viem";
import { signatureOf, type IndexedItem, type IndexedParameter } from "./abiIndex.js";
import type { Table } from "./revertOf.js";
import { declared, sources, types } from "./table/errors.js";
import { shortReasons } from "./table/reasons.js";

/** Declarations that stand in the same packages, in the order of their selectors. */
const groups = declared.split("\n").map((line) => {
  const [places = "", ...rest] = line.replace(/(?<=[(,])\w\b/g, (letter) => types[letter] ?? letter).split(";");
  return { places: [...places].map((place) => parseInt(place, 36)), declarations: rest.map((text) => `${text})`) };
});

/** Every package with its declarations. */
export const packages: ReadonlyArray<readonly [source: string, declarations: ReadonlyArray<string>]> = sources.map(
  (source, place) => [
    source,
    groups.flatMap(({ places, declarations }) => (places.includes(place) ? declarations : [])),
  ],
);

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

const itemOf = (source: string, declaration: string): IndexedItem => {
  const open = declaration.indexOf("(");
  const name = declaration.slice(0, open);
  const inputs = parts(declaration.slice(open + 1, -1)).map(parameter);
  return {
    name,
    signature: signatureOf(name, inputs),
    inputs,
    // made above: no field of a parameter is undefined
    item: { type: "error", name, inputs: inputs as unknown as Schema.Json },
    provenance: { kind: "builtin", source },
    address: null,
    anonymous: false,
  };
};

// hashing is what costs, so a look-up hashes the few declarations that a search by halves comes by, each once
const selectors = new Map<string, string>();
const selectorOf = (declaration: string): string => {
  const known = selectors.get(declaration);
  if (known !== undefined) return known;
  const selector = keccak256(stringToHex(declaration.replace(/ \w+/g, ""))).slice(0, 10);
  selectors.set(declaration, selector);
  return selector;
};

const find = (declarations: ReadonlyArray<string>, selector: string): string | undefined => {
  let [low, high] = [0, declarations.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (selectorOf(declarations[middle] ?? "") < selector) low = middle + 1;
    else high = middle;
  }
  const found = declarations[low];
  return found !== undefined && selectorOf(found) === selector ? found : undefined;
};

/** The built-in errors with a selector, in the order of their packages. */
const errors: Table["errors"] = (selector) =>
  groups
    .flatMap(({ places, declarations }) => {
      const found = find(declarations, selector);
      return found === undefined ? [] : places.map((place) => ({ place, found }));
    })
    .sort((left, right) => left.place - right.place)
    .map(({ place, found }) => itemOf(sources[place] ?? "", found));

/** The built-in errors and codes. */
export const builtin: Table = { errors, meaning: (code) => shortReasons.get(code) ?? null };
