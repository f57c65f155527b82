/**
 * The pipeline: from a transaction to a report, and from a report to a proven one.
 *
 * `scan` asks everything at once and chooses nonce, gas limit and price; `prove` runs the exact requests
 * that would be signed, in two worlds, and only checks what was chosen. `preflight` is the one
 * after the other.
 */
import * as Arr from "effect/Array";
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import { Chains } from "./Chains.js";
import type { InvalidTransaction } from "./errors/input.js";
import * as Options from "./preflight/prepare.js";
import { answersOf, type Round } from "./preflight/answers.js";
import { assignNonces, choose, withGas } from "./preflight/choose.js";
import { admitted, ledgerOf, withRun, type Recorder } from "./preflight/ledger.js";
import { undoubted } from "./preflight/gas/doubt.js";
import { measureOf, MeasureLimits, wantedBy } from "./preflight/limits.js";
import { maxSendableWith } from "./preflight/beside/maxSendable.js";
import { checkConnection } from "./preflight/observe.js";
import { proveChosen, provenOf, proveWider } from "./preflight/prove.js";
import { scanTrial } from "./preflight/proofPlans.js";
import { reportOf } from "./preflight/report.js";
import { abisOf } from "./report/abis.js";
import { phase, reported } from "./report/telemetry.js";
import { askAt } from "./preflight/askProof.js";
import { askScan } from "./preflight/scan.js";
import { note } from "./report/finding.js";
import { later } from "./primitives/later.js";
import { requestsOf } from "./report/digest.js";
import type { Report } from "./report/schema.js";
import { Rpc } from "./Rpc.js";
import * as Assets from "./steps/assets.js";
import * as Estimate from "./steps/estimate.js";
import { bundleOf, type Bundle } from "./steps/reading/bundle.js";
import * as Transaction from "./Transaction.js";
import { watchBy } from "./watch/later.js";

export type { AbiSource, GivenAccount, GivenBlock } from "./report/options.js";
export type { Options } from "./preflight/prepare.js";
export { MeasureLimits, type Limits } from "./preflight/limits.js";
export type { SettleOptions } from "./postflight/settlement.js";
export type { MaxSendable } from "./preflight/beside/maxSendable.js";
export { assignNonces } from "./preflight/choose.js";
export { settle } from "./postflight/ask/later.js";
export {
  checkCode,
  estimateGas,
  quoteFee,
  resolveNonce,
  simulate,
  type Step,
  type StepError,
} from "./preflight/beside/single.js";
export { layerTokenCache, TokenCache, type TokenNames } from "./preflight/beside/tokenCache.js";
export type { AbiCall, DeployCall, Input, RawCall, TakesInput } from "./transaction/input.js";
export type { Prove } from "./watch/judge.js";
export type { Fresh, Lost, Moved, Watched } from "./watch/watched.js";

const inputsOf = ({ transactions }: Report): Bundle => bundleOf(Arr.map(transactions, ({ input }) => input));

const tracing = later(() => import("./preflight/beside/trace.js"));
const seeking = later(() => import("./preflight/beside/sent.js"));
const settlingGas = later(() => import("./preflight/gas/limit.js"));

/** Whether a transaction fails while others of its sender are in flight. */
const mayBeSent = ({ transactions }: Report): boolean =>
  transactions.some(
    ({ outcome: { status }, nonce: { inFlight } }) =>
      (status === "reverted" || status === "halted") && inFlight !== null && inFlight > 0,
  );

/** The report with what is asked only of what fails. */
const withLast = (
  report: Report,
  recorder: Recorder,
  earlier: Report["ledger"] | null,
): Effect.Effect<Report, never, Rpc> =>
  Effect.flatMap(
    mayBeSent(report)
      ? Effect.flatMap(seeking, ({ withSent }) => withSent(report, recorder, earlier))
      : Effect.succeed(report),
    (told) =>
      told.options.traceReverts && told.transactions[0].outcome.status === "reverted"
        ? Effect.flatMap(tracing, ({ withTrace }) => withTrace(told, recorder, earlier))
        : Effect.succeed(told),
  );

/** A scan: its report, and the answers that its proof need not ask for again. */
const scanOnce = Effect.fnUntraced(function* (
  { bundle, options, policies, abis }: Options.Prepared,
  recorder: Recorder,
): Effect.fn.Return<{ readonly report: Report; readonly round: Round }, never, Rpc> {
  const chains = yield* Effect.service(Chains);
  const limits = yield* Effect.service(MeasureLimits);
  const { memory } = yield* Rpc;
  const named = bundle[0].input.chainId;
  const chain = chains(named ?? memory.recall("chainId"));
  const wanted = wantedBy(policies, bundle, limits);
  const round = yield* askScan({ bundle, options, chain, wanted, abis }, options.block ?? chain.blockTag, null);
  const answers = answersOf(round, chains, options, named);
  const chosen = choose(bundle, answers);
  const settled = chosen.some(Estimate.isLimitDoubtful)
    ? yield* (yield* settlingGas).settleGas(chosen, answers, askAt([scanTrial(chosen, answers, options, abis)]))
    : undoubted;
  const filled = settled.limits === null ? chosen : withGas(chosen, settled.limits);
  const now = yield* Clock.currentTimeMillis;
  const report = reportOf(filled, answers, {
    ...{ options, policies, now, sighted: recorder.sighted, since: null, standsOn: null, stage: "scanned" },
    measure: measureOf(filled, Assets.transfers(filled), policies, limits),
    ...{ worlds: [], elsewhere: [], readings: [], isForkUsed: true },
    ledger: ledgerOf(recorder, now, null),
    findings: [
      ...settled.findings,
      ...(settled.limits === null ? [] : [note("GasLimitWidened", "info", { evidence: "measured" })]),
    ],
    earlier: [],
  });
  return { report: yield* withLast(report, recorder, null), round };
});

/**
 * Asks everything about a transaction or bundle in one network round, and reports. Where the node's estimate
 * speaks for an outcome that depends on gas, the runs `gas` settle the limit in a further one.
 *
 * At this stage `ready` means that nothing was found against it yet; `prove` gives certainty.
 * Fails only with `InvalidTransaction`, before anything is sent; failures of the node are findings. A call that reverts
 * while its sender has others in flight is looked for among them, in one further round (`AlreadySent`).
 * JSON-RPC: `eth_getCode`, `eth_getTransactionCount`, `eth_estimateGas`, `eth_simulateV1` (the run `bare`),
 * `eth_feeHistory`, `eth_getBlockByNumber`; of an endpoint that is not known yet also `eth_chainId`,
 * `eth_getBlockReceipts` and the run `alone`.
 */
export const scan: Transaction.TakesInput<Options.Options, Effect.Effect<Report, InvalidTransaction, Rpc>> = admitted(
  Effect.fn("Preflight.scan")(function* (input: unknown, options: Options.Options = {}) {
    const { defaults } = yield* Rpc;
    const prepared = yield* Options.prepare(input, options, defaults);
    return yield* withRun(prepared.options.deadlineMs, (recorder) =>
      Effect.map(scanOnce(prepared, recorder), ({ report }) => report),
    );
  }, reported("scan")),
);

/**
 * Whether proving could not change the verdict: the node cannot simulate, or something is against the
 * transaction already. A violated policy is no such thing: what a scan only logged, a proof measures.
 */
const isSettled = ({ observed, findings }: Report): boolean =>
  observed.tier === "call" || findings.some(({ severity, step }) => severity === "blocker" && step !== "policy");

/** A scan, and its proof of what `choose` makes of it; a scan that is settled is the answer. */
const proveScanned = <E, R>(
  prepared: Options.Prepared,
  choose: (scanned: Report) => Effect.Effect<Report, E, R>,
): Effect.Effect<Report, E, Rpc | R> =>
  withRun(prepared.options.deadlineMs, (recorder) =>
    Effect.flatMap(
      phase("Preflight.scan", scanOnce(prepared, recorder), ({ report }) => report),
      ({ report, round }) =>
        isSettled(report)
          ? Effect.succeed(report)
          : Effect.flatMap(Effect.timed(choose(report)), ([taken, chosen]) =>
              phase(
                "Preflight.prove",
                Effect.flatMap(proveWider(chosen, { ...prepared, recorder, ...provenOf(round, taken) }), (proven) =>
                  withLast(proven, recorder, null),
                ),
                (proven) => proven,
              ),
            ),
    ),
  );

/**
 * Scans, then proves: two network rounds, one deadline, one ledger. A scan that is blocked already is
 * the answer, after one round. Where the exact requests do not do what they did with ample gas, the runs
 * `gas` settle the limit in a further round, and the wider one is proven.
 *
 * Fails only with `InvalidTransaction`, before anything is sent.
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Preflight, Rpc } from "evm-preflight";
 *
 * const report = await Preflight.preflight({
 *   from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
 *   to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
 *   value: 1n,
 * }).pipe(Effect.provide(Rpc.layerHttp("http://127.0.0.1:8545")), Effect.runPromise);
 * console.log(report.verdict, report.stage); // ready proven
 * ```
 */
export const preflight: Transaction.TakesInput<
  Options.Options,
  Effect.Effect<Report, InvalidTransaction, Rpc>
> = admitted(
  Effect.fn("Preflight.preflight")(function* (input: unknown, options: Options.Options = {}) {
    const { defaults } = yield* Rpc;
    return yield* proveScanned(yield* Options.prepare(input, options, defaults), Effect.succeed);
  }, reported("preflight")),
);

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
  admitted(
    Effect.fn("Preflight.reserving")(function* (input: unknown, options: Options.Options = {}) {
      const { defaults } = yield* Rpc;
      return yield* proveScanned(yield* Options.prepare(input, options, defaults), (scanned) =>
        // why: of a transaction of which nothing was learned nothing will be sent
        scanned.observed.tier === "none"
          ? Effect.succeed(scanned)
          : Effect.map(take(scanned), (nonces) => assignNonces(scanned, nonces)),
      );
    }, reported("reserving")),
  );

/**
 * Runs the exact requests of a report in two worlds, on the state that was asked for and on the sealed head in the
 * block that comes next, and reports what that proved. The
 * outcome is compared with that of an older report (`OutcomeChanged`). Nonce, gas limit and price stay as they were
 * chosen: where the gas limit no longer suffices it says `ScanAgain`. Never fails: failures of the node are findings.
 *
 * A report whose request lacks its nonce, gas, fee or chain is returned unchanged, without asking; one that was learned
 * without `eth_simulateV1` is scanned again, for it cannot be proven. `options` replaces those of the
 * report field by field; the input and the requests stay.
 * JSON-RPC: `eth_simulateV1` (the runs `exact`, `next`, `bare` and `alone`; `reserved`, `gas`, `swap`, `priced` and `order`
 * where in doubt), `eth_getCode`, `eth_getTransactionCount`, `eth_getBlockByNumber`.
 */
export const prove: (report: Report, options?: Options.Options) => Effect.Effect<Report, never, Rpc> = admitted(
  Effect.fn("Preflight.prove")(function* (report: Report, options: Options.Options = {}) {
    if (requestsOf(report) === null) return report;
    const { report: revised, refused } = Options.revise(report, options);
    const policies = yield* Options.policiesOf(options.policies, revised.options);
    const abis = abisOf(revised.options);
    const earlier = revised.stage === "scanned" ? revised.ledger : null;
    const { defaults } = yield* Rpc;
    return yield* withRun(revised.options.deadlineMs, (recorder) =>
      revised.observed.tier === "call"
        ? Effect.map(
            scanOnce({ bundle: inputsOf(revised), options: revised.options, policies, abis }, recorder),
            ({ report: scanned }) => scanned,
          )
        : Effect.flatMap(
            proveChosen(revised, {
              ...{ policies, abis, recorder, earlier },
              scanned: null,
              found: [
                ...(refused === null ? [] : [refused]),
                ...checkConnection(revised.chainId, defaults?.chainId ?? null),
              ],
            }),
            (proven) => withLast(proven, recorder, earlier),
          ),
    );
  }, reported("prove")),
);

/**
 * The most native currency that `from` can send to `to`, with the proven report of sending exactly that:
 * `{ value, report }`. See `maxSendableWith` for what exact means.
 */
export const maxSendable = maxSendableWith(scan, preflight);

/**
 * Keeps the clearance of a proven report true from head to head (`Eth.watchHeads`): one event for each head that is
 * judged, without end while heads come. `Fresh` = sign by its `report`; `Moved` = sign only what its `diff` allows for;
 * `Lost` = there is no clearance, and why. A clearance that expires before a head is judged is `Lost`, too, also while a
 * proof is under way, whose word follows.
 *
 * By the header alone: a fee cap below the next base fee, on chains whose formula is known. Then what the outcome hangs on
 * (accounts, slots, what the proof asked of contracts, the sender's count), in one `eth_simulateV1` per head for all the
 * watched reports of an endpoint: `Fresh` where nothing of it has changed since the proof. Behind the first head after a
 * proof, what that stood on is read once more: a node may answer for its newest block by the state of the next. Everything else is a `prove`,
 * one at a time and eight of an endpoint, at the newest head: a report that is not `ready`, a bundle, a deployment, blobs
 * or authorisations, a contract whose code may read the block, the price or make accounts, a block of another producer
 * where the call meets one of the two, a chain with precompiles of its own, a node without `eth_createAccessList`, five
 * minutes since the last proof. What waits in the pool is seen by proofs alone.
 *
 * `options` are those of `prove`: policies that are functions have to be given again. Fails as `Report.ready` does where
 * the report gives no clearance, and as `heads` fails.
 * JSON-RPC: `eth_simulateV1`, `eth_createAccessList`, `eth_getCode`, and as `prove`.
 */
export const watch = watchBy(prove);
