/**
 * Signatures among the transactions of a run. What is simulated for one is a case like any other, its carrier, until the
 * report is made: there the carriers stand by themselves, and "you" are the accounts that sign.
 */
import * as Arr from "effect/Array";
import * as Context from "effect/Context";
import type * as Effect from "effect/Effect";
import type { Address } from "../primitives/hex.js";
import { isPlain } from "../primitives/record.js";
import type { StepName } from "../primitives/names.js";
import { isOfSender } from "../report/byCode.js";
import type { Finding } from "../report/finding.js";
import type { BalanceChange } from "../report/parts.js";
import type { Report, ReportOptions, TransactionReport } from "../report/schema.js";
import type { AnySigning, GasField, Mode, PlacedSigning, Signing } from "../signing/index.js";
import type { CallTrace } from "../steps/reading/answers.js";
import { isCarrier, type Bundle, type Case, type Filled } from "../steps/reading/bundle.js";
import type { Transaction } from "../transaction/fields.js";
import type { Query } from "../witness/queries.js";
import type { View } from "../witness/view.js";

/** Gas of one call that tries whether a signature is taken for given, in front of those of a block. */
export const trialGas = 100_000n;

/** The signatures of a run, and the transactions that they stand among; `mode`: how an earlier report simulated them. */
export interface Signed {
  readonly transactions: ReadonlyArray<Transaction>;
  readonly signings: ReadonlyArray<AnySigning>;
  readonly mode: Mode | null;
}

/** The parts of a run that a signature to be given changes. */
export interface Assumable {
  readonly bundle: Bundle;
  readonly options: ReportOptions;
  readonly signed?: Signed | null;
}

/** The signatures of a run, as the pipeline needs them. */
export interface Signings {
  /** Queries that the witness reads for them. */
  readonly looks: ReadonlyArray<Query>;
  /** Accounts that are made up, with whoever stands behind each; null = anybody. */
  readonly madeUp: ReadonlyMap<Address, Address | null>;
  /** Accounts that sign, which count as senders. */
  readonly accounts: ReadonlyArray<Address>;
  /** Time of the last block that takes all of them, epoch seconds; null = nobody knows, or transactions stand beside them. */
  readonly lastUse: bigint | null;
  /** Asks what a run leaves open, where that is anything. */
  readonly further: (bundle: ReadonlyArray<Filled>) => Effect.Effect<void>;
  /** Accounts among them that are paid for bundling user operations, and the EntryPoints that pay them. */
  readonly paid: ReadonlySet<Address>;
  /** Returns what is said of each in the report, and what is found; `found`: findings so far, of which some are told otherwise. */
  readonly judge: (seen: {
    readonly bundle: ReadonlyArray<Filled>;
    readonly stage: Report["stage"];
    readonly transactions: ReadonlyArray<Pick<TransactionReport, "outcome">>;
    readonly before: View;
    readonly after: View;
    readonly traces: ReadonlyArray<CallTrace>;
    readonly chainId: number | null;
    readonly found: ReadonlyArray<Finding>;
  }) => { readonly signings: ReadonlyArray<Signing>; readonly findings: ReadonlyArray<Finding> };
}

/** A limit that is too low, and one that is not, in gas; the same where it is too low for the simulation alone. */
export interface LowGasLimit {
  readonly field: GasField;
  readonly given: bigint;
  readonly enough: bigint;
}
/** A run as an account's input is judged by it; `carriers`: the calls of this input in the bundle. */
export type Seen = Parameters<Signings["judge"]>[0] & {
  readonly carriers: ReadonlyArray<Filled>;
  readonly mode: Mode;
  readonly now: number;
  readonly options: ReportOptions;
  /** False if its calls did something else where no signature was assumed; null = they cannot be run by themselves. */
  readonly isPlain: boolean | null;
  /** The limit of a user operation that was found too low; null = none was. */
  readonly limitOf: (signing: PlacedSigning) => LowGasLimit | null;
  /** Findings of signatures of every kind. */
  readonly say: {
    readonly unknown: (why: string) => Finding;
    readonly notAssumed: (why: string) => Finding;
    readonly assumedAlone: (why: string) => Finding;
    readonly used: Finding;
    readonly notYet: Finding;
    readonly notOwner: Finding;
  };
};

/** The judgement of one: what the report says of it, what is found, and which findings of the run it tells otherwise. */
export interface Judgement {
  readonly signing: Signing;
  readonly findings: ReadonlyArray<Finding>;
  readonly replaced: ReadonlyArray<Finding>;
}

/** The signatures of the run that is under way; null = it has none. */
export const CurrentSignings: Context.Reference<Signings | null> = Context.Reference("evm-preflight/CurrentSignings", {
  defaultValue: (): Signings | null => null,
});

/** Steps that judge what a sender pays, and how it is sent: nobody sends a carrier. */
const ofSending: ReadonlySet<StepName> = new Set(["nonce", "fee", "estimate", "funds"]);

/** The findings without those of sending carriers. */
export const withoutSending = (
  bundle: ReadonlyArray<Pick<Case, "input">>,
  findings: ReadonlyArray<Finding>,
): ReadonlyArray<Finding> => {
  if (!bundle.some(isCarrier)) return findings;
  const isAll = bundle.every(isCarrier);
  return findings.filter((finding) => {
    const { step, transaction } = finding;
    const entry = transaction === null ? undefined : bundle[transaction];
    const isOfCarrier = entry === undefined ? isAll : isCarrier(entry);
    return !isOfCarrier || !(ofSending.has(step) || isOfSender(finding));
  });
};

/** Movements by whoever stands behind accounts that are made up, without those of anybody. */
export const byUsers = <Parts extends Pick<Report, "transfers" | "balanceChanges">>(
  parts: Parts,
  { madeUp }: Pick<Signings, "madeUp">,
): Parts => {
  const as = <Row>(row: Row, account: Address, named: (user: Address) => Row): ReadonlyArray<Row> => {
    const user = madeUp.get(account);
    return user === undefined ? [row] : user === null ? [] : [named(user)];
  };
  return {
    ...parts,
    transfers: parts.transfers.flatMap((row) => as(row, row.to, (to) => ({ ...row, to }))),
    balanceChanges: parts.balanceChanges.flatMap((row) => as(row, row.account, (account) => ({ ...row, account }))),
  };
};

/** Lists of a report whose entries name transactions by their places. */
const placed = ["findings", "transfers", "approvals", "stateChanges", "funds", "payees"] as const;

/** A value in which every place of a transaction is another one. */
const renumbered = (value: unknown, placeOf: (place: number) => number): unknown => {
  if (Array.isArray(value)) return value.map((entry) => renumbered(entry, placeOf));
  if (!isPlain(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      name === "transaction" && typeof part === "number" ? placeOf(part) : renumbered(part, placeOf),
    ]),
  );
};

const moved = <R extends Partial<Report>>(report: R, placeOf: (place: number) => number): R => {
  const lists = placed.flatMap((name) => {
    const list = report[name];
    return list === undefined ? [] : [[name, renumbered(list, placeOf)] as const];
  });
  // each list has the entries that it had, with other places
  return { ...report, ...(Object.fromEntries(lists) as Partial<R>) };
};

/** The places that entries get when those that `isFirst` stand in front of the others. */
const sorted = (all: ReadonlyArray<boolean>): ReadonlyArray<number> => {
  const firsts = all.filter((isFirst) => isFirst).length;
  let [first, other] = [0, firsts];
  return all.map((isFirst) => (isFirst ? first++ : other++));
};

/** The report with its carriers by themselves: places count the transactions, and the carriers behind them. */
export const parted = <R extends Partial<Report> & Pick<Report, "transactions">>(report: R): R => {
  const { transactions, funds, balanceChanges } = report;
  const carriers = transactions.filter(isCarrier);
  if (carriers.length === 0) return report;
  const places = sorted(transactions.map((entry) => !isCarrier(entry)));
  const senders = new Set(transactions.flatMap((entry) => (isCarrier(entry) ? [] : [entry.input.from])));
  const carrying = new Set(carriers.map(({ input }) => input.from));
  // why: whoever makes such a call was given a purse, of which only what changes is true
  const withoutPurse = (row: BalanceChange): BalanceChange =>
    row.token === null && carrying.has(row.account) && !senders.has(row.account)
      ? { ...row, before: null, after: null }
      : row;
  return moved(
    {
      ...report,
      transactions: transactions.filter((entry) => !isCarrier(entry)),
      carriers,
      ...(funds && { funds: funds.filter(({ account }) => senders.has(account)) }),
      ...(balanceChanges && { balanceChanges: balanceChanges.map(withoutPurse) }),
    },
    (place) => places[place] ?? place,
  );
};

/** The report with its carriers among its transactions, each where its signature is used. */
export const merged = <R extends Pick<Report, "transactions" | "carriers" | "signings">>(report: R): R => {
  const { transactions, carriers, signings } = report;
  if (carriers.length === 0) return report;
  const placeOf = ({ input }: TransactionReport): number => signings[input.origin?.signing ?? -1]?.place ?? 0;
  const all = Arr.makeBy(transactions.length + 1, (place) => [
    ...carriers.flatMap((entry, at) => (placeOf(entry) === place ? [{ entry, from: transactions.length + at }] : [])),
    ...transactions.slice(place, place + 1).map((entry) => ({ entry, from: place })),
  ]).flat();
  const places = new Map(all.map(({ from }, to) => [from, to]));
  const inner = { ...report, transactions: all.map(({ entry }) => entry), carriers: [] };
  return moved(inner as R & Partial<Report>, (place) => places.get(place) ?? place);
};
