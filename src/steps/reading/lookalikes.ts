/** Accounts that look like an address that the caller knows, and are not it (address poisoning). Pure. */
import * as Arr from "effect/Array";
import { memoize } from "effect/Function";
import { effectsIn } from "../../effects/effects.js";
import type { Address } from "../../primitives/hex.js";
import { address, quote } from "../../primitives/statement.js";
import { code, type Finding } from "../../report/finding.js";
import type { Payee } from "../../report/payees.js";
import { ownAccounts, type Ran, type Reading } from "./bundle.js";

/**
 * It has the same hex digits at its beginning and its end as an address of `knownAddresses`: as many as no random address
 * has by chance. Attackers make such addresses, and send small or forged transfers from them, so that the victim copies
 * the wrong address from the history (address poisoning).
 * @figures address("account", "0x88e6a0c2bc0d1aa4c1bd6f5a3e8d9c47cb3f5640"), address("looks like", pool), quote("called", "Savings")
 */
export const LookalikeAddress = code("code", ["warning"], "LookalikeAddress", [
  "an account looks like an address that you know, and is another one",
  "compare every digit, and take the address from its owner, not from a list of transactions",
]);

/** A warning may be wrong about one random address in so many. */
const rarity = 250_000;
/** As many digits as a shortened address shows: of so many equal ones a warning is due, however many are known. */
const mostDigits = 8;

/**
 * The digits of both ends together that have to be equal. Of `known` addresses one has n digits or more in common with
 * a random one in about `known * (n + 1)` of 16^n cases, for the n may be divided in n + 1 ways.
 */
const digitsFor = (known: number): number =>
  [6, 7].find((digits) => known * (digits + 1) * rarity <= 16 ** digits) ?? mostDigits;

/** The equal digits in front; of a run of one digit two, for contracts choose addresses that begin or end so. */
const equalIn = (a: string, b: string): number => {
  let [equal, run] = [0, 0];
  for (; equal < a.length && a[equal] === b[equal]; equal++) if (a[equal] === a[0] && run === equal) run++;
  return equal - Math.max(0, run - 2);
};

const reversed = (account: string): string => [...account].reverse().join("");
const endsOf = (account: string): string => account.slice(2, 4) + account.slice(-2);

/** The finder of the known address that an account looks like; of several, the one with the most equal digits. */
const finderOf = memoize((known: Readonly<Record<string, string>>) => {
  const accounts = Object.keys(known);
  const least = digitsFor(accounts.length);
  const byEnds = Arr.groupBy(accounts, endsOf);
  return (account: Address): string | null => {
    let [best, most] = [null as string | null, least - 1];
    for (const other of byEnds[endsOf(account)] ?? []) {
      const ends = [equalIn(account.slice(2), other.slice(2)), equalIn(reversed(account), reversed(other))];
      // why: people look at both ends, so that one alone makes no lookalike
      const equal = ends.reduce((sum, end) => sum + Math.min(end, least - 2), 0);
      if (equal > most) [best, most] = [other, equal];
    }
    return best;
  };
});

/**
 * Reports accounts that look like one of the `known` or one of the bundle's own, each once: those that are called, paid or given rights by the
 * calldata or in one of the worlds (`readings`), and whoever else gets something (`payees`).
 */
export const checkLookalikes = (
  bundle: ReadonlyArray<Ran>,
  readings: ReadonlyArray<ReadonlyArray<Reading>>,
  payees: ReadonlyArray<Pick<Payee, "address">>,
  known: Readonly<Record<string, string>>,
): ReadonlyArray<Finding> => {
  if (Object.keys(known).length === 0) return [];
  const own = ownAccounts(bundle);
  const book = Object.fromEntries(own.map((account) => [account, "your own account"]));
  const finders = [finderOf(known), finderOf(book)];
  const met = new Set<Address | null>([null, ...own]);
  const ran = bundle.flatMap((entry) => [entry, ...readings.map((run) => ({ ...entry, ...run[entry.index] }))]);
  const rows: ReadonlyArray<readonly [Address | null, transaction: number | null]> = [
    ...effectsIn(bundle, "call").flatMap(({ transaction, contract, receiver, gains, payee, moves, rights }) =>
      [contract, receiver, gains, payee, ...moves.map(({ to }) => to), ...rights.map(({ spender }) => spender)].map(
        (account) => [account, transaction] as const,
      ),
    ),
    ...effectsIn(ran, "movement").map(({ to, transaction }) => [to, transaction] as const),
    ...effectsIn(ran, "right").map(({ spender, transaction }) => [spender, transaction] as const),
    ...effectsIn(ran, "control").map(({ gains, transaction }) => [gains, transaction] as const),
    ...payees.map(({ address: account }) => [account, null] as const),
  ];
  return rows.flatMap(([account, transaction]) => {
    const isNew = account !== null && !met.has(account) && !Object.hasOwn(known, account);
    const [other = null] = isNew ? finders.flatMap((find) => find(account) ?? []) : [];
    met.add(account);
    if (other === null) return [];
    const called = known[other] ?? book[other] ?? null;
    const figures = [address("account", account), address("looks like", other), quote("called", called)];
    return [LookalikeAddress.warning({ transaction, evidence: "measured" }, ...figures)];
  });
};
