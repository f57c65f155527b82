/** The errors that occur daily, by selector. The rows are written by `scripts/build-error-table.mjs`. */
import type { IndexedItem } from "./abiIndex.js";

/** The built-in errors with this selector. */
export const builtinErrors = (_selector: string): ReadonlyArray<IndexedItem> => [];
