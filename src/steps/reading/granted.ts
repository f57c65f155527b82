/**
 * The gas that the calls of a simulation ran with. Nodes keep one amount for a whole request (geth: `--rpc.gascap`), and
 * run a later call with what is left of it, silently. Pure.
 */
import * as Arr from "effect/Array";
import * as BigInts from "effect/BigInt";

/** A call of a simulation. All in gas. */
export interface Metered {
  readonly asked: bigint;
  /** Gas that its transaction shows; null = it was not shown. */
  readonly shown: bigint | null;
  readonly used: bigint;
  /** At its highest, before refunds: no node counts more. */
  readonly peak: bigint;
}

/** Above these a request asks that its transactions are shown: one limit, and all together. */
const ordinary = { each: 2_000_000n, all: 10_000_000n };

/** True if limits may exceed the gas that a node has for one request. */
export const isLarge = (limits: ReadonlyArray<bigint>): boolean =>
  limits.some((limit) => limit > ordinary.each) || BigInts.sumAll(limits) > ordinary.all;

/**
 * The least gas that each call is known to have had, never more than it asked for. `left` is what the first of them, a
 * reader, found left of its own: the later ones had that, less what those before them took.
 */
export const grantedOf = (calls: ReadonlyArray<Metered>, left: bigint | null): ReadonlyArray<bigint> => {
  let rest = left ?? 0n;
  return calls.map(({ asked, shown, peak }) => {
    const granted = BigInts.min(asked, BigInts.max(shown ?? 0n, rest));
    rest = BigInts.max(rest - peak, 0n);
    return granted;
  });
};

/** The gas that a node has for a whole request; null where no call shows that it got less than it asked for. */
export const gasCapIn = (calls: ReadonlyArray<Metered>): bigint | null => {
  const [before, [cut]] = Arr.span(calls, ({ asked, shown }) => shown === null || shown >= asked);
  return cut === undefined ? null : BigInts.sumAll(before.map(({ used }) => used)) + (cut.shown ?? 0n);
};

/**
 * The first call that does not count, by its place: it may have run with less than the `least` it must have. With less
 * than it asked for only a success counts, for more gas might have prevented a failure.
 */
export const cutIn = (
  calls: ReadonlyArray<{
    readonly gas: bigint;
    readonly least: bigint;
    readonly granted: bigint;
    readonly isSuccess: boolean;
  }>,
): number | null => {
  const cut = calls.findIndex(
    ({ gas, least, granted, isSuccess }) => granted < least || (granted < gas && (!isSuccess || granted === 0n)),
  );
  return cut < 0 ? null : cut;
};
