/** One attempt of a proof: the exact requests in all its runs, and what they did beside each other. */
import * as Effect from "effect/Effect";
import { turn } from "../primitives/effects.js";
import { knownTokensOf } from "../chains/table.js";
import { chainsInUse } from "../eth/chains.js";
import type { AskRule } from "../primitives/names.js";
import type { Outcome } from "../report/parts.js";
import { abisOf } from "../report/options.js";
import { runsCode } from "../report/waits.js";
import { sightBlock } from "../eth/round.js";
import { CurrentRun, type Rpc } from "../rpc/index.js";
import { successOf, type AskResult } from "../steps/reading/askResult.js";
import { blockReads } from "../steps/reading/blockReads.js";
import type { Run } from "../steps/simulate.js";
import { isCarrier } from "../steps/reading/bundle.js";
import { readNames } from "./accessLists.js";
import { answersOf, figuresOf } from "./answers.js";
import { askProof } from "./askProof.js";
import { smallerLimits } from "./checkProof.js";
import { keep } from "./choose.js";
import { reachedBefore } from "./endpoint/forkUse.js";
import { isTracing } from "./extras/stateTraces.js";
import { isInDoubt, undoubted, type Gas } from "./gas/doubt.js";
import { rare } from "./later.js";
import { isHidden, minedBehind, lacks } from "./proofGround.js";
import { answersIn, type Bracket, type Doubt, type KeptState, type Proof, type ProofState } from "./proofState.js";
import type { Unplaced, Claim } from "./proofPlans.js";
import { leastReach, reachOf } from "./worlds/bracket.js";
import { CurrentSignings } from "./signings.js";
import { comparedIn, gridOn, worldsOf } from "./worlds/contexts.js";
import { effectsReader } from "./worlds/contrast.js";

/** Returns what the cases do with ample gas; null = nothing says so. */
const ampleIn = ({ bundle }: Claim, ample: AskResult<Run> | undefined): ReadonlyArray<Outcome> | null =>
  ample === undefined
    ? bundle.map(({ said }) => said.outcome)
    : (successOf(ample)?.readings.map(({ outcome }) => outcome) ?? null);

/** How far out the exact requests are simulated, and in how many blocks between. */
const bracketOf = ({ report, chain }: Unplaced, bracket: Bracket, reads: Claim["reads"]) => {
  const maxAge = BigInt(Math.ceil(report.options.maxAgeMs / 1000));
  const usual = report.transactions.some(runsCode) ? reachOf(gridOn(report, chain), maxAge) : leastReach;
  const further = reads.length === 0 ? 0 : report.options.worlds;
  return bracket.kind === "whole" ? { reach: usual, draw: null, further } : { ...bracket, further };
};

/** The limits of an attempt, as far as they are known, and the doubts about them. */
const gasIn = (claim: Claim, proof: Proof): { readonly gas: Gas; readonly doubts: ReadonlyArray<Doubt> } => {
  const { settled, report } = claim;
  // why: the gas of calls that nobody sends is our own choice
  if (report.signings.length > 0 && report.transactions.every(isCarrier)) return { gas: undoubted, doubts: [] };
  const isDoubted = () => isInDoubt(figuresOf(proof), proof.runs.get("next"), ampleIn(claim, proof.runs.get("ample")));
  const isUnsure = settled?.larger !== null && isDoubted();
  // why: the state may have moved since smaller limits were tried
  if (settled !== null) return { gas: isUnsure ? { ...undoubted, limits: settled.larger } : settled, doubts: [] };
  const limits = isUnsure ? null : smallerLimits({ claim, proof });
  const burnt = limits === null ? [] : [{ kind: "gasBurnt", limits } as const];
  return { gas: undoubted, doubts: isUnsure ? [{ kind: "gasInDoubt" }] : burnt };
};

/** Judges a proof's requests by its answers, each run read in a stretch of the event loop of its own. */
export const attemptOf = Effect.fnUntraced(function* (
  known: KeptState,
  claim: Claim,
  proof: Proof,
  because: AskRule,
): Effect.fn.Return<ProofState, never, Rpc> {
  const { report, bundle: signed, measure } = claim;
  const chains = yield* chainsInUse;
  yield* turn;
  const [run, next, ample] = [figuresOf(proof), proof.runs.get("next"), proof.runs.get("ample")];
  const answers = answersOf(proof, chains, report.options, report.chainId);
  yield* turn;
  const kept = keep(signed, answers);
  const isTraced = proof.traces?.some(({ trace }) => trace !== null) === true;
  const bundle = isTraced ? (yield* rare).withTraces(kept, proof.traces ?? [], abisOf(report.options)) : kept;
  yield* turn;
  const { sighted } = yield* Effect.service(CurrentRun);
  const isPlaced = report.options.blockOverrides?.number !== undefined;
  const mined = isPlaced ? null : minedBehind(claim.worlds.rows, proof.runs);
  if (mined !== null) sightBlock(sighted, mined, true);
  const effectsIn = effectsReader(bundle, measure);
  const runs = [run, next, ample, ...answersIn(proof, comparedIn(claim.worlds))].flatMap(
    (answer) => successOf(answer) ?? [],
  );
  for (const each of runs) {
    effectsIn(each);
    yield* turn;
  }
  const { gas, doubts: gasDoubts } = gasIn(claim, proof);
  return {
    ...known,
    ...{ claim, proof, because, answers, bundle, effectsIn },
    open: [
      ...(isHidden(kept, report) ? [{ kind: "hiddenCall" } as const] : []),
      ...gasDoubts,
      ...(answers.rules.agrees ? [] : [{ kind: "forkUsed" } as const]),
    ],
    ...{ gas, isForkUsed: true, sealed: sighted?.sealed ?? -1n },
  };
});

/** The exact requests, in all the runs of a proof, by this rule. */
export const attempt = Effect.fnUntraced(function* (
  about: Unplaced,
  state: KeptState,
  because: AskRule,
): Effect.fn.Return<ProofState, never, Rpc> {
  const { report, bundle: signed, chain, scanned } = about;
  const { head, memory, bracket } = state;
  const known = knownTokensOf(report.chainId);
  const reads = report.transactions.some(runsCode) ? blockReads(signed, scanned?.codes ?? new Map(), known) : [];
  const worlds = yield* worldsOf({
    ...{ report, signed, chain, head: successOf(head) },
    ...bracketOf(about, bracket, reads),
    isBlobFeeRead: reads.includes("blobbasefee"),
    lastUse: report.signings.length === 0 ? null : ((yield* Effect.service(CurrentSignings))?.lastUse ?? null),
    ...{ isOwn: scanned !== null, nextFork: memory.recall("forks")?.next ?? null },
    ...{ takesHashes: !lacks(memory, "hash"), takesEntries: !lacks(memory, "entries") },
  });
  const header = successOf(head) === null ? null : head;
  const named = isTracing(memory) ? [] : readNames(report.observed.named);
  const claim: Claim = { ...about, worlds, reads, header, named, reachedBefore: reachedBefore(memory, about) };
  return yield* attemptOf(state, claim, yield* askProof(claim, because), because);
});
