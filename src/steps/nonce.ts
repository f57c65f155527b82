/**
 * Which nonce to sign: the next one, what is in flight, and whether the one to be signed fits.
 *
 * Asks `eth_getTransactionCount` on `pending` and on `latest`, per signer. The count on `pending` may
 * include the mempool while the simulated state does not.
 */
import type { Facts } from "./reading/answers.js";
import * as Result from "effect/Result";
import * as Questions from "../eth/questions.js";
import { known, mapped, one, together, type Ask } from "../eth/round.js";
import { MalformedResponse, RpcError } from "../errors/rpc.js";
import { NonceTooHigh, NonceTooLow, ReplacementRefused } from "../errors/verdicts.js";
import { lower, type Address } from "../primitives/hex.js";
import { count, hash, text, type Figure } from "../primitives/statement.js";
import { fromError, code, type Evidence, type Finding } from "../report/finding.js";
import type { Nonce } from "../report/parts.js";
import type { Observed } from "../report/schema.js";
import { isFirst, madeUpIn, signers, type Case, type Filled, type Numbered } from "./reading/bundle.js";
import { askEach, failureOf, successOf, type Failure } from "./reading/askResult.js";
import { barOf, isOtherKind, isUnderpriced } from "./reading/pool.js";

/** Pools hold a few dozen to a few hundred consecutive transactions of one account; beyond this it is no pool. */
const mostInFlight = 10_000;

/** More transactions than any account will ever send; far enough below 2^53 for a whole bundle to follow. */
const mostCounted = 2n ** 52n;

const asNumber = (counted: bigint): Result.Result<number, RpcError> =>
  counted <= mostCounted
    ? Result.succeed(Number(counted))
    : Result.fail(
        new RpcError({
          method: "eth_getTransactionCount",
          reason: new MalformedResponse({ path: "result", detail: "a count that no account can have" }),
        }),
      );

const unused = { latest: Result.succeed(0), pending: Result.succeed(0) };

/** Both counts of every signer at once; never fails, each answer stands for itself. */
export const ask = (bundle: ReadonlyArray<Case>): Ask<Facts["counts"]> => {
  const ofBlock = (address: Address, block: "latest" | "pending") =>
    mapped(one(Questions.count({ address, block })), Result.flatMap(asNumber));
  const madeUp = madeUpIn(bundle);
  return askEach("nonce", signers(bundle), (address) =>
    // why: nobody has sent anything from an account that is made up
    madeUp.has(address)
      ? known(unused)
      : together({ latest: ofBlock(address, "latest"), pending: ofBlock(address, "pending") }),
  );
};

const knownOf = (signer: Address, { counts }: Pick<Facts, "counts">) => {
  const answers = counts.get(signer);
  const [latest, pending] = [successOf(answers?.latest), successOf(answers?.pending)];
  return {
    latest,
    pending,
    /** The first nonce that nobody has taken, as the node sees it. */
    next: latest === null && pending === null ? null : Math.max(latest ?? 0, pending ?? 0),
  };
};

/** True if a nonce that the caller fixed is in flight already: the transaction would replace another. */
export const replaces = (bundle: ReadonlyArray<Case>, answers: Pick<Facts, "counts">): boolean =>
  bundle.some(({ signer, input: { nonce } }) => {
    const { latest, pending } = knownOf(signer, answers);
    return nonce !== null && latest !== null && pending !== null && latest <= nonce && nonce < pending;
  });

/**
 * The nonce that is due for `one` behind the cases before it: each takes one of its signer, and one of the
 * accounts whose EIP-7702 authorisations it carries; an authorisation that does not fit (other chain, other
 * nonce) is skipped, as a node does.
 */
const dueFor = <C extends Case>(
  entry: Case,
  bundle: ReadonlyArray<C>,
  answers: Pick<Facts, "counts">,
  nonceOf: (earlier: C, due: number | null) => number | null,
): number | null => {
  const upcoming = new Map<Address, number>();
  const due = (account: Address): number | null => upcoming.get(account) ?? knownOf(account, answers).next;
  for (const earlier of bundle) {
    if (earlier.index >= entry.index) break;
    const nonce = nonceOf(earlier, due(earlier.signer));
    if (nonce === null) continue;
    upcoming.set(earlier.signer, nonce + 1);
    for (const { entry, authority } of earlier.authorizations) {
      const { chainId } = earlier.input;
      const fits = entry.chainId === 0 || chainId === null || entry.chainId === chainId;
      if (fits && authority !== null && entry.nonce === due(authority)) upcoming.set(authority, entry.nonce + 1);
    }
  }
  return due(entry.signer);
};

/** The caller's own nonce, else the next one behind the rest of the bundle. */
export const choose = (entry: Case, facts: Pick<Facts, "counts">, bundle: ReadonlyArray<Case>): Numbered["nonce"] => {
  const { nonce } = entry.input;
  if (nonce !== null) return { value: nonce, by: "caller", evidence: "assumed" };
  const due = dueFor(entry, bundle, facts, (earlier, next) => earlier.input.nonce ?? next);
  return { value: due, by: "us", evidence: due === null ? "unavailable" : "estimated" };
};

const dueBehind = (entry: Numbered, answers: Pick<Facts, "counts">, bundle: ReadonlyArray<Numbered>): number | null =>
  dueFor(entry, bundle, answers, (earlier) => earlier.nonce.value);

/** The node's counts of mined transactions, and of those in flight beyond. */
export const inFlightCounts = (signer: Address, answers: Pick<Facts, "counts">): Pick<Nonce, "latest" | "inFlight"> => {
  const { latest, pending } = knownOf(signer, answers);
  return { latest, inFlight: latest !== null && pending !== null ? Math.max(0, pending - latest) : null };
};

/**
 * True if the pending state has used a nonce that no count has reached. Another account's transaction in flight carries
 * an authorisation (EIP-7702) of the signer: that raises its nonce, and pools do not count it.
 */
export const isUsedByAuthorization = (
  refusal: Failure | null,
  bundle: ReadonlyArray<Case & Partial<Numbered>>,
  answers: Pick<Facts, "counts"> & { readonly block: Observed["blockTag"] },
): boolean => {
  if (refusal?._tag !== "NonceTooLow" || answers.block !== "pending") return false;
  const nonceOf = ({ nonce, input }: (typeof bundle)[number]) => nonce?.value ?? input.nonce;
  const isUncounted = (entry: (typeof bundle)[number]) =>
    (nonceOf(entry) ?? -1) >= (dueFor(entry, bundle, answers, nonceOf) ?? Infinity);
  const refused = bundle.filter(
    (entry) =>
      (refusal.account === null || lower(refusal.account) === entry.signer) &&
      (refusal.nonce === null || refusal.nonce === BigInt(nonceOf(entry) ?? -1)),
  );
  return refused.length > 0 && refused.every(isUncounted);
};

/**
 * Another account's transaction carries it. Only one of the two can use the nonce, so this one may never be mined.
 * @figures count("nonce", 4), count("next", 5), address("account", alice)
 */
export const AuthorizationInFlight = code("nonce", ["unavailable"], "AuthorizationInFlight", [
  "the pending state has used this nonce, though the sender sent nothing with it: its authorisation (EIP-7702) is likely in flight",
  "wait until the authorisation is mined, then ask again",
]);

/** That an authorisation has used the nonce in the pending state, by the node's own words. */
export const authorizationInFlight = (refusal: Failure | null): Finding =>
  AuthorizationInFlight.unavailable({ evidence: "estimated" }, ...(refusal?.statement.numbers ?? []));

/** The chosen nonce beside what the node counts. */
export const read = (entry: Numbered, answers: Pick<Facts, "counts">, bundle: ReadonlyArray<Numbered>): Nonce => {
  const { value, by, evidence } = entry.nonce;
  const { next } = knownOf(entry.signer, answers);
  const due = dueBehind(entry, answers, bundle);
  return {
    value,
    next,
    ...inFlightCounts(entry.signer, answers),
    gap: value === null ? null : due !== null && value > due ? value - due : 0,
    by,
    evidence,
  };
};

/**
 * That is impossible on one node.
 * @figures count("pending", 7), count("latest", 9)
 */
export const CountsDisagree = code("nonce", ["warning"], "CountsDisagree", [
  "the node counts fewer pending than mined transactions",
  "ask again; the node's backends may be out of step",
]);

/**
 * Such a count is not believed.
 * @figures count("pending", 9_000), count("latest", 12)
 */
export const TooManyInFlight = code("nonce", ["unavailable"], "TooManyInFlight", [
  "the node counts more in flight than any mempool keeps for one account",
  "use another node",
]);

/** Reports failures and contradictions of the counts themselves, once per signer. */
const checkCounts = ({ signer, index }: Case, answers: Pick<Facts, "counts">): ReadonlyArray<Finding> => {
  const where = (evidence: Evidence) => ({ step: "nonce", transaction: index, evidence }) as const;
  const counts = answers.counts.get(signer);
  const failures = [counts?.latest, counts?.pending].map(failureOf).filter((failure) => failure !== null);
  const findings = failures.map((failure) =>
    fromError(failure, failures.length === 2 ? "unavailable" : "warning", where("unavailable")),
  );
  const { latest, pending } = knownOf(signer, answers);
  if (latest === null || pending === null) return findings;
  const numbers = [count("pending", pending), count("latest", latest)];
  if (pending < latest) findings.push(CountsDisagree.warning(where("estimated"), ...numbers));
  if (pending - latest > mostInFlight) findings.push(TooManyInFlight.unavailable(where("estimated"), ...numbers));
  return findings;
};

/** @figures count("nonce", 12), count("next free", 13), hash("in flight", sent) */
export const ReplacesPending = code("nonce", ["info"], "ReplacesPending", [
  "a transaction with this nonce is already in flight; this one would replace it",
  "use the next nonce, unless you mean to replace that transaction",
]);

const checkReplacement = (
  entry: Filled,
  value: number,
  { pools, replacing }: Pick<Facts, "pools" | "replacing">,
  numbers: ReadonlyArray<Figure | null>,
): ReadonlyArray<Finding> => {
  const { index, input, fee, signer } = entry;
  const where = { step: "nonce", transaction: index, evidence: "estimated" } as const;
  const old = pools.get(signer)?.transactions.get(value) ?? null;
  if (old === null || replacing.priceBump === 0) {
    const why = old === null ? "not compared: its fees are not known" : "not compared: there is no pool";
    return [ReplacesPending.info(where, ...numbers, text("fees", why))];
  }
  const measured = { ...where, evidence: "measured" } as const;
  const isOther = isOtherKind(entry, old);
  const least = barOf(old, replacing);
  if (!isOther && !isUnderpriced(fee.value, input, least))
    return [ReplacesPending.info(measured, ...numbers, hash("in flight", old.hash))];
  const refused = new ReplacementRefused({
    ...{ account: signer, nonce: BigInt(value), inFlight: old.hash, isOtherKind: isOther },
    leastFeePerGas: isOther ? null : least.cap,
    leastPriorityFeePerGas: isOther ? null : least.tip,
    leastFeePerBlobGas: isOther ? null : least.blob,
  });
  // why: a node of a kind that nobody named may take less
  return [fromError(refused, replacing.isKnown ? "blocker" : "unavailable", measured)];
};

/**
 * The nonce store reserved it, and transactions with lower nonces are not sent yet.
 * @figures count("nonce", 12), count("next free", 10)
 */
export const NonceUnderReservation = code("nonce", ["warning"], "NonceUnderReservation", [
  "the reserved nonce is ahead of the node's count",
  "send those with lower nonces first",
]);

/**
 * The node gave no count of mined transactions for the sender.
 * @figures count("nonce", 12), count("next free", 13)
 */
export const NonceUnknown = code("nonce", ["unavailable"], "NonceUnknown", [
  "whether the nonce is already used is not known",
  "ask again, or use the next nonce",
]);

const checkValue = (
  entry: Filled,
  value: number,
  answers: Pick<Facts, "counts" | "pools" | "replacing">,
  bundle: ReadonlyArray<Numbered>,
): ReadonlyArray<Finding> => {
  const due = dueBehind(entry, answers, bundle);
  if (due === null) return [];
  const { by } = entry.nonce;
  const where = { step: "nonce", transaction: entry.index, evidence: "estimated" } as const;
  // why: what an earlier transaction of the bundle takes is gone, whatever the node could count; and
  // nobody asked to replace a transaction with a nonce that we chose ourselves
  const least = by === "caller" && isFirst(entry, bundle) ? knownOf(entry.signer, answers).latest : due;
  const spoken = { account: entry.signer, nonce: BigInt(value), next: BigInt(due) };
  const numbers = [count("nonce", value), count("next free", due)];
  if (least === null && value < due)
    return [NonceUnknown.unavailable({ ...where, evidence: "unavailable" }, ...numbers)];
  if (least !== null && value < least) {
    const error = new NonceTooLow({ ...spoken, next: BigInt(least) });
    const mined = { ...error.statement, sentence: "the transaction is already mined", remedy: "do not send it again" };
    const isMined = entry.input.origin?.isMined === true;
    return [fromError(error, "blocker", where, isMined ? mined : error.statement)];
  }
  // why: behind a replacement the rest of a bundle may meet others in flight
  const isMet = !isFirst(entry, bundle) && answers.pools.get(entry.signer)?.transactions.has(value) === true;
  if (value < due || isMet) return checkReplacement(entry, value, answers, numbers);
  if (value === due) return [];
  return by === "reserved"
    ? [NonceUnderReservation.warning(where, ...numbers)]
    : [fromError(new NonceTooHigh(spoken), "blocker", where)];
};

/**
 * Reports problems of a chosen nonce. Blockers: `NonceTooLow`, `NonceTooHigh`, and a replacement that a pool would not
 * take. One count missing is a
 * warning, both are `unavailable` with the node's error. A reserved nonce may run ahead of what the node
 * knows.
 */
export const check = (
  entry: Filled,
  answers: Pick<Facts, "counts" | "pools" | "replacing">,
  bundle: ReadonlyArray<Numbered>,
): ReadonlyArray<Finding> => {
  const { value } = entry.nonce;
  return [
    ...(isFirst(entry, bundle) ? checkCounts(entry, answers) : []),
    ...(value === null ? [] : checkValue(entry, value, answers, bundle)),
  ];
};
