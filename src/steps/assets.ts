/**
 * What moves: native currency and tokens, as the logs say and as the balances show.
 *
 * Transfers are read from the simulated logs (`logged`); for every account and token they touch, and
 * for those that the calldata makes suspect, the witness reads balances before and after in the same
 * simulated block (`measured`), and where the two disagree both numbers are shown. Lives on the
 * witness: `queries` and a pure `decide`.
 */
import { note, type Finding } from "../report/finding.js";
import type { Address } from "../primitives/hex.js";
import type { Transaction } from "../Transaction.js";
import { readAddress, readUint256, type Answer } from "../witness/answers.js";
import { balanceOf, balanceOf1155, ownerOf, type Query } from "../witness/queries.js";
import { addressesIn } from "./reading/calldata.js";
import { settle, transfersOf, type Standards } from "./reading/transferLogs.js";
import type { BalanceChange, Outcome, OutcomeLog, Transfer } from "../report/parts.js";

export { settle };

type Lookup = (query: Query) => Answer | undefined;

/** One simulated transaction's logs, with the traced native transfers among them. */
export interface Told {
  readonly traced: ReadonlyArray<OutcomeLog>;
  readonly outcome: Pick<Outcome, "evidence">;
}

/** Nothing is known of any token's standard: the shape of its events stands. */
export const byShape: Standards = new Map();

/** Every movement that the logs tell of, in order, by the standards that the tokens answered to. */
export const transfers = (told: ReadonlyArray<Told>, standards: Standards = byShape): ReadonlyArray<Transfer> =>
  settle(
    told.flatMap(({ traced, outcome }, transaction) => transfersOf(traced, transaction, outcome.evidence)),
    standards,
  );

/** One balance to measure: whose, of what. */
export interface Holding {
  readonly account: Address;
  readonly token: Address | null;
  readonly tokenId: bigint | null;
  /** Of an ERC-721: whether the account owns the id, as against how many it owns. */
  readonly owned: boolean;
  /** Somebody asked for it: it is shown even where nothing changed. */
  readonly wanted: boolean;
}

const zero: string = "0x0000000000000000000000000000000000000000";

/** A balance of an account: of the native currency, of a token, of one ERC-1155 id. */
export const holding = (account: Address, token: Address | null, tokenId: bigint | null = null): Holding => ({
  account,
  token,
  tokenId,
  owned: false,
  wanted: false,
});

const keyOf = ({ account, token, tokenId, owned }: Holding): string =>
  `${token ?? "native"}/${tokenId ?? ""}/${account}/${owned}`;

/** How many addresses of one call's arguments are suspected of being tokens or parties. */
const mostArguments = 6;
/** How many suspicions one report follows. */
const mostSuspects = 96;

/**
 * Holdings that may change without any event: of the senders, of the receivers and of the addresses in
 * the arguments, in the native currency, and in the receivers and those addresses, should they be tokens
 * that keep silent.
 */
export const suspects = (transactions: ReadonlyArray<Transaction>): ReadonlyArray<Holding> => {
  const all = new Map<string, Holding>();
  const add = (account: Address, token: Address | null) => {
    const suspect = holding(account, token);
    if (account !== token && all.size < mostSuspects) all.set(keyOf(suspect), suspect);
  };
  const called = transactions.flatMap(({ from, to, data }) =>
    to === null || data.length < 10
      ? []
      : [{ from, to, named: addressesIn({ from, to, data: data.toLowerCase() as typeof data }, mostArguments) }],
  );
  for (const { from, to, named } of called) for (const token of new Set([to, ...named])) add(from, token);
  // why: not every node traces all native movements (self-destruction)
  for (const { to, named } of called) for (const account of new Set([to, ...named])) add(account, null);
  for (const { to, named } of called) for (const account of named) add(account, to);
  for (const { to, named } of called) for (const token of named) add(to, token);
  return [...all.values()];
};

/** What to measure beside what the movements touch. */
export interface Beside {
  /** Asked for by somebody, e.g. a policy. */
  readonly wanted: ReadonlyArray<Holding>;
  readonly suspected: ReadonlyArray<Holding>;
}

const touchedBy = ({ standard, token, tokenId, from, to }: Transfer): ReadonlyArray<Holding> =>
  standard === "erc1155"
    ? [holding(from, token, tokenId), holding(to, token, tokenId)]
    : standard === "erc721"
      ? [from, to].flatMap((account) => [{ ...holding(account, token, tokenId), owned: true }, holding(account, token)])
      : [holding(from, token), holding(to, token)];

/**
 * Every holding to measure, at most `limit`: what somebody asked for and what the senders hold first.
 * An ERC-721 is looked at by its collection and by its id, an ERC-1155 by its id. `cut` says how many
 * that the movements touch were left out.
 */
export const holdings = (
  senders: ReadonlyArray<Address>,
  moved: ReadonlyArray<Transfer>,
  limit: number,
  beside: Beside = { wanted: [], suspected: [] },
): { readonly kept: ReadonlyArray<Holding>; readonly cut: number } => {
  const all = new Map<string, Holding>();
  const add = (one: Holding) => {
    const known = all.get(keyOf(one));
    if (one.account !== zero)
      all.set(keyOf(one), known === undefined ? one : { ...known, wanted: known.wanted || one.wanted });
  };
  for (const one of beside.wanted) add({ ...one, wanted: true });
  for (const account of senders) add(holding(account, null));
  const mine = new Set(senders);
  const touched = [...new Map(moved.flatMap(touchedBy).map((one) => [keyOf(one), one])).values()];
  for (const one of touched) if (mine.has(one.account)) add(one);
  for (const one of beside.suspected) if (mine.has(one.account)) add(one);
  for (const one of touched) add(one);
  const needed = all.size;
  for (const one of beside.suspected) add(one);
  const kept = [...all.values()].slice(0, Math.max(limit, beside.wanted.length + senders.length));
  return { kept, cut: Math.max(0, needed - kept.length) };
};

/** `more` behind `known`, each holding once. */
export const union = (known: ReadonlyArray<Holding>, more: ReadonlyArray<Holding>): ReadonlyArray<Holding> => {
  const all = new Map(known.map((one) => [keyOf(one), one]));
  for (const one of more) if (!all.has(keyOf(one))) all.set(keyOf(one), one);
  return [...all.values()];
};

const queryOf = ({ account, token, tokenId, owned }: Holding): Query => {
  if (token === null) return { kind: "account", address: account };
  if (tokenId === null) return balanceOf(token, account);
  return owned ? ownerOf(token, tokenId) : balanceOf1155(token, account, tokenId);
};

/** What the witness reads, before and after alike. */
export const queries = (kept: ReadonlyArray<Holding>): ReadonlyArray<Query> => kept.map(queryOf);

interface Level {
  readonly before: bigint | null;
  readonly after: bigint | null;
}

const answered = (answer: Answer | undefined): boolean => answer?.kind === "call";

const levelOf = (one: Holding, before: Lookup, after: Lookup): Level => {
  const query = queryOf(one);
  const [had, has] = [before(query), after(query)];
  if (one.token === null) {
    return {
      before: had?.kind === "account" ? had.balance : null,
      after: has?.kind === "account" ? has.balance : null,
    };
  }
  if (!one.owned) return { before: readUint256(had), after: readUint256(has) };
  const owners = [readAddress(had), readAddress(has)];
  // why: ownerOf reverts where there is no such id (yet, or no more), but not on both sides of a movement
  const known = answered(had) && answered(has) && owners.some((owner) => owner !== null);
  const owns = (owner: Address | null | undefined) => (known ? (owner === one.account ? 1n : 0n) : null);
  return { before: owns(owners[0]), after: owns(owners[1]) };
};

/**
 * Wei by which the simulation itself changed an account's balance, which its balance change must not
 * show: what it paid for gas, negative what it earned in tips.
 */
export type GasPaid = ReadonlyMap<Address, bigint>;

/** The movements by account and token, so that a report over thousands stays linear. */
const tally = (moved: ReadonlyArray<Transfer>): ((one: Holding) => bigint) => {
  const sums = new Map<string, bigint>();
  const add = (key: string, amount: bigint) => sums.set(key, (sums.get(key) ?? 0n) + amount);
  for (const { standard, token, tokenId, from, to, amount } of moved) {
    const counted = standard === "erc721" ? 1n : amount;
    for (const [account, by] of [
      [from, -counted],
      [to, counted],
    ] as const) {
      // why: an ERC-1155 has a balance per id and none of the whole
      if (standard !== "erc1155") add(`${token}//${account}`, by);
      if (tokenId !== null) add(`${token}/${tokenId}/${account}`, by);
    }
  }
  return ({ token, tokenId, account }) => sums.get(`${token}/${tokenId ?? ""}/${account}`) ?? 0n;
};

/** One holding as it was measured, or as the logs have it, changed or not. */
interface Measured {
  readonly change: BalanceChange;
  readonly logged: bigint;
  readonly holding: Holding;
}

const measured = (
  moved: ReadonlyArray<Transfer>,
  kept: ReadonlyArray<Holding>,
  before: Lookup,
  after: Lookup,
  gasPaid: GasPaid,
  standards: Standards,
): ReadonlyArray<Measured> => {
  const loggedOf = tally(moved);
  return kept.flatMap((one): ReadonlyArray<Measured> => {
    const { account, token, tokenId } = one;
    if (one.owned && token !== null && (standards.get(token) ?? "erc721") !== "erc721") return [];
    const level = levelOf(one, before, after);
    const logged = loggedOf(one);
    const about = { account, token, tokenId, before: level.before };
    if (level.before === null || level.after === null)
      return [{ holding: one, logged, change: { ...about, after: null, delta: logged, evidence: "logged" } }];
    const gas = token === null ? (gasPaid.get(account) ?? 0n) : 0n;
    const delta = level.after - level.before + gas;
    return [{ holding: one, logged, change: { ...about, after: level.after, delta, evidence: "measured" } }];
  });
};

/** Every holding that the witness could read, unchanged ones too: what two runs are compared by. */
export const measure = (...given: Parameters<typeof measured>): ReadonlyArray<BalanceChange> =>
  measured(...given).flatMap(({ change }) => (change.evidence === "measured" ? [change] : []));

/** How many disagreements are told one by one. */
const mostMismatches = 32;

const mismatch = ({ change: { account, token, tokenId, delta }, logged }: Measured): Finding =>
  note(
    "TransferMismatch",
    "warning",
    {
      verdict: "the events and the measured balances disagree",
      evidence: `${token ?? "native currency"}${tokenId === null ? "" : ` id ${tokenId}`} of ${account}: events say ${logged}, measured ${delta}`,
      remedy: "trust the measured amount; the token takes a fee, rebases, or its events lie or are missing",
    },
    { step: "assets" },
  );

/** Balance changes of every holding, measured where the witness could, and where logs and balances disagree. */
export const decide = (
  moved: ReadonlyArray<Transfer>,
  kept: ReadonlyArray<Holding>,
  before: Lookup,
  after: Lookup,
  gasPaid: GasPaid,
  standards: Standards = byShape,
): { readonly outputs: ReadonlyArray<BalanceChange>; readonly findings: ReadonlyArray<Finding> } => {
  const rows = measured(moved, kept, before, after, gasPaid, standards);
  const nfts = new Set(moved.flatMap(({ standard, token }) => (standard === "erc721" ? [token] : [])));
  const disagree = ({ change, logged }: Measured) => change.evidence === "measured" && change.delta !== logged;
  const shown = rows.filter((row) => {
    const { token, tokenId, delta, evidence } = row.change;
    if (row.holding.wanted) return evidence === "measured" || delta !== 0n;
    // an ERC-721 is shown by its ids; its count only where the ids do not explain it
    if (nfts.has(token) && tokenId === null) return disagree(row);
    return delta !== 0n || disagree(row);
  });
  return {
    outputs: shown.map(({ change }) => change),
    findings: rows.filter(disagree).slice(0, mostMismatches).map(mismatch),
  };
};
