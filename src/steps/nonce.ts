/**
 * Which nonce to sign: the next one, what is in flight, and whether the one to be signed fits.
 *
 * Asks `eth_getTransactionCount` on `pending` and on `latest`, per signer. The count on `pending` may
 * include the mempool while the simulated state does not.
 */
import * as Effect from "effect/Effect";
import { MalformedResponse, RpcError } from "../errors/rpc.js";
import { NonceTooHigh, NonceTooLow } from "../errors/verdicts.js";
import { asking } from "../eth/asking.js";
import * as Eth from "../Eth.js";
import type { Address } from "../primitives/hex.js";
import { count } from "../primitives/statement.js";
import { fromError, note, type Evidence, type Finding } from "../report/finding.js";
import type { Nonce } from "../report/parts.js";
import type { Rpc } from "../Rpc.js";
import { isFirst, signers, type Case, type Chosen, type Numbered } from "./reading/bundle.js";
import { failureOf, successOf, type Heard } from "./reading/heard.js";

/** Both counts of one signer. */
export interface Counts {
  readonly latest: Heard<number>;
  readonly pending: Heard<number>;
}

/** What the node answered, by signer. */
export interface Answers {
  readonly counts: ReadonlyMap<Address, Counts>;
}

/** Pools hold a few dozen to a few hundred consecutive transactions of one account; beyond this it is no pool. */
const mostInFlight = 10_000;

/** More transactions than any account will ever send; far enough below 2^53 for a whole bundle to follow. */
const mostCounted = 2n ** 52n;

const asNumber = (counted: bigint): Effect.Effect<number, RpcError> =>
  counted <= mostCounted
    ? Effect.succeed(Number(counted))
    : Effect.fail(
        new RpcError({
          method: "eth_getTransactionCount",
          reason: new MalformedResponse({ path: "result", detail: "a count that no account can have" }),
        }),
      );

/** Both counts of every signer at once; never fails, each answer stands for itself. */
export const ask = (bundle: ReadonlyArray<Case>): Effect.Effect<Answers["counts"], never, Rpc> => {
  const ofBlock = (address: Address, block: "latest" | "pending") =>
    Effect.result(Effect.flatMap(Eth.getTransactionCount({ address, block }), asNumber));
  const both = (address: Address) =>
    Effect.map(
      Effect.all([ofBlock(address, "latest"), ofBlock(address, "pending")], { concurrency: "unbounded" }),
      ([latest, pending]) => [address, { latest, pending }] as const,
    );
  return asking(
    { step: "nonce" },
    Effect.map(Effect.forEach(signers(bundle), both, { concurrency: "unbounded" }), (answers) => new Map(answers)),
  );
};

const knownOf = (signer: Address, { counts }: Answers) => {
  const answers = counts.get(signer);
  const [latest, pending] = [successOf(answers?.latest), successOf(answers?.pending)];
  return {
    latest,
    pending,
    /** The first nonce that nobody has taken, as the node sees it. */
    next: latest === null && pending === null ? null : Math.max(latest ?? 0, pending ?? 0),
  };
};

/** Whether a nonce that the caller fixed is in flight already: the transaction would replace another. */
export const replaces = (bundle: ReadonlyArray<Case>, answers: Answers): boolean =>
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
  one: Case,
  bundle: ReadonlyArray<C>,
  answers: Answers,
  nonceOf: (earlier: C, due: number | null) => number | null,
): number | null => {
  const upcoming = new Map<Address, number>();
  const due = (account: Address): number | null => upcoming.get(account) ?? knownOf(account, answers).next;
  for (const earlier of bundle) {
    if (earlier.index >= one.index) break;
    const nonce = nonceOf(earlier, due(earlier.signer));
    if (nonce === null) continue;
    upcoming.set(earlier.signer, nonce + 1);
    for (const { entry, authority } of earlier.authorizations) {
      const { chainId } = earlier.input;
      const fits = entry.chainId === 0 || chainId === null || entry.chainId === chainId;
      if (fits && authority !== null && entry.nonce === due(authority)) upcoming.set(authority, entry.nonce + 1);
    }
  }
  return due(one.signer);
};

/** The caller's own nonce, else the next one behind the rest of the bundle. */
export const choose = (
  one: Case,
  answers: Answers & { readonly bundle: ReadonlyArray<Case> },
): Chosen<number | null> => {
  const { nonce } = one.input;
  if (nonce !== null) return { value: nonce, by: "caller", evidence: "assumed" };
  const due = dueFor(one, answers.bundle, answers, (earlier, next) => earlier.input.nonce ?? next);
  return { value: due, by: "us", evidence: due === null ? "unavailable" : "estimated" };
};

type Checking = Answers & { readonly bundle: ReadonlyArray<Numbered> };

const dueBehind = (one: Numbered, answers: Checking): number | null =>
  dueFor(one, answers.bundle, answers, (earlier) => earlier.nonce.value);

/** The chosen nonce beside what the node counts. */
export const read = (one: Numbered, answers: Checking): Nonce => {
  const { value, by, evidence } = one.nonce;
  const { latest, pending, next } = knownOf(one.signer, answers);
  const due = dueBehind(one, answers);
  return {
    value,
    next,
    latest,
    inFlight: latest !== null && pending !== null ? Math.max(0, pending - latest) : null,
    gap: value === null ? null : due !== null && value > due ? value - due : 0,
    by,
    evidence,
  };
};

/** What is odd about the counts themselves, told once per signer. */
const checkCounts = ({ signer, index }: Case, answers: Answers): ReadonlyArray<Finding> => {
  const where = (evidence: Evidence) => ({ step: "nonce", transaction: index, evidence }) as const;
  const asked = answers.counts.get(signer);
  const failures = [asked?.latest, asked?.pending].map(failureOf).filter((failure) => failure !== null);
  const findings = failures.map((failure) =>
    fromError(failure, failures.length === 2 ? "unavailable" : "warning", where("unavailable")),
  );
  const { latest, pending } = knownOf(signer, answers);
  if (latest === null || pending === null) return findings;
  const numbers = [count("pending", pending), count("latest", latest)];
  if (pending < latest) findings.push(note("CountsDisagree", "warning", where("estimated"), ...numbers));
  if (pending - latest > mostInFlight)
    findings.push(note("TooManyInFlight", "unavailable", where("estimated"), ...numbers));
  return findings;
};

const checkValue = (one: Numbered, value: number, answers: Checking): ReadonlyArray<Finding> => {
  const due = dueBehind(one, answers);
  if (due === null) return [];
  const { by } = one.nonce;
  const where = { step: "nonce", transaction: one.index, evidence: "estimated" } as const;
  // why: what an earlier transaction of the bundle takes is gone, whatever the node could count; and
  // nobody asked to replace a transaction with a nonce that we chose ourselves
  const least = by === "caller" && isFirst(one, answers.bundle) ? knownOf(one.signer, answers).latest : due;
  const spoken = { account: one.signer, nonce: BigInt(value), next: BigInt(due) };
  const numbers = [count("nonce", value), count("next free", due)];
  if (least === null && value < due)
    return [note("NonceUnknown", "unavailable", { ...where, evidence: "unavailable" }, ...numbers)];
  if (least !== null && value < least)
    return [fromError(new NonceTooLow({ ...spoken, next: BigInt(least) }), "blocker", where)];
  if (value < due) return [note("ReplacesPending", "warning", where, ...numbers)];
  if (value === due) return [];
  return by === "reserved"
    ? [note("NonceUnderReservation", "warning", where, ...numbers)]
    : [fromError(new NonceTooHigh(spoken), "blocker", where)];
};

/**
 * What stands against a chosen nonce. Blockers: `NonceTooLow`, `NonceTooHigh`. One count missing is a
 * warning, both are `unavailable` with the node's error. A reserved nonce may run ahead of what the node
 * knows.
 */
export const check = (one: Numbered, answers: Checking): ReadonlyArray<Finding> => {
  const { value } = one.nonce;
  return [
    ...(isFirst(one, answers.bundle) ? checkCounts(one, answers) : []),
    ...(value === null ? [] : checkValue(one, value, answers)),
  ];
};
