/**
 * The pipeline: from a transaction to a report, and from a report to a proven one.
 *
 * `scan` asks everything at once and decides; `prove` runs the exact requests that would be signed, in
 * two block contexts, and decides again by the same rules. `preflight` is the one after the other.
 */
import * as Arr from "effect/Array";
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import { Chains } from "./Chains.js";
import { indexAbis } from "./abi/decodeRevert.js";
import type { InvalidTransaction } from "./errors/input.js";
import type * as Eth from "./Eth.js";
import { askScan } from "./preflight/ask.js";
import { askProof, doubtfulNonces, type Exam } from "./preflight/askProof.js";
import { assemble } from "./preflight/assemble.js";
import { assignNonces } from "./preflight/assign.js";
import * as Options from "./preflight/options.js";
import { MeasureLimits, measureOfReport, wantedBy } from "./preflight/measure.js";
import { policiesOf } from "./preflight/policies.js";
import { ladderOf } from "./preflight/ladder.js";
import { agree, mayFollowPrice } from "./preflight/comparison.js";
import { examine } from "./preflight/limits.js";
import { maxSendableWith } from "./preflight/maxSendable.js";
import { judge, requestsOf } from "./preflight/proof.js";
import { TokenCache } from "./preflight/tokenCache.js";
import { lastRound, ledgerOf, withRun, type Recorder } from "./preflight/run.js";
import type { Policy } from "./report/policy.js";
import type { Report, ReportOptions } from "./report/schema.js";
import type { Rpc } from "./Rpc.js";
import * as Transaction from "./Transaction.js";

export { MeasureLimits } from "./preflight/measure.js";
export { assignNonces } from "./preflight/assign.js";
export type { AbiSource, Options } from "./preflight/options.js";
export { layerTokenCache, TokenCache, type TokenNames } from "./preflight/tokenCache.js";
export type { MaxSendable } from "./preflight/maxSendable.js";
export { checkCode, estimateGas, quoteFee, resolveNonce, simulate } from "./preflight/single.js";
export type { AbiCall, Bundle, DeployCall, Input, RawCall, TakesInput } from "./transaction/input.js";

interface Prepared {
  readonly input: Transaction.CheckedInput;
  readonly options: ReportOptions;
  readonly policies: ReadonlyArray<Policy>;
}

const prepare = Effect.fnUntraced(function* (
  input: unknown,
  options: Options.Options,
): Effect.fn.Return<Prepared, InvalidTransaction> {
  const checked = yield* Transaction.check(input);
  const completed = Options.withInputAbis(yield* Options.check(options), checked);
  return { input: checked, options: completed, policies: policiesOf(options.policies, completed) };
});

const scanIn = Effect.fnUntraced(function* (
  { input, options, policies }: Prepared,
  recorder: Recorder,
): Effect.fn.Return<Report, never, Rpc> {
  const chains = yield* Effect.service(Chains);
  const { transactions } = input;
  const chain = chains(transactions[0]?.chainId ?? null);
  const block: Eth.BlockParameter = options.block ?? chain.blockTag;
  const limits = yield* Effect.service(MeasureLimits);
  const wanted = wantedBy(policies, transactions, limits);
  const facts = yield* askScan({ transactions, options, chain, wanted }, block, 1);
  const now = yield* Clock.currentTimeMillis;
  return assemble({
    transactions,
    options,
    chains,
    policies,
    facts,
    now,
    limits,
    ledger: ledgerOf(recorder, now, null),
    proof: null,
  });
});

const proveIn = Effect.fnUntraced(function* (
  report: Report,
  policies: ReadonlyArray<Policy>,
  recorder: Recorder,
  round: number,
): Effect.fn.Return<Report, never, Rpc> {
  const requests = requestsOf(report);
  if (requests === null) return report;
  const chains = yield* Effect.service(Chains);
  const transactions = report.transactions.map(({ input }) => input);
  const names = yield* Effect.service(TokenCache);
  const asked = measureOfReport(report, policies, yield* Effect.service(MeasureLimits));
  const measure = { ...asked, named: yield* names.recall(report.chainId ?? 0, asked.tokens) };
  const exam: Exam = {
    report,
    requests,
    ladder: ladderOf(report, requests),
    widened: false,
    steady: false,
    chain: chains(report.chainId),
    measure,
    nonces: doubtfulNonces(report),
  };
  const abis = indexAbis(Options.sourcesOf(report.options.abis));
  const first = yield* examine(exam, round);
  // why: one more run at the same base fee tells honest payouts that follow it from a contract that knows it is watched
  const again = mayFollowPrice(first, report, measure, abis)
    ? yield* askProof({ ...first.exam, ladder: null, steady: true }, lastRound(recorder) + 1)
    : null;
  const examined = again !== null && agree(again, report, measure, abis) ? { ...first, followsPrice: true } : first;
  const now = yield* Clock.currentTimeMillis;
  const proof = judge(report, examined, measure, abis);
  const earlier = round === 1 && report.stage === "scanned" ? report.ledger : null;
  const proven = assemble({
    transactions,
    options: report.options,
    chains,
    policies,
    facts: examined.facts,
    now,
    limits: yield* Effect.service(MeasureLimits),
    ledger: ledgerOf(recorder, now, earlier),
    proof,
  });
  yield* names.keep(
    proven.chainId ?? 0,
    proven.tokens.filter(({ token }) => !measure.named.some((info) => info.token === token)),
  );
  return proven;
});

/**
 * Asks everything about a transaction or bundle in one network round, and reports.
 *
 * At this stage `ready` means that nothing was found against it yet; `prove` gives certainty.
 * Fails only with `InvalidTransaction`, before anything is sent; failures of the node are findings.
 * JSON-RPC: `eth_getCode`, `eth_getTransactionCount`, `eth_estimateGas`, `eth_simulateV1` (twice),
 * `eth_feeHistory`, `eth_getBlockReceipts`, `eth_getBlockByNumber`, `eth_chainId`.
 */
export const scan: Transaction.TakesInput<Options.Options, Effect.Effect<Report, InvalidTransaction, Rpc>> = Effect.fn(
  "Preflight.scan",
)(function* (input: unknown, options: Options.Options = {}) {
  const prepared = yield* prepare(input, options);
  return yield* withRun(prepared.options.deadlineMs, (recorder) => scanIn(prepared, recorder));
});

/**
 * Whether proving could not change the verdict: the node cannot simulate, or something is against the
 * transaction already. A violated policy is no such thing: what a scan only logged, a proof measures.
 */
const isSettled = ({ observed, findings }: Report): boolean =>
  observed.tier === "call" || findings.some(({ severity, step }) => severity === "blocker" && step !== "policy");

/**
 * Scans, then proves: two network rounds, one deadline, one ledger. A scan that is blocked already is
 * the answer, after one round.
 *
 * Fails only with `InvalidTransaction`, before anything is sent.
 */
export const preflight: Transaction.TakesInput<
  Options.Options,
  Effect.Effect<Report, InvalidTransaction, Rpc>
> = Effect.fn("Preflight.preflight")(function* (input: unknown, options: Options.Options = {}) {
  const prepared = yield* prepare(input, options);
  return yield* withRun(prepared.options.deadlineMs, (recorder) =>
    Effect.flatMap(scanIn(prepared, recorder), (report) =>
      isSettled(report)
        ? Effect.succeed(report)
        : proveIn(report, prepared.policies, recorder, report.ledger.rounds + 1),
    ),
  );
});

/**
 * {@link preflight} with nonces taken in between, as late as they can be: after the scan, before the
 * proof, which then runs with them. `take` gives one nonce per transaction of the scanned report, or null
 * to leave it; it is not asked when the scan is blocked. A nonce ahead of what the node knows is marked
 * `assumed`, and the report is at most `caution`.
 *
 * ```ts
 * Preflight.reserving((scanned) => Effect.map(Nonces.reserveAll(scanned), (leases) => leases.map((lease) => lease?.nonce ?? null)))(input)
 * ```
 */
export const reserving = <E, R>(
  take: (scanned: Report) => Effect.Effect<ReadonlyArray<bigint | null>, E, R>,
): Transaction.TakesInput<Options.Options, Effect.Effect<Report, InvalidTransaction | E, Rpc | R>> =>
  Effect.fn("Preflight.reserving")(function* (input: unknown, options: Options.Options = {}) {
    const prepared = yield* prepare(input, options);
    return yield* withRun(prepared.options.deadlineMs, (recorder) =>
      Effect.flatMap(scanIn(prepared, recorder), (scanned) =>
        isSettled(scanned)
          ? Effect.succeed(scanned)
          : Effect.flatMap(take(scanned), (nonces) =>
              proveIn(assignNonces(scanned, nonces), prepared.policies, recorder, scanned.ledger.rounds + 1),
            ),
      ),
    );
  });

/**
 * Runs the exact requests of a report, in two block contexts, and reports what that proved. On an
 * older report it notices that the world moved. Never fails: failures of the node are findings.
 *
 * A report whose request has a hole is returned unchanged, without asking; one that was learned
 * without `eth_simulateV1` is scanned again, for it cannot be proven. `options` replaces those of the
 * report field by field; the input and the requests stay.
 */
export const prove: (report: Report, options?: Options.Options) => Effect.Effect<Report, never, Rpc> = Effect.fn(
  "Preflight.prove",
)(function* (report: Report, options: Options.Options = {}) {
  if (requestsOf(report) === null) return report;
  const revised = Options.revise(report, options);
  const policies = policiesOf(options.policies, revised.options);
  return yield* withRun(revised.options.deadlineMs, (recorder) =>
    revised.observed.tier === "call"
      ? scanIn(
          {
            input: { transactions: Arr.map(revised.transactions, ({ input }) => input), abis: [] },
            options: revised.options,
            policies,
          },
          recorder,
        )
      : proveIn(revised, policies, recorder, 1),
  );
});

/**
 * The most native currency that `from` can send to `to`, with the proven report of sending exactly that:
 * `{ value, report }`. See `maxSendableWith` for what exact means.
 */
export const maxSendable = maxSendableWith(scan, preflight);
