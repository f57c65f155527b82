/**
 * Several endpoints as one: each is asked the same, and what enough of them say is handed on, whatever the others say and
 * in whatever order they stand. Where fewer agree, the first stands, and what the others say otherwise is kept with the run,
 * for the report to tell; outside a run the request fails.
 */
import * as Clock from "effect/Clock";
import * as Context from "effect/Context";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Layer from "effect/Layer";
import type * as Scope from "effect/Scope";
import type { RpcError } from "../../errors/rpc.js";
import type { Verdict } from "../../errors/verdicts.js";
import { memoryOf, type Memory } from "../memory.js";
import { patienceOf } from "../retry.js";
import { CurrentRun, Rpc } from "../service.js";
import type { Question } from "./further.js";
import { judging } from "./judge.js";
import { asking, unasked, votesOf, type Answers, type Member, type Quorum } from "./members.js";
import { byMiddle, earliestFork, kindOf, providersOf, sharedBy, textOf } from "./middle.js";
import { stateOf } from "./question.js";
import type { Answer } from "./verdict.js";

/** An endpoint by who runs it and the layer that reaches it. */
interface Endpoint {
  readonly provider: string;
  readonly layer: Layer.Layer<Rpc>;
}

/** How many have to agree; every field has a default. */
export interface QuorumOptions {
  /** So many different providers must say the same; at least 2. Default 2. */
  readonly agree?: number | undefined;
  /** Ms for which an endpoint is waited for, per request, where it is not the first of as many as must agree; default 3,000. */
  readonly waitMs?: number | undefined;
}

/** The requests of a quorum. */
const requestOf = (quorum: Quorum, memory: Memory, scope: Scope.Scope): Rpc["Service"]["request"] => {
  const { lead, others, agree, isSpare, most } = quorum;
  const members = [lead, ...others];
  const askOf = asking(quorum);
  const judge = judging(quorum, members, askOf);

  /** Whether nobody who has not answered yet can change what is handed on. */
  const isEnough = (answers: Answers): boolean =>
    answers.size === members.length ||
    (isSpare && most < agree && sharedBy(votesOf(members, answers), agree, textOf) !== null);

  /** The answers of all, or of as many as decide. */
  const askAll = Effect.fnUntraced(function* (question: Question) {
    const answers = new Map<Member, Answer>();
    const enough = yield* Deferred.make<void>();
    const asks = Effect.forEach(
      members,
      (member) =>
        Effect.flatMap(askOf(member)(question), (answer) => {
          answers.set(member, answer);
          return isEnough(answers) ? Deferred.succeed(enough, undefined) : Effect.succeed(false);
        }),
      { concurrency: "unbounded", discard: true },
    );
    // why: to call the others off would cost them their connections
    const ended = Effect.onError(asks, (cause) => Deferred.failCause(enough, cause));
    const fiber = yield* Effect.forkIn(ended, scope);
    yield* Effect.onInterrupt(Deferred.await(enough), () => Fiber.interrupt(fiber));
    return new Map(answers);
  });

  /** What cannot be compared: the kind of answer that enough give, of its values the middle; else that of the first who answers. */
  const settle = ({ method, params }: Question, answers: Answers): Answer => {
    const votes = votesOf(members, answers);
    const shared = sharedBy(votes, agree, textOf) ?? sharedBy(votes, agree, kindOf);
    return (shared === null ? votes : byMiddle(params, shared))[0]?.answer ?? answers.get(lead) ?? unasked(method);
  };

  const answer = (question: Question): Effect.Effect<unknown, RpcError | Verdict> =>
    Effect.flatMap(Effect.all([askAll(question), Clock.currentTimeMillis]), ([answers, now]) => {
      const { method, params } = question;
      const state = stateOf(method, params);
      if (state !== null) return judge({ ...question, state }, answers);
      const votes = votesOf(members, answers);
      const isDecided = method !== "eth_config" || sharedBy(votes, agree, textOf) !== null;
      return Effect.fromResult((isDecided ? null : earliestFork(votes, now, most)) ?? settle(question, answers));
    });

  return (method, params) =>
    Effect.withFiber((fiber) => {
      const question: Question = { method, params, run: fiber.getRef(CurrentRun) };
      const isAlone = stateOf(method, params) === null && method !== "eth_config";
      // why: who is to send, and before whose eyes, is the caller's choice
      if (method.startsWith("eth_send") || (isAlone && !isSpare)) return lead.rpc.request(method, params);
      return Effect.flatMap(Effect.result(answer(question)), (result) => {
        memory.heard(method, result);
        return Effect.fromResult(result);
      });
    });
};

/** A quorum of endpoints by their providers; the first of them answers, where it can be confirmed. */
export const quorumOf = (
  first: Endpoint,
  rest: ReadonlyArray<Endpoint>,
  { agree, waitMs }: { readonly agree: number; readonly waitMs: number },
): Layer.Layer<Rpc> => {
  const memberOf = ({ layer, provider }: Endpoint) =>
    Effect.map(Layer.build(Layer.fresh(layer)), (context): Member => {
      const rpc = Context.get(context, Rpc);
      return { rpc, provider, name: rpc.endpoint.includes(provider) ? rpc.endpoint : `${rpc.endpoint} (${provider})` };
    });
  return Layer.effect(
    Rpc,
    Effect.gen(function* () {
      const lead = yield* memberOf(first);
      const others = yield* Effect.forEach(rest, memberOf);
      const [clock, scope] = [yield* Clock.Clock, yield* Effect.scope];
      // why: what one endpoint alone refuses, or is, is no fact about all
      const memory = memoryOf(() => clock.currentTimeMillisUnsafe(), patienceOf({}).refusalMs);
      const isSpare = providersOf(others) >= agree;
      const most = providersOf([lead, ...others]) - agree;
      return {
        ...lead.rpc,
        ...(isSpare ? { subscribe: undefined } : {}),
        isQuorum: true,
        endpoint: [lead, ...others].map(({ name }) => name).join(", "),
        memory,
        request: requestOf({ lead, others, agree, waitMs, isSpare, most }, memory, scope),
      };
    }),
  );
};
