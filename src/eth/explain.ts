/** What a revert says, read by ABIs and the built-in errors. */
import * as Effect from "effect/Effect";
import type { AbiIndex } from "../abi/abiIndex.js";
import { revertOf, type Table } from "../abi/revertOf.js";
import { ExecutionReverted } from "../errors/verdicts.js";
import type { Address } from "../primitives/hex.js";
import type { Failure } from "./ask.js";

const loaded: { table: Table } = { table: { errors: () => [], meaning: () => null } };

/** The built-in errors, loaded when a revert first needs them; none as long as they do not come in time. */
const builtin: Effect.Effect<Table> = Effect.tryPromise(() =>
  // why: what comes late is there for the next
  import("../abi/table.js").then((module) => Object.assign(loaded, { table: module.builtin })),
).pipe(
  Effect.timeout("2 seconds"),
  Effect.ignore,
  // why: a bundle of many reverts waits once
  Effect.cachedWithTTL("1 minute"),
  Effect.runSync,
  Effect.map(() => loaded.table),
);

/** The failure with its revert decoded, where it is a revert. */
export const explain = Effect.fnUntraced(function* <F extends Failure | null>(
  failure: F,
  to: Address | null,
  abis: AbiIndex,
): Effect.fn.Return<F | ExecutionReverted> {
  if (failure?._tag !== "ExecutionReverted" || failure.data === null) return failure;
  const { data, text, raw } = failure;
  let isWanted = false;
  const want = <A>(nothing: A) => {
    isWanted = true;
    return nothing;
  };
  const known = revertOf(data, abis, to, { errors: () => want([]), meaning: () => want(null) });
  const revert = isWanted ? revertOf(data, abis, to, yield* builtin) : known;
  return new ExecutionReverted({ data, revert, text, to, raw });
});
