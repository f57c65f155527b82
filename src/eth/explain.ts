/** What a revert says, read by ABIs and the built-in errors. */
import * as Effect from "effect/Effect";
import type { AbiIndex } from "../abi/abiIndex.js";
import { revertOf, type Table } from "../abi/revertOf.js";
import { ExecutionReverted } from "../errors/verdicts.js";
import type { Address } from "../primitives/hex.js";
import type { Failure } from "./ask.js";

/** The built-in errors, loaded when a revert first needs them; none where they do not come in time. */
const builtin: Effect.Effect<Table> = Effect.tryPromise(() => import("../abi/table.js")).pipe(
  Effect.timeout("2 seconds"),
  Effect.map((loaded) => loaded.builtin),
  Effect.orElseSucceed(() => ({ errors: () => [], meaning: () => null })),
  // why: a bundle of many reverts waits once
  Effect.cachedWithTTL("1 minute"),
  Effect.runSync,
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
