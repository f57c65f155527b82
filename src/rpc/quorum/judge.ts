/** The first endpoint's answer beside those of the others: whether enough confirm it, and the testimonies where they do not. */
import * as Effect from "effect/Effect";
import * as Metric from "effect/Metric";
import { RpcError, UpstreamUnavailable, WitnessesDisagree, type Verdict } from "../../errors/index.js";
import type { Testimony } from "../index.js";
import { compareFurther, type Ask, type SharedQuestion } from "./further.js";
import {
  claimsOf,
  isFailed,
  isSaidByEnough,
  providersOf,
  reachedBy,
  sightHead,
  unasked,
  votesOf,
  type MemberAnswers,
  type Member,
  type Quorum,
} from "./members.js";
import { compareAnswers, quantityOf, tagOf, testimonyOf, type MemberAnswer } from "./verdict.js";

const outvotedCount = Metric.counter("evm_preflight_outvoted_total", {
  description: "answers outvoted by other endpoints, where only one is right",
  incremental: true,
});

/**
 * Enough gave the same answer word for word, so that no further request is needed. `dissent`: the answers of the others that
 * differ; empty where enough confirm. `outvoted`: members that contradict a confirmed answer to which there is one right answer.
 */
const weighAlike = (
  question: SharedQuestion,
  answer: MemberAnswer,
  { members }: Quorum,
  answers: MemberAnswers,
): {
  readonly answer: MemberAnswer;
  readonly isConfirmed: boolean;
  readonly dissent: ReadonlyArray<Testimony>;
  readonly outvoted: ReadonlyArray<Member>;
} => {
  // why: two blocks of one number may be two branches
  const isOne = question.state === "sealed" && question.method !== "eth_getBlockByNumber";
  const votes = isOne ? votesOf(members, answers) : [];
  const outvoted = votes.filter((vote) => compareAnswers(question, answer, vote.answer).kind === "disagreed");
  return { answer, isConfirmed: true, dissent: [], outvoted: outvoted.map(({ member }) => member) };
};

/** Each other answer is compared with the first endpoint's; heads that differ are asked about once more. */
const weighFurther = Effect.fnUntraced(function* (
  question: SharedQuestion,
  answer: MemberAnswer,
  { lead, members, agree }: Quorum,
  answers: MemberAnswers,
  askOf: (member: Member) => Ask,
) {
  const { method, state, run } = question;
  const others = members.filter((member) => member !== lead);
  const compared = yield* Effect.forEach(
    others,
    (member) => {
      const pair = { ask: askOf(lead), askOther: askOf(member) };
      const other = answers.get(member) ?? unasked(method);
      return Effect.map(compareFurther(question, answer, other, pair), (finding) => ({ member, finding }));
    },
    { concurrency: "unbounded" },
  );
  const agreeing = compared.filter(({ finding }) => finding.kind === "agreed").map(({ member }) => member);
  const isConfirmed = providersOf([lead, ...agreeing]) >= agree;
  const about = { method, isSealed: state === "sealed", run: run.run ?? null };
  const dissent = compared.flatMap(({ member, finding }) =>
    isConfirmed || finding.kind === "agreed" ? [] : [testimonyOf(about, finding, [lead.name, member.name])],
  );
  const against = compared.filter(({ finding }) => isConfirmed && finding.kind === "disagreed");
  return { answer, isConfirmed, dissent, outvoted: against.map(({ member }) => member) };
});

/** Notes in a run what its report tells: testimonies, and the heads that the members named. */
const noteIn = (
  { method, params, state, run }: SharedQuestion,
  weighed: ReturnType<typeof weighAlike>,
  quorum: Quorum,
  answers: MemberAnswers,
) => {
  if (run.sighted == null) return;
  const { testimonies } = run.sighted;
  if (weighed.isConfirmed && state === "sealed" && method === "eth_simulateV1")
    testimonies.push({ kind: "confirmed", isSealed: true, method, run: run.run ?? null, lines: [] });
  testimonies.push(...weighed.dissent);
  if (method === "eth_getBlockByNumber" && tagOf(method, params) === "latest")
    sightHead(run.sighted, votesOf(quorum.members, answers), weighed, quorum.most);
};

/** Outside a run: an answer that too few confirm fails, but of pending state, which each endpoint guesses. */
const unconfirmedOf = (
  { method, state }: SharedQuestion,
  { answer, dissent }: Pick<ReturnType<typeof weighAlike>, "answer" | "dissent">,
  quorum: Quorum,
  all: MemberAnswers,
) => {
  if (state === "pending") {
    const votes = votesOf(quorum.members, all);
    // why: an endpoint that counts fewer transactions does not know them, or hides them
    const highest = method === "eth_getTransactionCount" ? reachedBy(claimsOf(votes, quantityOf), quorum.most) : null;
    const highestVote = highest === null ? null : votes.find((vote) => quantityOf(vote.answer) === highest);
    return Effect.fromResult(highestVote?.answer ?? answer);
  }
  const against = dissent.find(({ kind }) => kind === "disagreed");
  if (against !== undefined) return Effect.fail(new WitnessesDisagree({ method, differences: against.lines }));
  const detail = dissent.flatMap(({ lines }) => lines).join("; ");
  return Effect.fail(new RpcError({ method, reason: new UpstreamUnavailable({ detail }) }));
};

/** The first endpoint's answer to what others are asked too: handed on in a run, where the report tells what differs. */
export const judge = Effect.fnUntraced(function* (
  question: SharedQuestion,
  answers: MemberAnswers,
  quorum: Quorum,
  askOf: (member: Member) => Ask,
): Effect.fn.Return<unknown, RpcError | Verdict> {
  const { method, run } = question;
  const answer = answers.get(quorum.lead) ?? unasked(method);
  const isAlike = isSaidByEnough(quorum, answers);
  if (isFailed(answer) && !isAlike) return yield* Effect.fromResult(answer);
  const weighed = isAlike
    ? weighAlike(question, answer, quorum, answers)
    : yield* weighFurther(question, answer, quorum, answers, askOf);
  // why: an outvoted answer changes no report, and who runs the endpoints wants to know
  for (const { provider } of weighed.outvoted)
    yield* Metric.update(
      Metric.withAttributes(outvotedCount, { "preflight.provider": provider, "rpc.method": method }),
      1,
    );
  noteIn(question, weighed, quorum, answers);
  return yield* run.sighted != null || weighed.isConfirmed
    ? Effect.fromResult(answer)
    : unconfirmedOf(question, weighed, quorum, answers);
});
