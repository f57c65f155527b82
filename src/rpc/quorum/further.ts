/** The further round of a quorum, the runs `pinned`: the same once more, about a block that both endpoints have. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { isRecord } from "../../primitives/index.js";
import type { RunContext } from "../index.js";
import { isDoubtOnly } from "./normal.js";
import { entriesIn } from "./simulated.js";
import {
  agreed,
  canFollow,
  choseOtherwise,
  compareAdvice,
  compareAnswers,
  compareBlocks,
  hashIn,
  inBlocksOf,
  movedTo,
  numberIn,
  onBlock,
  tagOf,
  unconfirmed,
  type MemberAnswer,
  type Compared,
  type State,
} from "./verdict.js";

/** One question of a run. */
export interface Question {
  readonly method: string;
  readonly params: ReadonlyArray<unknown>;
  readonly run: RunContext;
}

/** A question that others are asked too. */
export interface SharedQuestion extends Question {
  readonly state: State;
}

/** How one endpoint is asked. */
export type Ask = (question: Question) => Effect.Effect<MemberAnswer>;

/** Two endpoints: the one whose answer is handed on, and another. */
interface Endpoints {
  readonly ask: Ask;
  readonly askOther: Ask;
}

/** More blocks behind than this, and an endpoint confirms nothing. */
const mostBehind = 8n;

/** True if a head is no head any more, by what another endpoint has. */
const isOld = (mine: bigint | null, theirs: bigint | null): boolean =>
  mine !== null && theirs !== null && theirs - mine > mostBehind;

const old = unconfirmed("has much later blocks");

/** Reasons with which nodes say that they have no such block. */
const lacking = new Set(["BlockNotFound", "StateUnavailable", "InvalidParams", "SimBlockOrder"]);

const lacksBlock = (answer: MemberAnswer): boolean =>
  Result.isFailure(answer) && answer.failure._tag === "RpcError" && lacking.has(answer.failure.reason._tag);

/** The block that a simulation with a number of its own stands on. */
const baseOf = (params: ReadonlyArray<unknown>): bigint | null => {
  const [first] = entriesIn(params);
  const number = isRecord(first) ? numberIn(first["blockOverrides"]) : null;
  return number === null ? null : number - 1n;
};

const inFurther = (run: RunContext, by: number): RunContext => {
  const round = run.round + by;
  if (run.rounds !== undefined) run.rounds.last = Math.max(run.rounds.last, round);
  return { ...run, run: "pinned", round, because: "quorumPinned" };
};

/** The other is behind: both run on its head, and the first must have said on its own what it says there. */
const onTheirs = Effect.fnUntraced(function* (
  question: SharedQuestion,
  first: MemberAnswer,
  { ask, askOther }: Endpoints,
) {
  const { method, params, run } = question;
  const latest = { method: "eth_getBlockByNumber", params: ["latest", false] };
  const head = yield* askOther({ ...latest, run: { ...inFurther(run, 1), run: null } });
  const [block, base] = [Result.getOrNull(head), baseOf(params)];
  const [number, hash] = [numberIn(block), hashIn(block, "hash")];
  if (number === null || hash === null || base === null)
    return unconfirmed("does not have this block, and names no other");
  // why: a round is counted when it is begun
  const again = () => inFurther(run, 2);
  if (number >= base) return compareAnswers(question, first, yield* askOther({ method, params, run: again() }));
  const behind = base - number;
  if (behind > mostBehind) return unconfirmed(`is ${behind} blocks behind`);
  // why: the block after an earlier one has another base fee, and with it other costs
  const numbered = (Result.isSuccess(first) ? inBlocksOf(params, first.success) : null) ?? params;
  const earlier = { ...question, params: movedTo(numbered, hash, behind), run: again() };
  const [mine, theirs] = yield* Effect.all([ask(earlier), askOther(earlier)], { concurrency: 2 });
  if (lacksBlock(mine)) return unconfirmed("is on another branch");
  const there = compareAnswers(earlier, mine, theirs);
  if (there.kind !== "agreed") return there;
  const here = compareAnswers(question, first, mine, true);
  return here.kind === "agreed" ? here : unconfirmed(`is ${behind} blocks behind, where the outcome is another`);
});

/** One block, and each node chose values of its own for the next: the other runs in those of the first. */
const inTheirBlock = Effect.fnUntraced(function* (
  question: SharedQuestion,
  first: MemberAnswer,
  other: MemberAnswer,
  finding: Compared,
  { askOther }: Endpoints,
) {
  // why: in the same blocks there is one right answer, and no second chance
  if (Result.isFailure(first) || Result.isFailure(other) || !choseOtherwise(first.success, other.success))
    return finding;
  const params = inBlocksOf(question.params, first.success);
  if (params === null || JSON.stringify(params) === JSON.stringify(question.params)) return finding;
  const { method, run } = question;
  return compareAnswers(question, first, yield* askOther({ method, params, run: inFurther(run, 1) }));
});

/** Both have heads of their own: the other runs on the block that the first stood on. */
const onOurs = Effect.fnUntraced(function* (question: SharedQuestion, first: MemberAnswer, { askOther }: Endpoints) {
  const { method, params, run } = question;
  const blocks = Result.isSuccess(first) && Array.isArray(first.success) ? first.success : [];
  const parent = hashIn(blocks[0], "parentHash");
  if (parent === null) return unconfirmed("differs, and its base block is not named");
  const [simulation] = inBlocksOf(params, blocks) ?? params;
  const answer = yield* askOther({ method, params: [simulation, { blockHash: parent }], run: inFurther(run, 1) });
  const finding = compareAnswers(question, first, answer);
  // why: on one block there is one right answer
  return finding.kind === "unconfirmed" && !isDoubtOnly([finding.path, ...finding.values]) && Result.isSuccess(answer)
    ? { ...finding, kind: "disagreed" as const }
    : finding;
});

/** Heads of different numbers: of the lower one both must say the same, and of the higher one as far as both can have it. */
const headsApart = Effect.fnUntraced(function* (
  { method, params, run }: SharedQuestion,
  first: MemberAnswer,
  other: MemberAnswer,
  [mine, theirs]: readonly [bigint, bigint],
  { ask, askOther }: Endpoints,
) {
  const [tag, isFull = false] = params;
  const further = () => inFurther(run, 1);
  const numbered = (number: bigint) => ({ method, params: [`0x${number.toString(16)}`, isFull], run: further() });
  if (tag === "latest" && isOld(mine, theirs)) return old;
  if (theirs > mine) return compareBlocks(first, yield* askOther(numbered(mine)));
  const behind = mine - theirs;
  const far = unconfirmed(`is ${behind} blocks behind`);
  const hash = hashIn(Result.getOrNull(first), "hash");
  if (tag !== "latest" || hash === null) return far;
  const byHash = { method: "eth_getBlockByHash", params: [hash, isFull], run: further() };
  const [caught, earlier] = yield* Effect.all([askOther(byHash), ask(numbered(theirs))], { concurrency: 2 });
  const before = compareBlocks(earlier, other);
  if (before.kind !== "agreed") return before;
  if (Result.getOrNull(caught) !== null) return compareBlocks(first, caught);
  if (behind > mostBehind) return far;
  return canFollow(other, first, behind)
    ? agreed
    : unconfirmed(`is ${behind} blocks behind, which explains no such head`);
});

/** Compares what a head holds: both say it of the head of the first, by its hash. */
const onHead = Effect.fnUntraced(function* (
  question: SharedQuestion,
  first: MemberAnswer,
  other: MemberAnswer,
  { ask, askOther }: Endpoints,
  tag: string,
) {
  const { method, params, run } = question;
  const heading = { method: "eth_getBlockByNumber", params: [tag, false], run: inFurther(run, 1) };
  const heads = yield* Effect.all([ask(heading), askOther(heading)], { concurrency: 2 });
  const [hash, theirHash] = heads.map((head) => hashIn(Result.getOrNull(head), "hash"));
  if (hash == null) return unconfirmed("differs, and the head is not named");
  if (tag === "latest" && isOld(numberIn(Result.getOrNull(heads[0])), numberIn(Result.getOrNull(heads[1])))) return old;
  const there = { ...question, params: onBlock(method, params, hash), state: "sealed" as const };
  const again = { ...there, run: inFurther(run, 2) };
  const [mine, theirs] = yield* Effect.all([ask(again), askOther(again)], { concurrency: 2 });
  const finding = compareAnswers(there, mine, theirs);
  if (finding.kind !== "agreed") return finding;
  // why: who says of its head what it does not say of that block has moved on, or lies about one of them
  const own = compareAnswers(question, first, mine);
  return own.kind === "agreed" && hash === theirHash ? compareAnswers(question, first, other) : own;
});

/** Two answers that are blocks. */
const compareHeads = (question: SharedQuestion, first: MemberAnswer, other: MemberAnswer, pair: Endpoints) => {
  const [mine, theirs] = [numberIn(Result.getOrNull(first)), numberIn(Result.getOrNull(other))];
  const isHead = question.state === "latest" && tagOf(question.method, question.params) !== null;
  return !isHead || mine === null || theirs === null || mine === theirs
    ? Effect.succeed(compareBlocks(first, other))
    : headsApart(question, first, other, [mine, theirs], pair);
};

/** Two simulations that differ. */
const compareRuns = (
  question: SharedQuestion,
  first: MemberAnswer,
  other: MemberAnswer,
  finding: Compared,
  pair: Endpoints,
): Effect.Effect<Compared> => {
  if (lacksBlock(other)) return onTheirs(question, first, pair);
  if (question.state === "sealed") return inTheirBlock(question, first, other, finding, pair);
  return question.state === "latest" && Result.isSuccess(other)
    ? onOurs(question, first, pair)
    : Effect.succeed(finding);
};

/** Compares another endpoint with the one that is handed on, and asks once more where heads may explain it. */
export const compareFurther = (question: SharedQuestion, first: MemberAnswer, other: MemberAnswer, pair: Endpoints) => {
  const { method, params, state } = question;
  if (state === "advice") return Effect.succeed(compareAdvice(first, other));
  if (method === "eth_getBlockByNumber") return compareHeads(question, first, other, pair);
  const finding = compareAnswers(question, first, other);
  if (finding.kind === "agreed") return Effect.succeed(finding);
  if (method === "eth_simulateV1") return compareRuns(question, first, other, finding, pair);
  const tag = state === "latest" ? tagOf(method, params) : null;
  return tag !== null && Result.isSuccess(first) && Result.isSuccess(other)
    ? onHead(question, first, other, pair, tag)
    : Effect.succeed(finding);
};
