/**
 * A step of your own in the pipeline: what it asks, what it reads in the simulation, and what it finds.
 *
 * A step only adds findings. If it fails, throws, or does not answer within the deadline, that is a finding
 * `StepUnavailable` under its name, and the verdict is at most `unknown`. `Preflight.make` takes the steps.
 */
import type * as Arr from "effect/Array";
import type * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { InvalidStep } from "./errors/input.js";
import type { Address } from "./primitives/hex.js";
import { isOwnName, ownNameProblem } from "./primitives/names.js";
import type { Figure } from "./primitives/statement.js";
import type { Rpc } from "./rpc/index.js";
import type { Observed, Report } from "./report/schema.js";
import type { Transaction } from "./transaction/fields.js";
import type { Look } from "./witness/queries.js";
import type { View } from "./witness/view.js";

export { balanceOf, staticCall, type CallQuery, type Look } from "./witness/queries.js";
export type { View } from "./witness/view.js";

/** The checked transactions in their order, addresses in lower case; there is always one. */
export type Bundle = Arr.NonEmptyReadonlyArray<Transaction>;

/** The run that a step takes part in: chain, block and stage. */
export interface Context {
  /** The chain; null while it is not known, because a step is asked together with the first requests. */
  readonly chainId: number | null;
  /** The block or tag whose state is asked for; where a node has no pending state, that of the latest block is used. */
  readonly block: Observed["blockTag"];
  /** The run that asks: a scan or a proof. */
  readonly stage: "scan" | "proof";
  /** Aborts when the run ends, at its deadline at the latest. */
  readonly signal: AbortSignal;
}

/** The answer of a step, and its reads. */
export interface StepAnswer<A> {
  /**
   * The success value of `ask`, of the same class, copied for each world, so that objects in it are other ones than those
   * that the step keeps. Of promises and of instances with private fields there is no copy: answer with plain data.
   */
  readonly answer: A;
  /**
   * The reads of `looks` before the transactions; null where nothing answered. A call that reverts has `success: false`,
   * and the data of its revert.
   */
  readonly before: View;
  /** The reads of `looks` after them. */
  readonly after: View;
}

/** A finding of a step, as plain data. */
export interface Finding {
  /** Like a step's name: whose it is, a slash, what it is (`acme/Listed`). */
  readonly code: `${string}/${string}`;
  /** `blocker`: do not send. `warning`: at most `caution`. */
  readonly severity: "blocker" | "warning" | "info";
  /** The fact that was found; at most 1,024 characters are kept. Where it is empty the code stands for it. */
  readonly sentence: string;
  /** The action to take; empty where there is none. */
  readonly remedy?: string | undefined;
  /** The numbers behind the sentence, with their units; at most 32 are kept, of a name or a text 1,024 characters. */
  readonly numbers?: ReadonlyArray<Figure> | undefined;
  /** Its place in the bundle, from 0; null = the whole. */
  readonly transaction?: number | null | undefined;
}

/** A step: `A` is what it asks for, `E` how that fails, `R` what it needs to ask. */
export interface Step<A = undefined, E = never, R = never> {
  /** Owner, a slash, and the step's own name (`acme/sanctions`), as in findings and in the ledger. */
  readonly name: `${string}/${string}`;
  /**
   * The reads of the witness for it, without a request of its own: at most 32 for all steps together, and of a call
   * 1,000,000 gas, 1,024 bytes of answer and 8,192 of calldata. What asks for more is `StepUnavailable`, and so are `gas`
   * and `returnCap` that are no whole numbers from 0. Below 200,000 and 320 they count as these.
   */
  readonly looks?: ((bundle: Bundle) => ReadonlyArray<Look>) | undefined;
  /**
   * Sends the step's requests, once in a scan and once in a proof, in the same network round as all others. Requests
   * through `Rpc` are in the ledger under the step's name; a verb of a pipeline in it has a ledger of its own.
   */
  readonly ask?: ((bundle: Bundle, context: Context) => Effect.Effect<A, E, R>) | undefined;
  /**
   * The step's requests as data, in place of `ask`: at most 64, sent when `ask` would be. What each `read` makes of its
   * answer is the answer of the step, in the order of the requests. One that fails makes the step `StepUnavailable`.
   */
  readonly requests?:
    | ((
        bundle: Bundle,
        context: Context,
      ) => {
        readonly [K in keyof A]: {
          /** The JSON-RPC method. */
          readonly method: string;
          /** Its parameters, as JSON has them: numbers and amounts as quantities (`0x…`). */
          readonly params: ReadonlyArray<unknown>;
          /** Reads the `result`, which is a node's: anything. Where it throws, the step is `StepUnavailable`. Pure. */
          read(result: unknown): A[K];
        };
      })
    | undefined;
  /**
   * Judges the report that the built-in steps made, with the answer of `ask`: once in a scan, and in a proof once for
   * each simulated block. Pure.
   */
  check(report: Report, answer: StepAnswer<A>): ReadonlyArray<Finding>;
}

/** The services that the `ask` of a step requires, beside the node. */
export type NeedsOf<One> = One extends { readonly ask?: infer Ask }
  ? "ask" extends keyof One
    ? Exclude<Effect.Services<ReturnType<Extract<Ask, (...input: never) => unknown>>>, Rpc>
    : never
  : never;

/**
 * A step; its types are inferred from what it asks.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Preflight, Rpc, Step } from "evm-preflight";
 *
 * const receivers = Step.make({
 *   name: "acme/receivers",
 *   ask: (bundle) => Effect.succeed(bundle.filter(({ to }) => to === "0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc")),
 *   check: (_, { answer }) => (answer.length === 0 ? [] : [Step.blocker("acme/Listed", "the receiver is on a list")]),
 * });
 * const report = await Preflight.make({ steps: [receivers] })
 *   .preflight({
 *     from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
 *     to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
 *     value: 1n,
 *   })
 *   .pipe(Effect.provide(Rpc.layerHttp("http://127.0.0.1:8545")), Effect.runPromise);
 * console.log(report.verdict, report.because); // blocked the receiver is on a list
 * ```
 */
// why: the indexing keeps what a step is used for from saying what it asks; `NoInfer` would stay in the types
export const make = <A = undefined, E = never, R = never>(
  step: Step<A, E, R>,
): Step<[A][A extends unknown ? 0 : never], [E][E extends unknown ? 0 : never], [R][R extends unknown ? 0 : never]> =>
  step;

const finding =
  (severity: Finding["severity"]) =>
  (
    code: Finding["code"],
    sentence: string,
    details: Pick<Finding, "remedy" | "numbers" | "transaction"> = {},
  ): Finding =>
    Result.getOrThrowWith(
      isOwnName(code) ? Result.succeed({ ...details, code, severity, sentence }) : Result.fail(ownNameProblem),
      (problem) => new InvalidStep({ field: "code", problem }),
    );

/** The transaction must not be sent. Throws `InvalidStep` where the code is not like `acme/Listed`. */
export const blocker = finding("blocker");

/** The verdict is at most `caution`. Throws as {@link blocker} does. */
export const warning = finding("warning");

/** Information, which changes nothing. Throws as {@link blocker} does. */
export const info = finding("info");

/** A look at an account: its balance and its code. */
export const account = (address: Address): Look => ({ kind: "account", address });
