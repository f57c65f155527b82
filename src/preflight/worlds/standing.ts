/** A proof asked on a head that holds: where it moved under the runs, both worlds are asked once more. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import type { Lookup } from "../../Chains.js";
import type * as Eth from "../../Eth.js";
import { fromError } from "../../report/finding.js";
import type { Observed } from "../../report/schema.js";
import { Rpc } from "../../Rpc.js";
import { learnLack } from "../../rpc/memory.js";
import * as Nonce from "../../steps/nonce.js";
import * as Fee from "../../steps/fee.js";
import { failureOf, successOf, type Heard } from "../../steps/reading/heard.js";
import { answersOf } from "../answers.js";
import { askProof, bareOf, isComparable, misplaced, recentHeader, type Proof } from "../askProof.js";
import { isParted, tagOf, worldsOf } from "./contexts.js";
import { inRound } from "../ledger.js";
import type { Claim } from "../proofPlans.js";
import { isForm, isNoPending } from "../endpoint/taken.js";

/** What was asked in the end, and what for. */
export interface Standing {
  readonly claim: Claim;
  readonly proof: Proof;
}

const hashOf = (header: Heard<Eth.Block> | null) => successOf(header)?.hash ?? null;

type About = Omit<Claim, "worlds" | "header">;

/** Asks a proof, on a head that was read. */
const askOn = Effect.fnUntraced(function* (
  about: About,
  head: Heard<Eth.Block> | null,
  chains: Lookup,
  round: () => number,
): Effect.fn.Return<Standing, never, Rpc> {
  const { report, bundle: signed, chain, scanned } = about;
  const { memory } = yield* Rpc;
  const askHeader = Effect.suspend(() => inRound(round(), Fee.askHeader));
  const on = (head: Heard<Eth.Block> | null, header: Heard<Eth.Block> | null) =>
    Effect.map(
      worldsOf({
        ...{ report, signed, chain, head: successOf(head), isOwn: scanned !== null },
        nextFork: memory.recall("forks")?.next ?? null,
        takesHashes: memory.recall("lacks")?.has("hash") !== true,
        takesEntries: memory.recall("lacks")?.has("entries") !== true,
      }),
      (worlds): Claim => ({ ...about, worlds, header }),
    );
  const now = yield* Clock.currentTimeMillis;
  const claim = yield* on(head, scanned === null ? head : recentHeader(scanned, chain, now));
  const proof = yield* askProof(claim, round());
  if (isNoPending(failureOf(proof.round.run))) return { claim, proof };
  const { header: latest } = proof.round.fees;
  const refusal = misplaced(proof);
  const isMoved = hashOf(latest) !== hashOf(head);
  const isSettled = isComparable(claim, proof) && (proof.bare === null || bareOf(proof) !== null);
  const { isApart, context } = claim.worlds.exact;
  const { next } = proof.round.forks;
  // why: the next fork is told in the same round, the first time
  const isSplit = isApart && context.time != null && isParted(signed.length, BigInt(context.time), next);
  if (refusal === null && !isMoved && isSettled && !isSplit) return { claim, proof };
  // why: of the two it is the second that names a hash, and the first that has a block in front
  const isOfHash = failureOf(proof.next) === refusal;
  const isOfForm = refusal?.reason._tag === "MethodNotSupported" || isForm(refusal);
  if (refusal !== null && isOfForm && (isOfHash || claim.worlds.exact.ahead !== null || claim.worlds.exact.isApart))
    learnLack(memory, isOfHash ? "hash" : "entries", refusal);
  const recent = isOfForm ? recentHeader(proof.round, chain, yield* Clock.currentTimeMillis) : null;
  const { header: again } =
    refusal === null ? proof.round.fees : recent === null ? yield* askHeader : { header: recent };
  const { balanceOf } = answersOf(proof.round, chains, report.options, report.chainId);
  const standing = { ...(yield* on(again, again)), balanceOf };
  return { claim: standing, proof: yield* askProof(standing, round()) };
});

/** The same, on another state than the report says of itself. */
const standingOn = (about: About, blockTag: Observed["blockTag"]): About => ({
  ...about,
  report: { ...about.report, observed: { ...about.report.observed, blockTag } },
});

/**
 * Asks a proof, in the round that `round` tells. JSON-RPC: as `askProof`; before it `eth_getBlockByNumber` for a report
 * from outside. What that says of the state it stands on may be anybody's, and pending state hidden by it: it is
 * proven on the state that a scan would choose, which `eth_getTransactionCount` tells where that is not the same.
 */
export const askStanding = Effect.fnUntraced(function* (
  about: About,
  chains: Lookup,
  round: () => number,
): Effect.fn.Return<Standing, never, Rpc> {
  const { report, bundle, chain, scanned } = about;
  if (scanned !== null) return yield* askOn(about, scanned.fees.header, chains, round);
  const usual = report.options.block ?? chain.blockTag;
  const isOdd = tagOf(report) !== usual;
  const { fees, counts } = yield* inRound(
    round(),
    Effect.all(
      { fees: Fee.askHeader, counts: isOdd ? Nonce.ask(bundle) : Effect.succeed(new Map<never, never>()) },
      { concurrency: "unbounded" },
    ),
  );
  const isMovable = usual === "pending" && report.options.block === null;
  const isReplaced = isMovable && Nonce.replaces(bundle, { counts });
  const standing = yield* askOn(standingOn(about, isReplaced ? "latest" : usual), fees.header, chains, round);
  const refusal = failureOf(standing.proof.round.run);
  if (!isMovable || isReplaced || !isNoPending(refusal)) return standing;
  const { claim, proof } = yield* askOn(standingOn(about, "latest"), fees.header, chains, round);
  const told = fromError(refusal, "info", { step: "simulate", evidence: "unavailable" });
  return { claim, proof: { ...proof, round: { ...proof.round, findings: [...proof.round.findings, told] } } };
});
