/** What a call touches, by `eth_createAccessList`. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { Rpc } from "../Rpc.js";
import { ask, type Failure } from "./ask.js";
import { decoder } from "./decode.js";
import { call } from "./encode.js";
import type { AccessListEntry, BlockParameter, Pretending } from "./parameters.js";
import { list, orNull, struct } from "./shape.js";
import { Account, Anything, Word } from "./wire.js";

const Answer = struct({
  accessList: list(struct({ address: Account, storageKeys: list(Word) })),
  /** Why the call failed, where it did. */
  error: orNull(Anything),
});
const read = decoder("eth_createAccessList", Answer);

/** The accounts and slots that a call reads or writes, but for its ends and the precompiles; null where it fails. */
export const askAccessList = (
  request: Pretending,
  block: BlockParameter,
): Effect.Effect<ReadonlyArray<AccessListEntry> | null, Failure, Rpc> =>
  ask(
    "eth_createAccessList",
    (faults) => call(request, block, faults),
    (result) => Result.map(read(result), ({ accessList, error }) => (error === null ? accessList : null)),
  );
