/**
 * Whether two runs of the same transactions tell the same story. Pure.
 *
 * Compared: status, revert data, which contracts emitted which events in which order, movements,
 * measured balances and approvals; amounts within a tolerance. Not compared: gas, and values that are
 * neither moved nor granted: honest contracts read the clock (auctions, vesting, deadlines), and what
 * the clock moves within the tolerance is no theatre.
 */
import type { Approval, BalanceChange, Outcome, Transfer } from "./outputs.js";

/** One run, as far as it is compared. */
export interface Story {
  readonly outcomes: ReadonlyArray<Outcome>;
  readonly transfers: ReadonlyArray<Transfer>;
  readonly balanceChanges: ReadonlyArray<BalanceChange>;
  readonly approvals: ReadonlyArray<Approval>;
}

const size = (value: bigint): bigint => (value < 0n ? -value : value);

/** Parts per million. */
const million = 1_000_000n;

/** Whether two amounts differ by no more than the share `tolerance` of the larger. */
export const within = (a: bigint, b: bigint, tolerance: number): boolean => {
  if (a === b) return true;
  if (a < 0n !== b < 0n) return false;
  const larger = size(a) > size(b) ? size(a) : size(b);
  return size(a - b) * million <= larger * BigInt(Math.round(tolerance * 1_000_000));
};

const shape = (outcome: Outcome): string =>
  outcome.logs.map(({ address, topics }) => `${address}:${topics[0] ?? "anonymous"}`).join(" ");

const compareOutcomes = (a: ReadonlyArray<Outcome>, b: ReadonlyArray<Outcome>): ReadonlyArray<string> =>
  a.flatMap((one, index): ReadonlyArray<string> => {
    const other = b[index];
    if (other === undefined || one.status === "unknown" || other.status === "unknown") return [];
    if (one.status !== other.status) return [`transaction ${index}: ${one.status} and ${other.status}`];
    if (one.status !== "success")
      return one.revert?.data === other.revert?.data ? [] : [`transaction ${index}: two different reverts`];
    return shape(one) === shape(other)
      ? []
      : [`transaction ${index}: ${one.logs.length} and ${other.logs.length} events, not the same ones`];
  });

const compareAmounts = (
  what: string,
  a: ReadonlyMap<string, bigint>,
  b: ReadonlyMap<string, bigint>,
  tolerance: number,
): ReadonlyArray<string> =>
  [...new Set([...a.keys(), ...b.keys()])].flatMap((key) => {
    const [one, other] = [a.get(key) ?? 0n, b.get(key) ?? 0n];
    return within(one, other, tolerance) ? [] : [`${what} ${key}: ${one} and ${other}`];
  });

const moved = (transfers: ReadonlyArray<Transfer>): ReadonlyMap<string, bigint> => {
  const sums = new Map<string, bigint>();
  for (const { token, tokenId, from, to, amount } of transfers) {
    const key = `of ${token ?? "native currency"}${tokenId === null ? "" : ` id ${tokenId}`} from ${from} to ${to}`;
    sums.set(key, (sums.get(key) ?? 0n) + amount);
  }
  return sums;
};

const changed = (changes: ReadonlyArray<BalanceChange>): ReadonlyMap<string, bigint> =>
  new Map(
    changes
      .filter(({ evidence }) => evidence === "measured")
      .map(({ account, token, tokenId, delta }) => [
        `of ${account} in ${token ?? "native currency"}${tokenId === null ? "" : ` id ${tokenId}`}`,
        delta,
      ]),
  );

const granted = (approvals: ReadonlyArray<Approval>): ReadonlyMap<string, bigint> =>
  new Map(
    approvals.map(({ token, tokenId, owner, spender, after }) => [
      `of ${token}${tokenId === null ? "" : ` id ${tokenId}`} by ${owner} to ${spender}`,
      after ?? 0n,
    ]),
  );

/** One line per difference, with both values; none when the stories agree. `a` is named first. */
export const differences = (a: Story, b: Story, tolerance: number): ReadonlyArray<string> => [
  ...compareOutcomes(a.outcomes, b.outcomes),
  ...compareAmounts("movement", moved(a.transfers), moved(b.transfers), tolerance),
  ...compareMeasured(a.balanceChanges, b.balanceChanges, tolerance),
  ...compareAmounts("approval", granted(a.approvals), granted(b.approvals), tolerance),
];

/** Measured changes are compared where both runs measured; a run that measured less is no difference. */
const compareMeasured = (
  a: ReadonlyArray<BalanceChange>,
  b: ReadonlyArray<BalanceChange>,
  tolerance: number,
): ReadonlyArray<string> => {
  const [one, other] = [changed(a), changed(b)];
  const both = new Set([...one.keys()].filter((key) => other.has(key)));
  const only = (changes: ReadonlyMap<string, bigint>) => new Map([...changes].filter(([key]) => both.has(key)));
  return compareAmounts("balance change", only(one), only(other), tolerance);
};
