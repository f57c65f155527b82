/** Steps of a user's own as plain objects, whose `ask` gives a Promise. */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Rows from "effect/Record";
import * as Result from "effect/Result";
import { InvalidStep } from "../errors/index.js";
import { madeOf, OwnSteps, type OwnStep } from "../pipeline/own.js";
import { type builtInSteps, isPlain, isRecord, numberToHex, safely } from "../primitives/index.js";
import type { Report } from "../report/index.js";
import { Rpc } from "../rpc/index.js";
import type * as Step from "../Step.js";

/** The run that a step takes part in, and how it sends requests to the node. */
export interface StepContext extends Step.Context {
  /**
   * A JSON-RPC request on the door's connection; it is in the ledger under the step's name. Rejects with the tagged
   * error: `InvalidStep` for what is not a request, or comes after the run.
   */
  readonly request: (rpcRequest: {
    /** The JSON-RPC method. */
    readonly method: string;
    /** Its parameters, bigints among them as quantities (`0x…`); none by default. */
    readonly params?: ReadonlyArray<unknown> | undefined;
  }) => Promise<unknown>;
}

/** `Step.Step` as a plain object: `A` is the type of the answer of `ask`. */
export interface PlainStep<A = undefined> extends Pick<Step.Step<A>, "name" | "looks" | "requests"> {
  /** Asks, once in a scan and once in a proof, in the same network round as everything else. */
  readonly ask?: ((bundle: Step.Bundle, context: StepContext) => A | Promise<A>) | undefined;
  /** Like `check` of `Step.Step`; what it returns is checked before it counts. */
  check(report: Report, answer: Step.StepAnswer<A>): ReadonlyArray<Step.Finding>;
}

/** Your own steps, and built-in steps to leave out, for every verb. */
export interface Steps {
  /** In the order in which their findings stand. */
  readonly steps?: ReadonlyArray<PlainStep<unknown>> | undefined;
  /** As in `Preflight.make`: what they would find is not known, and a finding `LeftOut` says so. */
  readonly without?: ReadonlyArray<(typeof builtInSteps)[number]> | undefined;
}

/** {@link Steps} written where they are used: `check` knows what its own `ask` gives, of the first six. */
export interface WrittenSteps<A, B, C, D, E, F> extends Pick<Steps, "without"> {
  /** As in `Steps`. */
  readonly steps: readonly [
    PlainStep<A>,
    PlainStep<B>?,
    PlainStep<C>?,
    PlainStep<D>?,
    PlainStep<E>?,
    PlainStep<F>?,
    ...ReadonlyArray<PlainStep<unknown>>,
  ];
}

const wrong = (field: string, problem: string): InvalidStep => new InvalidStep({ field, problem });

/** A parameter with bigints as quantities, at whatever depth of plain data; throws where it is no JSON. */
const withQuantities = (value: unknown): unknown => {
  if (typeof value === "bigint") return numberToHex(value);
  if (Array.isArray(value)) return Array.from(value, withQuantities);
  // why: an object of a class may say itself how it is written
  if (isRecord(value) && typeof value["toJSON"] === "function") return value;
  // why: a field that is undefined is left out, as JSON has it
  const isKept = (part: unknown) => part !== undefined;
  if (isPlain(value)) return Rows.map(Rows.filter(value, isKept), withQuantities);
  // why: JSON writes what is left as null or leaves it out, which asks for something else
  const isScalar = value === null || ["string", "boolean"].includes(typeof value) || Number.isFinite(value);
  return Result.getOrThrow(isScalar ? Result.succeed(value) : Result.fail("no JSON"));
};

/** Reads what a step asks `request` for. */
const requestIn = (input: unknown): Result.Result<readonly [string, ReadonlyArray<unknown>], InvalidStep> => {
  const { method, params = [] } = isRecord(input) ? input : {};
  if (typeof method !== "string" || method === "")
    return Result.fail(wrong("request.method", "must be a method's name"));
  if (!Array.isArray(params)) return Result.fail(wrong("request.params", "must be a list"));
  const written = safely(() => Array.from(params, withQuantities), null);
  return written === null
    ? Result.fail(wrong("request.params", "must be JSON, with bigints of 0 or more"))
    : Result.succeed([method, written]);
};

/** The same, with an effect of what its `ask` gives: a Promise or a value. */
const stepOf = (step: OwnStep): OwnStep => {
  const { ask } = step;
  if (ask === null) return step;
  const askEffect = Effect.fnUntraced(function* (bundle: Step.Bundle, context: Step.Context) {
    const rpc = yield* Rpc;
    const run = Effect.runPromiseWith(yield* Effect.context());
    const asked = (signal: AbortSignal): unknown => {
      const request = (input: unknown) => {
        const answer = run(
          Effect.flatMap(Effect.fromResult(requestIn(input)), (given) => rpc.request(...given)),
          { signal },
        ).catch((error: unknown) =>
          Promise.reject(signal.aborted || context.signal.aborted ? wrong("request", "the run is over") : error),
        );
        // why: a step that waits for another first must not end the program when this one fails
        answer.catch(() => undefined);
        return answer;
      };
      const asking: StepContext = { ...context, request };
      return ask(bundle, asking);
    };
    return yield* Effect.tryPromise({ try: (signal) => Promise.resolve(asked(signal)), catch: (error) => error });
  });
  return { ...step, ask: askEffect };
};

/** A pipeline for all that runs on a layer; throws `InvalidStep` of what is none. */
export const layerSteps = (options: { readonly steps?: unknown; readonly without?: unknown }): Layer.Layer<never> => {
  const { steps, without } = madeOf(options);
  return Layer.succeed(OwnSteps, { steps: steps.map(stepOf), without, services: Context.empty() });
};
