/** Measurements of a run, decided before it is asked, and how many of them at most. Pure. */
import * as Arr from "effect/Array";
import * as Context from "effect/Context";
import * as Exposure from "../steps/reading/exposure.js";
import * as Approvals from "../steps/approvals.js";
import * as Holdings from "../steps/reading/holdings.js";
import * as Owners from "../steps/reading/owners.js";
import * as RightLevel from "../steps/reading/rightLevel.js";
import * as Rights from "../steps/reading/rights.js";
import { nobody } from "../abi/words.js";
import * as Tokens from "../steps/reading/tokens.js";
import type { Chain } from "../Chains.js";
import type { Address } from "../primitives/hex.js";
import type { TokenInfo, Transfer } from "../report/parts.js";
import type { Policy } from "../report/policy.js";
import type { Draft } from "../report/schema.js";
import type { Right } from "../effects/rights.js";
import type { Facts } from "../steps/reading/answers.js";
import { ownAccounts, type Case, type Ran } from "../steps/reading/bundle.js";
import { doubtfulIn } from "../steps/reading/addressPositions.js";
import { transfersOf } from "../effects/movements.js";
import type { Query } from "../witness/queries.js";
import type { ActiveSteps } from "./answers.js";

/**
 * Most holdings, rights and tokens that one run measures; `PartiesCut` says how many are left over. Provide other limits
 * with `Effect.provideService(Preflight.MeasureLimits, …)`.
 */
export const MeasureLimits: Context.Reference<{
  /** The most balances that are measured. */
  readonly holdings: number;
  /** The most approvals and other rights that are measured. */
  readonly rights: number;
  /** The most tokens that are described. */
  readonly tokens: number;
}> = Context.Reference("evm-preflight/MeasureLimits", {
  defaultValue: () => ({ holdings: 320, rights: 64, tokens: 48 }),
});

/** Questions for the witness, in the order of importance: the last are cut first. */
export interface Measure {
  readonly holdings: ReadonlyArray<Holdings.Holding>;
  readonly rights: ReadonlyArray<Right>;
  readonly tokens: ReadonlyArray<Address>;
  /** Tokens whose own names are remembered: they are not asked again. */
  readonly named: ReadonlyArray<TokenInfo>;
  /** Accounts whose code tells what the rights mean, and in a proof of whom a policy speaks. */
  readonly accounts: ReadonlyArray<Address>;
  /** Accounts whose losses and places decide beside the senders', read or not: the same, with no step left out. */
  readonly parties: ReadonlyArray<Address>;
  /** Accounts of the calldata that may as well be numbers; none in a scan. */
  readonly doubtful: ReadonlyArray<Address>;
  /** Belongings that contracts could take; null where nothing of it is read. */
  readonly exposed: Exposure.Exposed | null;
  /** Accounts that pay: each is asked who owns it. */
  readonly payers: ReadonlyArray<Address>;
  /** The same questions for the witness. */
  readonly owners: ReadonlyArray<Query>;
  /** How many that the last run told of are over the limits. */
  readonly cut: number;
}

const none = { kept: [], cut: 0 };

/** Tokens that are called, whoever owns what is granted there; where something fails, those that it may be about, too. */
const calledIn = (bundle: ReadonlyArray<Ran>, steps: ActiveSteps) => {
  const isFailing = bundle.some(({ outcome }) => outcome.status !== "success");
  const tokens = isFailing ? Tokens.mentioned(bundle) : Tokens.called(bundle);
  return steps.has("assets") ? tokens.map((token) => ({ token, owner: nobody })) : [];
};

/** The balances that the policies judge by. */
export const wantedBy = (
  policies: ReadonlyArray<Policy>,
  bundle: ReadonlyArray<Case>,
  limits: typeof MeasureLimits.Service,
  steps: ActiveSteps,
): ReadonlyArray<Holdings.Holding> =>
  policies
    .flatMap(({ balances = [] }) => (steps.has("assets") ? balances : []))
    .flatMap(({ token, account }) =>
      (account === null ? ownAccounts(bundle) : [account]).map((owner) => ({
        ...Holdings.holding(owner, token),
        wanted: true,
      })),
    )
    .slice(0, limits.holdings);

/** Decides what is measured once it is known what the transactions do, for the steps that take part. */
export const measureOf = (
  bundle: ReadonlyArray<Ran>,
  flows: ReadonlyArray<Transfer>,
  policies: ReadonlyArray<Policy>,
  limits: typeof MeasureLimits.Service,
  steps: ActiveSteps,
): Measure => {
  const senders = ownAccounts(bundle);
  const parties = Approvals.accounts(bundle);
  const transfers = steps.has("assets") ? flows : [];
  const holdingsIn = steps.has("assets")
    ? Holdings.holdings(senders, transfers, limits.holdings, {
        wanted: wantedBy(policies, bundle, limits, steps),
        suspected: Holdings.suspects(bundle),
        bundle,
      })
    : none;
  const granted = steps.has("approvals") ? Rights.rights(bundle, limits.rights) : none;
  const holdings = holdingsIn.kept.filter((holding) => holding.wanted);
  const payers = Owners.payers(bundle, transfers);
  const tokensIn = Tokens.tokens(
    senders,
    holdings,
    transfers,
    [...granted.kept, ...calledIn(bundle, steps)],
    limits.tokens,
  );
  return {
    holdings: holdingsIn.kept,
    rights: [
      ...granted.kept,
      ...(steps.has("approvals")
        ? Rights.newIn(granted.kept, Rights.spent(bundle, flows, limits.rights - granted.kept.length))
        : []),
    ],
    tokens: tokensIn.kept,
    named: [],
    accounts: steps.has("approvals") ? parties : [],
    parties,
    doubtful: [],
    exposed: null,
    payers,
    owners: Owners.payerQueries(bundle, payers),
    cut: holdingsIn.cut + granted.cut + tokensIn.cut,
  };
};

/** Reads what moves from a report's events, where it does not say so itself: an allowance may be spent all the same. */
const loggedIn = (bundle: ReadonlyArray<Ran>): ReadonlyArray<Transfer> =>
  bundle.flatMap(({ outcome, index }) => transfersOf(outcome.logs, index, outcome.evidence));

/** How many tokens that somebody names are described beside those that the bundle has to do with. */
const mostNamed = 8;

/** Decides what a proof measures: everything its report knows of. */
export const measureOfReport = (
  report: Draft,
  bundle: ReadonlyArray<Ran>,
  policies: ReadonlyArray<Policy>,
  limits: typeof MeasureLimits.Service,
  steps: ActiveSteps,
  chain: Chain,
  codes: Facts["codes"] = new Map(),
): Measure => {
  const transfers = report.steps.without.includes("assets") ? loggedIn(bundle) : report.transfers;
  const measure = measureOf(bundle, transfers, policies, limits, steps);
  const delegates = report.transactions.flatMap(({ code }) =>
    [code.from, code.to].flatMap((account) => account?.delegate ?? []),
  );
  // guard: accounts that a policy names
  const policyAccounts = policies.flatMap(({ balances }) => balances ?? []).flatMap(({ account }) => account ?? []);
  const exposures = policies.flatMap((policy) => policy.exposures ?? []);
  const namedTokens = [...new Set([...exposures.flatMap(({ token }) => token ?? []), ...report.options.tokens])];
  // why: what a token calls itself is read by seven calls, and must not push out what could be taken
  const described = Math.min(limits.tokens, measure.tokens.length + mostNamed);
  const tokens = [...new Set([...measure.tokens, ...namedTokens])].slice(0, Math.max(described, measure.tokens.length));
  const named = [...policyAccounts, ...delegates];
  return {
    ...measure,
    accounts: [...new Set([...named, ...measure.accounts])],
    parties: [...new Set([...named, ...measure.parties])],
    doubtful: doubtfulIn(bundle),
    tokens,
    exposed: steps.has("approvals")
      ? Exposure.exposed({
          ...{ transfers, wanted: namedTokens, rights: measure.rights, tokens: measure.tokens },
          bundle: Arr.zipWith(bundle, report.transactions, (entry, { code }) => ({ ...entry, code })),
          ...{ known: chain.tokens, trusted: report.options.delegateTargets, codes },
          accounts: exposures.flatMap(({ account }) => account ?? []),
        })
      : null,
  };
};

/** Lists the queries made before and after alike, the tokens' own words last. */
export const measureQueries = ({ holdings, rights, tokens, named }: Measure): ReadonlyArray<Query> => [
  ...Holdings.queries(holdings),
  ...RightLevel.queries(rights),
  ...Tokens.standardQueries(tokens),
  ...Tokens.queries(tokens.filter((token) => !named.some((info) => info.token === token))),
];
