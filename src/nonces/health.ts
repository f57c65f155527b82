/** What is wrong with a lane, from its status. Pure. */
import type { Status } from "./status.js";

/** Something that somebody has to see to. */
export interface Concern {
  /**
   * - `damaged`: the store violates the partition.
   * - `rejected`, `underpriced`: a node refused what stands at the nonce.
   * - `old`: the first transaction in flight is not mined.
   * - `gap`: a free nonce below a committed one.
   * - `behind`: the chain's count is below what was settled.
   */
  readonly kind: "damaged" | "rejected" | "underpriced" | "old" | "gap" | "behind";
  /** null where it is the whole lane. */
  readonly nonce: bigint | null;
  /** What is wrong and what to do, with the verb of `evm-preflight nonces`. */
  readonly sentence: string;
}

/** A first transaction older than this is `old`, ms. */
export const oldAfterMs = 300_000;

const refused: Readonly<Record<string, (nonce: bigint) => Concern>> = {
  rejected: (nonce) => ({
    ...{ kind: "rejected", nonce },
    sentence: `nonce ${nonce} was refused by the node and nothing behind it is mined: replace or cancel it`,
  }),
  underpriced: (nonce) => ({
    ...{ kind: "underpriced", nonce },
    sentence: `nonce ${nonce} pays too little for the node's pool: replace or cancel it with higher fees`,
  }),
};

/** Everything that keeps a lane from being healthy, the worst first; empty = healthy. */
export const health = (status: Status, options: { readonly oldAfterMs?: number } = {}): ReadonlyArray<Concern> => {
  const { violations, committed, gaps, counts, floor } = status;
  const [head] = committed;
  const isOld = head !== undefined && head.ageMs > (options.oldAfterMs ?? oldAfterMs);
  const found: Array<Concern | undefined> = [
    ...violations.map((violation): Concern => ({ kind: "damaged", nonce: null, sentence: `damaged: ${violation}` })),
    ...committed.map(({ nonce, outcome }) => (Object.hasOwn(refused, outcome) ? refused[outcome]?.(nonce) : undefined)),
    ...gaps.map((nonce): Concern => ({
      ...{ kind: "gap", nonce },
      sentence: `nonce ${nonce} is a gap and nothing above it is mined: the next reservation takes it, or fill it`,
    })),
  ];
  if (isOld)
    found.push({
      ...{ kind: "old", nonce: head.nonce },
      sentence: `nonce ${head.nonce} is not mined after ${Math.round(head.ageMs / 1_000)} s: resend it, or replace it with higher fees`,
    });
  if (counts !== null && counts.latest < floor)
    found.push({
      ...{ kind: "behind", nonce: counts.latest },
      sentence: `the chain is at ${counts.latest}, below ${floor} that was settled: a stale node, or a reorganisation, which \`Nonces.keep\` follows`,
    });
  return found.filter((concern) => concern !== undefined);
};
