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
   * - `burned`: another's transaction is final at the nonce, and ours never is mined.
   * - `unkept`: nobody sends again what is in flight, or looks how it ended.
   */
  readonly kind: "damaged" | "burned" | "rejected" | "underpriced" | "old" | "gap" | "behind" | "unkept";
  /** null where it is the whole lane. */
  readonly nonce: bigint | null;
  /** What is wrong and what to do, with the verb of `evm-preflight nonces`. */
  readonly sentence: string;
}

/** A first transaction older than this is `old`, ms. */
export const oldAfterMs = 300_000;

/** Bytes that nobody handed out again for so long have no `Nonces.keep`, ms. */
const unkeptAfterMs = 60_000;

const unkept = ({ committed, settled }: Status, limitMs: number, counts: Status["counts"]): Concern | undefined => {
  const keeps = "keep the lane in at least one process (`Nonces.keep`)";
  const open = settled.find(({ outcome, ageMs }) => outcome !== "mined" && outcome !== "burned" && ageMs > limitMs);
  if (open !== undefined)
    return {
      ...{ kind: "unkept", nonce: open.nonce },
      sentence: `nonce ${open.nonce} was passed by the chain, and nobody knows whether by ours: ${keeps}`,
    };
  const left = committed.find(({ offeredMs, nonce, ageMs }) =>
    // Where it is mined, whoever keeps the lane would have settled it
    counts !== null && nonce < counts.latest ? ageMs > limitMs : offeredMs !== null && offeredMs > limitMs,
  );
  if (left === undefined) return undefined;
  return {
    ...{ kind: "unkept", nonce: left.nonce },
    sentence: `nonce ${left.nonce} is not sent again by anybody: ${keeps}`,
  };
};

const refused: Readonly<Record<string, (nonce: bigint, why: string) => Concern>> = {
  rejected: (nonce, why) => ({
    ...{ kind: "rejected", nonce },
    sentence: `nonce ${nonce} was refused by the node${why} and nothing behind it is mined: replace or cancel it`,
  }),
  underpriced: (nonce, why) => ({
    ...{ kind: "underpriced", nonce },
    sentence: `nonce ${nonce} pays too little for the node's pool${why}: replace or cancel it with higher fees`,
  }),
};

/** Everything that keeps a lane from being healthy, the worst first; empty = healthy. */
export const health = (status: Status, options: { readonly oldAfterMs?: number } = {}): ReadonlyArray<Concern> => {
  const { violations, committed, settled, gaps, counts, floor } = status;
  const limitMs = options.oldAfterMs ?? oldAfterMs;
  const [head] = committed;
  const isOld = head !== undefined && head.ageMs > limitMs;
  const found: Array<Concern | undefined> = [
    ...violations.map((violation): Concern => ({ kind: "damaged", nonce: null, sentence: `damaged: ${violation}` })),
    ...settled
      .filter(({ outcome }) => outcome === "burned")
      .map(({ nonce, hash }): Concern => ({
        ...{ kind: "burned", nonce },
        sentence: `nonce ${nonce} was taken by another's transaction, which is final: ${hash} is never mined, so pay again and find out who else uses the key`,
      })),
    ...committed.map(({ nonce, outcome, why }) =>
      Object.hasOwn(refused, outcome) ? refused[outcome]?.(nonce, why === "" ? "" : ` (${why})`) : undefined,
    ),
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
  found.push(unkept(status, Math.min(limitMs, unkeptAfterMs), counts));
  if (counts !== null && counts.latest < floor)
    found.push({
      ...{ kind: "behind", nonce: counts.latest },
      sentence: `the chain is at ${counts.latest}, below ${floor} that was settled: a stale node, or a reorganisation, which \`Nonces.keep\` follows`,
    });
  return found.filter((concern) => concern !== undefined);
};
