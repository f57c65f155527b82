/**
 * Several endpoints as one: the first answers, and enough of the others must confirm it. Where too few do, its answer
 * stands in a run, and what the others say otherwise is kept with the run, for the report to tell; outside a run the
 * request fails.
 */
import * as Arr from "effect/Array";
import * as Clock from "effect/Clock";
import * as Context from "effect/Context";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Layer from "effect/Layer";
import type * as Scope from "effect/Scope";
import type { RpcError, Verdict } from "../../errors/index.js";
import { memoryOf, type Memory, CurrentRun, Rpc } from "../index.js";
import { patienceOf } from "../requests.js";
import type { Question } from "./further.js";
import { judge } from "./judge.js";
import {
  asking,
  earliestFork,
  isSaidByEnough,
  providersOf,
  unasked,
  votesOf,
  type Member,
  type Quorum,
} from "./members.js";
import { stateOf, type MemberAnswer } from "./verdict.js";

/** The requests of a quorum. */
const requestOf = (quorum: Quorum, memory: Memory, scope: Scope.Scope): Rpc["Service"]["request"] => {
  const { lead, members, agree, most } = quorum;
  const askOf = asking(quorum);

  /** The answers of all, or of as many as decide. */
  const askAll = Effect.fnUntraced(function* (question: Question) {
    const answers = new Map<Member, MemberAnswer>();
    const enough = yield* Deferred.make<void>();
    const asks = Effect.forEach(
      members,
      (member) =>
        Effect.flatMap(askOf(member)(question), (answer) => {
          answers.set(member, answer);
          // why: of fewer answers the numbers that enough reach would be other ones
          const isEnough = answers.size === members.length || (most < agree && isSaidByEnough(quorum, answers));
          return isEnough ? Deferred.succeed(enough, undefined) : Effect.succeed(false);
        }),
      { concurrency: "unbounded", discard: true },
    );
    // why: to call the others off would cost them their connections
    const ended = Effect.onError(asks, (cause) => Deferred.failCause(enough, cause));
    const fiber = yield* Effect.forkIn(ended, scope);
    yield* Effect.onInterrupt(Deferred.await(enough), () => Fiber.interrupt(fiber));
    return new Map(answers);
  });

  const answer = (question: Question): Effect.Effect<unknown, RpcError | Verdict> =>
    Effect.flatMap(Effect.all([askAll(question), Clock.currentTimeMillis]), ([answers, now]) => {
      const { method, params } = question;
      const state = stateOf(method, params);
      if (state !== null) return judge({ ...question, state }, answers, quorum, askOf);
      const fork = earliestFork(votesOf(members, answers), now, most);
      return Effect.fromResult(fork ?? answers.get(lead) ?? unasked(method));
    });

  return (method, params) =>
    Effect.withFiber((fiber) => {
      const question: Question = { method, params, run: fiber.getRef(CurrentRun) };
      // why: who is to send, and before whose eyes, is the caller's choice
      if (stateOf(method, params) === null && method !== "eth_config") return lead.rpc.request(method, params);
      return Effect.flatMap(Effect.result(answer(question)), (result) => {
        memory.heard(method, result);
        return Effect.fromResult(result);
      });
    });
};

/** A quorum of endpoints by their providers; the first of them answers, where it can be confirmed. */
export const quorumOf = (
  endpoints: Arr.NonEmptyReadonlyArray<{ readonly provider: string; readonly layer: Layer.Layer<Rpc> }>,
  { agree, waitMs }: { readonly agree: number; readonly waitMs: number },
): Layer.Layer<Rpc> =>
  Effect.gen(function* () {
    const members = yield* Effect.forEach(endpoints, ({ layer, provider }) =>
      Effect.map(Layer.build(Layer.fresh(layer)), (context): Member => {
        const rpc = Context.get(context, Rpc);
        const { endpoint } = rpc;
        return { rpc, provider, name: endpoint.includes(provider) ? endpoint : `${endpoint} (${provider})` };
      }),
    );
    const [lead] = members;
    const [clock, scope] = [yield* Clock.Clock, yield* Effect.scope];
    // why: what one endpoint alone refuses, or is, is no fact about all
    const memory = memoryOf(() => clock.currentTimeMillisUnsafe(), patienceOf({}).refusalMs);
    const most = providersOf(members) - agree;
    return {
      ...lead.rpc,
      isQuorum: true,
      endpoint: members.map(({ name }) => name).join(", "),
      memory,
      request: requestOf({ lead, members, agree, waitMs, most }, memory, scope),
    };
  }).pipe(Layer.effect(Rpc));
