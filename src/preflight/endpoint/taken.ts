/**
 * What an endpoint's simulations do not take is left out of ours: found out once, by its words or by trying, and
 * remembered; and what the report then lacks.
 */
import * as Effect from "effect/Effect";
import type { AbiIndex } from "../../abi/abiIndex.js";
import { refusedPart } from "../../errors/refusedPart.js";
import type { RpcError } from "../../errors/rpc.js";
import { SimulationPart } from "../../primitives/names.js";
import { note, type Finding } from "../../report/finding.js";
import { Rpc } from "../../Rpc.js";
import { learnLack } from "../../rpc/memory.js";
import { isPlain } from "../../steps/estimate.js";
import type { Filled } from "../../steps/reading/bundle.js";
import type { Failure } from "../../steps/reading/heard.js";
import * as Simulate from "../../steps/simulate.js";
import { inNextRound } from "../ledger.js";

/** What may be left out. */
export const parts = SimulationPart.literals;

/** The plan without these parts; a block in front, which is nothing but overrides, goes with them. */
export const without = (plan: Simulate.Plan, left: ReadonlyArray<SimulationPart>): Simulate.Plan =>
  left.length === 0
    ? plan
    : { ...plan, without: new Set(left), ahead: left.includes("blockOverrides") ? null : (plan.ahead ?? null) };

/** A run, of what the endpoint takes. JSON-RPC: `eth_simulateV1`, in one more round for each part that it refuses by name. */
export const askTaken = (plan: Simulate.Plan, abis: AbiIndex): Effect.Effect<Simulate.Run, Failure, Rpc> =>
  Effect.flatMap(Rpc, ({ memory }) => {
    const left = parts.filter((part) => plan.without?.has(part) || memory.recall("lacks")?.has(part));
    const again = (failure: Failure): Effect.Effect<Simulate.Run, Failure, Rpc> => {
      const part = refusedPart(failure);
      if (failure._tag !== "RpcError" || part === null) return Effect.fail(failure);
      learnLack(memory, part, failure);
      return part === "deployment" || left.includes(part)
        ? Effect.fail(failure)
        : inNextRound("unsupportedPart", askTaken(plan, abis));
    };
    return Simulate.ask(without(plan, left), abis).pipe(Effect.catch(again));
  });

/** A refusal of what was asked, not of the caller; a bare HTTP status is a gateway in trouble. */
export const isForm = (failure: Failure | null): failure is RpcError =>
  failure?._tag === "RpcError" &&
  failure.reason._tag === "InvalidParams" &&
  (failure.reason.code !== null || failure.reason.httpStatus === null);

/** The node has no pending state. */
export const isNoPending = (failure: Failure | null): failure is RpcError =>
  failure?._tag === "RpcError" && failure.reason._tag === "PendingUnavailable";

/** What was left out of a run, or had no effect in it. */
export const leftOutOf = (run: Simulate.Run | null): ReadonlyArray<SimulationPart> =>
  run === null
    ? []
    : parts.filter((part) => run.plan.without?.has(part) === true || (part === "traceTransfers" && !run.traced));

/** What a run could not show, for what was left out of it. */
export const checkTaken = (bundle: ReadonlyArray<Filled>, run: Simulate.Run | null): ReadonlyArray<Finding> => {
  const left = leftOutOf(run);
  const where = { evidence: "unavailable" } as const;
  const isQuiet = bundle.every(({ input, code }) => isPlain(input, code) && code.from.kind !== "delegated");
  return [
    // guard: no validation is told
    ...(left.includes("validation") ? [note("NotValidated", "warning", where)] : []),
    // why: where nothing is executed, nothing moves but what is sent
    ...(run?.traced === false ? [note("NativeMovesUnseen", isQuiet ? "info" : "warning", where)] : []),
    ...(left.includes("blockOverrides") ? [note("BlockNotPretended", "unavailable", where)] : []),
  ];
};
