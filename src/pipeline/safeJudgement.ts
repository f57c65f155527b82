/** The judgement of a Safe's transaction: the Safe's event shows the result, its getters show the changes. Pure. */
import { dataAt, nobody, wordAt } from "../abi/words.js";
import { ChainIdMismatch } from "../errors/verdicts.js";
import type { Address, Hash } from "../primitives/hex.js";
import { address, count, gas as gasFigure, hash, quote, text, units, wei } from "../primitives/statement.js";
import { code, fromError, type Finding } from "../report/finding.js";
import type { Outcome } from "../report/parts.js";
import { executedIn, isExecution, numberOf, type TypedData } from "../signing/index.js";
import type { PlacedSigning, SafeState, Signing } from "../signing/index.js";
import { isSafeProxy } from "../steps/reading/delegateCalls.js";
import { knownCode } from "../steps/reading/safeCode.js";
import { witnessFees } from "../witness/placement.js";
import type { View } from "../witness/view.js";
import { facts, nonceOf, queryOf, readIn, type Fact } from "./safes.js";
import type { Judgement, Seen } from "./signings.js";

/**
 * The hash that came with the transaction, or the Safe's own hash of it, is not that of its fields. A service may show one
 * transaction, and have the hash of another signed.
 * @figures hash("by its fields", sent), hash("said", sent)
 */
export const SafeHashDisagrees = code("approvals", ["blocker"], "SafeHashDisagrees", [
  "the Safe's hash of the transaction is another one",
  "do not sign: ask where the transaction came from",
]);

/**
 * Transactions with earlier nonces come first. The simulation pretended that they were executed and changed nothing.
 * @figures count("number in front", 2n)
 * @unavailable where the transaction fails without them
 */
export const SafeNonceQueued = code("approvals", ["warning", "unavailable"], "SafeNonceQueued", [
  "other transactions of the Safe come first, and may change what this one does",
  "give those in front of it as well, or run it again when it is the next one",
]);

/**
 * The Safe has a guard, and the execution was reverted, maybe by it. The simulation pretends that the owners have called
 * `approveHash`; a guard may accept signatures by keys where it refuses approvals.
 * @figures address("guard", pool)
 */
export const SafeGuardRefuses = code("approvals", ["unavailable"], "SafeGuardRefuses", [
  "the Safe's guard may refuse the transaction",
  "ask who set the guard what it allows",
]);

/** The Safe takes the transaction, uses up its nonce, and does nothing: the call inside fails. */
export const SafeExecutionFails = code("simulate", ["blocker"], "SafeExecutionFails", [
  "the Safe's transaction would fail inside, and use up its nonce",
  "correct the call, or raise `safeTxGas`",
]);

/**
 * The Safe only ensures `safeTxGas` for the call inside, which may need more. If the executor's gas limit is hardly larger
 * than `safeTxGas`, the call can then fail and the nonce is used up. A node may estimate such a limit.
 * @figures gas("safe gas", 1n), gas("used", 299_195n)
 */
export const SafeGasTooLow = code("simulate", ["warning"], "SafeGasTooLow", [
  "the call inside may get too little gas, and use up the Safe's nonce",
  "set `safeTxGas` to 0, or to more than the call takes",
]);

/**
 * The Safe pays whoever executes the transaction, because no receiver is named.
 * @figures wei("at most", 10n ** 15n)
 */
export const SafePaysExecutor = code("approvals", ["warning"], "SafePaysExecutor", [
  "the Safe pays whoever executes the transaction",
  "set `gasPrice` to 0, or name a `refundReceiver`",
]);

/**
 * The Safe has other owners, threshold, modules, guard, fallback handler or code after the transaction.
 * @figures text("changes", "owners, threshold")
 */
export const SafeControlChanges = code("approvals", ["warning"], "SafeControlChanges", [
  "the transaction changes who controls the Safe",
  "sign only if this change is what you want",
]);

const measured = { evidence: "measured" } as const;
const unavailable = { evidence: "unavailable" } as const;

/** Revert codes by which the Safe itself, and no guard, reports that the call inside or the refund failed. */
const ownReasons: ReadonlySet<string> = new Set(["GS010", "GS011", "GS012", "GS013"]);

/** The facts of the Safe that differ between the report's record and a view; null = the view does not show a Safe. */
const changedIn = (state: SafeState, view: View): ReadonlyArray<Fact> | null => {
  const read = readIn((fact) => {
    const answer = view.call(queryOf(state.safe, fact));
    return answer?.success === true && BigInt((answer.data.length - 2) / 2) === answer.size ? answer.data : null;
  });
  return read && facts.filter((fact) => String(read[fact]) !== String(state[fact]));
};

/** Gas beyond `safeTxGas` that a Safe may refund: the cost of a call that makes an account. */
const overhead = 40_000n;

/** The least gas that an execution with two owners uses outside the inner call. */
const besideCall = 60_000n;

const refundOf = (typed: TypedData): ReadonlyArray<Finding> => {
  const [own, base, price] = [numberOf(typed, "safeTxGas"), numberOf(typed, "baseGas"), numberOf(typed, "gasPrice")];
  const { gasToken, refundReceiver } = typed.message;
  if (price === 0n || refundReceiver !== nobody) return [];
  const most = (own + base + overhead) * price;
  return typeof gasToken !== "string" || gasToken === nobody
    ? [SafePaysExecutor.warning(measured, wei("at most", most))]
    : [SafePaysExecutor.warning(measured, units("at most", most), address("token", gasToken))];
};

/** A Safe's transaction that ran, with the facts that the checks of its outcome need. */
interface Ran {
  readonly signing: PlacedSigning;
  readonly seen: Seen;
  readonly state: SafeState;
  readonly typed: TypedData;
  /** The transaction that executes it: its place among those of the run, and its gas. */
  readonly index: number;
  readonly gas: bigint;
  readonly outcome: Outcome | undefined;
  /** The result by the Safe's own event, if the run succeeded; null = there is no such event. */
  readonly became: ReturnType<typeof executedIn>;
  /** The simulation's blockers about its execution. */
  readonly failed: ReadonlyArray<Finding>;
  /** The revert reason, such as the Safe's `GS025` or words of its guard; empty = there is none. */
  readonly reason: string;
  /** True if its nonce is used; null = unknown. */
  readonly isUsed: boolean | null;
  /** A hash by the Safe or by the caller that is not the digest; null = there is none. */
  readonly other: Hash | null;
}

const ranOf = (
  signing: PlacedSigning & { readonly typed: TypedData; readonly safe: SafeState },
  seen: Seen,
  { index: at, input }: Seen["carriers"][number],
): Ran => {
  const { safe: state, typed, sign, use } = signing;
  const outcome = seen.transactions[at]?.outcome;
  const [layer] = outcome?.revert?.layers ?? [];
  const next = wordAt(seen.before.call(nonceOf(state.safe))?.data ?? "0x", dataAt);
  return {
    ...{ signing, seen, state, typed, index: at, gas: input.gas ?? 0n, outcome },
    became:
      outcome?.status === "success"
        ? executedIn({ safe: { safe: state.safe, hash: sign.digest } }, outcome.logs)
        : null,
    failed: seen.found.filter(
      ({ severity, step, transaction }) => severity === "blocker" && step === "simulate" && transaction === at,
    ),
    reason: layer?.layer._tag === "Reason" ? layer.layer.reason : "",
    isUsed: next === null || use.nonce === null ? null : next > use.nonce,
    other: [state.hash, state.said].find((one) => one !== null && one !== sign.digest) ?? null,
  };
};

/** Findings about the transaction itself: its chain, its hash, its nonce and its signer. */
const checkSaid = ({ signing: { sign }, typed, seen: { chainId, say }, state, isUsed, other }: Ran) => {
  const { chainId: bound } = typed.domain;
  const about = { step: "chain", transaction: null, evidence: "measured" } as const;
  return [
    ...(chainId !== null && typeof bound === "bigint" && bound !== BigInt(chainId)
      ? [fromError(new ChainIdMismatch({ expected: bound, actual: BigInt(chainId) }), "blocker", about)]
      : []),
    ...(other === null
      ? []
      : [SafeHashDisagrees.blocker(measured, hash("by its fields", sign.digest), hash("said", other))]),
    ...(isUsed === true ? [say.used] : []),
    ...(state.owners.includes(sign.signer) ? [] : [say.notOwner]),
  ];
};

/** Findings about the Safe: code that is not a known Safe's, or facts that changed since it was read. */
const checkSafe = ({ state, seen: { before, say } }: Ran): ReadonlyArray<Finding> => {
  const { safe, singleton, version } = state;
  const known = knownCode(before.account(singleton)?.codeHash ?? "0x", singleton, "safe");
  const isKnown = known?.name.endsWith(` ${version}`) === true && isSafeProxy(safe, before);
  return [
    ...(isKnown ? [] : [say.unknown("its code is not that of a Safe that is known")]),
    ...(changedIn(state, before)?.length === 0 ? [] : [say.notAssumed("the Safe is not as it was read")]),
  ];
};

/** Reasons why a failure may come from the simulation itself, or from the lack of the transactions in front. */
interface Doubts {
  readonly isEarly: boolean;
  readonly isStarved: boolean;
  readonly isIgnored: boolean;
  readonly isGuards: boolean;
}

const doubtsOf = ({ state: { queued, guard }, gas, outcome, became, failed, reason, isUsed, other }: Ran): Doubts => {
  const isFailed = failed.length > 0 || became?.success === false;
  const isTaken = isUsed === false;
  return {
    // why: transactions in front may bring what this one lacks
    isEarly: queued > 0n && isFailed,
    isStarved: isFailed && (reason === "GS010" || 10n * (outcome?.gasUsed ?? 0n) > 9n * gas),
    isIgnored: isFailed && reason === "GS025" && guard === null && isTaken && other === null,
    // why: a guard may ask for signatures by keys; in 1.5.0 its revert reason looks like that of the inner call
    isGuards: failed.length > 0 && guard !== null && isTaken && !ownReasons.has(reason),
  };
};

const isUnsure = (doubts: Doubts): boolean => Object.values(doubts).some((is) => is);

const checkDoubts = ({ state: { queued, guard }, gas, reason, seen: { say } }: Ran, doubts: Doubts) => {
  const queue = () =>
    doubts.isEarly
      ? SafeNonceQueued.unavailable(unavailable, count("number in front", queued))
      : SafeNonceQueued.warning({ evidence: "assumed" }, count("number in front", queued));
  return [
    ...(queued > 0n ? [queue()] : []),
    ...(doubts.isStarved ? [say.notAssumed(`it takes more than the ${gas} gas that it was simulated with`)] : []),
    ...(doubts.isIgnored ? [say.notAssumed("the node did not take the owners' approvals")] : []),
    ...(doubts.isGuards && guard !== null
      ? [SafeGuardRefuses.unavailable(unavailable, address("guard", guard), quote("its words", reason))]
      : []),
  ];
};

/** Findings about the result of the inner call. */
const checkExecution = ({ outcome, became, seen: { say } }: Ran, doubts: Doubts): ReadonlyArray<Finding> => [
  ...(became?.success === false && !isUnsure(doubts) ? [SafeExecutionFails.blocker(measured)] : []),
  ...(outcome?.status === "success" && became === null ? [say.notAssumed("the Safe was not seen to execute it")] : []),
];

/** Findings about the gas that is kept for the inner call, and about the price that the Safe pays. */
const checkGas = ({ typed, outcome, became, seen: { say } }: Ran): ReadonlyArray<Finding> => {
  const [own, price, used] = [numberOf(typed, "safeTxGas"), numberOf(typed, "gasPrice"), outcome?.gasUsed ?? 0n];
  // why: with a gasPrice the simulated call gets only `safeTxGas`, too; without both, the Safe reverts if the call fails
  const isLow = became?.success === true && own > 0n && price === 0n && used > own + besideCall;
  // why: a Safe refunds ether at no more than the executor's own gas price
  const isDear = price > witnessFees.maxFeePerGas && typed.message["gasToken"] === nobody;
  return [
    ...refundOf(typed),
    ...(isLow ? [SafeGasTooLow.warning(measured, gasFigure("safe gas", own), gasFigure("used", used))] : []),
    ...(isDear ? [say.notAssumed("its gasPrice is more than it was simulated with")] : []),
  ];
};

/** The finding about owners, modules, guards or code that the transaction changed. */
const checkControl = ({ state, became, seen: { after } }: Ran): ReadonlyArray<Finding> => {
  const changed = became?.success === true ? changedIn(state, after) : [];
  const names = changed ?? ["what the Safe tells of itself"];
  return names.length === 0 ? [] : [SafeControlChanges.warning(measured, text("changes", names.join(", ")))];
};

/** True for findings about the Safe's own events: they show a transaction's outcome, and grant nothing. */
const isOwnEvent =
  (index: number, safe: Address) =>
  ({ transaction, numbers }: Finding): boolean =>
    transaction === index &&
    numbers.some(({ name, value }) => name === "contract" && value === safe) &&
    numbers.some(({ name, value }) => name === "event" && isExecution(String(value)));

const told = ({ sign, use, safe, place, stand, origin }: PlacedSigning, isCarried: boolean): Signing => ({
  ...{ sign, kind: use.kind, account: use.account, usableBy: use.usableBy, contract: use.contract, origin },
  ...{ from: use.from, until: use.until, ends: use.ends, repeats: use.repeats, place, stand },
  ...{ assumed: isCarried ? "approvals" : null, evidence: isCarried ? "assumed" : "unavailable" },
  ...(safe === undefined ? {} : { safe }),
  nonce: use.nonce === null ? null : { value: use.nonce, used: null },
});

/** The judgement of a Safe's transaction. */
export const judgedAsSafe = (signing: PlacedSigning, seen: Seen): Judgement => {
  const { typed, safe, use } = signing;
  const [execution] = seen.carriers;
  const isCarried = safe !== undefined && execution !== undefined;
  if (safe === undefined || typed === null || execution === undefined) {
    const why = use.unread ?? "a sender of the transactions is one of its owners";
    return { signing: told(signing, isCarried), findings: [seen.say.unknown(why)], replaced: [] };
  }
  const ran = ranOf({ ...signing, typed, safe }, seen, execution);
  const doubts = doubtsOf(ran);
  const findings = [
    ...[...checkSaid(ran), ...checkSafe(ran), ...checkDoubts(ran, doubts), ...checkExecution(ran, doubts)],
    ...[...checkGas(ran), ...checkControl(ran)],
  ];
  const nonce = use.nonce === null ? null : { value: use.nonce, used: ran.isUsed };
  return {
    signing: { ...told(signing, true), nonce },
    findings,
    replaced: [...(isUnsure(doubts) ? ran.failed : []), ...seen.found.filter(isOwnEvent(ran.index, safe.safe))],
  };
};
