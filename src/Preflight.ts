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
import { indexAbis } from "./abi/abiIndex.js";
import { Chains } from "./Chains.js";
import type { InvalidTransaction } from "./errors/input.js";
import * as Options from "./preflight/prepare.js";
import { answersOf, type Round } from "./preflight/answers.js";
import { assignNonces, choose, withGas } from "./preflight/choose.js";
import { admitted, lastRound, ledgerOf, withRun, type Recorder } from "./preflight/ledger.js";
import { settleGas, undoubted } from "./preflight/gasLimit.js";
import { measureOf, MeasureLimits, wantedBy } from "./preflight/limits.js";
import { maxSendableWith } from "./preflight/maxSendable.js";
import { proveChosen, proveWider } from "./preflight/prove.js";
import { reportOf } from "./preflight/report.js";
import { withSent } from "./preflight/sent.js";
import { phase, reported } from "./report/telemetry.js";
import { askAt } from "./preflight/askProof.js";
import { askScan } from "./preflight/scan.js";
import { note } from "./report/finding.js";
import { requestsOf } from "./report/digest.js";
import type { Report } from "./report/schema.js";
import { Rpc } from "./Rpc.js";
import * as Assets from "./steps/assets.js";
import * as Estimate from "./steps/estimate.js";
import { bundleOf, type Bundle } from "./steps/reading/bundle.js";
import * as Transaction from "./Transaction.js";

export type { AbiSource, GivenAccount, GivenBlock } from "./report/options.js";
export type { Options } from "./preflight/prepare.js";
export { MeasureLimits, type Limits } from "./preflight/limits.js";
export type { MaxSendable } from "./preflight/maxSendable.js";
export { assignNonces } from "./preflight/choose.js";
export {
  checkCode,
  estimateGas,
  quoteFee,
  resolveNonce,
  simulate,
  type Step,
  type StepError,
} from "./preflight/single.js";
export { layerTokenCache, TokenCache, type TokenNames } from "./preflight/tokenCache.js";
export type { AbiCall, Bundle, DeployCall, Input, RawCall, TakesInput } from "./transaction/input.js";

const inputsOf = ({ transactions }: Report): Bundle => bundleOf(Arr.map(transactions, ({ input }) => input));

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
  const round = yield* askScan({ bundle, options, chain, wanted, abis }, options.block ?? chain.blockTag, 1);
  const answers = answersOf(round, chains, options, named);
  const chosen = choose(bundle, answers);
  const trial = { bundle: chosen, options, block: round.block, ahead: null, context: options.blockOverrides, abis };
  const settled = chosen.some(Estimate.isLimitDoubtful)
    ? yield* settleGas(
        chosen,
        answers,
        askAt([trial], () => lastRound(recorder) + 1),
      )
    : undoubted;
  const filled = settled.limits === null ? chosen : withGas(chosen, settled.limits);
  const now = yield* Clock.currentTimeMillis;
  const report = reportOf(filled, answers, {
    ...{ options, policies, now, sighted: recorder.sighted, since: null, standsOn: null, stage: "scanned" },
    measure: measureOf(filled, Assets.transfers(filled), policies, limits),
    worlds: [],
    elsewhere: [],
    ledger: ledgerOf(recorder, now, null),
    findings: [
      ...settled.findings,
      ...(settled.limits === null ? [] : [note("GasLimitWidened", "info", { evidence: "measured" })]),
    ],
    earlier: [],
  });
  return { report: yield* withSent(report, recorder, null), round };
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
    const prepared = yield* Options.prepare(input, options);
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
          : Effect.flatMap(choose(report), (chosen) =>
              phase(
                "Preflight.prove",
                Effect.flatMap(
                  proveWider(chosen, { ...prepared, recorder, earlier: null, found: [], scanned: round }),
                  (proven) => withSent(proven, recorder, null),
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
 */
export const preflight: Transaction.TakesInput<
  Options.Options,
  Effect.Effect<Report, InvalidTransaction, Rpc>
> = admitted(
  Effect.fn("Preflight.preflight")(function* (input: unknown, options: Options.Options = {}) {
    return yield* proveScanned(yield* Options.prepare(input, options), Effect.succeed);
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
      return yield* proveScanned(yield* Options.prepare(input, options), (scanned) =>
        // why: of a transaction of which nothing was learned nothing will be sent
        scanned.observed.tier === "none"
          ? Effect.succeed(scanned)
          : Effect.map(take(scanned), (nonces) => assignNonces(scanned, nonces)),
      );
    }, reported("reserving")),
  );

/**
 * Runs the exact requests of a report in two worlds, on the state that was asked for and on the sealed head in the
 * block that comes next, and reports what that proved. On an
 * older report it notices that the world moved. It decides nothing again: where the gas limit no longer
 * suffices it says `ScanAgain`. Never fails: failures of the node are findings.
 *
 * A report whose request has a hole is returned unchanged, without asking; one that was learned
 * without `eth_simulateV1` is scanned again, for it cannot be proven. `options` replaces those of the
 * report field by field; the input and the requests stay.
 * JSON-RPC: `eth_simulateV1` (the runs `exact`, `next`, `bare` and `alone`; `reserved`, `gas`, `swap`, `priced` and `order`
 * where in doubt), `eth_getCode`, `eth_getTransactionCount`, `eth_getBlockByNumber`.
 */
export const prove: (report: Report, options?: Options.Options) => Effect.Effect<Report, never, Rpc> = admitted(
  Effect.fn("Preflight.prove")(function* (report: Report, options: Options.Options = {}) {
    if (requestsOf(report) === null) return report;
    const { report: revised, refused } = Options.revise(report, options);
    const policies = Options.policiesOf(options.policies, revised.options);
    const abis = indexAbis(Options.sourcesOf(revised.options.abis));
    const earlier = revised.stage === "scanned" ? revised.ledger : null;
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
              found: refused === null ? [] : [refused],
            }),
            (proven) => withSent(proven, recorder, earlier),
          ),
    );
  }, reported("prove")),
);

/**
 * The most native currency that `from` can send to `to`, with the proven report of sending exactly that:
 * `{ value, report }`. See `maxSendableWith` for what exact means.
 */
export const maxSendable = maxSendableWith(scan, preflight);
