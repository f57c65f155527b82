/** What a guard refuses with, below viem's wrappers. */

const ours = ["NotCleared", "Tampered", "Unverified", "SentByOther", "GuardRefused", "InvalidTransaction"];

/** The innermost of an error and its causes that has a tag of ours. */
export const reasonOf = (error: unknown): { readonly _tag: string; readonly [field: string]: unknown } => {
  for (let at = error; at instanceof Error; at = at.cause)
    if ("_tag" in at && ours.includes(String(at._tag))) return at as never;
  return { _tag: String(error) };
};

export const rejection = (promise: Promise<unknown>): Promise<ReturnType<typeof reasonOf>> =>
  promise.then((value) => ({ _tag: `resolved ${String(value)}` }), reasonOf);
