/** What one run moves and grants, as its logs say and as the witness measured. Pure. */
import { effectiveGasPrice } from "../chains/baseFee.js";
import type { Finding } from "../report/finding.js";
import type { Address } from "../primitives/hex.js";
import * as Approvals from "../steps/approvals.js";
import * as Assets from "../steps/assets.js";
import type { Approval, BalanceChange, Outcome, TokenInfo, Transfer } from "../report/parts.js";
import type { Lookup, Reading } from "../steps/simulate.js";
import * as Tokens from "../steps/reading/tokens.js";
import type { Transaction } from "../transaction/schema.js";
import type { Measure } from "./measure.js";

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

/** A run to read: the transactions, what they did, what the witness saw and what it was asked. */
export interface Run {
  readonly transactions: ReadonlyArray<Transaction>;
  readonly readings: ReadonlyArray<Reading>;
  readonly sight: Sight;
  readonly asked: Measure;
  readonly paid: Assets.GasPaid;
}

/** Whichever side of the run answered: a token may come into being in it. */
const eitherOf =
  ({ before, after }: Sight): Lookup =>
  (query) => {
    const first = before(query);
    return first?.kind === "call" && first.success ? first : (after(query) ?? first);
  };

const settingOf = ({ transactions, sight }: Run, standards: Tokens.Standards): Approvals.Setting => ({
  standards,
  now: environmentIn(sight.before)?.timestamp ?? null,
  transactions,
});

/** What one run moves and grants, as a report tells it. */
export interface Movements {
  readonly transfers: ReadonlyArray<Transfer>;
  readonly balanceChanges: ReadonlyArray<BalanceChange>;
  readonly approvals: ReadonlyArray<Approval>;
  readonly tokens: ReadonlyArray<TokenInfo>;
  readonly findings: ReadonlyArray<Finding>;
}

/** Reads one run for a report: what it tells of beyond what was asked stays `logged`. */
export const movementsOf = (run: Run): Movements => {
  const { transactions, readings, sight, asked, paid } = run;
  const either = eitherOf(sight);
  const standards = Tokens.standards(asked.tokens, either);
  const told = Assets.transfers(readings);
  const transfers = Assets.settle(told, standards);
  const outcomes = readings.map(({ outcome }) => outcome);
  const all = Number.POSITIVE_INFINITY;
  const holdings = Assets.union(asked.holdings, Assets.holdings([], told, all).kept);
  const rights = Approvals.union(asked.rights, Approvals.rights(transactions, outcomes, all).kept);
  const changes = Assets.decide(transfers, holdings, sight.before, sight.after, paid, standards);
  const granted = Approvals.decide(rights, sight.before, sight.after, settingOf(run, standards));
  return {
    transfers,
    balanceChanges: changes.outputs,
    approvals: granted.outputs,
    tokens: Tokens.decide(asked.tokens, either, asked.named),
    findings: [...changes.findings, ...granted.findings],
  };
};

/** What two runs are compared by. */
export interface Comparable {
  readonly transfers: ReadonlyArray<Transfer>;
  /** Everything that was measured, unchanged balances too. */
  readonly balanceChanges: ReadonlyArray<BalanceChange>;
  readonly approvals: ReadonlyArray<Approval>;
  /** Which standard each token answered to. */
  readonly standards: Tokens.Standards;
}

/** Reads one run for a comparison. */
export const comparableOf = (run: Run): Comparable => {
  const { readings, sight, asked, paid } = run;
  const standards = Tokens.standards(asked.tokens, eitherOf(sight));
  const transfers = Assets.transfers(readings, standards);
  const { before, after } = sight;
  return {
    transfers,
    balanceChanges: Assets.measure(transfers, asked.holdings, before, after, paid, standards),
    approvals: Approvals.decide(asked.rights, before, after, settingOf(run, standards)).outputs,
    standards,
  };
};
