/** One request from its typed parameters to its typed answer, and what a run keeps of it: which step asks, the highest block that is named. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import {
  BlockNotFound,
  InternalError,
  InvalidParams,
  PendingUnavailable,
  RpcError,
  refusalText,
} from "../errors/rpc.js";
import type { Hash } from "../primitives/hex.js";
import { isRecord } from "../primitives/record.js";
import { escapeText } from "../primitives/text.js";
import type { RunName, StepName } from "../primitives/names.js";
import { CurrentRun, Rpc } from "../rpc/index.js";
import type { Failure } from "../rpc/judging.js";
import { decoder, type Shape } from "./shape.js";

export type { Failure } from "../rpc/judging.js";

/** The parameters written by `write`, or `InvalidParams` with what could not be written. */
export const encoded = <A>(method: string, write: (faults: Array<string>) => A): Result.Result<A, RpcError> => {
  const faults: Array<string> = [];
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
  write: (faults: Array<string>) => ReadonlyArray<unknown>,
  read: Shape<A> | ((result: unknown) => Result.Result<A, Failure>),
): Effect.Effect<A, Failure, Rpc> =>
  Rpc.use((rpc) => {
    const params = encoded(method, write);
    if (Result.isFailure(params)) return Effect.fail(params.failure);
    const readResult = typeof read === "function" ? read : decoder(method, read);
    return rpc.request(method, params.success).pipe(
      Effect.mapError((failure) => withoutStrangers(method, params.success, failure)),
      Effect.flatMap((result) => Effect.fromResult(readResult(result))),
    );
  });

/** The calls that a request has a node run, as they are written. */
const callsIn = ([first]: ReadonlyArray<unknown>): ReadonlyArray<Readonly<Record<string, unknown>>> => {
  if (!isRecord(first)) return [];
  const blocks = first["blockStateCalls"];
  if (!Array.isArray(blocks)) return [first];
  return blocks.flatMap((block) =>
    isRecord(block) && Array.isArray(block["calls"]) ? block["calls"].filter(isRecord) : [],
  );
};

/**
 * The failure of calls, or that there is no answer: a nonce that none of them has, or an account that none of them is from,
 * is of another transaction, which the node runs in the same block.
 */
const withoutStrangers = (method: string, params: ReadonlyArray<unknown>, failure: Failure): Failure => {
  const calls = callsIn(params);
  if (failure._tag === "RpcError" || calls.length === 0) return failure;
  const isOfNonce = failure._tag === "NonceTooLow" || failure._tag === "NonceTooHigh";
  const account = "account" in failure ? failure.account : null;
  const isTheirs = calls.some(
    ({ nonce, from }) =>
      (!isOfNonce || nonce !== undefined) && (account === null || String(from).toLowerCase() === account.toLowerCase()),
  );
  if (isTheirs) return failure;
  const raw = "raw" in failure ? failure.raw : null;
  const answer = { detail: escapeText(refusalText({ error: failure })), raw };
  const reason = params[1] === "pending" ? new PendingUnavailable(answer) : new InternalError(answer);
  return new RpcError({ method, reason });
};

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
