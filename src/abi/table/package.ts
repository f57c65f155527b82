/** The errors of one published package. */
export interface Package {
  /** Name and version, e.g. `@openzeppelin/contracts@5.7.0`. */
  readonly source: string;
  /** Selector without `0x`, a space, and the declaration with parameter names. */
  readonly errors: ReadonlyArray<string>;
}
