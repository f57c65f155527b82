/** The endpoints of a quorum: how each is asked, and what each answered. */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import { RpcError, UpstreamUnavailable } from "../../errors/rpc.js";
import { CurrentRun, type Rpc, type Run, type Sighted } from "../service.js";
import type { Ask } from "./further.js";
import { kindOf, reachedBy, type Vote } from "./middle.js";
import type { Answer } from "./verdict.js";

/** An endpoint that is there. */
export interface Member {
  readonly rpc: Rpc["Service"];
  readonly provider: string;
  readonly name: string;
}

/** The members, and how many of them have to agree. */
export interface Quorum {
  readonly lead: Member;
  readonly others: ReadonlyArray<Member>;
  readonly agree: number;
  readonly waitMs: number;
  /** Whether the others are enough where the first fails, or lies. */
  readonly isSpare: boolean;
  /** So many providers can lie, and those that must agree are left. */
  readonly most: number;
}

/** What each member has of its own beside something that a run shares. */
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

const unavailable = (method: string, detail: string): Answer =>
  Result.fail(new RpcError({ method, reason: new UpstreamUnavailable({ detail }) }));

/** How each member is asked. */
export const asking = ({ lead, waitMs, isSpare, most }: Quorum) => {
  // why: what one endpoint answers shall not take the room of another's answers, nor set its clock
  const budgets = ownOf(({ left }: NonNullable<Run["answers"]>) => ({ left }));
  const sights = ownOf<Sighted, Sighted>(() => ({ block: null, aheadMs: null, testimonies: [] }));

  return (member: Member): Ask =>
    ({ method, params, run }) => {
      const sight = run.sighted == null ? null : sights(run.sighted);
      const answers = run.answers == null ? null : budgets(run.answers)(member);
      const own: Run = { ...run, sighted: sight?.(member) ?? null, answers };
      const asked = Effect.map(
        // why: a layer of the caller's that breaks is one endpoint less
        Effect.catchDefect(
          Effect.result(Effect.provideService(member.rpc.request(method, params), CurrentRun, own)),
          () => Effect.succeed(unavailable(method, "failed")),
        ),
        (answer): Answer => {
          const claims = [...(sight?.known ?? [])].flatMap(([{ provider }, { aheadMs }]) =>
            aheadMs === null ? [] : [[provider, aheadMs] as const],
          );
          if (run.sighted != null) run.sighted.aheadMs = reachedBy(claims, most);
          return answer;
        },
      );
      if (member === lead && !isSpare) return asked;
      const late = (): Answer => unavailable(method, `no answer in ${waitMs} ms`);
      return asked.pipe(Effect.timeoutOption(waitMs), Effect.map(Option.getOrElse(late)));
    };
};

/** What the members answered; of those not waited for nothing. */
export type Answers = ReadonlyMap<Member, Answer>;

/** What a member answered. */
export interface MemberVote extends Vote {
  readonly member: Member;
}

/** Of whom nobody waited for. */
export const unasked = (method: string): Answer => unavailable(method, "was not waited for");

/** Whether there is no answer, or a refusal. */
export const isFailed = (answer: Answer): answer is Result.Failure<unknown, RpcError> =>
  Result.isFailure(answer) && answer.failure._tag === "RpcError";

/** What the members said, in their order; of each provider the first that answered, and its first answer. */
export const votesOf = (members: ReadonlyArray<Member>, answers: Answers): ReadonlyArray<MemberVote> => {
  const votes = new Map<string, MemberVote>();
  for (const member of members) {
    const answer = answers.get(member);
    if (answer === undefined || kindOf(answer) === null || votes.has(member.provider)) continue;
    votes.set(member.provider, { provider: member.provider, member, answer });
  }
  return [...votes.values()];
};
