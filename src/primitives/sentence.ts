/** A message in its three parts: what happened, the numbers, what to do. */

/** The three parts of every message: what happened, the numbers, what to do. */
export interface Parts {
  readonly verdict: string;
  readonly evidence: string;
  readonly remedy: string;
}

/** `verdict · evidence · remedy`, leaving out what is empty. */
export const sentence = ({ verdict, evidence, remedy }: Parts): string =>
  [verdict, evidence, remedy].filter((part) => part !== "").join(" · ");

/** `name value` pairs joined for the evidence of a message; what is null is left out. */
export const facts = (...pairs: ReadonlyArray<readonly [name: string, value: string | null]>): string =>
  pairs.flatMap(([name, value]) => (value === null ? [] : [name === "" ? value : `${name} ${value}`])).join(", ");

/** `format(value)`, or null where there is none: the companion of {@link facts}. */
export const maybe = <A>(value: A | null, format: (value: A) => string): string | null =>
  value === null ? null : format(value);
