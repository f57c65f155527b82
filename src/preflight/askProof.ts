/** Round 2, everything at once: the runs of a proof (`exact`, `reserved`, `next`, `alone`; `gas` and `swap` on doubt), and the world again. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { Verdict } from "../errors/verdicts.js";
import type { Rpc } from "../Rpc.js";
import * as Code from "../steps/code.js";
import * as Fee from "../steps/fee.js";
import * as Nonce from "../steps/nonce.js";
import { failureOf, successOf, type Heard } from "../steps/reading/heard.js";
import * as Simulate from "../steps/simulate.js";
import type { Round } from "./answers.js";
import { isSameBase } from "./compare.js";
import type { AskAt } from "./gasLimit.js";
import { inRound } from "./ledger.js";
import { askLensed, lensOf } from "./lens.js";
import {
  accountQueries,
  barePlan,
  blockOf,
  doubtful,
  gasPlan,
  looksAlone,
  oracleQueries,
  planOf,
  type Claim,
  type Trial,
} from "./proofPlans.js";
import { alonePlan } from "./scanPlans.js";

/** The answers of a proof. */
export interface Proof {
  /** With the exact run, or the one that stands for it, as the run that the figures are from. */
  readonly round: Round;
  /** The same requests in the other block context. */
  readonly next: Heard<Simulate.Run>;
  /** The node's words, where the nonces had to be pretended: its state does not agree with its counts. */
  readonly assumed: Verdict | null;
  /** The calls at no base fee and with ample gas; null where the scan ran them so itself. */
  readonly bare: Heard<Simulate.Run> | null;
}

const ask = (claim: Claim, plan: Simulate.Plan): Effect.Effect<Heard<Simulate.Run>, never, Rpc> =>
  Effect.result(askLensed(plan, claim.abis));

/** The requests at other limits, side by side in one round. */
export const askAt =
  (trial: Trial, round: () => number): AskAt =>
  (limits) =>
    Effect.suspend(() =>
      inRound(
        round(),
        Effect.forEach(limits, (set) => Effect.result(Simulate.ask(gasPlan(trial, set), trial.abis)), {
          concurrency: "unbounded",
        }),
      ),
    );

/** The other context once more, at the base fee of the first: whether the price alone made the difference. */
export const askSwap = (claim: Claim, round: number): Effect.Effect<Heard<Simulate.Run>, never, Rpc> =>
  inRound(round, ask(claim, planOf(claim, "swap", claim.contexts.swap, doubtful(claim).length > 0)));

/** Ms after which a header is another block's, whatever the chain. */
const mostHeaderAge = 1_000;

/** The header of the scan, while it is still the latest: what is older is asked again, or a lagging node looks fresh. */
const recentHeader = ({ scanned, chain }: Claim, now: number): Round["fees"]["header"] =>
  scanned === null ||
  successOf(scanned.fees.header) === null ||
  now - scanned.askedAt > Math.min(mostHeaderAge, chain.blockTimeMs)
    ? null
    : scanned.fees.header;

/**
 * All runs of a proof at once, with the counts; code and the latest header too, where no scan of the same call read
 * them. The witness `alone` is asked in one more round where the exact run says nothing.
 */
export const askProof = Effect.fnUntraced(function* (claim: Claim, round: number): Effect.fn.Return<Proof, never, Rpc> {
  const { report, bundle, contexts, scanned, subjects } = claim;
  const block = blockOf(claim);
  const isDoubtful = doubtful(claim).length > 0;
  const now = yield* Clock.currentTimeMillis;
  const header = recentHeader(claim, now);
  const asksAlone = looksAlone(claim);
  const alonePlanned = alonePlan(report.options, block, [...accountQueries(claim), ...oracleQueries(claim)]);
  const askAlone = ask(claim, { ...alonePlanned, lens: lensOf(claim) });
  const skipped: Effect.Effect<Heard<Simulate.Run> | null> = Effect.succeed(null);
  const { exact, reserved, next, bare, ...answered } = yield* inRound(
    round,
    Effect.all(
      {
        exact: ask(claim, planOf(claim, "exact", contexts.exact, false)),
        reserved: isDoubtful ? ask(claim, planOf(claim, "reserved", contexts.exact, true)) : skipped,
        bare: claim.asksBare ? ask(claim, barePlan(claim)) : skipped,
        next: ask(claim, planOf(claim, "next", contexts.next, isDoubtful)),
        alone: asksAlone ? askAlone : skipped,
        codes: scanned === null ? Code.ask(bundle, block) : Effect.succeed(scanned.codes),
        counts: Nonce.ask(bundle),
        fees: header === null ? Fee.askHeader : Effect.succeed({ history: null, receipts: null, header }),
      },
      { concurrency: "unbounded" },
    ),
  );
  const said = failureOf(exact);
  // why: mined state that is beyond the nonce cannot be pretended away, only pending state can
  const isTaken = said?._tag === "NonceTooLow" && block === "pending";
  const assumed = said !== null && (said._tag === "NonceTooHigh" || isTaken) && reserved !== null ? said : null;
  const run = assumed === null ? exact : reserved;
  const tells = successOf(run)?.witnessed === true;
  const alone = asksAlone || tells ? answered.alone : yield* inRound(round + 1, askAlone);
  const { namedChainId } = report.observed;
  return {
    round: {
      block,
      namedChainId: namedChainId === null ? null : Result.succeed(namedChainId),
      ...answered,
      ...{ alone, run },
      ...{ askedAt: now, estimate: null, noFeeOracle: scanned?.noFeeOracle ?? null },
      called: null,
      unfunded: null,
      subjectOf: ({ index }) => subjects.get(index) ?? null,
      findings: [],
    },
    next,
    bare,
    assumed,
  };
});

/** Whether what signers are taken to have is what the same round measured, wherever a run pretends it. */
export const isTrueToState = (claim: Claim, { round, next }: Proof): boolean => {
  const measured = successOf(round.alone)?.before;
  const isPretended = [round.run, next].some((heard) => successOf(heard)?.plan.pretended === true);
  return (
    !isPretended ||
    doubtful(claim).every(({ signer }) => {
      const [taken, has] = [claim.balanceOf(signer), measured?.account(signer)?.balance ?? null];
      return taken === null || has === null || taken === has;
    })
  );
};

/** Whether the two contexts stood on the same block, and on the state as it is. */
export const isComparable = (claim: Claim, proof: Proof): boolean => {
  const [run, other] = [successOf(proof.round.run), successOf(proof.next)];
  return run === null || (other !== null && isSameBase(run, other) === true && isTrueToState(claim, proof));
};

/** The run with free and ample gas, where it stood on the block of the exact one. */
export const bareOf = ({ round, bare }: Proof): Simulate.Run | null => {
  const [run, free] = [successOf(round.run), successOf(bare ?? undefined)];
  return run !== null && free !== null && isSameBase(run, free) === true ? free : null;
};
