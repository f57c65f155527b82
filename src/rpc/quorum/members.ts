/**
 * The endpoints of a quorum: how each is asked, what each answered, and whether enough answered the same; of forks, the
 * earliest that enough tell of.
 */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import { RpcError, UpstreamUnavailable } from "../../errors/index.js";
import { forksIn, isRecord } from "../../primitives/index.js";
import { CurrentRun, type Rpc, type RunContext, type HeadSighting } from "../index.js";
import type { Ask } from "./further.js";
import { hashIn, numberIn, type MemberAnswer } from "./verdict.js";

/** An answer, and who runs the endpoint that gave it. */
export interface Vote {
  readonly provider: string;
  readonly answer: MemberAnswer;
}

/** Failures of an endpoint, not of the question: another may answer it. */
const passing = new Set(["Transport", "Timeout", "UpstreamUnavailable", "RateLimited", "Unauthorized", "NodeSyncing"]);

const plain = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? `${part}n` : part)) ?? "undefined";

/** The kind of an answer: a result, a verdict or a refusal by its tag; null = none, the endpoint failed. */
const kindOf = (answer: MemberAnswer): string | null => {
  if (Result.isSuccess(answer)) return "result";
  const { failure } = answer;
  if (failure._tag !== "RpcError") return failure._tag;
  return passing.has(failure.reason._tag) ? null : `RpcError ${failure.reason._tag}`;
};

/** The whole answer as one text; of refusals, which each node words in its own way, the kind alone. Null = no answer. */
const textOf = (answer: MemberAnswer): string | null => {
  const kind = kindOf(answer);
  if (kind === null || (Result.isFailure(answer) && answer.failure._tag === "RpcError")) return kind;
  return `${kind} ${plain(Result.isSuccess(answer) ? answer.success : { ...answer.failure })}`;
};

/** How many run those endpoints. */
export const providersOf = (votes: ReadonlyArray<{ readonly provider: string }>): number =>
  new Set(votes.map(({ provider }) => provider)).size;

/** The greatest number that more than `others` providers reach, so that these alone cannot have raised it; null = none. */
export const reachedBy = <N extends number | bigint>(
  claims: ReadonlyArray<readonly [provider: string, value: N]>,
  others: number,
): N | null => {
  const providers = new Set<string>();
  for (const [provider, value] of claims.toSorted(([, a], [, b]) => (a > b ? -1 : a < b ? 1 : 0))) {
    providers.add(provider);
    if (providers.size > others) return value;
  }
  return null;
};

/**
 * One answer to `eth_config` that can be read, with the earliest fork still to come (`now` in epoch ms) that more than
 * `others` providers tell of: these alone can neither hide nor invent one. A node that was not updated knows of none, so
 * that no difference is a lie. Who does not serve the method says nothing; null where no more than `others` say anything.
 */
export const earliestFork = (votes: ReadonlyArray<Vote>, now: number, others: number): MemberAnswer | null => {
  const readable = votes.flatMap((vote) => {
    const config = Result.getOrNull(vote.answer);
    const { fork, next } = forksIn(config);
    return isRecord(config) && fork !== null ? [{ ...vote, config, next }] : [];
  });
  const [first] = readable;
  if (first === undefined || providersOf(readable) <= others) return null;
  const coming = readable.flatMap(({ provider, next }) => (next === null ? [] : [[provider, next] as const]));
  const ahead = coming.filter(([, next]) => next * 1_000n > BigInt(now));
  const earliest = reachedBy(
    (ahead.length > others ? ahead : coming).map(([provider, next]) => [provider, -next] as const),
    others,
  );
  const next = readable.find(
    (candidate) => candidate.next !== null && candidate.next === (earliest === null ? null : -earliest),
  );
  return Result.succeed({ ...first.config, next: next?.config["next"] ?? null });
};

/** An endpoint that is there. */
export interface Member {
  readonly rpc: Rpc["Service"];
  readonly provider: string;
  readonly name: string;
}

/** The members, and how many of them have to agree. */
export interface Quorum {
  /** The first of them, whose answer is handed on where it can be confirmed. */
  readonly lead: Member;
  readonly members: ReadonlyArray<Member>;
  readonly agree: number;
  readonly waitMs: number;
  /** So many providers can lie, and those that must agree are left. */
  readonly most: number;
}

/** Makes a value for each member beside something that a run shares. */
const ownOf = <K extends object, V>(make: (shared: K) => V) => {
  const all = new WeakMap<K, Map<Member, V>>();
  return (shared: K): ((member: Member) => V) & { readonly known: ReadonlyMap<Member, V> } => {
    const known = all.get(shared) ?? new Map<Member, V>();
    all.set(shared, known);
    const of = (member: Member): V => {
      const own = known.get(member) ?? make(shared);
      known.set(member, own);
      return own;
    };
    return Object.assign(of, { known });
  };
};

const unavailable = (method: string, detail: string): MemberAnswer =>
  Result.fail(new RpcError({ method, reason: new UpstreamUnavailable({ detail }) }));

/** How each member is asked. */
export const asking = ({ lead, waitMs, most }: Quorum) => {
  // why: what one endpoint answers shall not take the room of another's answers, nor set its clock
  const budgets = ownOf(({ left }: NonNullable<RunContext["answers"]>) => ({ left }));
  const sights = ownOf<HeadSighting, HeadSighting>(() => ({ block: null, aheadMs: null, testimonies: [] }));

  return (member: Member): Ask =>
    ({ method, params, run }) => {
      const sight = run.sighted == null ? null : sights(run.sighted);
      const answers = run.answers == null ? null : budgets(run.answers)(member);
      const own: RunContext = { ...run, sighted: sight?.(member) ?? null, answers };
      const request = Effect.map(
        // why: a layer of the caller's that breaks is one endpoint less
        Effect.catchDefect(
          Effect.result(Effect.provideService(member.rpc.request(method, params), CurrentRun, own)),
          () => Effect.succeed(unavailable(method, "failed")),
        ),
        (answer): MemberAnswer => {
          const claims = [...(sight?.known ?? [])].flatMap(([{ provider }, { aheadMs }]) =>
            aheadMs === null ? [] : [[provider, aheadMs] as const],
          );
          if (run.sighted != null) run.sighted.aheadMs = reachedBy(claims, most);
          return answer;
        },
      );
      if (member === lead) return request;
      const late = (): MemberAnswer => unavailable(method, `no answer in ${waitMs} ms`);
      return request.pipe(Effect.timeoutOption(waitMs), Effect.map(Option.getOrElse(late)));
    };
};

/** Answers by member; none of those not waited for. */
export type MemberAnswers = ReadonlyMap<Member, MemberAnswer>;

/** The answer of a member that nobody waited for. */
export const unasked = (method: string): MemberAnswer => unavailable(method, "was not waited for");

/** True if there is no answer, or a refusal. */
export const isFailed = (answer: MemberAnswer): answer is Result.Failure<unknown, RpcError> =>
  Result.isFailure(answer) && answer.failure._tag === "RpcError";

/** Lists the members' answers, in their order; of each provider the first that answered, and its first answer. */
export const votesOf = (members: ReadonlyArray<Member>, answers: MemberAnswers) => {
  const votes = new Map<string, Vote & { readonly member: Member }>();
  for (const member of members) {
    const answer = answers.get(member);
    if (answer === undefined || kindOf(answer) === null || votes.has(member.provider)) continue;
    votes.set(member.provider, { provider: member.provider, member, answer });
  }
  return [...votes.values()];
};

/** Enough providers, the first endpoint's among them, gave the same answer word for word. */
export const isSaidByEnough = ({ lead, members, agree }: Quorum, answers: MemberAnswers): boolean => {
  const votes = votesOf(members, answers);
  const text = textOf(answers.get(lead) ?? unasked(""));
  return text !== null && providersOf(votes.filter((vote) => textOf(vote.answer) === text)) >= agree;
};

export const claimsOf = (votes: ReadonlyArray<Vote>, read: (answer: MemberAnswer) => bigint | null) =>
  votes.flatMap(({ provider, answer }) => {
    const value = read(answer);
    return value === null ? [] : [[provider, value] as const];
  });

/**
 * Records what the latest blocks of several endpoints show of a head: how old it is, by one that is ahead, for what
 * only those tell who may lie shows nothing; and that it is everybody's.
 */
export const sightHead = (
  sighted: HeadSighting,
  votes: ReadonlyArray<Vote>,
  { answer, isConfirmed }: { readonly answer: MemberAnswer; readonly isConfirmed: boolean },
  most: number,
): void => {
  const claims = claimsOf(votes, (answer) => numberIn(Result.getOrNull(answer)));
  const newest = reachedBy(claims, most);
  if (newest !== null && newest > (sighted.block ?? -1n)) sighted.block = newest;
  // why: a latest block is mined, whoever shows it
  if (newest !== null && newest > (sighted.sealed ?? -1n)) sighted.sealed = newest;
  const hash = hashIn(Result.getOrNull(answer), "hash");
  const alike = votes.filter((vote) => hashIn(Result.getOrNull(vote.answer), "hash") === hash);
  if (isConfirmed && hash !== null && providersOf(alike) > 1) sighted.isShared = true;
};
