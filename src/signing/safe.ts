/** A transaction of a Safe, as callers give it. Pure. */
import { no, type Checked } from "../primitives/problem.js";

/** A transaction of a Safe that was read; its hash and its approvals hang on the Safe. */
export interface SafeInput {
  readonly form: "safe";
}

/** Reads `{ safe, transaction, executor?, chainId? }`; `at`: the path in front of the names of its fields. */
export const safeIn = (_: Readonly<Record<string, unknown>>, at = ""): Checked<SafeInput> =>
  no(`${at}transaction`, "cannot be read");
