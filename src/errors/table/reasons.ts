/** Codes that contracts use in place of sentences. Written by `scripts/build-error-table.mjs`. */
export const shortReasons: ReadonlyMap<string, string> = new Map<string, string>([]);
