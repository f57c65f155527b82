/** A proof's rounds: all its runs at once, and the rules by which more is asked, on ground that holds in the end. */
import * as Arr from "effect/Array";
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Nonce from "../steps/nonce.js";
import * as Fee from "../steps/fee.js";
import type { AskRule } from "../primitives/names.js";
import { fromError, type Finding } from "../report/finding.js";
import type { Observed } from "../report/schema.js";
import { Rpc } from "../rpc/index.js";
import { learnLack } from "../rpc/memory.js";
import { failureOf, successOf, type AskResult } from "../steps/reading/askResult.js";
import type { Run } from "../steps/simulate.js";
import { attempt, attemptOf } from "./attempt.js";
import { askRuns, timesOf, figuresOf, lacksWitness, joined, type Answered } from "./askProof.js";
import type { Limits } from "./choose.js";
import {
  closedIn,
  formsIn,
  isBehind,
  isConfirmable,
  isEarlier,
  isGoneIn,
  isLater,
  isSealable,
  isSpent,
  isUnconfirmed,
  isWithoutPending,
  newestShown,
  placed,
  sealedCounts,
  type Standing,
} from "./proofGround.js";
import { isOutOfGas } from "./gas/doubt.js";
import { askForkUse } from "./endpoint/forkUse.js";
import { rare } from "./later.js";
import { inRound, rounds, rule, type Rule } from "./rounds.js";
import type { About, ProofInput } from "./proofPlans.js";
import { incomparable } from "./worlds/compare.js";
import { gasRows, tagOf, type WorldName, type WorldReason } from "./worlds/contexts.js";
import { judge, type Attempt } from "./worlds/contrast.js";

/** The same, on another state than the report says of itself. */
const standingOn = <A extends Pick<About, "report">>(about: A, blockTag: Observed["blockTag"]): A => ({
  ...about,
  report: { ...about.report, observed: { ...about.report.observed, blockTag } },
});

/** The exact requests once more, with what is known by then; those who answered before are not forgotten. */
const anew = (
  standing: Standing,
  about: About,
  because: AskRule,
  changed: Partial<Standing>,
): Effect.Effect<Standing, never, Rpc> => {
  const ran = [...standing.ran, ...[...standing.proof.runs.values()].map(successOf)];
  const next = { ...standing, ...changed, ran, confirmed: null };
  return Effect.map(attempt(about, next, because), (made) => placed({ ...next, ...made }));
};

/** Everything once more; where the ground moved, on a header that was read after the move. */
const again = (standing: Standing, because: NonNullable<Standing["lack"]>): Effect.Effect<Standing, never, Rpc> =>
  Effect.gen(function* () {
    const { head, claim, proof } = standing;
    const isMoved = because === "headMoved";
    const isSealed = isMoved && isSpent(standing);
    const shown = newestShown(standing);
    // why: one that was read in the round of the runs may be older than the move
    const newest =
      !isMoved || isLater(standing, shown)
        ? shown
        : yield* inRound(because, isBehind(standing) ? Fee.askLatestHeader : Fee.askHeader);
    // why: a node that shows an earlier block than another did is behind it
    const header = claim.chain.paceKnown && head !== null && newest !== null ? Fee.laterOf(head, newest) : newest;
    const askedAt = isMoved ? yield* Clock.currentTimeMillis : claim.askedAt;
    // why: an endpoint that stays behind what others show is asked once more, and not until it follows
    const isStill = isMoved && successOf(header)?.hash === successOf(head)?.hash && isBehind(standing);
    const { balanceOf } = standing.answers;
    const about = { ...(isSealed ? standingOn(claim, "latest") : claim), balanceOf, askedAt };
    return yield* anew(standing, about, because, {
      head: successOf(header) === null ? head : header,
      pending: isSealed ? standing : standing.pending,
      counts: sealedCounts(proof),
      moves: isSealed ? 0 : standing.moves + (isStill ? Number.POSITIVE_INFINITY : isMoved ? 1 : 0),
    });
  });

/** More of the attempt known. */
const withMore = (standing: Standing, more: Partial<Attempt>): Standing => {
  const known = { ...standing, ...more };
  return "isForkUsed" in more ? known : placed({ ...known, judged: judge(known) });
};

/** The same, with the answers of further worlds. */
const withRuns = (standing: Standing, runs: Answered, more: Partial<Attempt> = {}): Standing =>
  withMore(standing, { ...more, proof: { ...standing.proof, runs: joined(standing.proof.runs, runs) } });

/** The worlds that are asked for a reason. */
const rowsOf = ({ worlds: { rows } }: ProofInput, reason: WorldReason) => rows.filter(({ why }) => why === reason);

/** Asks at other limits, by block: that of `exact`, and the next, too, where the run there used its gas up. */
const askLimits = ({ claim, proof }: Attempt, asked: Map<WorldName, AskResult<Run>>) => {
  const [exact, next] = claim.worlds.rows;
  const worlds = Arr.make(exact, ...(isOutOfGas(successOf(proof.runs.get("next"))) ? [next] : []));
  return (limits: ReadonlyArray<Limits>) => {
    const rows = Arr.map(worlds, (world, place) => gasRows(world, limits, asked.size + place * limits.length));
    return Effect.map(inRound("doubtfulLimit", askRuns(claim, rows.flat())), (runs) => {
      for (const [key, result] of runs) asked.set(key, result);
      return Arr.map(rows, (row) => row.flatMap(({ key }) => runs.get(key) ?? []));
    });
  };
};

/** More attempts than there can be: what is asked for each of them is asked once for each. */
const mostAttempts = 32;
const forEach = (): number => mostAttempts;

/** Why a proof asks more than once, the first that applies first. */
export const proofRules: ReadonlyArray<Rule<Standing, Rpc>> = [
  rule({
    because: "missingAnswer",
    most: forEach,
    applies: ({ proof }) => lacksWitness(proof),
    ask: (standing) => {
      const { claim, proof, because } = standing;
      return Effect.flatMap(askRuns(claim, rowsOf(claim, "notMeasured"), timesOf(claim, because)), (reader) =>
        Effect.map(attemptOf(claim, { ...proof, runs: joined(proof.runs, reader) }, because), (whole) =>
          placed({ ...standing, ...whole }),
        ),
      );
    },
  }),
  {
    because: "noPending",
    applies: isWithoutPending,
    ask: (standing) => {
      const { claim, proof } = standing;
      const refused = failureOf(figuresOf(proof));
      const findings =
        refused === null ? [] : [fromError(refused, "info", { step: "simulate", evidence: "unavailable" })];
      return anew(standing, standingOn(claim, "latest"), "noPending", { counts: null, moves: 0, findings });
    },
  },
  {
    because: "unsupportedPart",
    most: (standing) => (Object.values(formsIn(standing)).some((form) => form !== null) ? mostAttempts : 1),
    applies: (standing) => standing.lack === "unsupportedPart",
    ask: (standing) =>
      Effect.suspend(() => {
        const { hash, entries } = formsIn(standing);
        if (hash !== null) learnLack(standing.memory, "hash", hash);
        if (entries !== null) learnLack(standing.memory, "entries", entries);
        return again(standing, "unsupportedPart");
      }),
  },
  {
    because: "headMoved",
    most: forEach,
    applies: (standing) => standing.lack === "headMoved" && !isSpent(standing),
    ask: (standing) => again(standing, "headMoved"),
  },
  ...(["misplaced", "forkBetween", "incomparable"] as const).map((because): Rule<Standing, Rpc> => ({
    because,
    applies: (standing) => standing.lack === because,
    ask: (standing) => again(standing, because),
  })),
  {
    because: "hiddenCall",
    most: forEach,
    applies: ({ isTraced }) => !isTraced,
    ask: (standing) => {
      const { bundle, claim } = standing;
      return Effect.flatMap(rare, ({ withTracedInner }) =>
        Effect.map(withTracedInner(bundle, claim.report), (traced) =>
          withMore(standing, { bundle: traced, isTraced: true }),
        ),
      );
    },
  },
  {
    because: "doubtfulLimit",
    most: forEach,
    applies: ({ settled }) => settled === null,
    ask: (standing) =>
      Effect.suspend(() => {
        const asked = new Map<WorldName, AskResult<Run>>();
        const { bundle, answers } = standing;
        return Effect.flatMap(rare, ({ settleGas }) =>
          Effect.map(settleGas(bundle, answers, askLimits(standing, asked)), (settled) =>
            withRuns(standing, asked, { settled }),
          ),
        );
      }),
  },
  {
    because: "closing",
    most: () => 2,
    applies: (standing) => closedIn(standing) !== null,
    ask: (standing) => anew(standing, standing.claim, "closing", { closed: closedIn(standing) }),
  },
  rule({
    because: "worldsDiffer",
    most: forEach,
    applies: ({ judged }) => judged.isOpen,
    ask: (standing) => {
      const { claim } = standing;
      return Effect.map(askRuns(claim, rowsOf(claim, "worldsDiffer")), (runs) => withRuns(standing, runs));
    },
  }),
  {
    because: "forkBetween",
    most: forEach,
    applies: ({ isForkUsed }) => isForkUsed === null,
    ask: (standing) => {
      const { claim, proof, answers, bundle } = standing;
      const others = standing.judged.compared?.other?.outcomes ?? [];
      return Effect.map(askForkUse(claim, proof, answers, bundle, others), (isForkUsed) =>
        withMore(standing, { isForkUsed }),
      );
    },
  },
  rule({
    because: "confirmHead",
    most: forEach,
    applies: isUnconfirmed,
    ask: (standing) =>
      Fee.askHeader.pipe(
        // why: a node that shows an earlier block may be behind, or the chain went back
        Effect.flatMap((shown) => (isEarlier(standing, shown) ? Fee.askLatestHeader : Effect.succeed(shown))),
        Effect.map((confirmed) => placed({ ...standing, confirmed })),
      ),
  }),
  {
    because: "headMoved",
    // why: what did not hold still is judged, too, where the sealed block says less
    applies: (standing) => standing.lack === "headMoved" && isSpent(standing) && isSealable(standing),
    ask: (standing) => again(standing, "headMoved"),
  },
];

/** That the runs never stood on one block, or that it is not known whether it is the latest. */
const checkGround = (standing: Standing): ReadonlyArray<Finding> => {
  const { proof, head, confirmed } = standing;
  if (standing.lack === "headMoved")
    // why: the two that are compared say it themselves, and a further one that is refused says nothing of them
    return isGoneIn([figuresOf(proof), proof.runs.get("next")])
      ? []
      : incomparable("the runs did not stand on one block, the latest");
  const isUnread =
    (successOf(head) !== null && failureOf(proof.beside) !== null) ||
    (isConfirmable(standing) && (successOf(confirmed) === null || isEarlier(standing, confirmed)));
  return isUnread ? incomparable("it was not told again as the latest block") : [];
};

/**
 * Asks a proof. JSON-RPC: as `askProof`; before it `eth_getBlockByNumber` for a report
 * from outside. What that says of the state it stands on may be anybody's, and pending state hidden by it: it is
 * proven on the state that a scan would choose, which `eth_getTransactionCount` tells where that is not the same.
 */
export const proveOnStableHead = Effect.fnUntraced(function* (
  about: Omit<About, "askedAt">,
): Effect.fn.Return<Standing, never, Rpc> {
  const { report, bundle, chain, scanned, steps, settled } = about;
  const { memory } = yield* Rpc;
  const because = settled === null ? "proof" : "doubtfulLimit";
  const first = Effect.fnUntraced(function* (on: About, head: Standing["head"], why: AskRule) {
    const known = scanned === null ? null : new Map(bundle.map(({ signer, said }) => [signer, said.nonce.latest]));
    const begun = { memory, head, closed: null };
    const made = yield* attempt(on, begun, why);
    const standing = {
      ...begun,
      ...made,
      pending: null,
      counts: known,
      confirmed: null,
      moves: 0,
      findings: [],
      ran: [],
    };
    const last = yield* rounds(placed(standing), proofRules);
    return { ...last, findings: [...checkGround(last), ...last.findings] };
  });
  if (scanned !== null) return yield* first({ ...about, askedAt: scanned.askedAt }, scanned.header, because);
  const usual = report.options.block ?? chain.blockTag;
  const isOdd = tagOf(report) !== usual;
  const askedAt = yield* Clock.currentTimeMillis;
  const { header, counts } = yield* inRound(
    because,
    Effect.all(
      {
        header: Fee.askHeader,
        counts: isOdd && steps.has("nonce") ? Nonce.ask(bundle) : Effect.succeed(new Map<never, never>()),
      },
      { concurrency: "unbounded" },
    ),
  );
  const isReplaced = usual === "pending" && report.options.block === null && Nonce.replaces(bundle, { counts });
  const on = { ...standingOn(about, isReplaced ? "latest" : usual), askedAt };
  return yield* first(on, header, isReplaced ? "replacement" : because);
});
