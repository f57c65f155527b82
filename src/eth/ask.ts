/** One request from its typed parameters to its typed answer. */
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
import { isRecord } from "../primitives/record.js";
import { escapeText } from "../primitives/text.js";
import { Rpc } from "../rpc/index.js";
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

/** One question to the node, as data. */
export interface Question<A> {
  /** The JSON-RPC method. */
  readonly method: string;
  /** Writes the parameters, and what of them cannot be written into `faults`. */
  readonly write: (faults: Array<string>) => ReadonlyArray<unknown>;
  /** The shape of the answer, or what reads it otherwise. */
  readonly read: Shape<A> | ((result: unknown) => Result.Result<A, Failure>);
}

export const question = <A>(method: string, write: Question<A>["write"], read: Question<A>["read"]): Question<A> => ({
  method,
  write,
  read,
});

/** Reads what a node said to a question that was sent with these parameters. */
export const answerTo = <A>(
  { method, read }: Question<A>,
  params: ReadonlyArray<unknown>,
  answer: Result.Result<unknown, Failure>,
): Result.Result<A, Failure> => {
  if (Result.isFailure(answer)) return Result.fail(withoutStrangers(method, params, answer.failure));
  return typeof read === "function" ? read(answer.success) : decoder(method, read)(answer.success);
};

/** Sends a question by itself; what cannot be written is `InvalidParams`, and not sent. */
export const send = <A>(question: Question<A>): Effect.Effect<A, Failure, Rpc> =>
  Rpc.use((rpc) => {
    const params = encoded(question.method, question.write);
    if (Result.isFailure(params)) return Effect.fail(params.failure);
    return Effect.flatMap(Effect.result(rpc.request(question.method, params.success)), (answer) =>
      Effect.fromResult(answerTo(question, params.success, answer)),
    );
  });

/** A question that is sent by itself. */
export const ask = <A>(...parts: Parameters<typeof question<A>>): Effect.Effect<A, Failure, Rpc> =>
  send(question(...parts));

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
