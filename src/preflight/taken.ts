/**
 * What an endpoint's simulations do not take is left out of ours: found out once, by its words or by trying, and
 * remembered; and what the report then lacks.
 */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { AbiIndex } from "../abi/abiIndex.js";
import { refusedPart } from "../errors/refusedPart.js";
import type { RpcError } from "../errors/rpc.js";
import { SimulationPart } from "../primitives/names.js";
import { note, type Finding } from "../report/finding.js";
import { CurrentRun, Rpc } from "../Rpc.js";
import { learnLack } from "../rpc/memory.js";
import { isPlain } from "../steps/estimate.js";
import type { Filled } from "../steps/reading/bundle.js";
import { failureOf, type Failure, type Heard } from "../steps/reading/heard.js";
import * as Simulate from "../steps/simulate.js";
import type { Subject } from "./scanPlans.js";
import { inRound } from "./ledger.js";

const parts = SimulationPart.literals;

export const inNextRound = <A, E, R>(ask: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.service(CurrentRun), ({ round }) => inRound(round + 1, ask));

/** The plan without these parts; a block in front, which is nothing but overrides, goes with them. */
const without = (plan: Simulate.Plan, left: ReadonlyArray<SimulationPart>): Simulate.Plan =>
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
      return part === "deployment" || left.includes(part) ? Effect.fail(failure) : inNextRound(askTaken(plan, abis));
    };
    return Simulate.ask(without(plan, left), abis).pipe(Effect.catch(again));
  });

/** A refusal of what was asked, not of the caller; a bare HTTP status is a gateway in trouble. */
export const isForm = (failure: Failure | null): failure is RpcError =>
  failure?._tag === "RpcError" &&
  failure.reason._tag === "InvalidParams" &&
  (failure.reason.code !== null || failure.reason.httpStatus === null);

/**
 * A run whose refusal names nothing that is not left out already, tried without each part, and without all of them,
 * side by side in one round; null where that does not help, or where the witness in its place is not refused, for then
 * the calls are to blame.
 */
export const askLess = Effect.fnUntraced(function* (
  { abis, options }: Subject,
  bare: Simulate.Plan,
  alone: Simulate.Plan,
): Effect.fn.Return<{ readonly run: Heard<Simulate.Run>; readonly alone: Heard<Simulate.Run> } | null, never, Rpc> {
  const { memory } = yield* Rpc;
  const asked = (plan: Simulate.Plan) => Effect.result(askTaken(plan, abis));
  // why: what the caller pretends is not left out by guesses
  const free = parts.filter((part) => part !== "blockOverrides" || options.blockOverrides === null);
  const tries = [...free.map((part) => [part]), free];
  const { control, heard } = yield* Effect.all(
    {
      control: asked({ ...alone, blockOverrides: bare.blockOverrides }),
      heard: Effect.forEach(
        tries,
        (left) =>
          Effect.all(
            { run: asked(without({ ...bare, lens: [] }, left)), alone: asked(without(alone, left)) },
            { concurrency: "unbounded" },
          ),
        { concurrency: "unbounded" },
      ),
    },
    { concurrency: "unbounded" },
  );
  const refusal = failureOf(control);
  if (!isForm(refusal)) return null;
  const found = heard.findIndex(({ run }) => Result.isSuccess(run));
  const isPretended = options.block !== null || options.stateOverrides !== null || options.blockOverrides !== null;
  const learned =
    found >= 0
      ? (tries[found] ?? [])
      : isPretended || !heard.every(({ run }) => isForm(failureOf(run)))
        ? []
        : (["any"] as const);
  for (const part of learned) learnLack(memory, part, refusal);
  return heard[found] ?? null;
});

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
    ...(left.includes("validation") ? [note("NotValidated", "warning", where)] : []),
    // why: where nothing is executed, nothing moves but what is sent
    ...(run?.traced === false ? [note("NativeMovesUnseen", isQuiet ? "info" : "warning", where)] : []),
    ...(left.includes("blockOverrides") ? [note("BlockNotPretended", "unavailable", where)] : []),
  ];
};
