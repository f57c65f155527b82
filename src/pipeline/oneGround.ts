/** Whether runs stood on one state, and on the block that they were asked for. Pure. */
import type { Hash } from "../primitives/hex.js";
import { failureOf, successOf, type AskResult } from "../steps/reading/askResult.js";
import { within } from "../steps/reading/sameOutcome.js";
import type { Run } from "../steps/simulate.js";
import type { Query } from "../witness/queries.js";
import type { View } from "../witness/view.js";
import { isGone } from "./endpoint/simulate.js";

interface Base {
  readonly number: bigint;
  /** Zero where nobody names it. */
  readonly hash: Hash;
}

const isNamed = (hash: Hash): boolean => BigInt(hash) !== 0n;

/** The block that a run stands on: by what the witness reads, and by the answer where a block is in front, or NUMBER is another chain's. */
export const baseOf = ({ ahead, block, before: { environment } }: Run): Base => {
  const first = ahead ?? block;
  const isRead =
    ahead === null &&
    environment !== null &&
    environment.number === block.number &&
    // why: a node that has not got a block names no hash of it to contracts
    isNamed(environment.parentHash);
  return { number: first.number - 1n, hash: isRead ? environment.parentHash : first.parentHash };
};

/**
 * Whether a run was to stand on `head`, by its hash or as the latest, and stood on another: a gateway may ignore the pin.
 * Pending state is never older than the head.
 */
const isElsewhere = (run: Run, { head, isPlaced, isPreconfirmed }: Ground): boolean => {
  const { block, without } = run.plan;
  const isPending = block === "pending";
  const isHeld = isPending || block === "latest" || (typeof block === "object" && "blockHash" in block);
  if (head === null || !isHeld) return false;
  const { number, hash } = baseOf(run);
  // why: behind blocks that the caller pretends it cannot be seen, nor where no number may be asked for, which clears nothing
  if (isPending ? number < head.number : number !== head.number)
    return !isPlaced && without?.has("blockOverrides") !== true;
  // why: what is ordered before us may have been the beginning of the very block that is the head now
  if (isPending && (number > head.number || isPreconfirmed)) return false;
  return head.hash !== null && isNamed(hash) && hash.toLowerCase() !== head.hash.toLowerCase();
};

/** Whether two views agree in an answer; what only one of them has says nothing. */
const agreesIn = (query: Query, a: View, b: View, tolerance: number): boolean => {
  if (query.kind === "account") {
    const [account, other] = [a.account(query.address), b.account(query.address)];
    if (account === null || other === null) return true;
    return account.balance === other.balance && account.codeHash === other.codeHash;
  }
  if (query.kind === "environment") return true;
  const [one, other] = [a.call(query), b.call(query)];
  if (one === null || other === null || (one.success === other.success && one.data === other.data)) return true;
  const isNumber = one.data.length === 66 && other.data.length === 66;
  // why: interest grows with the time, in which the runs differ
  return one.success && other.success && isNumber && within(BigInt(one.data), BigInt(other.data), tolerance);
};

/** Whether two runs on a state that moves stood on the same. `isExact` = even its block is named, and stays. */
const isOnSame = (a: Run, b: Run, tolerance: number, isExact: boolean): boolean => {
  const [one, other] = [baseOf(a), baseOf(b)];
  const isOther = isExact && isNamed(one.hash) && isNamed(other.hash) && one.hash !== other.hash;
  return (
    one.number === other.number &&
    !isOther &&
    // why: balances that are pretended are held against measured ones elsewhere
    (a.plan.pretended ||
      b.plan.pretended ||
      a.plan.before.every((query) => agreesIn(query, a.before, b.before, tolerance)))
  );
};

/** What runs are held against. */
export interface Ground {
  /** The block that the worlds stand on; null = not known. */
  readonly head: { readonly number: bigint; readonly hash: Hash | null } | null;
  /** Whether the caller pretends the block's number. */
  readonly isPlaced: boolean;
  /** Whether the pending state is ordered before us, and so nothing but it counts. */
  readonly isPreconfirmed: boolean;
  readonly tolerance: number;
}

/** Whether runs stood on more than one state, or elsewhere than they were asked to, or on what is gone. */
export const isParted = (all: ReadonlyArray<AskResult<Run> | null>, ground: Ground): boolean => {
  const { isPreconfirmed, tolerance } = ground;
  if (all.some((result) => isGone(failureOf(result)))) return true;
  const runs = all.flatMap((result) => successOf(result) ?? []);
  const [first, ...others] = runs.filter(({ plan: { block } }) => block === "pending");
  return (
    runs.some((run) => isElsewhere(run, ground)) ||
    others.some((run) => first !== undefined && !isOnSame(first, run, tolerance, isPreconfirmed))
  );
};
