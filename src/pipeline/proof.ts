/** A proof's rounds: all its runs at once, and the rules by which more is asked, on ground that holds in the end. */
import * as Arr from "effect/Array";
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import * as Nonce from "../steps/nonce.js";
import * as Fee from "../steps/fee.js";
import type { AskRule, WorldName } from "../primitives/names.js";
import { fromError, type Finding } from "../report/finding.js";
import type { Observed } from "../report/schema.js";
import { Rpc } from "../rpc/index.js";
import { learnLack } from "../rpc/memory.js";
import { failureOf, successOf, type AskResult } from "../steps/reading/askResult.js";
import type { Run } from "../steps/simulate.js";
import { attempt, attemptOf } from "./attempt.js";
import { sent, together, when, youngHead } from "../eth/round.js";
import { askRuns, timesOf } from "./askProof.js";
import type { Limits } from "./choose.js";
import {
  doubtsOf,
  isBehind,
  isConfirmable,
  isEarlier,
  isGoneIn,
  isLater,
  isPartedFromScan,
  isSealable,
  noRetriesLeft,
  newestShown,
  sealedCounts,
} from "./proofGround.js";
import { isOutOfGas } from "./gas/doubt.js";
import { askForkUse } from "./endpoint/forkUse.js";
import { rare } from "./later.js";
import { inRound, lastRound, rounds, roundSpared, rule, type Rule } from "./rounds.js";
import type { Claim, Unplaced } from "./proofPlans.js";
import {
  firstState,
  isOnHead,
  isTrueToState,
  type Doubt,
  type DoubtOf,
  type KeptState,
  type ProofState,
} from "./proofState.js";
import { figuresOf, withAnswers, type RunAnswers } from "./answers.js";
import { incomparable } from "./worlds/compare.js";
import { gasRows, tagOf, type World } from "./worlds/contexts.js";
import { comparisonOf } from "./worlds/contrast.js";

/** The same, on another state than the report says of itself. */
const standingOn = <A extends Pick<Unplaced, "report">>(about: A, blockTag: Observed["blockTag"]): A => ({
  ...about,
  report: { ...about.report, observed: { ...about.report.observed, blockTag } },
});

/** The exact requests once more, with what is known by then; those who answered before are not forgotten. */
const anew = (state: ProofState, about: Unplaced, because: AskRule, changed: Partial<KeptState>) => {
  const ran = [...state.ran, ...[...state.proof.runs.values()].map(successOf)];
  return attempt(about, { ...state, ...changed, ran, shown: [] }, because);
};

/** Everything once more; where the ground moved, on a header that was read after the move. */
const again = (state: ProofState, because: AskRule): Effect.Effect<ProofState, never, Rpc> =>
  Effect.gen(function* () {
    const { head, claim, proof } = state;
    const isMoved = because === "headMoved";
    const isSealed = isMoved && noRetriesLeft(state);
    const shown = newestShown(state);
    // why: one that was read in the round of the runs may be older than the move
    const newest =
      !isMoved || isLater(state, shown)
        ? shown
        : yield* inRound(because, sent(isBehind(state) ? Fee.askLatestHeader : Fee.askHeader));
    // why: a node that shows an earlier block than another did is behind it
    const header = claim.chain.paceKnown && head !== null && newest !== null ? Fee.laterOf(head, newest) : newest;
    const askedAt = isMoved ? yield* Clock.currentTimeMillis : claim.askedAt;
    // why: an endpoint that stays behind what others show is asked once more, and not until it follows
    const isStill = isMoved && successOf(header)?.hash === successOf(head)?.hash && isBehind(state);
    const { balanceOf } = state.answers;
    const about = { ...(isSealed ? standingOn(claim, "latest") : claim), balanceOf, askedAt };
    return yield* anew(state, about, because, {
      head: successOf(header) === null ? head : header,
      pending: isSealed ? [state] : state.pending,
      counts: sealedCounts(proof),
      moves: isSealed ? 0 : state.moves + (isStill ? Number.POSITIVE_INFINITY : isMoved ? 1 : 0),
    });
  });

/** More known, and a doubt settled by it. */
const withSettled = (state: ProofState, kind: Doubt["kind"], more: Partial<ProofState>): ProofState => ({
  ...state,
  ...more,
  open: state.open.filter((doubt) => doubt.kind !== kind),
});

/** The answers of a proof, with those of further worlds. */
const withRuns = ({ proof }: ProofState, runs: RunAnswers): Pick<ProofState, "proof"> => ({
  proof: { ...proof, runs: withAnswers(proof.runs, runs) },
});

/** The worlds that are asked for a reason. */
const rowsOf = ({ worlds: { rows } }: Claim, reason: World["why"]) => rows.filter(({ why }) => why === reason);

/** Asks at other limits, by block: that of `exact`, and the next, too, where the run there used its gas up. */
const askLimits = ({ claim, proof }: ProofState, asked: Map<WorldName, AskResult<Run>>) => {
  const [exact, next] = claim.worlds.rows;
  const worlds = Arr.make(exact, ...(isOutOfGas(successOf(proof.runs.get("next"))) ? [next] : []));
  return (limits: ReadonlyArray<Limits>) => {
    const rows = Arr.map(worlds, (world, place) => gasRows(world, limits, asked.size + place * limits.length));
    return Effect.map(inRound("doubtfulLimit", sent(askRuns(claim, rows.flat()))), (runs) => {
      for (const [key, result] of runs) asked.set(key, result);
      return Arr.map(rows, (row) => row.flatMap(({ key }) => runs.get(key) ?? []));
    });
  };
};

/** More attempts than there can be: what is asked for each of them is asked once for each. */
const mostAttempts = 32;
const forEach = (): number => mostAttempts;
const once = (): number => 1;

/** How often runs are asked again between which balances moved, though the head did not. */
const mostMoved = 3;

/** A rule that settles one kind of doubt. */
const settles = <K extends Doubt["kind"]>(
  kind: K,
  {
    ask,
    applies = () => true,
    most = forEach,
    because,
  }: Pick<Rule<ProofState>, "because" | "most"> & {
    readonly ask: (state: ProofState, doubt: DoubtOf<K>) => Effect.Effect<ProofState, never, Rpc>;
    readonly applies?: (doubt: DoubtOf<K>, state: ProofState) => boolean;
  },
): Rule<ProofState, Rpc> => ({
  ...{ because, most },
  applies: (state) => doubtsOf(state, kind).some((doubt) => applies(doubt, state)),
  ask: (state) =>
    Effect.suspend(() => {
      const [doubt] = doubtsOf(state, kind);
      return doubt === undefined ? Effect.succeed(state) : ask(state, doubt);
    }),
});

/** Why a proof asks more than once, the first that applies first: a rule for each kind of doubt. */
export const proofRules: ReadonlyArray<Rule<ProofState, Rpc>> = [
  rule(
    settles("unread", {
      because: "missingAnswer",
      ask: (state) => {
        const { claim, proof, because } = state;
        return Effect.flatMap(sent(askRuns(claim, rowsOf(claim, "notMeasured"), timesOf(claim, because))), (reader) =>
          attemptOf(state, claim, { ...proof, runs: withAnswers(proof.runs, reader) }, because),
        );
      },
    }),
  ),
  settles("noPending", {
    because: "noPending",
    most: once,
    ask: (state, { refusal }) =>
      anew(state, standingOn(state.claim, "latest"), "noPending", {
        counts: new Map(),
        moves: 0,
        findings: [fromError(refusal, "info", { step: "simulate", evidence: "unavailable" })],
      }),
  }),
  settles("unsupportedPart", {
    because: "unsupportedPart",
    most: (state) => (doubtsOf(state, "unsupportedPart").some(({ parts }) => parts.length > 0) ? mostAttempts : 1),
    ask: (state, { parts }) => {
      for (const [part, refusal] of parts) learnLack(state.memory, part, refusal);
      return again(state, "unsupportedPart");
    },
  }),
  settles("headMoved", {
    because: "headMoved",
    applies: ({ noRetriesLeft: isLast }) => !isLast,
    ask: (state) => again(state, "headMoved"),
  }),
  settles("misplaced", { because: "misplaced", most: once, ask: (state) => again(state, "misplaced") }),
  settles("forkParts", { because: "forkBetween", most: once, ask: (state) => again(state, "forkBetween") }),
  settles("incomparable", {
    because: "incomparable",
    // why: whoever sends several at once moves the balances under each of them, and stops
    most: ({ claim, proof }) => (isTrueToState(claim, proof) ? 1 : mostMoved),
    ask: (state) => again(state, "incomparable"),
  }),
  settles("hiddenCall", {
    because: "hiddenCall",
    ask: (state) =>
      Effect.flatMap(rare, ({ withTracedInner }) =>
        Effect.map(withTracedInner(state.bundle, state.claim.report), (bundle) =>
          withSettled(state, "hiddenCall", { bundle }),
        ),
      ),
  }),
  settles("gasInDoubt", {
    because: "doubtfulLimit",
    ask: (state) => {
      const asked = new Map<WorldName, AskResult<Run>>();
      return Effect.flatMap(rare, ({ settleGas }) =>
        Effect.map(settleGas(state.bundle, state.answers, askLimits(state, asked)), (gas) =>
          withSettled(state, "gasInDoubt", { ...withRuns(state, asked), gas }),
        ),
      );
    },
  }),
  settles("closes", {
    because: "closing",
    most: () => 2,
    ask: (state, { bracket }) => anew(state, state.claim, "closing", { bracket }),
  }),
  rule(
    settles("worldsDiffer", {
      because: "worldsDiffer",
      ask: (state) =>
        Effect.map(sent(askRuns(state.claim, rowsOf(state.claim, "worldsDiffer"))), (runs) => ({
          ...state,
          ...withRuns(state, runs),
        })),
    }),
  ),
  settles("forkUsed", {
    because: "forkBetween",
    ask: (state) => {
      const { claim, proof, answers, bundle } = state;
      const others = comparisonOf(state)?.other?.outcomes ?? [];
      return Effect.map(askForkUse(claim, proof, answers, bundle, others), (isForkUsed) =>
        withSettled(state, "forkUsed", { isForkUsed }),
      );
    },
  }),
  settles("gasBurnt", {
    because: "doubtfulLimit",
    ask: (state, { limits }) =>
      Effect.flatMap(rare, ({ settleBurnt }) => settleBurnt(withSettled(state, "gasBurnt", {}), limits)),
  }),
  rule(
    settles("unconfirmed", {
      because: "confirmHead",
      ask: (state) =>
        sent(Fee.askHeader).pipe(
          // why: a node that shows an earlier block may be behind, or the chain went back
          Effect.flatMap((shown) => (isEarlier(state, shown) ? sent(Fee.askLatestHeader) : Effect.succeed(shown))),
          Effect.map((shown) => ({ ...state, shown: [shown] })),
        ),
    }),
  ),
  settles("headMoved", {
    because: "headMoved",
    most: once,
    // why: what did not hold still is judged, too, where the sealed block says less
    applies: ({ noRetriesLeft: isLast }, state) => isLast && isSealable(state),
    ask: (state) => again(state, "headMoved"),
  }),
];

/** That the runs never stood on one block, or that it is not known whether it is the latest. */
export const checkGround = (state: ProofState): ReadonlyArray<Finding> => {
  const { proof, head, shown } = state;
  if (doubtsOf(state, "headMoved").length > 0)
    // why: the two that are compared say it themselves, and a further one that is refused says nothing of them
    return isGoneIn([figuresOf(proof), proof.runs.get("next")])
      ? []
      : incomparable("the runs did not stand on one block, the latest");
  const isConfirmed = shown.some((one) => successOf(one) !== null && !isEarlier(state, one));
  const isUnread =
    (successOf(head) !== null && failureOf(proof.beside) !== null) || (isConfirmable(state) && !isConfirmed);
  return isUnread ? incomparable("it was not told again as the latest block") : [];
};

/**
 * The exact requests on the last head of this connection, which the round of the runs asks for again, or asked for beside the
 * scan. Where that shows another or none, or any answer that it moved, it was a trial: all is asked anew on a header that was
 * read after the move.
 */
const onLastHead = Effect.fnUntraced(function* (
  on: Unplaced,
  known: KeptState,
  because: AskRule,
): Effect.fn.Return<ProofState, never, Rpc> {
  const { ahead = null } = on.scanned ?? {};
  const trial = yield* ahead === null
    ? attempt(on, known, because)
    : Effect.provide(attempt(on, known, because), ahead.services);
  if (ahead !== null && (yield* ahead.end)) yield* roundSpared;
  const { beside } = trial.proof;
  const [last, shown] = [successOf(known.head), successOf(beside)];
  const isNamed = last?.hash != null && shown?.hash === last.hash && shown.number === last.number;
  // guard: a remembered head that is no longer the latest
  const isOnLast = isNamed && doubtsOf(trial, "headMoved").length === 0;
  // guard: what was sent beside the scan, and may be older than what that says
  const isOlder = ahead !== null && isPartedFromScan(trial);
  if (isOnLast && !isOlder) return trial;
  const head = isLater(trial, beside) ? beside : yield* inRound("headMoved", sent(Fee.askLatestHeader));
  const askedAt = yield* Clock.currentTimeMillis;
  return yield* anew(trial, { ...on, askedAt }, "headMoved", { head, counts: sealedCounts(trial.proof) });
});

/**
 * Asks a proof. JSON-RPC: as `askProof`; before it `eth_getBlockByNumber` for a report from outside, unless this connection
 * has shown its head within a block. What such a report says of the state it stands on may be anybody's, and pending state
 * hidden by it: it is proven on the state that a scan would choose, which `eth_getTransactionCount` tells where that is not
 * the same.
 */
export const proveOnStableHead = Effect.fnUntraced(function* (
  about: Omit<Unplaced, "askedAt">,
): Effect.fn.Return<ProofState, never, Rpc> {
  const { report, bundle, chain, scanned, steps, settled } = about;
  const { memory, isQuorum = false } = yield* Rpc;
  const because = settled === null ? "proof" : "doubtfulLimit";
  const first = Effect.fnUntraced(function* (
    on: Unplaced,
    head: ProofState["head"],
    why: AskRule,
    ask: typeof attempt = attempt,
  ): Effect.fn.Return<ProofState, never, Rpc> {
    const counts = new Map(scanned === null ? [] : bundle.map(({ signer, said }) => [signer, said.nonce.latest]));
    return yield* rounds(yield* ask(on, { ...firstState(memory, head), counts }, why), proofRules);
  });
  if (scanned !== null) {
    const { ahead = null, askedAt, header } = scanned;
    // why: behind a slow scan, or one of several rounds, a block may have come that nothing of its first round tells of
    const isFresh =
      ahead !== null &&
      youngHead(memory, yield* Clock.currentTimeMillis, chain.blockTimeMs) !== null &&
      (yield* lastRound) === 1;
    if (ahead !== null && !isFresh) yield* ahead.end;
    if (ahead === null || settled !== null || !isFresh) return yield* first({ ...about, askedAt }, header, because);
    return yield* first({ ...about, askedAt: Math.min(askedAt, ahead.askedAt) }, header, because, onLastHead);
  }
  const usual = report.options.block ?? chain.blockTag;
  const isOdd = tagOf(report) !== usual;
  const askedAt = yield* Clock.currentTimeMillis;
  // why: the head of several endpoints is whatever enough of them name now
  const isTried = !isOdd && isOnHead(usual) && chain.paceKnown && !isQuorum;
  const young = isTried ? youngHead(memory, askedAt, chain.blockTimeMs) : null;
  if (young !== null)
    return yield* first({ ...standingOn(about, usual), askedAt }, Result.succeed(young), because, onLastHead);
  const { header, counts } = yield* inRound(
    because,
    sent(
      together({
        header: Fee.askHeader,
        counts: when(isOdd && steps.has("nonce"), Nonce.ask(bundle), new Map<never, never>()),
      }),
    ),
  );
  const isReplaced = usual === "pending" && report.options.block === null && Nonce.replaces(bundle, { counts });
  const on = { ...standingOn(about, isReplaced ? "latest" : usual), askedAt };
  return yield* first(on, header, isReplaced ? "replacement" : because);
});
