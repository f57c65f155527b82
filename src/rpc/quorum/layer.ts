/**
 * Several endpoints as one: each is asked the same, and what enough of them say is handed on, whatever the others say and
 * in whatever order they stand. Where fewer agree, the first stands, and what the others say otherwise is kept with the run,
 * for the report to tell; outside a run the request fails.
 */
import * as Arr from "effect/Array";
import * as Clock from "effect/Clock";
import * as Context from "effect/Context";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Layer from "effect/Layer";
import * as Metric from "effect/Metric";
import type * as Scope from "effect/Scope";
import { RpcError, UpstreamUnavailable, WitnessesDisagree, type Verdict } from "../../errors/index.js";
import { memoryOf, type Memory, CurrentRun, Rpc, type Testimony } from "../index.js";
import { patienceOf } from "../requests.js";
import { compareFurther, onItsOwn, type Ask, type SharedQuestion, type Question } from "./further.js";
import {
  asking,
  byMiddle,
  claimsOf,
  earliestFork,
  isFailed,
  kindOf,
  providersOf,
  reachedBy,
  sharedBy,
  sightHead,
  textOf,
  unasked,
  votesOf,
  type Answers,
  type Member,
  type MemberVote,
  type Quorum,
} from "./members.js";
import { compareAnswers, quantityOf, stateOf, tagOf, testimonyOf, type Answer, type Finding } from "./verdict.js";

const outvoted = Metric.counter("evm_preflight_outvoted_total", {
  description: "answers outvoted by other endpoints, where only one is right",
  incremental: true,
});

/** What came of handing one member's answer on. */
interface Weighed {
  readonly answer: Answer;
  /** Those who say the same, itself included. */
  readonly agreeing: ReadonlyArray<Member>;
  readonly isConfirmed: boolean;
  /** What the others say, where it is not the same. */
  readonly dissent: ReadonlyArray<Testimony>;
  /** Those who say otherwise where only one answer is right. */
  readonly against: ReadonlyArray<Member>;
}

/** What the members said of which other endpoints can be asked too, as one answer. */
const memberJudge = ({ lead, members, agree, isSpare, most }: Quorum, askOf: (member: Member) => Ask) => {
  /** The answer of one beside those of the others. */
  const weigh = Effect.fnUntraced(function* (
    question: SharedQuestion,
    speaker: Member,
    answerOf: (member: Member) => Answer,
  ): Effect.fn.Return<Weighed> {
    const { method, state, run } = question;
    const answer = answerOf(speaker);
    const others = members.filter((member) => member !== speaker);
    const ask = askOf(speaker);
    const findings = yield* Effect.forEach(
      others,
      (member): Effect.Effect<Finding> =>
        compareFurther(question, answer, answerOf(member), { ask, askOther: askOf(member), isNeeded: !isSpare }),
      { concurrency: "unbounded" },
    );
    const agreeing = [speaker, ...others.filter((_, index) => findings[index]?.kind === "agreed")];
    const about = { method, isSealed: state === "sealed", run: run.run ?? null };
    const dissent = others.flatMap((member, index): ReadonlyArray<Testimony> => {
      const finding = findings[index];
      return finding === undefined || finding.kind === "agreed"
        ? []
        : [testimonyOf(about, finding, [speaker.name, member.name])];
    });
    const against = others.filter((_, index) => findings[index]?.kind === "disagreed");
    return { answer, agreeing, isConfirmed: providersOf(agreeing) >= agree, dissent, against };
  });

  /** What enough say word for word, and who of those that have answered says otherwise. */
  const inOneWord = (question: SharedQuestion, votes: ReadonlyArray<MemberVote>): Weighed | null => {
    const [shared] = sharedBy(votes, agree, textOf) ?? [];
    if (shared === undefined) return null;
    const { answer } = shared;
    // why: two blocks of one number may be two branches
    const isOne = question.state === "sealed" && question.method !== "eth_getBlockByNumber";
    const isAgainst = (vote: MemberVote): boolean => compareAnswers(question, answer, vote.answer).kind === "disagreed";
    const against = isOne ? votes.filter(isAgainst).map(({ member }) => member) : [];
    return { answer, agreeing: [], isConfirmed: true, dissent: [], against };
  };

  /** The answers of all, of those who are behind what they say after a block of their own. */
  const onTheirOwn = (question: SharedQuestion, answers: Answers): Effect.Effect<Answers> => {
    const own = [...answers].map(([member, answer]) =>
      Effect.map(onItsOwn(question, answer, askOf(member)), (again) => [member, again] as const),
    );
    return Effect.map(Effect.all(own, { concurrency: "unbounded" }), (all) => new Map(all));
  };

  /**
   * Of the votes the one that enough confirm by all answers, and no other as well; where none is, the first that was
   * weighed.
   */
  const choose = Effect.fnUntraced(function* (
    question: SharedQuestion,
    votes: ReadonlyArray<MemberVote>,
    answers: Answers,
  ) {
    const speaking = votes.filter(({ answer }) => !isFailed(answer)).map(({ member }) => member);
    const answerOf = (member: Member): Answer => answers.get(member) ?? unasked(question.method);
    const heard = votesOf(members, answers).filter(({ answer }) => !isFailed(answer));
    const speakers = (
      isSpare ? byMiddle(question.params, heard) : heard.filter(({ member }) => member === lead)
    ).filter(({ member }) => speaking.includes(member));
    const weighed: Array<Weighed> = [];
    let choice: Weighed | undefined;
    for (const { member } of speakers) {
      if (choice?.agreeing.includes(member) === true) continue;
      const vote: Weighed = yield* weigh(question, member, answerOf);
      weighed.push(vote);
      const before = choice?.agreeing;
      // why: as many say something else, and nobody can tell who of them are honest
      if (vote.isConfirmed && choice !== undefined && !vote.agreeing.some((other) => before?.includes(other) === true))
        return { ...choice, isConfirmed: false };
      if (vote.isConfirmed) choice ??= vote;
      if (choice !== undefined && most < agree) break;
    }
    return choice ?? weighed[0] ?? null;
  });

  return Effect.fnUntraced(function* (question: SharedQuestion, answers: Answers) {
    const { method, params, state, run } = question;
    const votes = votesOf(members, answers);
    const first: Weighed | null = inOneWord(question, votes) ?? (yield* choose(question, votes, answers));
    // why: where two say otherwise, one that is behind tells who is believed
    const isOpen = isSpare && first?.isConfirmed === false && state === "pending";
    const second = isOpen ? yield* choose(question, votes, yield* onTheirOwn(question, answers)) : null;
    // why: what one says of a block of its own is no testimony against anybody
    const choice =
      second === null || second.isConfirmed ? (second ?? first) : { ...second, dissent: first?.dissent ?? [] };
    const refused = votes.filter(({ answer }) => isFailed(answer));
    const isRefused = choice?.isConfirmed !== true && providersOf(refused) >= agree;
    if (choice === null || isRefused)
      return yield* Effect.fromResult(
        byMiddle(params, isRefused ? refused : [])[0]?.answer ?? answers.get(lead) ?? unasked(method),
      );
    const { answer, isConfirmed } = choice;
    const dissent = isConfirmed ? [] : choice.dissent;
    // why: nothing of it changes what is told of the transaction, and who runs the endpoints wants to know
    for (const { provider } of isConfirmed ? choice.against : [])
      yield* Metric.update(
        Metric.withAttributes(outvoted, { "preflight.provider": provider, "rpc.method": method }),
        1,
      );
    if (run.sighted != null) {
      const { testimonies } = run.sighted;
      if (isConfirmed && state === "sealed" && method === "eth_simulateV1")
        testimonies.push({ kind: "confirmed", isSealed: true, method, run: run.run ?? null, lines: [] });
      testimonies.push(...dissent);
      if (method === "eth_getBlockByNumber" && tagOf(method, params) === "latest") {
        sightHead(run.sighted, votes, choice, most);
      }
      return yield* Effect.fromResult(answer);
    }
    if (isConfirmed) return yield* Effect.fromResult(answer);
    // why: of what is pending each has its own, and nobody can be held to another's; who tells of fewer does not know, or hides
    if (state === "pending") {
      const highest = method === "eth_getTransactionCount" ? reachedBy(claimsOf(votes, quantityOf), most) : null;
      const highestVote = highest === null ? null : votes.find((vote) => quantityOf(vote.answer) === highest);
      return yield* Effect.fromResult(highestVote?.answer ?? answer);
    }
    const against = dissent.find(({ kind }) => kind === "disagreed");
    if (against !== undefined) return yield* new WitnessesDisagree({ method, differences: against.lines });
    const detail = dissent.flatMap(({ lines }) => lines).join("; ");
    return yield* new RpcError({ method, reason: new UpstreamUnavailable({ detail }) });
  });
};

/** The requests of a quorum. */
const requestOf = (quorum: Quorum, memory: Memory, scope: Scope.Scope): Rpc["Service"]["request"] => {
  const { lead, members, agree, isSpare, most } = quorum;
  const askOf = asking(quorum);
  const judge = memberJudge(quorum, askOf);

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
  endpoints: Arr.NonEmptyReadonlyArray<{ readonly provider: string; readonly layer: Layer.Layer<Rpc> }>,
  { agree, waitMs }: { readonly agree: number; readonly waitMs: number },
): Layer.Layer<Rpc> =>
  Layer.effect(
    Rpc,
    Effect.gen(function* () {
      const members = yield* Effect.forEach(endpoints, ({ layer, provider }) =>
        Effect.map(Layer.build(Layer.fresh(layer)), (context): Member => {
          const rpc = Context.get(context, Rpc);
          const { endpoint } = rpc;
          return { rpc, provider, name: endpoint.includes(provider) ? endpoint : `${endpoint} (${provider})` };
        }),
      );
      const [lead, ...others] = members;
      const [clock, scope] = [yield* Clock.Clock, yield* Effect.scope];
      // why: what one endpoint alone refuses, or is, is no fact about all
      const memory = memoryOf(() => clock.currentTimeMillisUnsafe(), patienceOf({}).refusalMs);
      const isSpare = providersOf(others) >= agree;
      const most = providersOf(members) - agree;
      return {
        ...lead.rpc,
        ...(isSpare ? { subscribe: undefined } : {}),
        isQuorum: true,
        endpoint: members.map(({ name }) => name).join(", "),
        memory,
        request: requestOf({ lead, members, agree, waitMs, isSpare, most }, memory, scope),
      };
    }),
  );
