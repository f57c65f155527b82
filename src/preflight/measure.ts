/** What a run measures, decided before it is asked: from the last report, the input, and the policies. Pure. */
import * as Context from "effect/Context";
import type { Address } from "../primitives/hex.js";
import type { Policy } from "../report/policy.js";
import type { Report } from "../report/schema.js";
import * as Approvals from "../steps/approvals.js";
import * as Assets from "../steps/assets.js";
import type { Outcome, TokenInfo, Transfer } from "../report/parts.js";
import * as Rights from "../steps/reading/rights.js";
import * as Tokens from "../steps/reading/tokens.js";
import type { Transaction } from "../transaction/schema.js";
import type { Query } from "../witness/queries.js";

/** What the witness is asked about, in the order of importance: what comes last is cut first. */
export interface Measure {
  readonly holdings: ReadonlyArray<Assets.Holding>;
  readonly rights: ReadonlyArray<Approvals.Right>;
  readonly tokens: ReadonlyArray<Address>;
  /** What tokens are remembered to call themselves: they are not asked again. */
  readonly named: ReadonlyArray<TokenInfo>;
  /** Accounts whose code tells what the rights mean. */
  readonly accounts: ReadonlyArray<Address>;
  /** How many that the last run told of are over the limits. */
  readonly cut: number;
}

/** How many holdings, rights and tokens one run measures; what is over them is told by `PartiesCut`. */
export interface Limits {
  readonly holdings: number;
  readonly rights: number;
  readonly tokens: number;
}

/** The limits in use; provide others with `Effect.provideService(Preflight.MeasureLimits, …)`. */
export const MeasureLimits: Context.Reference<Limits> = Context.Reference("evm-preflight/MeasureLimits", {
  defaultValue: (): Limits => ({ holdings: 320, rights: 64, tokens: 48 }),
});

const sendersOf = (transactions: ReadonlyArray<Transaction>): ReadonlyArray<Address> => [
  ...new Set(transactions.map(({ from }) => from)),
];

/** The balances that the policies judge by. */
export const wantedBy = (
  policies: ReadonlyArray<Policy>,
  transactions: ReadonlyArray<Transaction>,
  limits: Limits,
): ReadonlyArray<Assets.Holding> => {
  const senders = sendersOf(transactions);
  return policies
    .flatMap(({ balances }) => balances ?? [])
    .flatMap(({ token, account }) =>
      (account === null ? senders : [account]).map((one) => ({ ...Assets.holding(one, token), wanted: true })),
    )
    .slice(0, limits.holdings);
};

/** What is measured once it is known what the transactions do. */
export const measureOf = (
  transactions: ReadonlyArray<Transaction>,
  told: { readonly outcomes: ReadonlyArray<Outcome>; readonly transfers: ReadonlyArray<Transfer> },
  policies: ReadonlyArray<Policy>,
  limits: Limits,
): Measure => {
  const held = Assets.holdings(sendersOf(transactions), told.transfers, limits.holdings, {
    wanted: wantedBy(policies, transactions, limits),
    suspected: Assets.suspects(transactions),
  });
  const granted = Approvals.rights(transactions, told.outcomes, limits.rights);
  const moved = [...told.transfers, ...held.kept.filter(({ wanted }) => wanted)];
  return {
    holdings: held.kept,
    rights: granted.kept,
    tokens: Tokens.tokens(moved, granted.kept, limits.tokens),
    named: [],
    accounts: Rights.accounts(transactions, told.outcomes),
    cut: held.cut + granted.cut,
  };
};

/** What a proof measures: everything its report knows of. */
export const measureOfReport = (report: Report, policies: ReadonlyArray<Policy>, limits: Limits): Measure => {
  const transactions = report.transactions.map(({ input }) => input);
  const outcomes = report.transactions.map(({ outcome }) => outcome);
  const measure = measureOf(transactions, { outcomes, transfers: report.transfers }, policies, limits);
  const delegates = report.transactions.flatMap(({ code }) =>
    [code.from, code.to].flatMap((account) => (account?.delegate == null ? [] : [account.delegate])),
  );
  return { ...measure, accounts: [...new Set([...delegates, ...measure.accounts])] };
};

/** What is read before and after alike, the tokens' own words last. */
export const measureQueries = ({ holdings, rights, tokens, named }: Measure): ReadonlyArray<Query> => [
  ...Assets.queries(holdings),
  ...Approvals.queries(rights),
  ...Tokens.standardQueries(tokens),
  ...Tokens.queries(tokens.filter((token) => !named.some((info) => info.token === token))),
];
