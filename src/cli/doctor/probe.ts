/** One question put to an endpoint, and what its answer shows. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { RpcError } from "../../errors/rpc.js";
import type { Verdict } from "../../errors/verdicts.js";
import { statementText } from "../../primitives/statement.js";
import type { Rpc } from "../../Rpc.js";

/** `unknown`: the endpoint did not answer, so nothing is shown either way. */
export type Status = "yes" | "no" | "unknown";

export interface Answer {
  readonly status: Status;
  readonly detail: string;
}

/** A probe with its answer. `id` is stable, for programs. */
export interface Finding extends Answer {
  readonly id: string;
  readonly group: string;
  readonly name: string;
}

export type Failure = RpcError | Verdict;

export const yes = (detail = ""): Answer => ({ status: "yes", detail });
export const no = (detail: string): Answer => ({ status: "no", detail });
export const unknown = (detail: string): Answer => ({ status: "unknown", detail });

/** Failures that say nothing about what the endpoint can do. */
const silent: ReadonlySet<string> = new Set([
  "Timeout",
  "AdmissionTimeout",
  "Transport",
  "RateLimited",
  "UpstreamUnavailable",
  "NodeSyncing",
]);

/** A failed request as an answer. */
export const refusal = (failure: Failure): Answer => {
  const detail = statementText({ ...failure.statement, remedy: "" });
  return failure._tag === "RpcError" && silent.has(failure.reason._tag) ? unknown(detail) : no(detail);
};

/** Asks, and reads what came back; a failure is an answer too. */
export const probe = <A>(
  group: string,
  id: string,
  name: string,
  ask: Effect.Effect<A, Failure, Rpc>,
  read: (answer: A) => Answer,
  failed: (failure: Failure) => Answer = refusal,
): Effect.Effect<Finding, never, Rpc> =>
  Effect.map(Effect.result(ask), (result) => ({
    id,
    group,
    name,
    ...(Result.isSuccess(result) ? read(result.success) : failed(result.failure)),
  }));

/** Accounts that nobody uses: letters of the project's name as hex. */
export const someone = "0x70726566000000000000000000000000000000a1";
export const somewhere = "0x70726566000000000000000000000000000000b2";
/** The identity precompile returns what it is given. */
export const identity = "0x0000000000000000000000000000000000000004";
