/** Whether policies bound what two worlds did otherwise, so that others' pending transactions may move it. Pure. */
import type { OutcomeDifference } from "../../primitives/difference.js";
import type { JudgedBalance } from "../../report/policy.js";
import { isSameBalance } from "../../steps/reading/byBalance.js";
import { isAmount, type Effects } from "../../steps/reading/compare.js";
import { within } from "../../steps/reading/sameOutcome.js";

/** What bounds amounts: whose, by which policies, and what is no difference. */
export interface Bounding {
  readonly whose: ReadonlySet<string>;
  /** Of whom a policy speaks that names nobody. */
  readonly senders: ReadonlySet<string>;
  readonly bounds: ReadonlyArray<JudgedBalance>;
  readonly tolerance: number;
}

/**
 * Whether what differs are amounts alone, and every one of `whose` is bounded by a policy from the side that can hurt:
 * what leaves by the most that may, what arrives by the least. What strangers move among themselves is bounded by that.
 */
export const isBounded = (
  found: ReadonlyArray<OutcomeDifference>,
  one: Effects,
  other: Effects,
  { whose, senders, bounds, tolerance }: Bounding,
): boolean => {
  if (found.some((its) => !isAmount(its) || (its.kind !== "movement" && its.kind !== "balance"))) return false;
  const mine = one.balanceChanges.flatMap((change) => {
    const { account, delta } = change;
    const there = other.balanceChanges.find((its) => isSameBalance(its, change));
    return whose.has(account) ? [{ ...change, deltas: [delta, there?.delta ?? 0n] as const }] : [];
  });
  const isMeasured = [...one.transfers, ...other.transfers].every(({ from, to, token }) =>
    [from, to].every(
      (party) => !whose.has(party) || mine.some(({ account, token: its }) => account === party && its === token),
    ),
  );
  const differing = mine.filter(({ deltas: [here, there] }) => !within(here, there, tolerance));
  const holds = ({ account, token, tokenId, deltas }: (typeof mine)[number]) =>
    tokenId === null &&
    deltas.every((delta) =>
      bounds.some(
        (bounded) =>
          bounded.token === token &&
          (bounded.account === null ? senders.has(account) : bounded.account === account) &&
          bounded.bound === (delta < 0n ? "spent" : "received"),
      ),
    );
  // guard: bounds of a policy
  return isMeasured && differing.length > 0 && differing.every(holds);
};
