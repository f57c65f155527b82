/** The ground that a proof stands on: whether its runs stood where they were to stand, on one state, and were all answered. Pure. */
import * as BigInts from "effect/BigInt";
import { memoize } from "effect/Function";
import type { RpcError } from "../errors/rpc.js";
import type * as Eth from "../eth/index.js";
import type { Hash } from "../primitives/hex.js";
import type { World } from "./worlds/contexts.js";
import type { Memory } from "../rpc/index.js";
import type { Bundle, Filled } from "../steps/reading/bundle.js";
import { failureOf, successOf, type Failure, type AskResult } from "../steps/reading/askResult.js";
import { fatesOf } from "../steps/reading/overrides.js";
import { within } from "../steps/reading/sameOutcome.js";
import type { Run } from "../steps/simulate.js";
import type { Query } from "../witness/queries.js";
import type { View } from "../witness/view.js";
import { laterOf } from "../steps/fee.js";
import {
  ampleOf,
  isComparable,
  isOnHead,
  type Doubt,
  type DoubtOf,
  type Proof,
  type ProofState,
} from "./proofState.js";
import { figuresOf } from "./answers.js";
import { isForm, isGone, isNoPending } from "./endpoint/simulate.js";
import { inFlightOf } from "./proofPlans.js";
import { gapOf, isParted as isSplit } from "./worlds/bracket.js";
import { nearerIn, pendingOf } from "./worlds/contexts.js";
import { comparisonOf } from "./worlds/contrast.js";
import { isFast } from "../report/freshness.js";
import type { Report } from "../report/schema.js";

const isNamed = (hash: Hash): boolean => BigInt(hash) !== 0n;

/**
 * The block that a run stands on: by what the witness reads, and by the answer where a block is in front, or NUMBER is
 * another chain's. The hash is zero where nobody names it.
 */
const baseOf = ({ ahead, block, before: { environment } }: Run): { readonly number: bigint; readonly hash: Hash } => {
  const first = ahead ?? block;
  const isRead =
    ahead === null &&
    environment !== null &&
    environment.number === block.number &&
    // why: a node that has not got a block names no hash of it to contracts
    isNamed(environment.parentHash);
  return { number: first.number - 1n, hash: isRead ? environment.parentHash : first.parentHash };
};

/** True if the node gave the block a number of its own in place of the one that was asked for. */
const hasOwnNumber = (run: Run): boolean => fatesOf(run).get("number") === "ignored";

/**
 * True if a run was to stand on `head`, by its hash or as the latest, and stood on another: a gateway may ignore the
 * pin. Pending state is never older than the head.
 */
const isElsewhere = (run: Run, { head, isPlaced, isPreconfirmed, isUnnumbered = false }: Ground): boolean => {
  const { block, without } = run.plan;
  const isPending = block === "pending";
  const isHeld = isPending || block === "latest" || (typeof block === "object" && "blockHash" in block);
  if (head === null || !isHeld) return false;
  // why: a number of the node's own tells nothing of the base, and then nothing is ready
  if (isUnnumbered && !isPending && hasOwnNumber(run)) return false;
  const { number, hash } = baseOf(run);
  // why: behind blocks that the caller pretends it cannot be seen, nor where no number may be asked for, which clears nothing
  if (isPending ? number < head.number : number !== head.number)
    return !isPlaced && without?.has("blockOverrides") !== true;
  // why: what is ordered before us may have been the beginning of the very block that is the head now
  if (isPending && (number > head.number || isPreconfirmed)) return false;
  return head.hash !== null && isNamed(hash) && hash.toLowerCase() !== head.hash.toLowerCase();
};

/** True if two views agree in an answer; what only one of them has says nothing. */
const agreesIn = (query: Query, a: View, b: View, tolerance: number): boolean => {
  if (query.kind === "account") {
    const [account, other] = [a.account(query.address), b.account(query.address)];
    if (account === null || other === null) return true;
    return account.balance === other.balance && account.codeHash === other.codeHash;
  }
  if (query.kind === "environment") return true;
  const [call, other] = [a.call(query), b.call(query)];
  if (call === null || other === null || (call.success === other.success && call.data === other.data)) return true;
  const isNumber = call.data.length === 66 && other.data.length === 66;
  // why: interest grows with the time, in which the runs differ
  return call.success && other.success && isNumber && within(BigInt(call.data), BigInt(other.data), tolerance);
};

/** True if two runs on a state that moves stood on the same. `isExact` = even its block is named, and stays. */
const isOnSame = (a: Run, b: Run, tolerance: number, isExact: boolean): boolean => {
  const [base, other] = [baseOf(a), baseOf(b)];
  const isOther = isExact && isNamed(base.hash) && isNamed(other.hash) && base.hash !== other.hash;
  return (
    base.number === other.number &&
    !isOther &&
    // why: balances that are pretended are held against measured ones elsewhere
    (a.plan.pretended ||
      b.plan.pretended ||
      a.plan.before.every((query) => agreesIn(query, a.before, b.before, tolerance)))
  );
};

/** The ground that runs are held against. */
export interface Ground {
  /** The block that the worlds stand on; null = not known. */
  readonly head: { readonly number: bigint; readonly hash: Hash | null } | null;
  /** True if the caller pretends the block's number. */
  readonly isPlaced: boolean;
  /** True if the pending state is ordered before us, and so nothing but it counts. */
  readonly isPreconfirmed: boolean;
  /** True if the next block has a number of the node's own. */
  readonly isUnnumbered?: boolean;
  readonly tolerance: number;
}

/** True if runs stood on more than one state, or elsewhere than they were asked to, or on what is gone. */
export const isParted = (all: ReadonlyArray<AskResult<Run> | null>, ground: Ground): boolean => {
  const { isPreconfirmed, tolerance } = ground;
  if (isGoneIn(all)) return true;
  const runs = all.flatMap((result) => successOf(result) ?? []);
  const [first, ...others] = runs.filter(({ plan: { block } }) => block === "pending");
  return (
    runs.some((run) => isElsewhere(run, ground)) ||
    others.some((run) => first !== undefined && !isOnSame(first, run, tolerance, isPreconfirmed))
  );
};

/** Attempts on a pending state whose content matters, on any other, and on a sealed block. */
const tries = { own: 3, guess: 1, sealed: 8 } as const;

export const lacks = (memory: Memory, part: "hash" | "entries"): boolean => memory.recall("lacks")?.has(part) === true;

const mostTries = ({ claim, proof }: ProofState): number => {
  if (proof.block !== "pending") return tries.sealed;
  // why: of a guess it is the sender's own that count, and of others' no more than what is seen in passing
  return pendingOf(claim.report, claim.chain) === "preconfirmed" || inFlightOf(claim) > 0 ? tries.own : tries.guess;
};

/** The answers of the two ends. */
const endsOf = (proof: Proof) => [figuresOf(proof), proof.runs.get("next")] as const;

/** The refusal of a world for how it was asked: of the two it is `next` that may name a hash, and `exact` that has a block in front. */
const refusalOf = (proof: Proof): RpcError | null => {
  const [run, next] = endsOf(proof);
  const answers = successOf(run) !== null;
  const isMisplaced = (failure: Failure | null): failure is RpcError =>
    failure?._tag === "RpcError" &&
    (isGone(failure) ||
      failure.reason._tag === "InvalidParams" ||
      (answers && failure.reason._tag === "MethodNotSupported"));
  return [failureOf(run), failureOf(next)].find(isMisplaced) ?? null;
};

/** A refusal of how a world was asked: of the method, or of a part of the request. */
const isUntaken = (failure: Failure | null): failure is RpcError =>
  failure?._tag === "RpcError" && (failure.reason._tag === "MethodNotSupported" || isForm(failure));

/** The counts on the sealed state, by signer. */
export const sealedCounts = ({ counts }: Proof): ReadonlyMap<string, number | null> =>
  new Map([...counts].map(([account, { latest }]) => [account, successOf(latest)]));

/** True if a transaction of a sender's was mined since the head was read. */
export const hasRisen = ({ claim, proof, counts }: ProofState): boolean =>
  // why: the count may have been newer than the head at once
  (failureOf(proof.runs.get("next"))?._tag === "NonceTooHigh" && inFlightOf(claim) === 0) ||
  [...sealedCounts(proof)].some(([account, now]) => {
    const before = counts.get(account) ?? null;
    return before !== null && now !== null && now > before;
  });

/**
 * True if the pending state has less of a signer's native currency than the sealed head, though nothing of theirs was
 * counted in flight: they have sent something since. Where code acts for the signer it may have paid by itself. Not
 * every node holds a simulated nonce against the account's (anvil), so that nothing else tells of it.
 */
const hasPaid = ({ claim, proof }: ProofState): boolean => {
  const [run, next] = endsOf(proof);
  const [pending, sealed] = [successOf(run), successOf(next)];
  if (pending === null || sealed === null || pending.plan.block !== "pending" || sealed.plan.block === "pending")
    return false;
  if (pending.plan.pretended || sealed.plan.pretended || inFlightOf(claim) > 0) return false;
  return claim.bundle.some(({ signer }) => {
    const [now, before] = [pending.before.account(signer), sealed.before.account(signer)];
    const { latest, pending: next } = proof.counts.get(signer) ?? { latest: null, pending: null };
    // why: what its counts tell is judged by them
    const isCounted = successOf(latest) !== successOf(next);
    return !isCounted && now !== null && before !== null && now.codeSize === 0n && now.balance < before.balance;
  });
};

/** True if the ground has moved as often as it may on one state. */
export const noRetriesLeft = (state: ProofState): boolean => state.moves + 1 >= mostTries(state);

/** True if a sealed block may stand in for a state that does not hold still. */
export const isSealable = ({ proof, claim }: ProofState): boolean =>
  proof.block === "pending" && claim.report.options.block === null;

/** The latest header of those that were shown. */
export const newestShown = ({ proof: { header }, shown }: ProofState): AskResult<Eth.Block> | null =>
  header && shown.reduce(laterOf, header);

/** True if a header is of a later block than the head that an attempt stands on, or of another one in its place. */
const isAnother = ({ head }: ProofState, shown: AskResult<Eth.Block> | null): boolean => {
  const [mine, theirs] = [successOf(head), successOf(shown)];
  if (mine === null || theirs === null) return false;
  return theirs.number > mine.number || (theirs.number === mine.number && theirs.hash !== mine.hash);
};

/** True if a header is of an earlier block than the head that an attempt stands on. */
export const isEarlier = ({ head }: ProofState, shown: AskResult<Eth.Block> | null): boolean =>
  (successOf(shown)?.number ?? Number.POSITIVE_INFINITY) < (successOf(head)?.number ?? -1n);

/** True if a header is of another block than the head, and of none that is earlier than what any answer named. */
export const isLater = (state: ProofState, shown: AskResult<Eth.Block> | null): boolean =>
  isAnother(state, shown) && (successOf(shown)?.number ?? -1n) >= state.sealed;

/**
 * True if an answer named another latest block than the head that an attempt stands on. Nodes behind one address of a
 * fast chain are never at one height, so that there the headers alone count; where a block comes while any answer
 * travels, beginning anew once is enough, unless the caller wants it confirmed.
 */
export const isBehind = (state: ProofState): boolean => {
  const { head, claim, proof, sealed, moves } = state;
  const number = successOf(head)?.number;
  if (number === undefined || !isOnHead(proof.block)) return false;
  if (isFast(claim.chain) && claim.chain.blockTimeMs < 1_000 && moves > 0 && !isConfirmable(state)) return false;
  return isAnother(state, newestShown(state)) || (!isFast(claim.chain) && sealed > number);
};

/** geth's code for a block whose number is no more than that of the one before it. */
const numberOrder = -38020;

/**
 * The latest block that must be mined, since a run on the pending state was refused: that has the number of the run's first
 * block already, or a higher one. null = none was refused so.
 */
export const minedBehind = (
  rows: ReadonlyArray<Pick<World, "key" | "block" | "ahead" | "context">>,
  runs: Proof["runs"],
): bigint | null => {
  const firsts = rows.flatMap(({ key, block, ahead: [first], context }) => {
    const failure = failureOf(runs.get(key));
    const isRefused = block === "pending" && failure?._tag === "RpcError" && failure.reason.code === numberOrder;
    const { number } = first ?? context;
    return isRefused && number != null ? [BigInt(number)] : [];
  });
  // why: a pending block stands on the one before it
  return firsts.length === 0 ? null : firsts.reduce(BigInts.max) - 1n;
};

/** True if the caller wants the latest block asked once more behind the runs. */
export const isConfirmable = ({ claim, proof }: ProofState): boolean =>
  claim.report.options.confirmHead && isOnHead(proof.block);

/** Finds what the endpoint refuses of how the worlds were asked, and is not known to. */
const partsIn = ({ claim, proof, memory }: ProofState): DoubtOf<"unsupportedPart">["parts"] => {
  const [{ ahead, apart, block }] = claim.worlds.rows;
  const [run, following] = endsOf(proof);
  const [exact, next] = [failureOf(run), failureOf(following)];
  const hash = !lacks(memory, "hash") && isUntaken(next) ? [["hash", next] as const] : [];
  const isOfEntries = (ahead.length > 0 || apart !== null) && !lacks(memory, "entries");
  const isOfHash = typeof block === "object" && hash.length > 0;
  return [...hash, ...(isOfEntries && !isOfHash && isUntaken(exact) ? [["entries", exact] as const] : [])];
};

/** True if a fork parts the blocks of a bundle; the next fork is told in the same round, the first time. */
const isTorn = ({ claim, proof }: ProofState): boolean => {
  const [{ apart, context }] = claim.worlds.rows;
  if (apart === null || context.time == null) return false;
  return isSplit(claim.bundle.length, BigInt(context.time), proof.forks.next, gapOf(apart));
};

/** The ground that the runs of an attempt are held against. */
const heldAgainst = ({ claim: { report, chain }, proof, head }: ProofState): Ground => {
  const next = successOf(proof.runs.get("next"));
  return {
    head: successOf(head),
    isPlaced: report.options.blockOverrides?.number !== undefined,
    isPreconfirmed: pendingOf(report, chain) === "preconfirmed",
    isUnnumbered: next !== null && hasOwnNumber(next),
    tolerance: report.options.tolerance,
  };
};

/** True if the scan of the same call stood on another state than the proof's own run, or elsewhere than it was asked to. */
export const isPartedFromScan = (state: ProofState): boolean => {
  const { claim, proof } = state;
  return isParted([figuresOf(proof), claim.scanned?.run ?? null], heldAgainst(state));
};

/** Why an attempt does not stand: one doubt, or none. */
const checkGround = (state: ProofState): ReadonlyArray<Doubt> => {
  const { claim, proof } = state;
  const head = successOf(state.head);
  const refused = failureOf(figuresOf(proof));
  if (refused !== null && isNoPending(refused))
    // why: a report from outside is proven on whatever state the endpoint has
    return claim.scanned === null && isSealable(state) && claim.chain.blockTag === "pending"
      ? [{ kind: "noPending", refusal: refused }]
      : [];
  const refusal = refusalOf(proof);
  if (isUntaken(refusal)) return [{ kind: "unsupportedPart", parts: partsIn(state) }];
  if (isParted([...proof.runs.values()], heldAgainst(state)) || hasRisen(state) || hasPaid(state) || isBehind(state))
    return [{ kind: "headMoved", noRetriesLeft: noRetriesLeft(state) }];
  if (refusal !== null) return [{ kind: "misplaced" }];
  if (isTorn(state)) return [{ kind: "forkParts" }];
  const isSettled =
    isComparable(claim, proof) &&
    (!proof.runs.has("ample") || ampleOf(proof) !== null) &&
    // why: a head that was not known is told beside the runs, and one that was is told again
    (proof.beside === null || (head === null) === (successOf(proof.beside) === null));
  return isSettled ? [] : [{ kind: "incomparable" }];
};

/** The bracket's rest, where transactions fail in its last block, not the next; none = they do not, or nobody can tell. */
const checkClosing = (state: ProofState): ReadonlyArray<Doubt> => {
  const { worlds, report } = state.claim;
  const { closing = null, exact } = comparisonOf(state) ?? {};
  const place = report.options.blockOverrides;
  const isPlaced = place?.number !== undefined || place?.time !== undefined;
  // why: what fails where it was seen to run in another state fails for the state
  const isKnown = state.bracket.kind === "rest" && state.bracket.isSeen;
  if (closing === null || isPlaced || worlds.reach === 0 || isKnown) return [];
  const between = nearerIn(worlds);
  const isSeen = between.length > 0;
  const reach = isSeen ? (between[closing - 1]?.steps ?? 0) : worlds.reach > 1 ? 1 : 0;
  // why: what runs in another block of that time fails for something else
  if (isSeen && reach === worlds.reach) return [];
  const failed = exact?.before.environment?.timestamp ?? null;
  return [{ kind: "closes", bracket: { kind: "rest", reach, isSeen: isSeen && reach > 0, failed, draw: worlds.draw } }];
};

/** True if the exact run lacks the witness's answers, its block is not gone, and nobody asked the witness alone. */
const isUnread = ({ proof }: ProofState): boolean => {
  const run = figuresOf(proof);
  // why: what stood on a block that is gone is asked again altogether
  return !proof.runs.has("readerOnly") && successOf(run)?.witnessed !== true && !isGone(failureOf(run));
};

/** Everything that the answers leave open. */
export const everyDoubt = memoize((state: ProofState): ReadonlyArray<Doubt> => {
  const ground = checkGround(state);
  const isUnconfirmed = isConfirmable(state) && ground.length === 0 && state.shown.length === 0;
  return [
    ...(isUnread(state) ? [{ kind: "unread" } as const] : []),
    ...ground,
    ...state.open,
    ...checkClosing(state),
    ...(comparisonOf(state)?.isOpen === true ? [{ kind: "worldsDiffer" } as const] : []),
    ...(isUnconfirmed ? [{ kind: "unconfirmed" } as const] : []),
  ];
});

/** The doubts of one kind that the answers leave open. */
export const doubtsOf = <K extends Doubt["kind"]>(state: ProofState, kind: K): ReadonlyArray<DoubtOf<K>> =>
  everyDoubt(state).filter((doubt): doubt is DoubtOf<K> => doubt.kind === kind);

export const isGoneIn = (runs: ReadonlyArray<AskResult<Run> | null | undefined>): boolean =>
  runs.some((run) => isGone(failureOf(run)));

/**
 * True if the first transaction makes calls that may fail, and nothing says whether they did or why. Later ones stand
 * on what earlier ones leave, which a call that is traced by itself does not have.
 */
export const isHidden = ([{ outcome }]: Bundle<Filled>, { options }: Pick<Report, "options">): boolean =>
  options.stateOverrides === null &&
  options.blockOverrides === null &&
  outcome.inner !== undefined &&
  (outcome.inner.unseen > 0 || outcome.inner.failed.some(({ revert, data }) => revert === null && data !== null));
