/** Reverts by the errors that occur daily, by selector, and the codes that some contracts use instead. The rows are written by `scripts/build-error-table.mjs`. */
import { type Abis, indexOf, itemOf, selectorOf } from "./abiIndex.js";
import type { Revert } from "./revert.js";
import { revertOf, type Table } from "./revertOf.js";
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

// why: hashing is what costs, so a look-up hashes the few declarations that a search by halves comes by
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
    .map(({ place, found }) => itemOf("error", sources[place] ?? "", found));

/** The built-in errors and codes. */
export const builtin: Table = { errors, meaning: (code) => shortReasons.get(code) ?? null };

/** `Errors.decodeRevert`, by ABIs arranged before, too. */
export const decodeRevert = (
  bytes: string,
  abis: Abis = [],
  options: { readonly address?: string | null } = {},
): Revert => revertOf(bytes, indexOf(abis), options.address ?? null, builtin);
