/** A proof on ground that holds: where it moved under the runs, all of them are asked again, in the end on a sealed block. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import type { Lookup } from "../../Chains.js";
import type * as Eth from "../../Eth.js";
import type { RpcError } from "../../errors/rpc.js";
import type { AskRule } from "../../primitives/names.js";
import { fromError, type Finding } from "../../report/finding.js";
import type { Observed } from "../../report/schema.js";
import { Rpc } from "../../Rpc.js";
import { learnLack } from "../../rpc/memory.js";
import * as Nonce from "../../steps/nonce.js";
import * as Fee from "../../steps/fee.js";
import { failureOf, successOf, type Failure, type Heard } from "../../steps/reading/heard.js";
import type { Run } from "../../steps/simulate.js";
import { answersOf } from "../answers.js";
import { bareOf, isComparable, type Proof } from "../askProof.js";
import { incomparable } from "./compare.js";
import { isParted as isSplit, tagOf, worldsOf } from "./contexts.js";
import { isGone, isParted, pendingOf } from "./ground.js";
import { inRound } from "../ledger.js";
import { inFlightOf, type Claim } from "../proofPlans.js";
import { isForm, isNoPending } from "../endpoint/taken.js";

/** What was asked, what for, and every run of it. */
export interface Attempt {
  readonly claim: Claim;
  readonly proof: Proof;
  readonly runs: ReadonlyArray<Heard<Run> | null>;
}

/** An attempt that stands, or the last; `pending` = one on the state that was asked for, which did not hold still, where a sealed block stands in. */
export interface Standing<A extends Attempt> {
  readonly attempt: A;
  readonly pending: A | null;
  /** What was found on the way. */
  readonly findings: ReadonlyArray<Finding>;
}

/** Why an attempt does not stand. */
type Lack = Extract<AskRule, "unsupportedPart" | "headMoved" | "misplaced" | "forkBetween" | "incomparable">;

type About = Omit<Claim, "worlds" | "header">;
type Head = Heard<Eth.Block> | null;

/** Attempts on a pending state whose content matters, on any other, on a block by its hash, and where nodes take none. */
const tries = { own: 3, guess: 1, pinned: 4, tags: 8 } as const;

const mostTries = ({ claim, proof }: Attempt, takesHashes: boolean): number => {
  if (proof.round.block !== "pending") return takesHashes ? tries.pinned : tries.tags;
  // why: of a guess it is the sender's own that count, and of others' no more than what is seen in passing
  return pendingOf(claim.report, claim.chain) === "preconfirmed" || inFlightOf(claim) > 0 ? tries.own : tries.guess;
};

/** The refusal of a world for how it was asked: of the two it is `next` that may name a hash, and `exact` that has a block in front. */
const refusalOf = ({ round: { run }, next }: Proof): RpcError | null => {
  const answers = successOf(run) !== null;
  const isMisplaced = (failure: Failure | null): failure is RpcError =>
    failure?._tag === "RpcError" &&
    (isGone(failure) ||
      failure.reason._tag === "InvalidParams" ||
      (answers && failure.reason._tag === "MethodNotSupported"));
  return [failureOf(run), failureOf(next)].find(isMisplaced) ?? null;
};

/** The counts on the sealed state, by signer. */
const sealedCounts = ({ round: { counts } }: Proof): ReadonlyMap<string, number | null> =>
  new Map([...counts].map(([account, { latest }]) => [account, successOf(latest)]));

/** Whether a transaction of a sender's was mined since the head was read. */
const hasRisen = ({ claim, proof }: Attempt, known: ReadonlyMap<string, number | null> | null): boolean =>
  // why: the count may have been newer than the head at once
  (failureOf(proof.next)?._tag === "NonceTooHigh" && inFlightOf(claim) === 0) ||
  [...sealedCounts(proof)].some(([account, now]) => {
    const before = known?.get(account) ?? null;
    return before !== null && now !== null && now > before;
  });

/**
 * Why an attempt does not stand; null = it does. `unsupportedPart`: a part of the request that the endpoint may not take.
 * `headMoved`: its runs were made on more than one state, or on none. The others are asked once more: a world got no
 * answer, or a fork parts a bundle.
 */
const lackOf = (
  attempt: Attempt,
  head: Eth.Block | null,
  known: ReadonlyMap<string, number | null> | null,
): Lack | null => {
  const { claim, proof, runs } = attempt;
  const { report, chain, worlds } = claim;
  const refusal = refusalOf(proof);
  if (refusal !== null && (refusal.reason._tag === "MethodNotSupported" || isForm(refusal))) return "unsupportedPart";
  const ground = {
    head,
    isPlaced: report.options.blockOverrides?.number !== undefined,
    isPreconfirmed: pendingOf(report, chain) === "preconfirmed",
    tolerance: report.options.tolerance,
  };
  if (isParted(runs, ground) || hasRisen(attempt, known)) return "headMoved";
  const { isApart, context } = worlds.exact;
  const { next } = proof.round.forks;
  // why: the next fork is told in the same round, the first time
  const isTorn = isApart && context.time != null && isSplit(claim.bundle.length, BigInt(context.time), next);
  const beside = successOf(proof.round.fees.header);
  if (refusal !== null) return "misplaced";
  if (isTorn) return "forkBetween";
  const isSettled =
    isComparable(claim, proof) &&
    (proof.bare === null || bareOf(proof) !== null) &&
    // why: one that was not heard of, or heard of long ago, is asked beside the runs
    (beside === null || beside.hash === head?.hash);
  return isSettled ? null : "incomparable";
};

/** Leaves out from now on what the endpoint refused; whether that is anything new. */
const learnForm = ({ claim, proof }: Attempt, { memory }: Rpc["Service"]): boolean => {
  const { ahead, isApart, block } = claim.worlds.exact;
  const formOf = (heard: Heard<Run> | null) => {
    const failure = failureOf(heard);
    return failure?._tag === "RpcError" && (failure.reason._tag === "MethodNotSupported" || isForm(failure))
      ? failure
      : null;
  };
  const [exact, next] = [formOf(proof.round.run), formOf(proof.next)];
  const isNew = (part: "hash" | "entries") => memory.recall("lacks")?.has(part) !== true;
  const [isOfHash, isPinned] = [next !== null && isNew("hash"), typeof block === "object"];
  const isOfEntries = (ahead !== null || isApart) && isNew("entries") && !(isPinned && isOfHash);
  if (next !== null && isOfHash) learnLack(memory, "hash", next);
  if (exact !== null && isOfEntries) learnLack(memory, "entries", exact);
  return isOfHash || (exact !== null && isOfEntries);
};

/** The same, on another state than the report says of itself. */
const standingOn = (about: About, blockTag: Observed["blockTag"]): About => ({
  ...about,
  report: { ...about.report, observed: { ...about.report.observed, blockTag } },
});

/** Asks until an attempt stands, each thing that may be in its way so many times. */
const askOn = Effect.fnUntraced(function* <A extends Attempt>(
  first: About,
  head: Head,
  chains: Lookup,
  because: AskRule,
  ask: (claim: Claim, because: AskRule) => Effect.Effect<A, never, Rpc>,
): Effect.fn.Return<Standing<A>, never, Rpc> {
  const rpc = yield* Rpc;
  const lacks = (part: "hash" | "entries") => rpc.memory.recall("lacks")?.has(part) === true;
  const { scanned, report } = first;
  let isStale = scanned?.isStale === true;
  const claimOn = (about: About, on: Head) =>
    Effect.map(
      worldsOf({
        ...{ report: about.report, signed: about.bundle, chain: about.chain, head: successOf(on) },
        ...{ isOwn: scanned !== null, nextFork: rpc.memory.recall("forks")?.next ?? null },
        ...{ takesHashes: !lacks("hash"), takesEntries: !lacks("entries") },
      }),
      (worlds): Claim => ({ ...about, worlds, header: isStale || successOf(on) === null ? null : on }),
    );
  let [about, on, pending]: [About, Head, A | null] = [first, head, null];
  let known: ReadonlyMap<string, number | null> | null =
    scanned === null ? null : new Map(first.bundle.map(({ signer, said }) => [signer, said.nonce.latest]));
  const times = { unsupportedPart: 0, headMoved: 0, misplaced: 0, forkBetween: 0, incomparable: 0 };
  let rule = because;
  for (;;) {
    const attempt: A = yield* ask(yield* claimOn(about, on), rule);
    const { proof } = attempt;
    const lack = isNoPending(failureOf(proof.round.run)) ? null : lackOf(attempt, successOf(on), known);
    if (lack === null) return { attempt, pending, findings: [] };
    rule = lack;
    const isLearned = lack === "unsupportedPart" && learnForm(attempt, rpc);
    const isMoved = lack === "headMoved";
    times[lack]++;
    const isSpent = isMoved && times[lack] >= mostTries(attempt, !lacks("hash"));
    const isPending = proof.round.block === "pending";
    const isSealable = isPending && report.options.block === null;
    if (!isMoved && !isLearned && times[lack] > 1) return { attempt, pending, findings: [] };
    const isGoneFrom = (runs: Attempt["runs"]) => runs.some((one) => isGone(failureOf(one)));
    if (isSpent && !isSealable) {
      // why: the two that are compared say it themselves, and a further one that is refused says nothing of them
      const findings = isGoneFrom([proof.round.run, proof.next])
        ? []
        : incomparable("the runs did not stand on one block");
      return { attempt, pending, findings };
    }
    // why: a block that is there stays good, whatever became the head
    const isOld =
      isMoved &&
      (hasRisen(attempt, known) || lacks("hash") || !isPending || isGoneFrom(isSpent ? [proof.next] : attempt.runs));
    if (isSpent) {
      [about, pending] = [standingOn(about, "latest"), attempt];
      times.headMoved = 0;
    }
    const header =
      isOld && successOf(attempt.claim.header) !== null ? yield* inRound(rule, Fee.askHeader) : proof.round.fees.header;
    const askedAt = isOld ? yield* Clock.currentTimeMillis : about.askedAt;
    known = sealedCounts(proof);
    isStale = false;
    const { balanceOf } = answersOf(proof.round, chains, report.options, report.chainId);
    [about, on] = [{ ...about, balanceOf, askedAt }, successOf(header) === null ? on : header];
  }
});

/**
 * Asks a proof. JSON-RPC: as `ask`; before it `eth_getBlockByNumber` for a report
 * from outside. What that says of the state it stands on may be anybody's, and pending state hidden by it: it is
 * proven on the state that a scan would choose, which `eth_getTransactionCount` tells where that is not the same.
 */
export const askStanding = Effect.fnUntraced(function* <A extends Attempt>(
  about: About,
  chains: Lookup,
  because: AskRule,
  ask: (claim: Claim, because: AskRule) => Effect.Effect<A, never, Rpc>,
): Effect.fn.Return<Standing<A>, never, Rpc> {
  const { report, bundle, chain, scanned } = about;
  if (scanned !== null)
    return yield* askOn({ ...about, askedAt: scanned.askedAt }, scanned.fees.header, chains, because, ask);
  const usual = report.options.block ?? chain.blockTag;
  const isOdd = tagOf(report) !== usual;
  const askedAt = yield* Clock.currentTimeMillis;
  const { header, counts } = yield* inRound(
    because,
    Effect.all(
      {
        header: Fee.askHeader,
        counts: isOdd && about.steps.has("nonce") ? Nonce.ask(bundle) : Effect.succeed(new Map<never, never>()),
      },
      { concurrency: "unbounded" },
    ),
  );
  const isMovable = usual === "pending" && report.options.block === null;
  const isReplaced = isMovable && Nonce.replaces(bundle, { counts });
  const at = (tag: Observed["blockTag"], rule: AskRule) =>
    askOn({ ...standingOn(about, tag), askedAt }, header, chains, rule, ask);
  const standing = yield* isReplaced ? at("latest", "replacement") : at(usual, because);
  const refusal = failureOf(standing.attempt.proof.round.run);
  if (!isMovable || isReplaced || !isNoPending(refusal)) return standing;
  const { findings, ...sealed } = yield* at("latest", "noPending");
  return {
    ...sealed,
    findings: [...findings, fromError(refusal, "info", { step: "simulate", evidence: "unavailable" })],
  };
});
