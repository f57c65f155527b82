/**
 * Movements of native currency and tokens, as the logs say and as the balances show.
 *
 * Transfers are read from the simulated logs (`logged`); for every account and token they touch, and
 * for those that the calldata makes suspect, the witness reads balances before and after in the same
 * simulated block (`measured`), and where the two disagree both numbers are shown. Lives on the
 * witness: `queries` and a pure `decide`.
 */
import * as BigInts from "effect/BigInt";
import { effectiveGasPrice } from "../chains/baseFee.js";
import type { Address } from "../primitives/hex.js";
import { address, count, text, units, wei } from "../primitives/statement.js";
import { code, type Evidence, type Finding } from "../report/finding.js";
import type { BalanceChange, Transfer } from "../report/parts.js";
import { knows } from "../witness/view.js";
import { blobGasOf, ownAccounts, type Filled, type Ran } from "./reading/bundle.js";
import { amountIn, ByBalance, type Balance, balanceQuery, type Holding } from "./reading/holdings.js";
import { reasonOf } from "./reading/rounding.js";
import type { Sights } from "./reading/runCode.js";
import { settle, type Standards } from "../effects/movements.js";
import { effectsIn, type Rows } from "../effects/effects.js";

/** Every movement that the logs tell of, in order, by what the tokens answered; else the shape of their events stands. */
export const transfers = (bundle: ReadonlyArray<Ran>, standards: Standards = new Map()): ReadonlyArray<Transfer> =>
  settle(effectsIn(bundle, "movement"), standards);

/** How much of it there was before, and is after. */
const amountsOf = (holding: Holding, { before, after }: Sights): readonly [bigint | null, bigint | null] => {
  const [had, has] = [amountIn(before, holding), amountIn(after, holding)];
  if (!holding.owned || (had !== null && has !== null)) return [had, has];
  // why: ownerOf reverts where there is no such id (yet, or no more), but not on both sides of a movement
  const isKnown = (had ?? has) !== null && [before, after].every((view) => knows(view, balanceQuery(holding)));
  return isKnown ? [had ?? 0n, has ?? 0n] : [null, null];
};

/** The views of a run, and the facts by which its movements are read. */
export interface MovementFacts extends Sights {
  readonly transfers: ReadonlyArray<Transfer>;
  readonly standards: Standards;
  /**
   * Wei by which the simulation itself changed an account's balance, which its balance change must not
   * show: what it paid for gas, negative what it earned in tips.
   */
  readonly paid: ReadonlyMap<Address, bigint>;
  /**
   * How far the operator fee may have moved a signer's balance in the run, wei. Some nodes take it in a simulation, others
   * (op-geth) take nothing and give back what the limit leaves of it.
   */
  readonly operator: ReadonlyMap<Address, { readonly taken: bigint; readonly given: bigint }>;
  /** Contracts whose balances are deposits: measured where somebody asks for them, or a signer loses one. */
  readonly deposits: ReadonlySet<Address>;
  /** The signers: a lost deposit is reported for no other account. */
  readonly signers: ReadonlySet<Address>;
  /** True if two readings of a balance disagree: the balance is then not known. */
  readonly isContradicted: (holding: Holding) => boolean;
  /** The evidence of a balance read in the run: `assumed` where the state was partly pretended. */
  readonly evidence: Evidence;
}

/**
 * Returns by how much gas changed the balances in a run that charged it: the signers paid, and the fee recipient,
 * where the witness saw who that is, earned the tips.
 */
export const gasPaid = (bundle: ReadonlyArray<Filled>, baseFee: bigint, { before }: Pick<Sights, "before">) => {
  const amounts = new Map<Address, bigint>();
  const add = (account: Address, amount: bigint) => amounts.set(account, (amounts.get(account) ?? 0n) + amount);
  const recipient = before.environment?.feeRecipient ?? null;
  for (const { signer, outcome, fee } of bundle) {
    const used = outcome.gasUsed ?? 0n;
    const price = effectiveGasPrice(fee.value, baseFee);
    add(signer, used * price);
    if (recipient !== null) add(recipient, -used * (price > baseFee ? price - baseFee : 0n));
  }
  return amounts;
};

/** The bounds of {@link MovementFacts.operator}; `calls` = the limits that each ran with. */
export const operatorFees = (bundle: ReadonlyArray<Filled>, calls: ReadonlyArray<{ readonly gas: bigint }>) => {
  const fees = new Map<Address, { taken: bigint; given: bigint }>();
  for (const { index, signer, outcome, charged } of bundle) {
    const fee = charged.extra?.operatorFee ?? 0n;
    const { taken, given } = fees.get(signer) ?? { taken: 0n, given: 0n };
    const most = (fee * (calls[index]?.gas ?? 0n)) / (outcome.gasUsed || 1n);
    fees.set(signer, { taken: taken + fee, given: given + most });
  }
  return fees;
};

/** The movements by account and token, so that a report over thousands stays linear. */
const tally = (transfers: ReadonlyArray<Transfer>): ((balance: Balance) => bigint) => {
  const sums = new ByBalance<bigint>();
  for (const { standard, token, tokenId, from, to, amount } of transfers) {
    const counted = standard === "erc721" ? 1n : amount;
    // why: an ERC-1155 or ERC-6909 has a balance per id and none of the whole
    const isById = standard === "erc1155" || standard === "erc6909";
    for (const id of isById || tokenId === null ? [tokenId] : [null, tokenId]) {
      const held = sums.of({ token, tokenId: id });
      held.set(from, (held.get(from) ?? 0n) - counted);
      held.set(to, (held.get(to) ?? 0n) + counted);
    }
  }
  return (balance) => sums.of(balance).get(balance.account) ?? 0n;
};

/**
 * Adds the cost of blobs to `paid`. No answer names their price: it is what neither gas nor events explain of a payer's
 * balance, where that comes to one price for all its blobs, within their caps.
 */
export const withBlobs = (
  paid: MovementFacts["paid"],
  bundle: ReadonlyArray<Filled>,
  transfers: ReadonlyArray<Transfer>,
  { before, after }: Sights,
): MovementFacts["paid"] => {
  const carrying = bundle.filter(({ input }) => blobGasOf(input) > 0n);
  if (carrying.length === 0) return paid;
  const all = new Map(paid);
  const loggedOf = tally(transfers);
  for (const account of new Set(carrying.map(({ signer }) => signer))) {
    const own = carrying.flatMap(({ signer, input }) => (signer === account ? [input] : []));
    const gas = BigInts.sumAll(own.map(blobGasOf));
    const most = BigInts.sumAll(own.map((input) => blobGasOf(input) * (input.maxFeePerBlobGas ?? 0n)));
    const [had, has] = [before.account(account)?.balance ?? null, after.account(account)?.balance ?? null];
    if (had === null || has === null) continue;
    const known = paid.get(account) ?? 0n;
    const unexplained = had - has - known + loggedOf({ account, token: null, tokenId: null });
    if (unexplained > 0n && unexplained % gas === 0n && unexplained <= most) all.set(account, known + unexplained);
  }
  return all;
};

/**
 * The contracts that keep deposits in native currency, by events in their own name: no tokens, though they answer as some.
 * Whoever tells of a token's movements is a token, and one that pays a sender's deposit to somebody else is looked at as
 * one, for nothing else tells of that loss.
 */
export const depositsIn = (bundle: ReadonlyArray<Ran>): ReadonlySet<Address> => {
  const senders = new Set<string>(ownAccounts(bundle));
  const events = effectsIn(bundle, "event");
  const paidAway = effectsIn(bundle, "sum")
    .filter(({ what, account, to }) => what === "payout" && senders.has(account ?? "") && !senders.has(to ?? ""))
    .map(({ contract }) => contract);
  const moved = events.flatMap(({ contract, row }) => (row.movement === undefined ? [] : contract));
  const tokens = new Set([...paidAway, ...moved]);
  const keepers = events.flatMap(({ contract, row }) => (row.isKeeping === true ? contract : []));
  return new Set(keepers.filter((contract) => !tokens.has(contract)));
};

const isDeposit = ({ token, wanted }: Holding, { deposits }: MovementFacts): boolean =>
  token !== null && !wanted && deposits.has(token);

/** How a holding changed: as it was measured, changed or not, else as the logs have it. */
const changeOf = (holding: Holding, logged: bigint, answers: MovementFacts): BalanceChange => {
  const { account, token, tokenId } = holding;
  const [before, after] = amountsOf(holding, answers);
  // why: a token that tells two balances has told none
  if (before === null || after === null || answers.isContradicted(holding))
    return { account, token, tokenId, before, after: null, delta: logged, evidence: "logged" };
  const gas = token === null ? (answers.paid.get(account) ?? 0n) : 0n;
  const delta = after - before + gas;
  const fee = token === null ? answers.operator.get(account) : undefined;
  const isFee = fee !== undefined && delta >= logged - fee.taken && delta <= logged + fee.given;
  return { account, token, tokenId, before, after, delta: isFee ? logged : delta, evidence: answers.evidence };
};

const isRead = ({ after }: BalanceChange): boolean => after !== null;

/** The holdings as they were measured, and as the logs have them; none is read as an ERC-721 of a token that turned out to be none. */
const rowsOf = (holdings: ReadonlyArray<Holding>, answers: MovementFacts) => {
  const loggedOf = tally(answers.transfers);
  return holdings.flatMap((holding) => {
    const { owned, token } = holding;
    if (owned && token !== null && (answers.standards.get(token) ?? "erc721") !== "erc721") return [];
    const logged = loggedOf(holding);
    return [{ holding, logged, change: changeOf(holding, logged, answers) }];
  });
};

type HoldingRow = ReturnType<typeof rowsOf>[number];

/** Every holding that the witness could read, unchanged ones too: what two runs are compared by. */
export const measure = (holdings: ReadonlyArray<Holding>, answers: MovementFacts): ReadonlyArray<BalanceChange> =>
  rowsOf(holdings, answers).flatMap(({ holding, change }) =>
    isRead(change) && !isDeposit(holding, answers) ? change : [],
  );

/** How many disagreements are told one by one, of those that nothing explains and of the others each. */
const mostMismatches = 32;

/**
 * @figures address("token", usdc), address("of", alice), units("events say", 1_000_000n), units("measured", 990_000n)
 * @info where something bounded explains it, such as the rounding of shares
 */
export const TransferMismatch = code("assets", ["warning", "info"], "TransferMismatch", [
  "the events and the measured balances disagree",
  "trust the measured amount; the token may take a fee or rebase, or its events may be wrong",
]);

const mismatch = ({ change: { account, token, tokenId, delta }, logged }: HoldingRow, reason: string | null) => {
  const of = token === null ? text("", "native currency") : address("token", token);
  const amount = token === null ? wei : units;
  const amounts = [amount("events say", logged), amount("measured", delta)];
  const parties = [of, count("id", tokenId), address("of", account)];
  const say = TransferMismatch[reason === null ? "warning" : "info"];
  return say({ evidence: "measured" }, ...parties, ...amounts, text("because", reason));
};

const isWarning = ({ severity }: Finding): boolean => severity === "warning";

const isNative = ({ change }: HoldingRow): boolean => change.token === null;

const disagree = ({ change: { after, delta }, logged }: HoldingRow): boolean => after !== null && delta !== logged;

/**
 * Balance changes of every holding, measured where the witness could, and where events and balances disagree: a warning,
 * or information where the difference is no more than rounding, interest or a stake explain. `sums`: all that were told.
 */
export const read = (holdings: ReadonlyArray<Holding>, facts: MovementFacts, sums: ReadonlyArray<Rows["sum"]> = []) => {
  const { signers } = facts;
  const reasonIn = (row: HoldingRow): string | null => reasonOf(row, { ...facts, sums });
  const candidates = rowsOf(holdings, facts);
  const earned = new Map(candidates.filter(isNative).map(({ change: { account, delta } }) => [account, delta]));
  // why: of a signer's deposit that shrinks for nothing, nothing else tells
  const isLost = (row: HoldingRow): boolean => {
    const { account, delta } = row.change;
    const isLess = delta < 0n && delta < -(earned.get(account) ?? 0n);
    return signers.has(account) && isRead(row.change) && isLess && reasonIn(row) === null;
  };
  const rows = candidates.filter((row) => !isDeposit(row.holding, facts) || isLost(row));
  const nfts = new Set(facts.transfers.flatMap(({ standard, token }) => (standard === "erc721" ? [token] : [])));
  const visible = rows.filter((row) => {
    const { token, tokenId, delta } = row.change;
    if (row.holding.wanted) return isRead(row.change) || delta !== 0n;
    // an ERC-721 is shown by its ids; its count only where the ids do not explain it
    if (nfts.has(token) && tokenId === null) return disagree(row);
    return delta !== 0n || disagree(row);
  });
  const differing = rows.filter(disagree);
  const inOrder = [...differing.filter(isNative), ...differing.filter((row) => !isNative(row))];
  const found = inOrder.map((row) => mismatch(row, reasonIn(row)));
  const explained = found.filter((finding) => !isWarning(finding));
  return {
    changes: visible.map(({ change }) => change),
    // why: what is explained must not push out what is not, nor tokens the chain's own currency, by which policies judge
    findings: [found.filter(isWarning), explained].flatMap((some) => some.slice(0, mostMismatches)),
  };
};
