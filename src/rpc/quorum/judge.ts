/** What the members of a quorum said of what can be compared, as one answer. */
import * as Effect from "effect/Effect";
import * as Metric from "effect/Metric";
import * as Result from "effect/Result";
import { RpcError, UpstreamUnavailable } from "../../errors/rpc.js";
import { WitnessesDisagree } from "../../errors/verdicts.js";
import type { Testimony } from "../service.js";
import { compareFurther, onItsOwn, type Ask, type Asked } from "./further.js";
import { isFailed, unasked, votesOf, type Answers, type Member, type MemberVote, type Quorum } from "./members.js";
import { byMiddle, providersOf, reachedBy, sharedBy, textOf, type Vote } from "./middle.js";
import { tagOf } from "./question.js";
import { compareAnswers, numberIn, quantityOf, testimonyOf, type Answer, type Finding } from "./verdict.js";

const outvoted = Metric.counter("evm_preflight_outvoted_total", {
  description: "answers against which enough others gave another, where only one is right",
  incremental: true,
});

const claimsOf = (votes: ReadonlyArray<Vote>, read: (answer: Answer) => bigint | null) =>
  votes.flatMap(({ provider, answer }) => {
    const value = read(answer);
    return value === null ? [] : [[provider, value] as const];
  });

/** What came of handing one member's answer on. */
interface Weighed {
  readonly answer: Answer;
  /** Those who say the same, itself included. */
  readonly agreeing: ReadonlyArray<Member>;
  readonly isConfirmed: boolean;
  /** What the others say, where it is not the same. */
  readonly told: ReadonlyArray<Testimony>;
  /** Those who say otherwise where only one answer is right. */
  readonly against: ReadonlyArray<Member>;
}

/** What the members said of which other endpoints can be asked too, as one answer. */
export const judging = (quorum: Quorum, members: ReadonlyArray<Member>, askOf: (member: Member) => Ask) => {
  const { lead, agree, isSpare, most } = quorum;

  /** The answer of one beside those of the others. */
  const weigh = Effect.fnUntraced(function* (
    asked: Asked,
    speaker: Member,
    answerOf: (member: Member) => Answer,
  ): Effect.fn.Return<Weighed> {
    const { method, state, run } = asked;
    const answer = answerOf(speaker);
    const others = members.filter((member) => member !== speaker);
    const ask = askOf(speaker);
    const findings = yield* Effect.forEach(
      others,
      (member): Effect.Effect<Finding> =>
        compareFurther(asked, answer, answerOf(member), { ask, askOther: askOf(member), isNeeded: !isSpare }),
      { concurrency: "unbounded" },
    );
    const agreeing = [speaker, ...others.filter((_, index) => findings[index]?.kind === "agreed")];
    const about = { method, isSealed: state === "sealed", run: run.run ?? null };
    const told = others.flatMap((member, index): ReadonlyArray<Testimony> => {
      const finding = findings[index];
      return finding === undefined || finding.kind === "agreed"
        ? []
        : [testimonyOf(about, finding, [speaker.name, member.name])];
    });
    const against = others.filter((_, index) => findings[index]?.kind === "disagreed");
    return { answer, agreeing, isConfirmed: providersOf(agreeing) >= agree, told, against };
  });

  /** What enough say word for word, and who of those that have answered says otherwise. */
  const inOneWord = (asked: Asked, votes: ReadonlyArray<MemberVote>): Weighed | null => {
    const [shared] = sharedBy(votes, agree, textOf) ?? [];
    if (shared === undefined) return null;
    const { answer } = shared;
    // why: two blocks of one number may be two branches
    const isOne = asked.state === "sealed" && asked.method !== "eth_getBlockByNumber";
    const isAgainst = (vote: MemberVote): boolean => compareAnswers(asked, answer, vote.answer).kind === "disagreed";
    const against = isOne ? votes.filter(isAgainst).map(({ member }) => member) : [];
    return { answer, agreeing: [], isConfirmed: true, told: [], against };
  };

  /** The answers of all, of those who are behind what they say after a block of their own. */
  const onTheirOwn = (asked: Asked, answers: Answers): Effect.Effect<Answers> => {
    const own = [...answers].map(([member, answer]) =>
      Effect.map(onItsOwn(asked, answer, askOf(member)), (again) => [member, again] as const),
    );
    return Effect.map(Effect.all(own, { concurrency: "unbounded" }), (all) => new Map(all));
  };

  /**
   * Of the votes the one that enough confirm by all answers, and no other as well; where none is, the first that was
   * weighed.
   */
  const choose = Effect.fnUntraced(function* (asked: Asked, votes: ReadonlyArray<MemberVote>, answers: Answers) {
    const speaking = votes.filter(({ answer }) => !isFailed(answer)).map(({ member }) => member);
    const answerOf = (member: Member): Answer => answers.get(member) ?? unasked(asked.method);
    const heard = votesOf(members, answers).filter(({ answer }) => !isFailed(answer));
    const speakers = (isSpare ? byMiddle(asked.params, heard) : heard.filter(({ member }) => member === lead)).filter(
      ({ member }) => speaking.includes(member),
    );
    const weighed: Array<Weighed> = [];
    let chosen: Weighed | undefined;
    for (const { member } of speakers) {
      if (chosen?.agreeing.includes(member) === true) continue;
      const one: Weighed = yield* weigh(asked, member, answerOf);
      weighed.push(one);
      const before = chosen?.agreeing;
      // why: as many say something else, and nobody can tell who of them are honest
      if (one.isConfirmed && chosen !== undefined && !one.agreeing.some((other) => before?.includes(other) === true))
        return { ...chosen, isConfirmed: false };
      if (one.isConfirmed) chosen ??= one;
      if (chosen !== undefined && most < agree) break;
    }
    return chosen ?? weighed[0] ?? null;
  });

  return Effect.fnUntraced(function* (asked: Asked, answers: Answers) {
    const { method, params, state, run } = asked;
    const votes = votesOf(members, answers);
    const first: Weighed | null = inOneWord(asked, votes) ?? (yield* choose(asked, votes, answers));
    // why: where two say otherwise, one that is behind tells who is believed
    const isOpen = isSpare && first?.isConfirmed === false && state === "pending";
    const second = isOpen ? yield* choose(asked, votes, yield* onTheirOwn(asked, answers)) : null;
    // why: what one says of a block of its own is no testimony against anybody
    const chosen = second === null || second.isConfirmed ? (second ?? first) : { ...second, told: first?.told ?? [] };
    const refused = votes.filter(({ answer }) => isFailed(answer));
    const isRefused = chosen?.isConfirmed !== true && providersOf(refused) >= agree;
    if (chosen === null || isRefused)
      return yield* Effect.fromResult(
        byMiddle(params, isRefused ? refused : [])[0]?.answer ?? answers.get(lead) ?? unasked(method),
      );
    const { answer, isConfirmed } = chosen;
    const told = isConfirmed ? [] : chosen.told;
    // why: nothing of it changes what is told of the transaction, and who runs the endpoints wants to know
    for (const { provider } of isConfirmed ? chosen.against : [])
      yield* Metric.update(
        Metric.withAttributes(outvoted, { "preflight.provider": provider, "rpc.method": method }),
        1,
      );
    if (run.sighted != null) {
      const { testimonies } = run.sighted;
      if (isConfirmed && state === "sealed" && method === "eth_simulateV1")
        testimonies.push({ kind: "confirmed", isSealed: true, method, run: run.run ?? null, lines: [] });
      testimonies.push(...told);
      if (method === "eth_getBlockByNumber" && tagOf(method, params) === "latest") {
        // why: an endpoint that is ahead shows how old a head is; what only those tell who may lie shows nothing
        const newest = reachedBy(
          claimsOf(votes, (one) => (Result.isSuccess(one) ? numberIn(one.success) : null)),
          most,
        );
        if (newest !== null && newest > (run.sighted.block ?? -1n)) run.sighted.block = newest;
      }
      return yield* Effect.fromResult(answer);
    }
    if (isConfirmed) return yield* Effect.fromResult(answer);
    // why: of what is pending each has its own, and nobody can be held to another's; who tells of fewer does not know, or hides
    if (state === "pending") {
      const highest = method === "eth_getTransactionCount" ? reachedBy(claimsOf(votes, quantityOf), most) : null;
      const told = highest === null ? null : votes.find((vote) => quantityOf(vote.answer) === highest);
      return yield* Effect.fromResult(told?.answer ?? answer);
    }
    const against = told.find(({ kind }) => kind === "disagreed");
    if (against !== undefined) return yield* new WitnessesDisagree({ method, differences: against.lines });
    const detail = told.flatMap(({ lines }) => lines).join("; ");
    return yield* new RpcError({ method, reason: new UpstreamUnavailable({ detail }) });
  });
};
