/** A proof: the exact requests asked, compared and judged; nothing is chosen in it. */
import * as Arr from "effect/Array";
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { AbiIndex } from "../abi/abiIndex.js";
import { Chains } from "../Chains.js";
import { gap, NotProven } from "../errors/verdicts.js";
import { count, figures } from "../primitives/statement.js";
import { fromError, inOrder, note, type Finding } from "../report/finding.js";
import type { Policy } from "../report/policy.js";
import type { Ledger, Observed, Report } from "../report/schema.js";
import { becauseOf, verdictOf } from "../report/verdict.js";
import type { Rpc } from "../Rpc.js";
import { ranIn, type Run } from "../steps/simulate.js";
import type { Bundle, Filled } from "../steps/reading/bundle.js";
import { isRequestOf } from "../transaction/request.js";
import { knows } from "../witness/view.js";
import { answersOf, type Heard } from "./answers.js";
import { keep, signedOf, type Signed } from "./choose.js";
import { checkChange, checkContrast, checkNewcomers, contrast, type Contrast } from "./compare.js";
import { contextsOf } from "./contexts.js";
import { isInDoubt, settleGas, type Gas } from "./gas.js";
import { lastRound, ledgerOf, type Recorder } from "./ledger.js";
import { measureOfReport, measureQueries, MeasureLimits, type Measure } from "./limits.js";
import { storyOf, type Told } from "./movements.js";
import { askAt, askProof, askSwap, isComparable, type Claim, type Proof } from "./runs.js";
import { reportOf } from "./report.js";
import { TokenCache } from "./tokenCache.js";

/** How a report is proven. */
export interface Proving {
  readonly policies: ReadonlyArray<Policy>;
  readonly abis: AbiIndex;
  readonly recorder: Recorder;
  /** What the report's own ledger holds, where this call did not write it. */
  readonly earlier?: Ledger | null;
  /** That the options were refused. */
  readonly refused?: Finding | null;
  /** Whether the gas limits are wider ones, chosen because the first ones decided the outcome. */
  readonly isWidened?: boolean;
}

/** The proven report, and wider gas limits where those proven decide the outcome; null = they do not. */
export interface Proven {
  readonly report: Report;
  readonly limits: Gas["limits"];
}

const where = { step: "proof", evidence: "measured" } as const;

const successOf = (heard: Heard<Run> | null): Run | null =>
  heard !== null && Result.isSuccess(heard) ? heard.success : null;

/** The two runs of a proof beside each other: each read once, each told once. */
interface Compared {
  readonly exact: Run;
  readonly story: Told;
  /** null where the other context got no answer, or stood on another block. */
  readonly contrast: Contrast | null;
  /** The amounts differ between the contexts, and no longer when both have the same base fee. */
  readonly followsPrice: boolean;
}

const storyIn = (bundle: Bundle<Filled>, run: Run, measure: Measure): Told =>
  storyOf(
    Arr.map(bundle, (one) => ranIn(run, one)),
    run,
    measure,
  );

/** Compares the runs; where they differ only in amounts, and as the base fee does, one more run tells whether that is the reason. */
const compare = Effect.fnUntraced(function* (
  claim: Claim,
  proof: Proof,
  bundle: Bundle<Filled>,
  round: () => number,
): Effect.fn.Return<Compared | null, never, Rpc> {
  const exact = successOf(proof.round.run);
  if (exact === null) return null;
  const { measure, report } = claim;
  const { tolerance } = report.options;
  const story = storyOf(bundle, exact, measure);
  const next = successOf(proof.next);
  if (next === null || !isComparable(proof)) return { exact, story, contrast: null, followsPrice: false };
  const between = contrast(story, storyIn(bundle, next, measure), tolerance);
  // why: one more run at the same base fee tells honest payouts that follow it from a contract that knows it is watched
  const swap = between.isClose ? successOf(yield* askSwap(claim, round())) : null;
  const followsPrice =
    swap !== null &&
    isComparable({ ...proof, next: Result.succeed(swap) }) &&
    contrast(story, storyIn(bundle, swap, measure), tolerance).found.length === 0;
  return { exact, story, contrast: between, followsPrice };
});

/** What comparing the runs with each other and with the earlier report showed. */
const checkRuns = (
  claim: Claim,
  { next, assumed }: Proof,
  compared: Compared | null,
  bundle: Bundle<Filled>,
): ReadonlyArray<Finding> => {
  if (compared === null) return [];
  const { exact, story, followsPrice } = compared;
  const other = successOf(next);
  const unanswered = Result.isFailure(next)
    ? [fromError(next.failure, "unavailable", { ...where, evidence: "unavailable" })]
    : [];
  return [
    ...unanswered,
    ...(other === null
      ? []
      : checkContrast(exact, other, compared.contrast ?? { found: [], isClose: false }, followsPrice)),
    ...checkChange(claim.report, exact, story, { followsPrice, assumed: assumed !== null }),
    ...checkNewcomers(bundle, story, claim.measure),
  ];
};

/**
 * Whether the signed nonce is ahead of the state that was simulated on. A state other than `pending`
 * holds nothing of the pool, also where the node does not check nonces.
 */
const isAhead = ({ bundle }: Claim, { round, assumed }: Proof): boolean =>
  assumed !== null ||
  (round.block !== "pending" &&
    bundle.some(({ signer, index, request }) => {
      const latest = round.counts.get(signer)?.latest;
      const isFirst = !bundle.some((one) => one.signer === signer && one.index < index);
      return isFirst && latest !== undefined && Result.isSuccess(latest) && request.nonce > latest.success;
    }));

const checkAhead = (claim: Claim, proof: Proof): ReadonlyArray<Finding> => {
  if (!isAhead(claim, proof)) return [];
  const at = { step: "nonce", evidence: "assumed" } as const;
  return [
    proof.assumed?._tag === "NonceTooLow"
      ? note(
          "NonceAssumed",
          "warning",
          {
            sentence: "the simulated state holds a transaction with this nonce already; the nonce was assumed",
            remedy: "use the next nonce, unless it shall be replaced",
          },
          at,
        )
      : note(
          "PredecessorsNotSimulated",
          "warning",
          {
            sentence: "earlier transactions of the sender are not in the simulated state; the nonce was assumed",
            remedy: "prove again when they are mined",
          },
          at,
        ),
  ];
};

/** Balances and rights that found no room, or no gas, to be read. */
const checkMeasured = ({ measure }: Claim, { round, unasked }: Proof): ReadonlyArray<Finding> => {
  const run = successOf(round.run);
  const unread =
    run === null || !run.witnessed
      ? 0
      : measureQueries({ ...measure, tokens: [] }).filter(
          (query) => !knows(run.before, query) || !knows(run.after, query),
        ).length;
  // why: what was not asked is not read either
  const missing = measure.cut + Math.max(unasked, unread);
  return missing === 0
    ? []
    : [
        note(
          "PartiesCut",
          "warning",
          {
            sentence: "more parties and approvals are touched than are measured",
            numbers: figures(count("not measured", missing)),
            remedy: "those rest on events alone",
          },
          { step: "assets", evidence: "logged" },
        ),
      ];
};

const checkRequests = (bundle: Bundle<Signed>): ReadonlyArray<Finding> =>
  bundle.every(({ input, request }) => isRequestOf(input, request))
    ? []
    : [
        fromError(
          new NotProven({ missing: [gap("Altered", "the requests are not those of the report's inputs")] }),
          "unavailable",
          where,
        ),
      ];

/** What failed in the earlier report, as information: another source made up for it, or it is told again. */
const earlierFailures = (report: Report): ReadonlyArray<Finding> =>
  report.findings.flatMap(({ error, step, transaction }) =>
    error?._tag === "RpcError" ? [fromError(error, "info", { step, transaction, evidence: "unavailable" })] : [],
  );

/** What other gas limits showed of limits that were proven: while nothing is in doubt, nobody runs them again. */
const gasWarnings = ({ stage, findings }: Report): ReadonlyArray<Finding> =>
  stage === "proven" ? findings.filter(({ code }) => code === "GasDependent" || code === "GasHeadroomThin") : [];

const worldsOf = (proof: Proof, compared: Compared | null): Observed["worlds"] =>
  [compared?.exact ?? null, successOf(proof.next)].flatMap((run) => {
    const seen = run?.before.environment ?? null;
    if (run === null || seen === null) return [];
    const isExact = run === compared?.exact;
    const agrees = isExact ? true : compared?.contrast == null ? null : compared.contrast.found.length === 0;
    const { number, timestamp, feeRecipient, gasLimit } = seen;
    const state = proof.round.block as Observed["blockTag"];
    return [{ run: run.name, state, number, timestamp, feeRecipient, gasLimit, agrees }];
  });

const widenedNote = note(
  "GasLimitWidened",
  "info",
  { sentence: "the tighter gas limit did not do the same in simulation; the wider one is handed out" },
  { step: "estimate", evidence: "measured" },
);

/** Proves a report whose requests have no hole; one that has a hole is returned as it is. */
export const proveOnce = Effect.fnUntraced(function* (
  report: Report,
  { policies, abis, recorder, earlier = null, refused = null, isWidened = false }: Proving,
): Effect.fn.Return<Proven, never, Rpc> {
  const signed = signedOf(report);
  if (signed === null) return { report, limits: null };
  const chains = yield* Effect.service(Chains);
  const limits = yield* Effect.service(MeasureLimits);
  const names = yield* Effect.service(TokenCache);
  const earlierRun = Arr.map(signed, (one) => ({ ...one, outcome: one.said.outcome, traced: [] }));
  const asked = measureOfReport(report, earlierRun, policies, limits);
  const measure = { ...asked, named: yield* names.recall(report.chainId ?? 0, asked.tokens) };
  const contexts = yield* contextsOf(
    report,
    signed.map(({ request }) => request),
  );
  const claim: Claim = { report, bundle: signed, chain: chains(report.chainId), measure, contexts, abis };
  const round = () => lastRound(recorder) + 1;
  const first = yield* askProof(claim, round());
  // why: heads move between two requests; asked once more, the two runs may stand on the same block
  const proof = isComparable(first) ? first : yield* askProof(claim, round());
  const exact = proof.round.run;
  const gas =
    exact !== null && !isWidened && isInDoubt(signed, exact, proof.next, proof.beside)
      ? yield* settleGas(report, signed, proof.next, askAt(claim, round))
      : { limits: null, findings: [] };
  const answers = answersOf(proof.round, { chains, options: report.options, named: report.chainId });
  const bundle = keep(signed, answers, abis);
  const compared = gas.limits === null ? yield* compare(claim, proof, bundle, round) : null;
  const now = yield* Clock.currentTimeMillis;
  const proven = reportOf(bundle, answers, {
    ...{ options: report.options, policies, measure, now },
    // why: a proof whose run got no answer has proven nothing
    stage: answers.run === null ? "scanned" : "proven",
    worlds: worldsOf(proof, compared),
    ledger: ledgerOf(recorder, now, earlier),
    earlier: [...earlierFailures(report), ...gasWarnings(report)],
    findings: [
      ...(refused === null ? [] : [refused]),
      ...gas.findings,
      ...(isWidened ? [widenedNote] : []),
      ...checkRuns(claim, proof, compared, bundle),
      ...checkRequests(signed),
      ...checkAhead(claim, proof),
      ...checkMeasured(claim, proof),
    ],
  });
  yield* names.keep(
    proven.chainId ?? 0,
    proven.tokens.filter(({ token }) => !measure.named.some((info) => info.token === token)),
  );
  return { report: proven, limits: gas.limits };
});

/** A proof that showed that the gas limit decides the outcome proves nothing of the one that should be signed. */
export const scanAgain = ({ report, limits }: Proven): Report => {
  if (limits === null) return report;
  const found = inOrder([
    ...report.findings,
    note(
      "ScanAgain",
      "unavailable",
      {
        sentence: "the gas limit no longer suffices: with more gas the transaction does something else",
        numbers: figures(...limits.map((limit) => count("gas that holds", limit))),
        remedy: "run `preflight`, which chooses a wider limit and proves it",
      },
      { step: "estimate", evidence: "measured" },
    ),
  ]);
  return { ...report, findings: found, verdict: verdictOf(found), because: becauseOf(found, report.stage) };
};
