/** One request from its typed parameters to its typed answer, and what a run keeps of it: which step asks, the highest block that is named. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { BlockNotFound, InvalidParams, RpcError } from "../errors/rpc.js";
import type { Hash } from "../primitives/hex.js";
import type { RunName, StepName } from "../primitives/names.js";
import { CurrentRun, Rpc } from "../rpc/index.js";
import type { Failure } from "../rpc/answer.js";
import type { Faults } from "./encode.js";
import { decoder, type Shape } from "./shape.js";

export type { Failure } from "../rpc/answer.js";

/** The parameters written by `write`, or `InvalidParams` with what could not be written. */
export const encoded = <A>(method: string, write: (faults: Faults) => A): Result.Result<A, RpcError> => {
  const faults: Faults = [];
  const params = write(faults);
  return faults.length === 0
    ? Result.succeed(params)
    : Result.fail(new RpcError({ method, reason: new InvalidParams({ detail: faults.slice(0, 8).join("; ") }) }));
};

/**
 * Sends what `write` writes, and reads the answer by its shape, or by what reads it otherwise; what cannot be written is
 * `InvalidParams`, and not sent.
 */
export const ask = <A>(
  method: string,
  write: (faults: Faults) => ReadonlyArray<unknown>,
  read: Shape<A> | ((result: unknown) => Result.Result<A, Failure>),
): Effect.Effect<A, Failure, Rpc> =>
  Rpc.use((rpc) => {
    const params = encoded(method, write);
    if (Result.isFailure(params)) return Effect.fail(params.failure);
    const readResult = typeof read === "function" ? read : decoder(method, read);
    return Effect.flatMap(rpc.request(method, params.success), (result) => Effect.fromResult(readResult(result)));
  });

/** The node has no such block. */
export const unknownBlock = (method: string): RpcError =>
  new RpcError({ method, reason: new BlockNotFound({ detail: "" }) });

/** `ask`, told in the ledger as a question of this step, and of this run where it is a simulation. */
export const asking = <A, E, R>(
  { step, run = null }: { readonly step: StepName; readonly run?: RunName | null },
  ask: Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.service(CurrentRun), (current) =>
    Effect.provideService(ask, CurrentRun, { ...current, step, run }),
  );

/** `ask`, whose answer names a block that there is; null = none. `isSealed` = one that is mined, not one that comes. */
export const sighting = <A, E, R>(
  ask: Effect.Effect<A, E, R>,
  blockIn: (answer: A) => bigint | null,
  isSealed = false,
): Effect.Effect<A, E, R> =>
  Effect.tap(ask, (answer) =>
    Effect.withFiber((fiber) => {
      const { sighted } = fiber.getRef(CurrentRun);
      const block = blockIn(answer);
      if (!sighted || block === null) return Effect.void;
      if (block > (sighted.block ?? -1n)) sighted.block = block;
      if (isSealed && block > (sighted.sealed ?? -1n)) sighted.sealed = block;
      return Effect.void;
    }),
  );

/** `ask`, whose answer is the latest block: the highest that was shown is kept, and since when this connection shows it. */
export const sightingHead = <A extends { readonly number: bigint; readonly hash: Hash | null }, E, R>(
  ask: Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R | Rpc> =>
  Effect.tap(
    sighting(ask, ({ number }) => number, true),
    ({ number, hash }) =>
      Effect.gen(function* () {
        const { memory } = yield* Rpc;
        const { sighted } = yield* CurrentRun;
        const now = yield* Clock.currentTimeMillis;
        if (sighted && number > (sighted.header ?? -1n)) sighted.header = number;
        const known = memory.recall("head");
        const isSame = known?.number === number && known.hash === hash;
        if (!isSame) memory.learn("head", { number, hash, at: now });
        if (sighted) sighted.heldMs = isSame ? now - known.at : 0;
      }),
  );
