/** Compares what a report said with what the chain did: asks everything that `Report.settle` needs. */
import type * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as Metric from "effect/Metric";
import * as Result from "effect/Result";
import { dataAt, wordAt } from "../../abi/index.js";
import { InvalidTransaction, ChainIdMismatch } from "../../errors/index.js";
import {
  type Failure,
  type FullBlock,
  type Receipt,
  getFullBlock,
  getTransaction,
  getTransactionReceipt,
  nonceTakerOf,
  receiptOfSend,
} from "../../eth/index.js";
import * as Eth from "../../eth/index.js";
import {
  each,
  onlyHas,
  isHash,
  isRecord,
  type Address,
  type Hash,
  type Checked,
  no,
  reportProblem,
} from "../../primitives/index.js";
import { admitted, afterwards, inBranch, inRound, ledgerSoFar, withRun } from "../../pipeline/index.js";
import { times, type Report } from "../../report/index.js";
import { executedIn, isExecuted } from "../../signing/index.js";
import { CurrentRun, Rpc } from "../../rpc/index.js";
import { balanceOf } from "../../witness/index.js";
import { balanceFacts } from "../compare.js";
import { isAsSaid, minedIn, settle as compare, settleBalances } from "../settle.js";
import { gravest, type Hindsight, type SentTransaction, type Settled, type Settlement } from "../settlement.js";
import { askReplay } from "./replay.js";

const atOnce = { concurrency: "unbounded" } as const;

/** Balances that are read around a block. */
const mostHeld = 32;

/** A transaction that was sent, with the receipt that came in the answer to the sending; null = it is asked for. */
interface Known {
  readonly hash: Hash;
  readonly receipt: Receipt | null;
}

/** True if it tells all that a settlement reads, with the fees that the report told of. */
const isWhole = (receipt: Receipt, { funds }: Report): boolean => {
  const said = new Set(funds.flatMap(({ terms }) => terms.map(({ name }) => name)));
  const { status, logs, effectiveGasPrice, l1Fee, operatorFeeScalar, blobGasPrice, blobGasUsed } = receipt;
  return ![
    ...[status, logs, effectiveGasPrice],
    ...(said.has("l1Fee") ? [l1Fee] : []),
    ...(said.has("operatorFee") ? [operatorFeeScalar] : []),
    ...(said.has("blobGas") ? [blobGasPrice, blobGasUsed] : []),
  ].includes(null);
};

/** Reads the facts of one hash, before anything is compared. */
const find = Effect.fnUntraced(function* (report: Report, { hash: sent, receipt }: Known, transaction: number) {
  const proven = report.transactions[transaction];
  if (proven?.request == null)
    return yield* new InvalidTransaction({
      field: `report.transactions[${transaction}].request`,
      problem: "is not there: only what was proven can be settled",
    });
  const { from } = proven.input;
  const { nonce } = proven.request;
  // why: of several endpoints one alone has said it
  const isEnough = receipt !== null && isWhole(receipt, report) && (yield* Rpc).isQuorum !== true;
  const given = isEnough ? receipt : null;
  const asked = getTransactionReceipt({ hash: sent });
  const { first, known, count } = yield* Effect.all(
    {
      first: given === null ? asked : Effect.succeed(given),
      known: getTransaction({ hash: sent }),
      count: Eth.getTransactionCount({ address: from, block: "latest" }),
    },
    atOnce,
  );
  // why: what was sent may be in another block since, or its block was no sealed one
  const isStale = given !== null && (given.blockHash === null || given.blockHash !== known?.blockHash);
  const reported = isStale ? yield* asked : first;
  // why: a receipt may outlive its block, and the transaction be in another since
  const isTorn = reported?.blockHash != null && known?.blockHash != null && reported.blockHash !== known.blockHash;
  const found = isTorn ? null : reported;
  // why: a node that has the transaction in a block, and its receipt not yet, has mined it all the same
  const isTaken = count > BigInt(nonce) && (isTorn || known?.blockNumber == null);
  // the state without a receipt; `taken`: the sender has used the nonce, and whether by this is not known
  const state: "pending" | "dropped" | "taken" = isTaken ? "taken" : known === null ? "dropped" : "pending";
  return { transaction, sent, from, nonce, receipt: found, state };
});
type FactsFound = Effect.Success<ReturnType<typeof find>>;

/** Asks what the accounts of the report held around a block; what is not answered is left out. */
const askHeld = ({ balanceChanges }: Report, { number }: FullBlock) => {
  const at = (account: Address, token: Address | null, block: bigint): Effect.Effect<bigint, unknown, Rpc> =>
    token === null
      ? Eth.getBalance({ address: account, block })
      : // why: where the token is not there yet there is no answer
        Effect.flatMap(Eth.call({ to: token, data: balanceOf(token, account).data, block }), (answer) =>
          Effect.fromNullishOr(wordAt(answer, dataAt)),
        );
  const around = (account: Address, token: Address | null): Effect.Effect<NonNullable<Hindsight["held"]>, never, Rpc> =>
    Effect.match(Effect.all([at(account, token, number - 1n), at(account, token, number)], atOnce), {
      onFailure: () => [],
      onSuccess: ([before, after]) => [{ account, token, before, after }],
    });
  const changes = balanceChanges.filter(({ tokenId }) => tokenId === null).slice(0, mostHeld);
  return Effect.map(
    Effect.forEach(changes, ({ account, token }) => around(account, token), atOnce),
    (all) => all.flat(),
  );
};

/** One that was mined: compared, and asked again where it did something else. */
const settleMined = Effect.fnUntraced(function* (
  report: Report,
  found: FactsFound & { readonly receipt: Receipt },
  block: FullBlock,
  own: ReadonlySet<string>,
): Effect.fn.Return<Settlement | null, never, Rpc> {
  const { transaction, receipt, sent } = found;
  const proven = report.transactions[transaction];
  const mined = minedIn(receipt, block);
  const hindsight: Hindsight = { transaction, sent };
  const first = compare(report, receipt, block, hindsight);
  const isOurs = first !== null && first.class !== "tampered" && first.class !== "replaced";
  if (proven === undefined || mined === null || !isOurs || isAsSaid(proven, receipt)) return first;
  const replay = yield* inRound("settlement", askReplay({ report, transaction, mined, receipt, block, own }));
  return compare(report, receipt, block, { ...hindsight, replay });
});

const open = ({ transaction, sent }: FactsFound, state: Exclude<Settlement["state"], "mined">): Settlement => ({
  ...{ transaction, hash: sent, state },
  class: state === "replaced" ? "replaced" : "unknown",
});

/** Looks for the transaction that took the nonce: a count alone may come from a node ahead of the one with the receipts. */
const settleTaken = Effect.fnUntraced(function* (report: Report, found: FactsFound, own: ReadonlySet<string>) {
  const { from, nonce, sent } = found;
  const head = yield* inRound("settlement", Eth.getBlock({ block: "latest" }));
  const search = nonceTakerOf(from)(BigInt(nonce), head.number, report.observed.latestNumber);
  const finding = Effect.orElseSucceed(search, () => null);
  const taker = yield* inRound("settlement", finding);
  if (taker === null) return open(found, "unknown");
  const { mined, block } = taker;
  const receipt = yield* inRound("settlement", getTransactionReceipt({ hash: mined.hash }));
  const settlement = receipt === null ? null : yield* settleMined(report, { ...found, receipt }, block, own);
  return settlement ?? open(found, mined.hash.toLowerCase() === sent.toLowerCase() ? "unknown" : "replaced");
});

const settleOne = Effect.fnUntraced(function* (report: Report, found: FactsFound, own: ReadonlySet<string>) {
  const { receipt, state } = found;
  if (receipt !== null) {
    const block = yield* inRound("settlement", getFullBlock({ block: receipt.blockHash ?? receipt.blockNumber }));
    const settlement = yield* settleMined(report, { ...found, receipt }, block, own);
    return { settlement: settlement ?? open(found, "unknown"), block };
  }
  const settlement = state === "taken" ? yield* settleTaken(report, found, own) : open(found, state);
  return { settlement, block: null };
}, inBranch);

/** That the node serves the chain of the report: another knows nothing of it, and has used the nonces otherwise. */
const checkChain = ({ chainId, transactions }: Report): Effect.Effect<void, Failure, Rpc> =>
  Effect.flatMap(Eth.chainId, (actual) => {
    const expected = transactions[0]?.request?.chainId ?? chainId ?? actual;
    return expected === actual
      ? Effect.void
      : Effect.fail(new ChainIdMismatch({ expected: BigInt(expected), actual: BigInt(actual) }));
  });

const settleAll = Effect.fnUntraced(function* (report: Report, sent: ReadonlyArray<Known>) {
  const own = new Set(sent.map(({ hash }) => hash.toLowerCase()));
  const finding = Effect.forEach(sent, (each, index) => find(report, each, index), atOnce);
  const [found] = yield* inRound("settlement", Effect.all([finding, checkChain(report)], atOnce));
  const all = yield* afterwards(Effect.forEach(found, (each) => settleOne(report, each, own), atOnce));
  const transactions = all.map(({ settlement }) => settlement);
  const receipts = found.flatMap(({ receipt }) => (receipt === null ? [] : [receipt]));
  const [block] = all.flatMap((each) => each.block ?? []);
  const outcome = gravest(transactions.map((transaction) => transaction.class));
  const untold: Settled["balancesUntold"] =
    outcome === "tampered" || outcome === "replaced"
      ? "otherRequest"
      : block === undefined || receipts.length < sent.length
        ? "notAllMined"
        : all.every((each) => each.block?.hash === block.hash)
          ? null
          : "severalBlocks";
  const balances =
    untold !== null || block === undefined
      ? { compared: 0, differences: [], uncompared: balanceFacts(report, () => null).map(({ of }) => of) }
      : settleBalances(report, receipts, block, yield* inRound("settlement", askHeld(report, block)), outcome);
  return {
    class: gravest([outcome, ...balances.differences.map((difference) => difference.class)]),
    transactions,
    balances,
    balancesUntold: untold,
  };
});

/** One input of an account: what its own event says of it, in the transaction that was sent for it. */
const settleSigning = Effect.fnUntraced(function* (report: Report, { hash, receipt }: Known, signing: number) {
  const own = report.signings[signing];
  const { found, known } = yield* Effect.all(
    { found: getTransactionReceipt({ hash }), known: getTransaction({ hash }) },
    atOnce,
  );
  const mined = found ?? (known?.blockHash === receipt?.blockHash ? receipt : null);
  const told = own === undefined || mined === null ? null : executedIn(own, mined.logs ?? []);
  // why: a transaction in a block, whose receipt is not there yet, is mined
  const isMined = mined !== null || known?.blockNumber != null;
  const state = told !== null ? "mined" : isMined ? "unknown" : known === null ? "dropped" : "pending";
  const outcome = told === null ? "unknown" : told.success ? "same" : "unfulfilled";
  return { signing, hash, state, success: told?.success ?? null, cost: told?.cost ?? null, class: outcome } as const;
});

/** A report of accounts' inputs alone: what a bundler or an executor sent of them. */
const settleSignings = Effect.fnUntraced(function* (report: Report, sent: ReadonlyArray<Known>) {
  const finding = Effect.forEach(sent, (each, index) => settleSigning(report, each, index), atOnce);
  const [signings] = yield* inRound("settlement", Effect.all([finding, checkChain(report)], atOnce));
  const uncompared = balanceFacts(report, () => null).map(({ of }) => of);
  return {
    ...{ class: gravest(signings.map((one) => one.class)), transactions: [], signings },
    ...{ balances: { compared: 0, differences: [], uncompared }, balancesUntold: "ofAccounts" as const },
  };
});

/** True of a report that has nothing but inputs of accounts whose contracts say what became of them. */
const isOfAccounts = ({ transactions, signings }: Report): boolean =>
  transactions.length === 0 && signings.length > 0 && signings.every(isExecuted);

/** As outside any run: where endpoints of a quorum disagree, there is no report to tell it, and the request fails. */
const alone = <A, E, R>(ask: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.service(CurrentRun), (run) =>
    Effect.provideService(ask, CurrentRun, { ...run, sighted: null }),
  );

const settlements = Metric.counter("evm_preflight_settlements_total", { incremental: true });
const gasRatio = Metric.histogram("evm_preflight_settlement_gas_ratio", {
  boundaries: [0.1, 0.25, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1],
});
const ageBlocks = Metric.histogram("evm_preflight_settlement_age_blocks", {
  boundaries: [1, 2, 3, 5, 10, 25, 50, 100],
});

/** Measures what one settlement teaches: by class, gas used of the limit, and flips by age. Nothing is tuned by it. */
const measure = Effect.fnUntraced(function* (settlement: Settlement): Effect.fn.Return<void> {
  yield* Metric.update(Metric.withAttributes(settlements, { "preflight.class": settlement.class }), 1);
  if (settlement.state !== "mined") return;
  const { sample } = settlement;
  yield* Metric.update(gasRatio, sample.gasRatio);
  if (sample.ageBlocks === null) return;
  const ages = Metric.withAttributes(ageBlocks, { "preflight.flip": String(sample.isFlip) });
  yield* Metric.update(ages, sample.ageBlocks);
});

/** Counts what was settled, and writes its class to the span. */
export const settled = <E, R>(effect: Effect.Effect<Settled, E, R>): Effect.Effect<Settled, E, R> =>
  Effect.tap(effect, ({ class: name, transactions }) =>
    Effect.andThen(
      Effect.forEach(transactions, measure, { discard: true }),
      Effect.annotateCurrentSpan({ "preflight.class": name }),
    ),
  );

/** A hash, or a transaction with its hash, and the receipt where that came with its sending. */
const sentIn = (entry: unknown, field: string): Checked<Known> => {
  const { hash, receipt = null } = isRecord(entry) ? entry : { hash: entry };
  if (!isHash(hash)) return no(isRecord(entry) ? `${field}.hash` : field, "must be a hash of 32 bytes");
  const came = receiptOfSend(receipt);
  return Result.succeed({ hash, receipt: came?.transactionHash.toLowerCase() === hash.toLowerCase() ? came : null });
};

/** The sent transactions and the deadline in ms, or the error of an input that cannot be settled. */
const inputOf = (report: Report, hashes: unknown, options: unknown) =>
  Result.gen(function* () {
    const unlike = reportProblem(report);
    if (unlike !== null) return yield* Result.fail(unlike);
    if (!Array.isArray(hashes)) return yield* no("hashes", "must be a list of hashes");
    const [{ length }, what] = isOfAccounts(report)
      ? [report.signings, "user operations or Safes' transactions"]
      : [report.transactions, "transactions"];
    if (length === 0) return yield* no("report.transactions", "must have at least one transaction");
    if (hashes.length !== length) return yield* no("hashes", `must be one for each of the report's ${length} ${what}`);
    const sent = yield* each(hashes, (entry, index) => sentIn(entry, `hashes[${index}]`));
    const given = options ?? {};
    if (!isRecord(given)) return yield* no("options", "must be an object");
    // why: the doors take the signal beside the options and read it themselves
    yield* onlyHas(given, ["deadline", "signal"], "an option", "options.");
    return { sent, deadline: yield* times.deadline.check(given["deadline"] ?? 30_000, "options.deadline") };
  });

/** See `Preflight.settle`. */
export const settle: (
  report: Report,
  hashes: ReadonlyArray<Hash | SentTransaction>,
  options?: { readonly deadline?: Duration.Input | undefined },
) => Effect.Effect<Settled, Failure | InvalidTransaction, Rpc> = admitted(
  Effect.fn("Preflight.settle")(function* (...[report, hashes, options]: Parameters<typeof settle>) {
    const { sent, deadline } = yield* Effect.fromResult(inputOf(report, hashes, options)).pipe(
      Effect.mapError((problem) => new InvalidTransaction(problem)),
    );
    const settling: Effect.Effect<Omit<Settled, "ledger">, Failure | InvalidTransaction, Rpc> = isOfAccounts(report)
      ? settleSignings(report, sent)
      : settleAll(report, sent);
    return yield* withRun(deadline, () =>
      Effect.flatMap(alone(settling), (result) =>
        Effect.map(ledgerSoFar, (ledger): Settled => ({ ...result, ledger })),
      ),
    );
  }, settled),
);
