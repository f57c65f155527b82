/**
 * A round as data: what is asked and how its answers are read, put together by plain functions, sent by one. No request is a
 * fiber of its own but where its answer begins something: a further try, a further round.
 */
import * as Clock from "effect/Clock";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Fiber from "effect/Fiber";
import * as Result from "effect/Result";
import { onAbort } from "../primitives/effects.js";
import type { RunName, StepName } from "../primitives/names.js";
import { inSpan, isTraced, type Attributes } from "../primitives/telemetry.js";
import { CurrentRun, Rpc, type EndpointFacts, type Memory, type RunContext } from "../rpc/index.js";
import { admissionOf, sendOf, type RoundRequest } from "../rpc/service.js";
import { answerTo, encoded, type Failure, type Question } from "./ask.js";
import type { Block } from "./block.js";

/** A round that is put together: whose requests it takes, and what is in force where it is sent. */
export interface Asking {
  readonly rpc: Rpc["Service"];
  /** The run, with the step that asks now. */
  readonly run: RunContext;
  readonly context: Context.Context<never>;
  /** True if each run and request is to have a span. */
  readonly isTraced: boolean;
  /** Takes a request into the round. */
  readonly take: (request: RoundRequest, hear: (answer: Result.Result<unknown, Failure>) => void) => void;
  /** Begins what is no plain request; the round ends no earlier. */
  readonly begin: <A>(effect: Effect.Effect<A, never, Rpc>, run: RunContext, hear: (answer: A) => void) => void;
}

/** Puts what it asks into a round, and calls `hear` once with what came of that; it never fails. */
export type Ask<A> = (asking: Asking, hear: (answer: A) => void) => void;

/** Asks nothing. */
export const known =
  <A>(answer: A): Ask<A> =>
  (_, hear) =>
    hear(answer);

/** One request; its failure is its answer. */
export const one =
  <A>(question: Question<A>): Ask<Result.Result<A, Failure>> =>
  ({ run, take }, hear) => {
    const { method } = question;
    const params = encoded(method, question.write);
    if (Result.isFailure(params)) return hear(Result.fail(params.failure));
    return take({ method, params: params.success, run }, (answer) => hear(answerTo(question, params.success, answer)));
  };

export const mapped =
  <A, B>(ask: Ask<A>, read: (answer: A, asking: Asking) => B): Ask<B> =>
  (asking, hear) =>
    ask(asking, (answer) => hear(read(answer, asking)));

/** `ask` where it is wanted, else `otherwise`. */
export const when = <A, B>(isWanted: boolean, ask: Ask<A>, otherwise: B): Ask<A | B> =>
  isWanted ? ask : known(otherwise);

/** Goes on behind an answer; null = that is all. */
export const goingOn =
  <A>(ask: Ask<A>, further: (answer: A, asking: Asking) => Effect.Effect<A, never, Rpc> | null): Ask<A> =>
  (asking, hear) =>
    ask(asking, (answer) => {
      const more = further(answer, asking);
      if (more === null) hear(answer);
      else asking.begin(more, asking.run, hear);
    });

/** An effect as a part of a round. */
export const beginning =
  <A>(effect: Effect.Effect<A, never, Rpc>): Ask<A> =>
  ({ begin, run }, hear) =>
    begin(effect, run, hear);

/** Asks for each, all side by side. */
export const each =
  <A, B>(all: ReadonlyArray<A>, askOf: (one: A, place: number) => Ask<B>): Ask<ReadonlyArray<B>> =>
  (asking, hear) => {
    // why: told in the order of what was asked, whichever is answered first
    const answers: Array<B> = [];
    let open = all.length;
    if (open === 0) return hear(answers);
    return all.forEach((one, place) =>
      askOf(one, place)(asking, (answer) => {
        answers[place] = answer;
        if (--open === 0) hear(answers);
      }),
    );
  };

/** Asks all parts side by side, and returns their answers by the same names. */
export const together =
  <Parts extends Readonly<Record<string, unknown>>>(asks: { readonly [K in keyof Parts]: Ask<Parts[K]> }): Ask<Parts> =>
  (asking, hear) => {
    const names: ReadonlyArray<keyof Parts> = Object.keys(asks);
    const answers: Partial<Parts> = {};
    let open = names.length;
    if (open === 0) return hear(answers as Parts);
    for (const name of names)
      asks[name](asking, (answer) => {
        answers[name] = answer;
        if (--open === 0) hear(answers as Parts);
      });
  };

/** `ask`, told in the ledger as a question of this step, and of this run where it is a simulation. */
export const asked =
  <A>({ step, run = null }: { readonly step: StepName; readonly run?: RunName | null }, ask: Ask<A>): Ask<A> =>
  (asking, hear) =>
    ask({ ...asking, run: { ...asking.run, step, run } }, hear);

/** `ask` in a span of its own, where spans go anywhere. */
export const spanned =
  <A>(ask: Ask<A>, name: string, before: () => Attributes, after: (answer: A | null) => Attributes): Ask<A> =>
  (asking, hear) =>
    asking.isTraced ? asking.begin(inSpan(sent(ask), name, before, after), asking.run, hear) : ask(asking, hear);

/** Notes a block that an answer names. `isSealed` = one that is mined, not one that comes. */
export const sightBlock = (sighted: RunContext["sighted"], block: bigint, isSealed: boolean): void => {
  if (!sighted) return;
  if (block > (sighted.block ?? -1n)) sighted.block = block;
  if (isSealed && block > (sighted.sealed ?? -1n)) sighted.sealed = block;
};

/** `ask`, whose answer names a mined block that there is; null = none. */
export const sighting = <A>(ask: Ask<Result.Result<A, Failure>>, blockIn: (answer: A) => bigint | null): typeof ask =>
  mapped(ask, (answer, { run: { sighted } }) => {
    const block = Result.isSuccess(answer) ? blockIn(answer.success) : null;
    if (block !== null) sightBlock(sighted, block, true);
    return answer;
  });

/** The header of the block that a memory's `head` names: it is gone with that. */
const headers = new WeakMap<EndpointFacts["head"], Block>();

/** The header that a connection was shown last as the latest, while it is believed to be that, `ms` at most by every clock; else null. */
export const youngHead = (memory: Memory, now: number, ms: number): Block | null => {
  const last = memory.recall("head");
  const header = last === null ? null : (headers.get(last) ?? null);
  const since = Math.min(last?.at ?? 0, Number(header?.timestamp ?? 0n) * 1_000);
  return now < since + ms ? header : null;
};

/** `ask`, whose answer is the latest block: the highest that was shown is kept, and since when this connection shows it. */
export const sightingHead = (ask: Ask<Result.Result<Block, Failure>>): typeof ask =>
  mapped(
    sighting(ask, ({ number }) => number),
    (answer, { run: { sighted }, rpc: { memory }, context }) => {
      if (Result.isFailure(answer)) return answer;
      const { number, hash } = answer.success;
      const now = Context.get(context, Clock.Clock).currentTimeMillisUnsafe();
      if (sighted && number > (sighted.header ?? -1n)) sighted.header = number;
      const last = memory.recall("head");
      const isSame = last?.number === number && last.hash === hash;
      if (!isSame) {
        const head = { number, hash, at: now };
        headers.set(head, answer.success);
        memory.learn("head", head);
      }
      if (sighted) sighted.heldMs = isSame ? now - last.at : 0;
      return answer;
    },
  );

/** A round as it is put together and sent: which requests and effects it took, and its end. */
const roundOf = <A>(
  ask: Ask<A>,
  fiber: Fiber.Fiber<unknown, unknown>,
  rpc: Rpc["Service"],
  resume: (effect: Effect.Effect<A>) => void,
): Effect.Effect<void> => {
  const { context } = fiber;
  const run = fiber.getRef(CurrentRun);
  const isSpanned = isTraced(fiber);
  // why: who waits at a gate, or was not let in, is told so by `request`
  const send = isSpanned || admissionOf(fiber) !== "admitted" ? undefined : sendOf(rpc);
  const taken: Array<{
    readonly request: RoundRequest;
    readonly hear: (answer: Result.Result<unknown, Failure>) => void;
  }> = [];
  const begun = new Set<Fiber.Fiber<unknown, unknown>>();
  let isOpen = true;
  let close = (): void => undefined;
  const end = (how: Effect.Effect<A>): void => {
    if (!isOpen) return;
    isOpen = false;
    close();
    resume(begun.size === 0 ? how : Effect.andThen(Fiber.interruptAll(begun), how));
  };
  /** Calls what reads an answer: where it throws, the round has that defect. */
  const guarded =
    <B>(use: (value: B) => void) =>
    (value: B): void => {
      if (!isOpen) return;
      const used = Result.try({ try: () => use(value), catch: (defect) => defect });
      if (Result.isFailure(used)) end(Effect.die(used.failure));
    };
  const begin: Asking["begin"] = (effect, within, hear) => {
    if (!isOpen) return;
    const started = Effect.runForkWith(Context.add(Context.add(context, Rpc, rpc), CurrentRun, within))(effect);
    begun.add(started);
    const heard = guarded(hear);
    started.addObserver((exit) => {
      begun.delete(started);
      if (Exit.isSuccess(exit)) heard(exit.value);
      else end(Effect.failCause(exit.cause));
    });
  };
  const take: Asking["take"] = (request, hear) => {
    if (send !== undefined) return void taken.push({ request, hear });
    const { method, params, run: within } = request;
    return begin(Effect.result(rpc.request(method, params)), within, hear);
  };
  if (run.signal?.aborted === true) end(Effect.interrupt);
  guarded(() => ask({ rpc, run, context, isTraced: isSpanned, take, begin }, (answer) => end(Effect.succeed(answer))))(
    undefined,
  );
  if (isOpen) {
    const unwatch = run.signal === null ? () => undefined : onAbort(run.signal, () => end(Effect.interrupt));
    // why: a layer of somebody's may tell an answer twice
    const waiting = new Map(taken.map(({ hear }, place) => [place, guarded(hear)]));
    const heard: Parameters<NonNullable<typeof send>>[1] = (place, answer) => {
      const hear = waiting.get(place);
      waiting.delete(place);
      hear?.(answer);
    };
    const requests = taken.map(({ request }) => request);
    close = unwatch;
    guarded(() => {
      const callOff = send?.(requests, heard) ?? (() => undefined);
      close = () => {
        unwatch();
        callOff();
      };
      if (!isOpen) close();
    })(undefined);
  }
  return Effect.suspend(() => {
    isOpen = false;
    close();
    return Fiber.interruptAll(begun);
  });
};

/** Sends a round, and returns what came of it once it is whole. Interruption calls off what is under way. */
export const sent = <A>(ask: Ask<A>): Effect.Effect<A, never, Rpc> =>
  Rpc.use((rpc) => Effect.withFiber((fiber) => Effect.callback<A>((resume) => roundOf(ask, fiber, rpc, resume))));
