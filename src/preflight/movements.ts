/** What one run moves and grants, as its logs say and as the witness measured. Pure. */
import { effectiveGasPrice } from "../chains/baseFee.js";
import type { Finding } from "../errors/finding.js";
import type { Address } from "../errors/hex.js";
import * as Approvals from "../steps/approvals.js";
import * as Assets from "../steps/assets.js";
import type { Approval, BalanceChange, Outcome, TokenInfo, Transfer } from "../steps/outputs.js";
import type { Lookup, Reading } from "../steps/simulate.js";
import * as Tokens from "../steps/tokens.js";
import type { Transaction } from "../transaction/schema.js";
import { measureOf, type Measure } from "./measure.js";

/** What the witness saw in the run. */
export interface Sight {
  readonly before: Lookup;
  readonly after: Lookup;
}

/** Fees of one transaction, wei per gas. */
interface Fees {
  readonly gasPrice: bigint | null;
  readonly maxFeePerGas: bigint | null;
  readonly maxPriorityFeePerGas: bigint | null;
}

const environmentIn = (lookup: Lookup) => {
  const answer = lookup({ kind: "environment" });
  return answer?.kind === "environment" ? answer : null;
};

/**
 * What gas did to the balances in a run that charged it: the senders paid, and the fee recipient, where
 * the witness saw who that is, earned the tips.
 */
export const gasPaid = (
  transactions: ReadonlyArray<Pick<Transaction, "from"> & Fees>,
  outcomes: ReadonlyArray<Outcome>,
  baseFee: bigint,
  { before }: Sight,
): Assets.GasPaid => {
  const paid = new Map<Address, bigint>();
  const add = (account: Address, amount: bigint) => paid.set(account, (paid.get(account) ?? 0n) + amount);
  const recipient = environmentIn(before)?.feeRecipient ?? null;
  transactions.forEach((transaction, index) => {
    const used = outcomes[index]?.gasUsed ?? 0n;
    const price = effectiveGasPrice(transaction, baseFee);
    add(transaction.from, used * price);
    if (recipient !== null) add(recipient, -used * (price > baseFee ? price - baseFee : 0n));
  });
  return paid;
};

/** What one run moves and grants. */
export interface Movements {
  readonly transfers: ReadonlyArray<Transfer>;
  /** What changed. */
  readonly balanceChanges: ReadonlyArray<BalanceChange>;
  /** Everything that was measured, unchanged balances too. */
  readonly measured: ReadonlyArray<BalanceChange>;
  readonly approvals: ReadonlyArray<Approval>;
  readonly tokens: ReadonlyArray<TokenInfo>;
  /** Which standard each token answered to. */
  readonly standards: Tokens.Standards;
  readonly findings: ReadonlyArray<Finding>;
}

/**
 * Reads one run. `asked` is what the witness was asked; what the run tells of beyond it stays `logged`.
 */
export const movementsOf = (
  transactions: ReadonlyArray<Transaction>,
  readings: ReadonlyArray<Reading>,
  sight: Sight,
  asked: Measure,
  paid: Assets.GasPaid,
): Movements => {
  const outcomes = readings.map(({ outcome }) => outcome);
  const { before, after } = sight;
  const either: Lookup = (query) => {
    const first = before(query);
    return first?.kind === "call" && first.success ? first : (after(query) ?? first);
  };
  const standards = Tokens.standards(asked.tokens, either);
  const transfers = Assets.transfers(readings, standards);
  const found = measureOf(transactions, { outcomes, transfers: Assets.transfers(readings) }, []);
  const holdings = Assets.union(asked.holdings, found.holdings);
  const rights = Approvals.union(asked.rights, found.rights);
  const changes = Assets.decide(transfers, holdings, before, after, paid, standards);
  const granted = Approvals.decide(rights, before, after, {
    standards,
    now: environmentIn(before)?.timestamp ?? null,
    transactions,
  });
  return {
    transfers,
    balanceChanges: changes.outputs,
    measured: Assets.measure(transfers, asked.holdings, before, after, paid, standards),
    approvals: granted.outputs,
    tokens: Tokens.decide(asked.tokens, either),
    standards,
    findings: [...changes.findings, ...granted.findings],
  };
};
