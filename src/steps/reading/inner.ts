/** Failures inside a transaction that succeeded: read where anything tells of them, and reported. */
import * as Effect from "effect/Effect";
import type { AbiIndex } from "../../abi/abiIndex.js";
import { askedBy, type Asked } from "../../effects/asked.js";
import { effectsIn } from "../../effects/effects.js";
import { eventIn } from "../../effects/events.js";
import type { Right } from "../../effects/rights.js";
import { describeRevert } from "../../abi/print.js";
import type { Address } from "../../primitives/hex.js";
import { lazyImport } from "../../primitives/effects.js";
import { address, count, text, wei } from "../../primitives/statement.js";
import { code, type Finding } from "../../report/finding.js";
import type { InnerFailure } from "../../report/beside.js";
import type { Approval, OutcomeLog } from "../../report/parts.js";
import type { Policy } from "../../report/policy.js";
import type { Transaction } from "../../Transaction.js";
import type { View } from "../../witness/view.js";
import { callsOf, type Ran, type Reading } from "./bundle.js";
import { knownCode } from "./safeCode.js";

/** Addresses of Multicall3, on zkSync, too, and of Multicall2, which answers alike. */
const multicalls: ReadonlySet<string> = new Set([
  "0xca11bde05977b3631167028862be2a173976ca11",
  "0xf9cda624fbc7e059355ce98a31693d299facd963",
  "0x5ba1e12693dc8f9c48aad8770482f4739beed696",
]);

/** True if a call that succeeded may have made one that failed, as far as anything known tells of it. */
export const mayTell = (outer: Asked | undefined, logs: ReadonlyArray<OutcomeLog>): boolean =>
  outer?.row.isBatch === true || logs.some((log) => eventIn(log).row.inner !== undefined);

const reading = lazyImport(() => import("./innerFailures.js"));

/** The reading of the `transaction`-th call with what failed inside it; `before` = what the witness saw before the calls. */
export const withInner = (
  read: Reading,
  input: Transaction,
  transaction: number,
  before: View | null,
  abis: AbiIndex,
): Effect.Effect<Reading> => {
  const { outcome } = read;
  const { to, data } = input;
  const [outer] = effectsIn([{ index: transaction, calls: callsOf(input) }], "call");
  if (to === null || outcome.status !== "success" || !mayTell(outer, outcome.logs)) return Effect.succeed(read);
  const isMulticall = (account: Address): boolean => {
    const hash = before?.account(account)?.codeHash ?? null;
    return multicalls.has(account) || (hash !== null && knownCode(hash, account, "multicall3") !== null);
  };
  const { returnData, logs, evidence } = outcome;
  return Effect.map(reading, ({ readInner }) => {
    const inner = readInner({ to, data, returnData, logs, isMulticall, evidence }, abis);
    return inner === null ? read : { ...read, outcome: { ...outcome, inner } };
  });
};

/** True if a right was measured to be there, now or before, as far as a permit gives it. */
const isThere = (approval: Approval, { standard, token, owner, spender, claim, expiration }: Right): boolean => {
  const { before, after, unlimited } = approval;
  const isSame = approval.standard === standard && approval.token === token;
  if (!isSame || approval.owner !== owner || approval.spender !== spender || approval.evidence !== "measured")
    return false;
  // why: an allowance that ends sooner is another
  if (expiration !== null && (approval.expiration === null || approval.expiration < expiration)) return false;
  // why: what was there before may be spent by now
  return claim === 0n ? after === 0n : [before, after].some((had) => had !== null && (had >= claim || unlimited));
};

/** True if a permit that failed is there all the same: somebody used it before. */
export const isGranted = ({ by, to, data }: InnerFailure, approvals: ReadonlyArray<Approval>): boolean => {
  if (to === null || data === null) return false;
  const { rights, row } = askedBy({ from: by, to, data }, 0);
  const isKnown = row.grant?.isPermit === true && rights.length > 0;
  return isKnown && rights.every((right) => approvals.some((approval) => isThere(approval, right)));
};

/** True if a call is one of those that may fail. */
export const isAllowed = ({ to, data }: InnerFailure, allowed: NonNullable<Policy["mayFail"]>): boolean =>
  allowed.some(
    (call) =>
      call.to.toLowerCase() === to &&
      (call.selector === undefined || call.selector.toLowerCase() === data?.slice(0, 10).toLowerCase()),
  );

const keyOf = ({ by, index, to, data }: InnerFailure): string => `${by}/${index}/${to}/${data}`;

/**
 * For example a Safe's transaction, a user operation, one call of a multicall, or, where the node has a tracer, any call
 * whose failure its caller ignores.
 * @figures address("made by", pool), count("call", 2), address("to", usdc), text("function", "transfer")
 * @info where a policy allows the call to fail, or a permit fails that was used before
 */
export const InnerCallFailed = code("simulate", ["warning", "info"], "InnerCallFailed", [
  "the transaction succeeds, but a call inside it failed",
  "correct or remove that call; if it may fail, allow it in the policy `noInnerFailures`",
]);

/** Tells of failures inside if they are harmless: a policy lets the call fail, or it is a permit that is there all the same. */
export const harmlessBy = (approvals: ReadonlyArray<Approval>, policies: ReadonlyArray<Policy>) => {
  const allowed = policies.flatMap(({ mayFail }) => mayFail ?? []);
  return (failure: InnerFailure): boolean => isAllowed(failure, allowed) || isGranted(failure, approvals);
};

/**
 * The calls that failed inside, in each world once: warnings, but for permits that are there all the same, and calls
 * that a policy lets fail. `worlds` = the same cases in the other runs.
 */
export const checkInner = (
  bundle: ReadonlyArray<Ran>,
  worlds: ReadonlyArray<ReadonlyArray<Reading>>,
  isHarmless: (failure: InnerFailure) => boolean,
): ReadonlyArray<Finding> =>
  bundle.flatMap(({ index: transaction, outcome }) => {
    const met = new Map<string, InnerFailure>(
      (outcome.inner?.failed ?? []).map((failure, place) => [`${keyOf(failure)}/${place}`, failure] as const),
    );
    const here = new Set([...met.values()].map(keyOf));
    for (const readings of worlds)
      for (const failure of readings[transaction]?.outcome.inner?.failed ?? [])
        if (!here.has(keyOf(failure))) met.set(keyOf(failure), failure);
    // why: a trace does not say which call of a batch failed, and the batch's own answer may be of another world
    const placed = new Set(
      [...met.values()].flatMap((one) => (one.index === null ? [] : [keyOf({ ...one, index: null })])),
    );
    const once = [...met.values()].filter((one) => one.index !== null || !placed.has(keyOf(one)));
    return once.map((failure) => {
      const { by, index, to, call, value = null, revert, evidence } = failure;
      return InnerCallFailed[isHarmless(failure) ? "info" : "warning"](
        { transaction, evidence },
        address("made by", by),
        count("call", index === null ? null : index + 1),
        address("to", to),
        text("function", call),
        wei("value", value),
        text("reason", revert === null ? null : describeRevert(revert, { sources: true })),
      );
    });
  });
