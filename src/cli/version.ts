/** The package's version, as `--version` says it; a test compares it with package.json. */
export const version = "0.2.0";
