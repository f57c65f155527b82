/** Reverts by the caller's ABIs and the built-in errors, complete at once. */
import { indexOf, type AbiSources } from "./abiIndex.js";
import type { Revert } from "./revert.js";
import { revertOf } from "./revertOf.js";
import { builtin } from "./table.js";

export { indexAbis, type AbiIndex, type AbiSource, type AbiSources } from "./abiIndex.js";

/**
 * What reverted bytes say. `abis` are tried by address first (`options.address` = the contract that
 * reverted), then all of them together with the built-in table. A custom error counts only when the
 * bytes are exactly its encoding; several that fit make `RevertAmbiguous`.
 *
 * Text that is no even-length hex counts as no bytes.
 */
export const decodeRevert = (
  bytes: string,
  abis: AbiSources = [],
  options: { readonly address?: string | null } = {},
): Revert => revertOf(bytes, indexOf(abis), options.address ?? null, builtin);
