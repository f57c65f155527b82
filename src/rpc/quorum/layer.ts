/**
 * Several endpoints as one: each is asked the same and must say the same; the first whose word enough others confirm is
 * handed on. What they say otherwise is kept with the run, for the report to tell; outside a run the request fails.
 */
import * as Clock from "effect/Clock";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import { RpcError, UpstreamUnavailable } from "../../errors/rpc.js";
import { WitnessesDisagree } from "../../errors/verdicts.js";
import type { Budget } from "../room.js";
import { CurrentRun, type Run, type Testimony } from "../run.js";
import { Rpc } from "../service.js";
import { earliestFork } from "./forks.js";
import { compareFurther, type Ask, type Asked, type Question } from "./further.js";
import { stateOf, tagOf } from "./question.js";
import { highestCount, numberIn, testimonyOf, type Answer, type Finding } from "./verdict.js";

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

/** An endpoint that is there. */
interface Member {
  readonly rpc: Rpc["Service"];
  readonly provider: string;
  readonly name: string;
}

/** The members, and how many of them have to agree. */
interface Quorum {
  readonly lead: Member;
  readonly others: ReadonlyArray<Member>;
  readonly agree: number;
  readonly waitMs: number;
  /** Whether the others are enough where the first fails. */
  readonly isSpare: boolean;
}

const providersOf = (members: ReadonlyArray<Member>): number => new Set(members.map(({ provider }) => provider)).size;

/** How each member is asked. */
const asking = ({ lead, waitMs, isSpare }: Quorum) => {
  // why: what one endpoint answers shall not take the room of another's answers
  const budgets = new WeakMap<Budget, Map<Member, Budget>>();
  const budgetOf = (member: Member, answers: Budget | null): Budget | null => {
    if (answers === null) return null;
    const known = budgets.get(answers) ?? new Map<Member, Budget>();
    budgets.set(answers, known);
    const own = known.get(member) ?? { left: answers.left };
    known.set(member, own);
    return own;
  };

  return (member: Member): Ask =>
    ({ method, params, run }) => {
      const asked = (own: Run) =>
        Effect.result(Effect.provideService(member.rpc.request(method, params), CurrentRun, own));
      if (member === lead && !isSpare) return asked(run);
      const own = member === lead ? run : { ...run, sighted: null, answers: budgetOf(member, run.answers ?? null) };
      const late = (): Answer =>
        Result.fail(new RpcError({ method, reason: new UpstreamUnavailable({ detail: `no answer in ${waitMs} ms` }) }));
      return asked(own).pipe(Effect.timeoutOption(waitMs), Effect.map(Option.getOrElse(late)));
    };
};

const unasked = (method: string): Answer =>
  Result.fail(new RpcError({ method, reason: new UpstreamUnavailable({ detail: "was not asked" }) }));

const isFailed = (answer: Answer): answer is Result.Failure<unknown, RpcError> =>
  Result.isFailure(answer) && answer.failure._tag === "RpcError";

/** What came of handing one member's answer on. */
interface Weighed {
  readonly answer: Answer;
  /** Those who say the same, itself included. */
  readonly agreeing: ReadonlyArray<Member>;
  readonly isConfirmed: boolean;
  readonly told: ReadonlyArray<Testimony>;
}

/** What the members said, as one answer. */
const judging = (quorum: Quorum, askOf: (member: Member) => Ask) => {
  const members = [quorum.lead, ...quorum.others];

  /** The answer of one beside those of the others. */
  const weigh = Effect.fnUntraced(function* (
    asked: Asked,
    speaker: Member,
    answerOf: (member: Member) => Answer,
  ): Effect.fn.Return<Weighed> {
    const { method, state, run } = asked;
    const answer = answerOf(speaker);
    const others = members.filter((member) => member !== speaker);
    const findings = yield* Effect.forEach(
      others,
      (member): Effect.Effect<Finding> =>
        compareFurther(asked, answer, answerOf(member), { ask: askOf(speaker), askOther: askOf(member) }),
      { concurrency: "unbounded" },
    );
    const agreeing = [speaker, ...others.filter((_, index) => findings[index]?.kind === "agreed")];
    const isConfirmed = providersOf(agreeing) >= quorum.agree;
    const told = others.flatMap((member, index): ReadonlyArray<Testimony> => {
      const finding = findings[index];
      if (finding === undefined || finding.kind === "agreed") return [];
      if (finding.kind === "unconfirmed" && isConfirmed) return [];
      const about = { method, isSealed: state === "sealed", run: run.run ?? null };
      const said = testimonyOf(about, finding, [speaker.name, member.name]);
      return [isConfirmed && said.kind === "disagreed" ? { ...said, kind: "outvoted" } : said];
    });
    return { answer, agreeing, isConfirmed, told };
  });

  /** The first answer that enough confirm; where none is, that of the first endpoint. */
  const choose = Effect.fnUntraced(function* (asked: Asked, answerOf: (member: Member) => Answer) {
    const { lead, others, isSpare } = quorum;
    const first = isFailed(answerOf(lead)) ? null : yield* weigh(asked, lead, answerOf);
    if (first?.isConfirmed === true || !isSpare) return first;
    for (const speaker of others) {
      if (isFailed(answerOf(speaker))) continue;
      const instead = yield* weigh(asked, speaker, answerOf);
      if (instead.isConfirmed) return instead;
    }
    return first;
  });

  return Effect.fnUntraced(function* (asked: Asked, answers: ReadonlyMap<Member, Answer>) {
    const { method, params, state, run } = asked;
    const answerOf = (member: Member): Answer => answers.get(member) ?? unasked(method);
    const chosen = yield* choose(asked, answerOf);
    if (chosen === null) return yield* Effect.fromResult(answerOf(quorum.lead));
    const { answer, agreeing, isConfirmed, told } = chosen;
    if (run.sighted != null) {
      if (
        isConfirmed &&
        state === "sealed" &&
        told.every(({ kind }) => kind === "outvoted") &&
        method === "eth_simulateV1"
      )
        run.sighted.testimonies.push({ kind: "confirmed", isSealed: true, method, run: run.run ?? null, lines: [] });
      run.sighted.testimonies.push(...told);
      const isHead = method === "eth_getBlockByNumber" && tagOf(method, params) === "latest";
      // why: an endpoint that is ahead shows how old a head is; one whose head nobody knows shows nothing
      for (const one of isHead ? (isConfirmed ? agreeing : members).map(answerOf) : []) {
        const number = Result.isSuccess(one) ? numberIn(one.success) : null;
        if (number !== null && number > (run.sighted.block ?? -1n)) run.sighted.block = number;
      }
      return yield* Effect.fromResult(answer);
    }
    if (isConfirmed) return yield* Effect.fromResult(answer);
    // why: of what is pending each has its own, and nobody can be held to another's
    if (state === "pending")
      return yield* Effect.fromResult(
        method === "eth_getTransactionCount" ? highestCount(members.map(answerOf), answer) : answer,
      );
    const against = told.find(({ kind }) => kind === "disagreed");
    if (against !== undefined) return yield* new WitnessesDisagree({ method, differences: against.lines });
    const detail = told.flatMap(({ lines }) => lines).join("; ");
    return yield* new RpcError({ method, reason: new UpstreamUnavailable({ detail }) });
  });
};

/** Failures of an endpoint, not of the question: another may answer it. */
const passing = new Set(["Transport", "Timeout", "UpstreamUnavailable", "RateLimited", "Unauthorized", "NodeSyncing"]);

/** The requests of a quorum. */
const requestOf = (quorum: Quorum): Rpc["Service"]["request"] => {
  const askOf = asking(quorum);
  const judge = judging(quorum, askOf);
  const members = [quorum.lead, ...quorum.others];

  /** What no other is held to: the word of the first that answers. */
  const askAlone = Effect.fnUntraced(function* (question: Question) {
    let heard = yield* askOf(quorum.lead)(question);
    for (const member of quorum.others) {
      if (!isFailed(heard) || !passing.has(heard.failure.reason._tag)) break;
      heard = yield* askOf(member)(question);
    }
    return yield* Effect.fromResult(heard);
  });

  const askAll = (question: Question): Effect.Effect<ReadonlyMap<Member, Answer>> =>
    Effect.map(
      Effect.forEach(members, (member) => Effect.map(askOf(member)(question), (answer) => [member, answer] as const), {
        concurrency: "unbounded",
      }),
      (answers) => new Map(answers),
    );

  return (method, params) =>
    Effect.withFiber((fiber) => {
      const run = fiber.getRef(CurrentRun);
      const question: Question = { method, params, run };
      if (method === "eth_config")
        return Effect.flatMap(Effect.all([askAll(question), Clock.currentTimeMillis]), ([answers, now]) => {
          const all = [...answers.values()];
          return Effect.fromResult(earliestFork(all, now) ?? all[0] ?? unasked(method));
        });
      const state = stateOf(method, params);
      if (state === null)
        return quorum.isSpare && !method.startsWith("eth_send")
          ? askAlone(question)
          : quorum.lead.rpc.request(method, params);
      return Effect.flatMap(askAll(question), (answers) => judge({ ...question, state }, answers));
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
      return {
        ...lead.rpc,
        isQuorum: true,
        endpoint: [lead, ...others].map(({ name }) => name).join(", "),
        request: requestOf({ lead, others, agree, waitMs, isSpare: providersOf(others) >= agree }),
      };
    }),
  );
};
