/** What came of a crash run, by what the chain recorded and the workers said. */
import type { SimulatedChain } from "../chain.js";
import type { Herd } from "./herd.js";
import type { shared } from "./options.js";

/** What the run itself counted. */
interface Counted {
  /** Whether every lane was empty in the end, with all it issued mined. */
  readonly drained: boolean;
  /** Violations of the partition that any probe found: must be none. */
  readonly violations: ReadonlyArray<string>;
  readonly seconds: number;
  readonly probes: number;
  /** Replies of the store that were lost. */
  readonly cut: number;
  /** The longest time for which a lane had no transaction mined, ms. */
  readonly stallMs: number;
  /** Times every answer of the store was lost for longer than its tries take. */
  readonly silences: number;
  /** Times the store was killed: it came back, or its replica took over. */
  readonly crashes: number;
  /** Times the store did not answer, or ended all its connections. */
  readonly outages: number;
  /** Times the store forgot its scripts. */
  readonly flushes: number;
  readonly reorganisations: number;
}

export interface CrashResult extends Counted {
  /** Nonces mined, over all lanes. */
  readonly mined: number;
  readonly broadcasts: number;
  /** Nonces with more than one payment, as `address:nonce`: must be none. Replacements pay the same. */
  readonly doubleUses: ReadonlyArray<string>;
  /** Payments mined under more than one nonce: must be none. */
  readonly paidTwice: ReadonlyArray<string>;
  /** Payments that a worker was told are sent, and that were never mined: must be none. */
  readonly lost: ReadonlyArray<string>;
  /** How long a send took, ms. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly kills: number;
  readonly pauses: number;
  /** Payments in whose place the user's own wallet sent another, and how many were told as burned: by a `keep` that lived on, or in the end. */
  readonly displaced: number;
  readonly burned: number;
  /** Replacements recorded and sent. */
  readonly replaced: number;
  /** Operations that the library refused because the store went back in time. */
  readonly wentBack: number;
  /** Commits refused to a lease that ended. */
  readonly fenced: number;
  /** What the workers failed with, by tag. */
  readonly failures: Readonly<Record<string, number>>;
  /** Workers that ended by themselves: must be none. */
  readonly broken: number;
}

export const judged = (
  chain: SimulatedChain,
  senders: ReturnType<typeof shared>,
  herd: Herd,
  counted: Counted,
): CrashResult => {
  const paymentOf = new Map(chain.broadcasts.map(({ hash, value }) => [hash, String(value)]));
  const payments = new Map<string, Set<bigint>>();
  for (const { from, nonce, value } of chain.broadcasts) {
    const key = `${from}:${nonce}`;
    payments.set(key, (payments.get(key) ?? new Set()).add(value));
  }
  const mined = senders.flatMap(({ lane }) => chain.account(lane.address).mined);
  const paid = new Set<string>();
  const paidTwice: Array<string> = [];
  for (const hash of mined) {
    const payment = paymentOf.get(hash) ?? hash;
    if (paid.has(payment)) paidTwice.push(payment);
    paid.add(payment);
  }
  const latencies = [...herd.latencies].sort((a, b) => a - b);
  const latency = (part: number) => latencies[Math.floor(latencies.length * part)] ?? 0;
  const { burned, kills, pauses, replaced, wentBack, failures, broken } = herd;
  return {
    mined: mined.length,
    broadcasts: chain.broadcasts.length,
    doubleUses: [...payments].flatMap(([key, values]) => (values.size > 1 ? [key] : [])),
    paidTwice,
    lost: [...herd.sent].filter((payment) => !paid.has(payment) && !chain.displaced.has(payment)),
    ...counted,
    ...{
      p50Ms: latency(0.5),
      p99Ms: latency(0.99),
      kills,
      pauses,
      replaced,
      wentBack,
      burned,
      displaced: chain.displaced.size,
    },
    ...{ fenced: failures["LeaseLost"] ?? 0, failures, broken },
  };
};

/** What is wrong with a run in which nothing may go wrong; null = nothing. */
export const problemOf = (result: CrashResult): string | null => {
  const { doubleUses, paidTwice, lost, drained, violations, broken } = result;
  if (doubleUses.length > 0) return "nonces used twice";
  if (paidTwice.length > 0) return "payments mined twice";
  if (lost.length > 0) return "payments lost";
  if (!drained) return "a lane that does not empty";
  if (violations.length > 0) return "a lane in a bad state";
  // What a killed keep did not tell is told in the end
  if (result.displaced > 5 && result.burned === 0) return "payments burned in silence";
  return broken > 0 ? "a worker broke" : null;
};

/** Whether a control was caught: seen by the harness, or refused by the library. */
export const isCaught = ({ doubleUses, wentBack }: CrashResult): boolean => doubleUses.length > 0 || wentBack > 0;
