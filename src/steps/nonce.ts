/**
 * Which nonce to sign: the next one, what is in flight, and whether the caller's own fits.
 *
 * Asks `eth_getTransactionCount` on `pending` and on `latest`, per sender. The count on `pending` may
 * include the mempool while the simulated state does not.
 */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import * as Eth from "../Eth.js";
import { fromError, note, type Finding } from "../report/finding.js";
import type { Address } from "../primitives/hex.js";
import { MalformedResponse, RpcError } from "../errors/rpc.js";
import { NonceTooHigh, NonceTooLow, type Verdict } from "../errors/verdicts.js";
import type { Rpc } from "../Rpc.js";
import type { Transaction } from "../Transaction.js";
import { authorityOf } from "../transaction/signer.js";
import type { Nonce } from "../report/parts.js";

type Failure = RpcError | Verdict;

/** Both counts of one sender. */
export interface Counts {
  readonly latest: Result.Result<number, Failure>;
  readonly pending: Result.Result<number, Failure>;
}

/** Pools hold a few dozen to a few hundred consecutive transactions of one account; beyond this it is no pool. */
const mostInFlight = 10_000;

/** More transactions than any account will ever send; far enough below 2^53 for a whole bundle to follow. */
const mostCounted = 2n ** 52n;

const asNumber = (count: bigint): Effect.Effect<number, RpcError> =>
  count <= mostCounted
    ? Effect.succeed(Number(count))
    : Effect.fail(
        new RpcError({
          method: "eth_getTransactionCount",
          reason: new MalformedResponse({ path: "result", detail: "a count that no account can have" }),
        }),
      );

/** Both counts of every sender at once; never fails, each answer stands for itself. */
export const ask = Effect.fnUntraced(function* (
  senders: ReadonlyArray<Address>,
): Effect.fn.Return<ReadonlyMap<Address, Counts>, never, Rpc> {
  const count = (address: Address, block: "latest" | "pending") =>
    Effect.result(Effect.flatMap(Eth.getTransactionCount({ address, block }), asNumber));
  const answers = yield* Effect.forEach(
    senders,
    (address) =>
      Effect.map(
        Effect.all([count(address, "latest"), count(address, "pending")], { concurrency: "unbounded" }),
        ([latest, pending]) => [address, { latest, pending }] as const,
      ),
    { concurrency: "unbounded" },
  );
  return new Map(answers);
});

/** Each sender once, in order of first appearance. */
export const senders = (transactions: ReadonlyArray<Transaction>): ReadonlyArray<Address> => [
  ...new Set(transactions.map(({ from }) => from)),
];

/** Whether a nonce that the caller fixed is in flight already: the transaction would replace another. */
export const replaces = (transactions: ReadonlyArray<Transaction>, counts: ReadonlyMap<Address, Counts>): boolean =>
  transactions.some(({ from, nonce }) => {
    const [latest, pending] = [valueOf(counts.get(from)?.latest), valueOf(counts.get(from)?.pending)];
    return nonce !== null && latest !== null && pending !== null && latest <= nonce && nonce < pending;
  });

/** Nonces and findings, one entry per transaction. */
export interface Decision {
  readonly outputs: ReadonlyArray<Nonce>;
  readonly findings: ReadonlyArray<Finding>;
}

const valueOf = (result: Result.Result<number, Failure> | undefined): number | null =>
  result !== undefined && Result.isSuccess(result) ? result.success : null;

/**
 * The nonces after a transaction: its sender's next one, and those of the accounts whose EIP-7702
 * authorisations it carries. One that does not fit (other chain, other nonce) is skipped, as a node does.
 */
const advance = (
  upcoming: Map<Address, number>,
  transaction: Transaction,
  nonce: number,
  next: (account: Address) => number | null,
): void => {
  upcoming.set(transaction.from, nonce + 1);
  for (const entry of transaction.authorizationList ?? []) {
    const fits = entry.chainId === 0 || transaction.chainId === null || entry.chainId === transaction.chainId;
    const authority = fits ? authorityOf(entry) : null;
    if (authority === null || entry.nonce !== (upcoming.get(authority) ?? next(authority))) continue;
    upcoming.set(authority, entry.nonce + 1);
  }
};

/**
 * Decides the nonce of every transaction, in bundle order.
 *
 * Blockers: `NonceTooLow`, `NonceTooHigh`. One count missing is a warning, both are `unavailable`
 * with the node's error. `assigned` are nonces reserved elsewhere (by index); they may run ahead of
 * what the node knows. `chosen` are nonces that an earlier round chose (by index): taken meanwhile by
 * another transaction, they are too low, for nobody asked to replace that one.
 */
export const decide = (
  transactions: ReadonlyArray<Transaction>,
  counts: ReadonlyMap<Address, Counts>,
  assigned: ReadonlyArray<number | null> = [],
  chosen: ReadonlyArray<boolean> = [],
): Decision => {
  const findings: Array<Finding> = [];
  const upcoming = new Map<Address, number>();
  const seen = new Set<Address>();
  const nextOf = (account: Address): number | null => {
    const answers = counts.get(account);
    const [latest, pending] = [valueOf(answers?.latest), valueOf(answers?.pending)];
    return latest === null && pending === null ? null : Math.max(latest ?? 0, pending ?? 0);
  };
  const outputs = transactions.map((transaction, index): Nonce => {
    const where = { step: "nonce", transaction: index } as const;
    const answers = counts.get(transaction.from);
    const latest = valueOf(answers?.latest);
    const pending = valueOf(answers?.pending);
    const first = !seen.has(transaction.from);
    seen.add(transaction.from);
    if (first && answers !== undefined) findings.push(...missing(answers, index));
    if (first && latest !== null && pending !== null && pending < latest) {
      findings.push(
        note(
          "NodeDisagrees",
          "warning",
          {
            verdict: "the node counts fewer pending than mined transactions",
            evidence: `pending ${pending}, latest ${latest}`,
            remedy: "its backends may be out of step; ask again",
          },
          where,
        ),
      );
    }
    if (first && latest !== null && pending !== null && pending - latest > mostInFlight) {
      findings.push(
        note(
          "NodeDisagrees",
          "unavailable",
          {
            verdict: "the node counts more transactions in flight than a pool keeps for one account",
            evidence: `pending ${pending}, latest ${latest}`,
            remedy: "use another node, or give the nonce yourself",
          },
          where,
        ),
      );
    }
    const next = nextOf(transaction.from);
    const due = upcoming.get(transaction.from) ?? next;
    const reserved = assigned[index] ?? null;
    const value = transaction.nonce ?? reserved ?? due;
    const fixed = transaction.nonce !== null;
    if (value !== null) advance(upcoming, transaction, value, nextOf);
    const gap = value !== null && due !== null && value > due ? value - due : value === null ? null : 0;
    const evidence = value === null ? "unavailable" : fixed || reserved !== null ? "assumed" : "estimated";
    const output: Nonce = {
      value,
      next,
      latest,
      inFlight: latest !== null && pending !== null ? Math.max(0, pending - latest) : null,
      gap,
      fixed,
      evidence,
    };
    if (value === null || due === null) return output;
    const evidenceOf = { account: transaction.from, nonce: BigInt(value), next: BigInt(due) };
    // what an earlier transaction of the bundle takes is gone, whatever the node could count
    const least = first && chosen[index] !== true ? latest : due;
    if (least === null && value < due) {
      findings.push(
        note(
          "EvidenceReduced",
          "unavailable",
          {
            verdict: "whether the nonce is mined already is not known",
            evidence: `nonce ${value}, next free ${due}`,
            remedy: "ask again, or use the next nonce",
          },
          where,
        ),
      );
    } else if (least !== null && value < least) {
      findings.push(fromError(new NonceTooLow({ ...evidenceOf, next: BigInt(least) }), "blocker", where));
    } else if (value < due) {
      findings.push(
        note(
          "ReplacesPending",
          "warning",
          {
            verdict: "a transaction with this nonce is already in flight; this one would replace it",
            evidence: `nonce ${value}, next free ${due}`,
            remedy: "raise both fees by at least 10 % over the one in flight, or use the next nonce",
          },
          where,
        ),
      );
    } else if (value > due && reserved !== null && !fixed) {
      findings.push(
        note(
          "NonceUnderReservation",
          "warning",
          {
            verdict: "the reserved nonce is ahead of what the node knows",
            evidence: `nonce ${value}, next ${due}`,
            remedy: "its predecessors must be sent first",
          },
          where,
        ),
      );
    } else if (value > due) {
      findings.push(fromError(new NonceTooHigh(evidenceOf), "blocker", where));
    }
    return output;
  });
  return { outputs, findings };
};

const missing = (answers: Counts, index: number): ReadonlyArray<Finding> => {
  const where = { step: "nonce", transaction: index } as const;
  const failures = [answers.latest, answers.pending].flatMap((answer) =>
    Result.isFailure(answer) ? [answer.failure] : [],
  );
  return failures.map((failure) => fromError(failure, failures.length === 2 ? "unavailable" : "warning", where));
};
