/**
 * The pipeline: from a transaction to a report, and from a report to a proven one.
 *
 * `scan` asks everything at once and chooses nonce, gas limit and price. `prove` simulates the exact requests that
 * would be signed, in the next block and in the last that a clearance allows, and only checks what was chosen.
 * `preflight` does both.
 */
import * as Context from "effect/Context";
import type * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as Stream from "effect/Stream";
import { InvalidTransaction } from "./errors/input.js";
import type { builtInSteps } from "./primitives/names.js";
import { checkCode, estimateGas, quoteFee, resolveNonce, simulate } from "./pipeline/index.js";
import { assignNonces, madeOf, maxSendableWith, OwnSteps, ready } from "./pipeline/index.js";
import { prepare, revise, type Options } from "./pipeline/index.js";
import { admitted, checkConnection, inputsOf, merged, parted, withLast } from "./pipeline/index.js";
import { proveChosen, proveScanned, runOn, scanOnce, sourcesOf, unprovable } from "./pipeline/index.js";
import { reported } from "./report/telemetry.js";
import { fromData } from "./Policy.js";
import type { Policy } from "./report/policy.js";
import { requestsOf, type Blocker } from "./report/ready.js";
import { type BundleReport, isOfBundle, type Report, type ReportOptions } from "./report/schema.js";
import { Rpc } from "./rpc/index.js";
import type * as Step from "./Step.js";
import { recoverAuthorities } from "./transaction/authorities.js";
import * as Transaction from "./Transaction.js";
import type { Head } from "./eth/block.js";
import type { Failure } from "./eth/ask.js";
import { lazyImport } from "./primitives/effects.js";
import type { Hash } from "./primitives/hex.js";
import { safely } from "./primitives/record.js";
import type { SentTransaction, Settled } from "./settle/settlement.js";
import type { GivenSigning } from "./signing/input.js";
import { accountFormOf, isSigning } from "./signing/marks.js";
import type { GivenOperation } from "./signing/operationInput.js";
import type { GivenSafeTransaction } from "./signing/safe.js";
import { watchWith, type Watched } from "./watch/watch.js";

export { checkCode, estimateGas, quoteFee, ready, resolveNonce, simulate } from "./pipeline/index.js";
export { layerTokenCache, MeasureLimits, TokenCache } from "./pipeline/index.js";
export type { Options } from "./pipeline/index.js";
export type { GivenSigning } from "./signing/input.js";
export type { GivenOperation } from "./signing/operationInput.js";
export type { GivenSafeTransaction } from "./signing/safe.js";
export type { Watched } from "./watch/watch.js";

/**
 * Asks everything about a transaction or bundle in one network round, and reports. If the node's estimate suggests
 * that the outcome depends on gas, the runs `gas` settle the limit in a further round.
 *
 * At this stage `ready` means that nothing was found against it yet; only `prove` leads to a clearance. Fails only
 * with `InvalidTransaction`, before anything is sent; failures of the node are findings. If a call reverts while its
 * sender has others in flight, one further round looks for it among them (`AlreadySent`).
 *
 * JSON-RPC: `eth_getCode`, `eth_getTransactionCount`, `eth_estimateGas`, `eth_simulateV1` (the run `ample`),
 * `eth_feeHistory`, `eth_getBlockByNumber`; of an endpoint that is not known yet also `eth_chainId`,
 * `eth_getBlockReceipts` and the run `readerOnly`.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Preflight, Rpc } from "evm-preflight";
 *
 * const report = await Preflight.scan({
 *   from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
 *   to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
 *   value: 1n,
 * }).pipe(Effect.provide(Rpc.layerHttp("http://127.0.0.1:8545")), Effect.runPromise);
 * console.log(report.verdict, report.stage); // ready scanned
 * ```
 */
export const scan: Transaction.TakesInput<Options, Effect.Effect<BundleReport, InvalidTransaction, Rpc>> = admitted(
  Effect.fn("Preflight.scan")(function* (input: unknown, options: Options = {}) {
    const prepared = yield* Rpc.use(({ defaults }) => prepare(input, options, defaults));
    return yield* runOn(prepared, (inMode) => Effect.flatMap(scanOnce(inMode), ({ whole }) => whole));
  }, reported("scan")),
);

/**
 * Scans, then proves: two network rounds, one deadline, one ledger. A scan that is blocked is the answer, after one
 * round. If the exact requests do something else than with ample gas, the runs `gas` find a wider limit in a further
 * round. Then that limit is proven.
 *
 * Fails only with `InvalidTransaction`, before anything is sent.
 *
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
  Options,
  Effect.Effect<BundleReport, InvalidTransaction, Rpc>
> = admitted(
  Effect.fn("Preflight.preflight")(function* (input: unknown, options: Options = {}) {
    const prepared = yield* Rpc.use(({ defaults }) => prepare(input, options, defaults));
    return yield* proveScanned(prepared, null, prepared.options.speculate);
  }, reported("preflight")),
);

/**
 * {@link preflight} of a signature that is no transaction: typed data (EIP-712), an authorisation (EIP-7702), a text, or 32
 * bytes. The call that would use it is simulated at its worst, by code in place of ECRECOVER that takes the signature for given
 * and proves itself in front of the calls of every block; what it lets somebody take stands in the report like what a
 * transaction does, with `signing` beside it. `ready` hands out what to sign. Where a node cannot assume signatures, the
 * account's own equal call is simulated, and the report is at most `caution`; of kinds that are not known it is `unknown`.
 *
 * Signatures may stand among transactions as well, in what `preflight` and `scan` take: `[permit, swap]`.
 *
 * Fails only with `InvalidTransaction`, before anything is sent. JSON-RPC: as `preflight`; for an account that is made up
 * nothing is asked.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Preflight, Rpc } from "evm-preflight";
 *
 * const report = await Preflight.signature({
 *   message: "hello",
 *   signer: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
 * }).pipe(Effect.provide(Rpc.layerHttp("http://127.0.0.1:8545")), Effect.runPromise);
 * console.log(report.verdict, report.signing?.kind); // unknown unknown
 * ```
 */
export const signature = (signing: GivenSigning, options?: Options): Effect.Effect<Report, InvalidTransaction, Rpc> =>
  isSigning(signing)
    ? preflight(signing as never, options)
    : Effect.fail(
        new InvalidTransaction({
          field: "signing",
          problem: "must have a signer, and one of typedData, authorization, message, hash",
        }),
      );

/** `preflight` of an account's own input in this form; `field` is what its problem is told of. */
const preflightAs = (
  form: ReturnType<typeof accountFormOf>,
  input: object,
  options: Options | undefined,
  field: string,
  problem: string,
): Effect.Effect<Report, InvalidTransaction, Rpc> =>
  safely(() => accountFormOf({ ...input }) === form, false)
    ? preflight(input as never, options)
    : Effect.fail(new InvalidTransaction({ field, problem }));

/**
 * {@link preflight} of a user operation (ERC-4337) of EntryPoint 0.6 to 0.9, before its account signs it: deployed or not, with a
 * paymaster or without, of a contract or of a key that delegates (EIP-7702). The bundler's `handleOps` is simulated from an account
 * that nobody knows, by code in place of ECRECOVER that takes the signature of `signer` for given; `operation.signature` has the
 * account's own form. The verdict is read from the EntryPoint's events and errors, never from the status of the outer call:
 * `OperationFails` names the AA code and whose part failed. `report.signing.operation` has its cost in wei, its gas, its deposit and
 * its times. `BundlerRuleBroken` names a rule of bundlers (ERC-7562) that its validation breaks, where the node has `erc7562Tracer`;
 * what hangs on a bundler's own books is not seen: `BundlerRulesUnseen`. `ready` hands out the operation and its hash.
 *
 * Where a node cannot assume signatures (anvil 1.7.1), or the account takes another key's, the report is `unknown`.
 *
 * Fails only with `InvalidTransaction`, before anything is sent. JSON-RPC: as `signature`; in a round in front what the input does
 * not tell: `eth_chainId`, `eth_getCode` and `eth_call`.
 *
 * Sources: ERC-4337, ERC-7769, ERC-7562; packing and hashing are ox's.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Preflight, Rpc } from "evm-preflight";
 *
 * const report = await Preflight.userOperation({
 *   entryPoint: "0.8",
 *   signer: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
 *   operation: {
 *     ...{ sender: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", nonce: 0n, callData: "0x" },
 *     ...{ callGasLimit: 100_000n, verificationGasLimit: 100_000n, preVerificationGas: 50_000n },
 *     ...{ maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1n, signature: `0x${"00".repeat(65)}` },
 *   },
 * }).pipe(Effect.provide(Rpc.layerHttp("http://127.0.0.1:8545")), Effect.runPromise);
 * console.log(report.verdict, report.signing?.kind); // unknown userOperation
 * ```
 */
export const userOperation = (
  operation: GivenOperation,
  options?: Options,
): Effect.Effect<Report, InvalidTransaction, Rpc> =>
  preflightAs("userOperation", operation, options, "operation", "must stand beside entryPoint");

/**
 * {@link preflight} of a transaction of a Safe (1.3.0, 1.4.1, 1.5.0), before its owners sign it. Owners, threshold, nonce, guard and
 * modules are read from the chain; the approvals of as many owners as are needed are pretended in the Safe's storage, and
 * `execTransaction` is simulated from `executor`, else from an owner. The verdict is read from `ExecutionSuccess` and
 * `ExecutionFailure`, and `safeTxHash` is worked out again and held against the Safe's own (`SafeHashDisagrees`).
 * `report.signing.safe` tells who has signed, and who has to. `ready` hands out the typed data, for each owner who has to sign.
 *
 * No ECRECOVER is assumed, so that every node that simulates can say `ready`.
 *
 * Fails only with `InvalidTransaction`, before anything is sent. JSON-RPC: as `signature`, and in a round in front the Safe's facts.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Preflight, Rpc } from "evm-preflight";
 *
 * const report = await Preflight.safeTransaction({
 *   safe: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
 *   transaction: { to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", value: 1n },
 * }).pipe(Effect.provide(Rpc.layerHttp("http://127.0.0.1:8545")), Effect.runPromise);
 * console.log(report.verdict, report.signing?.kind); // unknown safeTransaction
 * ```
 */
export const safeTransaction = (
  transaction: GivenSafeTransaction,
  options?: Options,
): Effect.Effect<Report, InvalidTransaction, Rpc> =>
  preflightAs("safe", transaction, options, "transaction", "must stand beside safe");

/**
 * {@link preflight} of a batch of calls (EIP-5792). Of an account that is delegated, or is to be (`delegate`, `authorization`), it is
 * one transaction of the account to itself that makes all calls: by ERC-7821's `execute`, or by `executeBatch` of ERC-4337's own
 * accounts, whichever its code takes. Of any other account it is a bundle, one transaction for each call, and `unknown` where
 * `atomicRequired` demands one (`AtomicNotProven`). Where the batch fails, `BatchCallFails` tells which call it is. An
 * authorisation that is not signed yet stands in `signs` of `ready`.
 *
 * `preflight` and `scan` take the same batch, also as the request `{ method: "wallet_sendCalls", params: [batch] }`.
 *
 * Fails only with `InvalidTransaction`, before anything is sent. JSON-RPC: as `preflight`, and in a round in front `eth_getCode` and
 * `eth_simulateV1`; of an account that is to be delegated also `eth_getTransactionCount`; of a batch that fails, in a round behind,
 * `eth_simulateV1` and `eth_getBalance`.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Preflight, Rpc } from "evm-preflight";
 *
 * const report = await Preflight.callBatch({
 *   from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
 *   calls: [
 *     { to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", value: 1n },
 *     { to: "0x90F79bf6EB2c4f870365E785982E1f101E93b906", value: 2n },
 *   ],
 * }).pipe(Effect.provide(Rpc.layerHttp("http://127.0.0.1:8545")), Effect.runPromise);
 * console.log(report.verdict, report.transactions.length); // ready 2
 * ```
 */
export const callBatch = (
  batch: Transaction.CallBatch,
  options?: Options,
): Effect.Effect<BundleReport, InvalidTransaction, Rpc> =>
  safely(() => Array.isArray(batch.calls), false)
    ? preflight(batch as never, options)
    : Effect.fail(new InvalidTransaction({ field: "calls", problem: "must be an array" }));

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
  take: (scanned: BundleReport) => Effect.Effect<ReadonlyArray<bigint | null>, E, R>,
): Transaction.TakesInput<Options, Effect.Effect<BundleReport, InvalidTransaction | E, Rpc | R>> =>
  admitted(
    Effect.fn("Preflight.reserving")(function* (input: unknown, options: Options = {}) {
      const { defaults } = yield* Rpc;
      return yield* proveScanned(yield* prepare(input, options, defaults), (scanned) =>
        // why: of a transaction of which nothing was learned nothing will be sent
        scanned.observed.tier === "none"
          ? Effect.succeed(scanned)
          : Effect.map(take(scanned), (nonces) => assignNonces(scanned, nonces)),
      );
    }, reported("reserving")),
  );

/** The policies that a report holds, as far as they can be rebuilt. */
const policiesIn = ({ policies }: ReportOptions): ReadonlyArray<Policy> =>
  policies.flatMap((data) => fromData(data) ?? []);

/**
 * Simulates the exact requests of a report twice: on the state that was asked for, and on the sealed head in the block
 * that comes next. The outcome is compared with that of an older report (`OutcomeChanged`). Nonce, gas limit and price
 * stay as they were chosen; where the gas limit no longer suffices, the finding is `ScanAgain`. Never fails: failures
 * of the node are findings.
 *
 * Where the chain's pace is known and the next block is not due, all is asked in one round, on the latest block that the
 * connection was shown; it is asked for beside the runs, and where it is another by then, all is asked anew.
 *
 * A report whose request lacks its nonce, gas, fee or chain, or that has none, is not proven: nothing is asked, and it
 * is never `ready`. One that was made without `eth_simulateV1` cannot be proven, and is scanned again. `options`
 * replaces those of the report field by field; the input and the requests stay.
 *
 * JSON-RPC: `eth_simulateV1` (the runs `exact`, `next`, `ample` and `readerOnly`; `reserved`, `gas`, `exactOnLatest`, `atNextFee` and
 * `reordered` where in doubt), `eth_getCode`, `eth_getTransactionCount`, `eth_getBlockByNumber`.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Preflight, Rpc } from "evm-preflight";
 *
 * const shown = Preflight.scan({
 *   from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
 *   to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
 *   value: 1n,
 * });
 * const proven = await Effect.flatMap(shown, (report) => Preflight.prove(report))
 *   .pipe(Effect.provide(Rpc.layerHttp("http://127.0.0.1:8545")), Effect.runPromise);
 * console.log(proven.verdict, proven.stage); // ready proven
 * ```
 */
export const prove: <A extends Report>(report: A, options?: Options) => Effect.Effect<A, never, Rpc> = admitted(
  Effect.fn("Preflight.prove")(function* (report: Report, options: Options = {}) {
    const inner = merged(report);
    if (!isOfBundle(inner) || requestsOf(inner) === null) return unprovable(report);
    const signed = report.signings.length === 0 ? null : (yield* signatures).signedIn(report);
    if (signed === "altered") return unprovable(report);
    yield* recoverAuthorities(inner.transactions.map(({ input }) => input));
    const { report: revised, refused } = revise(inner, options);
    const policies = options.policies ?? policiesIn(revised.options);
    const sources = refused === null ? sourcesOf(options) : {};
    const again = { bundle: inputsOf(revised), options: revised.options, policies, sources, signed };
    if (revised.observed.tier === "call")
      return yield* runOn(
        again,
        (inMode) => Effect.flatMap(scanOnce(inMode, revised.steps.with), ({ whole }) => whole),
        null,
        report.names,
      );
    const { defaults } = yield* Rpc;
    const elsewhere = checkConnection(revised.chainId, defaults?.chainId ?? null);
    const found = [...(refused === null ? [] : [refused]), ...elsewhere];
    const proving = { policies, scanned: null, found, whole: Effect.succeed(parted(revised)) };
    return yield* runOn(
      again,
      () => Effect.flatMap(proveChosen(revised, proving), withLast),
      revised.stage === "scanned" ? revised.ledger : null,
      report.names,
    );
  }, reported("prove")),
  // `never`: it has the same transactions
) as never;

/**
 * The most native currency that `from` can send to `to`, with the proven report of sending exactly that:
 * `{ value, report }`. Value and costs, at the gas limit and fee cap that are handed out, are together the whole
 * balance: to the wei where a chain charges gas × price alone. On OP-stack chains the margin for the L1 fee is kept, too.
 *
 * Fails with `InsufficientFunds` where the fees alone are more than the balance, and with what kept the costs from
 * being known. A receiver that refuses is a blocker of the report. JSON-RPC: as `scan` and `preflight`.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Preflight, Rpc } from "evm-preflight";
 *
 * const { value, report } = await Preflight.maxSendable(
 *   "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
 *   "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
 * ).pipe(Effect.provide(Rpc.layerHttp("http://127.0.0.1:8545")), Effect.runPromise);
 * console.log(report.verdict, value < 10_000n * 10n ** 18n); // ready true
 * ```
 */
export const maxSendable = maxSendableWith(scan, preflight);

// why: who only sends transactions never loads them
const signatures = lazyImport(() => import("./signing/index.js"));

// why: who only asks before signing never loads it
const settling = lazyImport(() => import("./settle/ask/settle.js"));

/**
 * Compares what the report said of its transactions with what the chain did: `hashes` are those that were sent, one
 * for each request of the report in its order, or what `deliver` gave of them: a receipt that came with the sending is
 * asked for again only where the transaction is shown in another block, where the receipt leaves something out, or where
 * several endpoints have to agree. One that is pending, was dropped, or lost its nonce to another is told as such; where
 * the outcome is another one, it is run again to tell why. A bundle's balances are compared where one block holds all of it.
 *
 * Fails with `InvalidTransaction` where the hashes are not the report's or it has no requests, with `ChainIdMismatch`
 * where the node serves another chain, and with what the node
 * said where it does not answer. JSON-RPC: `eth_chainId`, `eth_getTransactionReceipt`, `eth_getTransactionByHash`,
 * `eth_getTransactionCount`, `eth_getBlockByHash`, `eth_getBlockByNumber`, `eth_getBalance`, `eth_call`; on a
 * difference `eth_simulateV1`.
 */
export const settle = (
  report: Report,
  hashes: ReadonlyArray<Hash | SentTransaction>,
  options?: {
    /** How long it may take: ms, or an Effect Duration; default 30 s. */
    readonly deadline?: Duration.Input | undefined;
  },
): Effect.Effect<Settled, Failure | InvalidTransaction, Rpc> =>
  Effect.flatMap(settling, (asking) => asking.settle(report, hashes, options));

/** `watch` by the `ready` and `prove` of a pipeline. */
const watchBy =
  (clears: typeof ready, proves: Parameters<typeof watchWith>[0]) =>
  <E = never, R = never>(
    report: Report,
    heads: Stream.Stream<Head, E, R>,
    options?: Options,
  ): Stream.Stream<Watched, Blocker | E, Rpc | R> =>
    Stream.unwrap(Effect.map(clears(report), () => watchWith(proves, report, heads, options)));

/**
 * Keeps the clearance of a proven report true from head to head (`Eth.watchHeads`): one event for each head that is
 * judged, without end while heads come. `Fresh`: sign by its `report`. `Moved`: sign only if you accept its `diff`.
 * `Lost`: there is no clearance, and why. A clearance that expires before a head is judged is `Lost`, too, even during
 * a proof, whose result follows.
 *
 * A fee cap below the next base fee is seen in the header alone, on chains whose formula is known. Everything else
 * takes a `prove` at the newest head: one at a time for each report, eight at a time for all reports of an endpoint;
 * the others wait in turn.
 *
 * `options` are those of `prove`: policies that are functions have to be given again. Fails as `ready` does where the
 * report gives no clearance, and as `heads` fails. JSON-RPC: as `prove`.
 */
export const watch: <E = never, R = never>(
  report: Report,
  heads: Stream.Stream<Head, E, R>,
  options?: Options,
) => Stream.Stream<Watched, Blocker | E, Rpc | R> = watchBy(ready, prove);

/** A pipeline of your own; `R` is what its steps need. Every verb is the one of the same name in this namespace. */
export interface Pipeline<R = never> {
  /** Asks the steps once. */
  readonly scan: Transaction.TakesInput<Options, Effect.Effect<BundleReport, InvalidTransaction, Rpc | R>>;
  /** Asks the steps once in the scan, and once in the proof. */
  readonly preflight: Transaction.TakesInput<Options, Effect.Effect<BundleReport, InvalidTransaction, Rpc | R>>;
  /** As `preflight`. */
  readonly reserving: <E, R2>(
    take: (scanned: BundleReport) => Effect.Effect<ReadonlyArray<bigint | null>, E, R2>,
  ) => Transaction.TakesInput<Options, Effect.Effect<BundleReport, InvalidTransaction | E, Rpc | R | R2>>;
  /** Asks the steps once, also of a report that was made without them. */
  readonly prove: <A extends Report>(report: A, options?: Options) => Effect.Effect<A, never, Rpc | R>;
  /** `Report.ready`, which also refuses a report that lacks one of the steps: `NotProven`, `StepMissing`. */
  readonly ready: typeof ready;
  /** Asks the steps in each of its scans, and in its proof. */
  readonly maxSendable: (
    ...input: Parameters<typeof maxSendable>
  ) => Effect.Effect<
    Effect.Success<ReturnType<typeof maxSendable>>,
    Effect.Error<ReturnType<typeof maxSendable>>,
    Rpc | R
  >;
  /** Asks the steps in each proof. Fails as `ready` does. */
  readonly watch: <E = never, R2 = never>(
    report: Report,
    heads: Stream.Stream<Head, E, R2>,
    options?: Options,
  ) => Stream.Stream<Watched, Blocker | E, Rpc | R | R2>;
  /** Asks no step: it says what became of a report. */
  readonly settle: typeof settle;
  /** A single question asks no step. */
  readonly checkCode: typeof checkCode;
  /** As `checkCode`. */
  readonly simulate: typeof simulate;
  /** As `checkCode`. */
  readonly estimateGas: typeof estimateGas;
  /** As `checkCode`. */
  readonly resolveNonce: typeof resolveNonce;
  /** As `checkCode`. */
  readonly quoteFee: typeof quoteFee;
}

/**
 * A pipeline with steps of your own (`Step.make`), or without some of the built-in ones. Your steps ask in the same
 * network round as everything else, and their findings count like built-in ones. A step that fails, throws, or does
 * not answer within the deadline is `StepUnavailable`, never a pass. The verbs require the services that the steps
 * require. Throws `InvalidStep` where a name has no `/` or comes twice, and where something is no step.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Preflight, Rpc } from "evm-preflight";
 *
 * const report = await Preflight.make({ without: ["approvals"] })
 *   .preflight({ from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", value: 1n })
 *   .pipe(Effect.provide(Rpc.layerHttp("http://127.0.0.1:8545")), Effect.runPromise);
 * console.log(report.verdict, report.because); // caution a step was left out of the pipeline
 * ```
 */
export const make = <const Steps extends ReadonlyArray<Step.Step<unknown, unknown, unknown>> = readonly []>(options: {
  /** Steps of your own, in the order in which their findings stand. */
  readonly steps?: Steps | undefined;
  /**
   * Built-in steps to leave out: nothing of them is asked, nor taken as a default, and each is a finding `LeftOut`.
   * Without `assets` or `approvals`, or `estimate` where every `gas` is given, a report is at most `caution`, and
   * policies that read what is missing cannot tell; without any other it is at most `unknown`.
   */
  readonly without?: ReadonlyArray<(typeof builtInSteps)[number]> | undefined;
}): Pipeline<Step.NeedsOf<Steps[number]>> => {
  const ownSteps = madeOf(options);
  /** `use` with the steps in it. */
  const within = <A, E, R>(use: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Step.NeedsOf<Steps[number]>> =>
    Effect.contextWith((services: Context.Context<Step.NeedsOf<Steps[number]>>) =>
      Effect.provideService(use, OwnSteps, { ...ownSteps, services }),
    );
  const proveIn = <A extends Report>(report: A, runOptions?: Options) => within(prove(report, runOptions));
  const readyIn = <A extends Report>(report: A) =>
    Effect.provideService(ready(report), OwnSteps, { ...ownSteps, services: Context.empty() });
  return {
    // `never` fits every input: the verbs' types have judged it, and the pipeline checks it
    scan: (input, runOptions) => within(scan(input as never, runOptions)),
    preflight: (input, runOptions) => within(preflight(input as never, runOptions)),
    reserving: (take) => (input, runOptions) => within(reserving(take)(input as never, runOptions)),
    prove: proveIn,
    ready: readyIn,
    maxSendable: (...input) => within(maxSendable(...input)),
    watch: (report, heads, runOptions) =>
      Stream.unwrap(
        Effect.map(Effect.context<Step.NeedsOf<Steps[number]>>(), (services) => {
          const proving: typeof prove = (again, options) => Effect.provideContext(proveIn(again, options), services);
          return watchBy(readyIn, proving)(report, heads, runOptions);
        }),
      ),
    ...{ settle, checkCode, simulate, estimateGas, resolveNonce, quoteFee },
  };
};
