/** A clearance kept true from head to head: proven again at each, unless the header alone says that it is lost. */
import type * as Cause from "effect/Cause";
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Option from "effect/Option";
import * as Queue from "effect/Queue";
import * as Result from "effect/Result";
import * as Semaphore from "effect/Semaphore";
import * as Stream from "effect/Stream";
import { nextBaseFee, parametersOf, type Chain } from "../chains/index.js";
import { FeeCapTooLow } from "../errors/index.js";
import { type Head, type Header, chainsInUse } from "../eth/index.js";
import type { Options } from "../pipeline/index.js";
import { copyOf, type Difference } from "../primitives/index.js";
import { diff } from "../report/diff.js";
import { headLimitsOf, minesOnDemand } from "../report/freshness.js";
import type { Blocker, Report } from "../report/index.js";
import { expiryOf, ready, verdictOf } from "../report/ready.js";
import { Rpc, type Memory } from "../rpc/index.js";

/**
 * The result of a head for a watched report; `head` is the one that it was judged by.
 * - `Fresh`: the clearance holds: the same requests do the same, and `Report.ready` clears them. Sign by `report`: it was
 *   proven at this head, so that its clearance lasts from here.
 * - `Moved`: the requests still may be signed, but not on what was said before. `diff`: what the new proof says otherwise,
 *   but for prices of the moment. `report` was proven at this head; what comes next is compared with it.
 * - `Lost`: there is no clearance now. `reason`: as `Report.ready` fails, or `FeeCapTooLow` by the head alone. `report`: the
 *   latest that was proven. `head` null = the clearance expired before one was judged. The next heads are proven, too, so
 *   that `Fresh` or `Moved` may follow.
 */
export type Watched =
  | { readonly _tag: "Fresh"; readonly head: Head; readonly report: Report }
  | { readonly _tag: "Moved"; readonly head: Head; readonly diff: ReadonlyArray<Difference>; readonly report: Report }
  | { readonly _tag: "Lost"; readonly head: Head | null; readonly reason: Blocker; readonly report: Report };

/** Why no block after this one takes the transactions at their fee cap; null where only a proof can tell. `now` in epoch ms. */
export const lostBy = ({ transactions, observed, chainId }: Report, header: Header, chain: Chain, now: number) => {
  const { nextFork } = observed.rules;
  const base = nextBaseFee(header, parametersOf(chain, header));
  const isOld =
    !minesOnDemand(chainId) && BigInt(Math.floor(now / 1000)) - header.timestamp >= headLimitsOf(chain).doubtful;
  const isForkAhead = nextFork !== null && header.timestamp + BigInt(Math.ceil(chain.blockTimeMs / 1000)) >= nextFork;
  // why: of a chain whose formula is not known for sure the node decides
  if (base === null || isOld || isForkAhead || !chain.known || chain.feeModel !== "ethereum") return null;
  for (const { input, request } of transactions) {
    const cap = request?.maxFeePerGas ?? request?.gasPrice;
    if (cap !== undefined && cap < base)
      return new FeeCapTooLow({ account: input.from, maxFeePerGas: cap, baseFeePerGas: base, raw: null });
  }
  return null;
};

/** Prices of the moment, what follows from them, and what an account must hold while they do. */
const ofTheMoment: ReadonlySet<string | null> = new Set([
  ...["observed base fee per gas", "fee base fee per gas", "funds expected", "funds required"],
]);

const isInformation = (severity: Difference["a"]): boolean => severity === null || severity === "info";

/** Without the word that the world moved since an earlier report, which the next proof no longer says. */
const withoutChange = (report: Report): Report => {
  const findings = report.findings.filter(({ code }) => code !== "OutcomeChanged");
  return { ...report, findings, verdict: verdictOf(findings) };
};

/** Lists what a proof changed of what was said; empty where nobody who signs need look again. */
export const essentialDiff = (before: Report, after: Report): ReadonlyArray<Difference> =>
  diff(withoutChange(before), withoutChange(after)).filter(
    ({ what, kind, a, b }) => !ofTheMoment.has(what) && !(kind === "finding" && isInformation(a) && isInformation(b)),
  );

/** Proofs of one endpoint's watched reports at once: more of them end no sooner, and the first of them later. */
const mostProofs = 8;

const permits = new WeakMap<Memory, Semaphore.Semaphore>();

/** Returns the permits that the watchers of one endpoint share. */
const permitsOn = (memory: Memory): Semaphore.Semaphore => {
  const shared = permits.get(memory) ?? Semaphore.makeUnsafe(mostProofs);
  // why: a connection has one memory, and it goes with the connection
  permits.set(memory, shared);
  return shared;
};

/** Judges what a head means for a clearance; a proof is made at the newest head when its turn comes. */
const atHead = (
  cleared: Report,
  since: Head,
  newest: Effect.Effect<Option.Option<Head>>,
  proveAgain: (report: Report) => Effect.Effect<Report, never, Rpc>,
): Effect.Effect<Watched, never, Rpc> =>
  Effect.gen(function* () {
    const chains = yield* chainsInUse;
    const { memory } = yield* Rpc;
    const now = yield* Clock.currentTimeMillis;
    const reason = lostBy(cleared, since.header, chains(cleared.chainId), now);
    if (reason !== null) return { _tag: "Lost", head: since, reason, report: cleared };
    const heading = Effect.map(newest, (head) => Option.getOrElse(head, () => since));
    const proving = Effect.all([heading, proveAgain(cleared)]);
    const [head, report] = yield* Semaphore.withPermit(permitsOn(memory), proving);
    const clearance = yield* Effect.result(ready(report));
    if (Result.isFailure(clearance)) return { _tag: "Lost", head, reason: clearance.failure, report };
    const differences = essentialDiff(cleared, report);
    return differences.length === 0
      ? { _tag: "Fresh", head, report }
      : { _tag: "Moved", head, diff: differences, report };
  });

/** The watching of one report that gives a clearance: `prove` is the pipeline's. See `Preflight.watch`. */
export const watchWith = <E = never, R = never>(
  prove: (report: Report, options?: Options) => Effect.Effect<Report, never, Rpc>,
  report: Report,
  heads: Stream.Stream<Head, E, R>,
  options: Options = {},
): Stream.Stream<Watched, E, Rpc | R> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope;
    // why: while one is judged the newest head waits, and only that one
    const newest = yield* Queue.sliding<Head, E | Cause.Done>(1);
    // why: a head is that of every watcher
    const told = Stream.runForEach(heads, (head) => Queue.offer(newest, copyOf(head)));
    yield* Effect.forkScoped(Queue.into(told, newest));
    // why: what is no clearance is compared with the last that was one
    // why: a report that its watcher changes
    let cleared = copyOf(report);
    let latest = cleared;
    let isLost = false;
    let judging: Fiber.Fiber<Watched, E | Cause.Done> | null = null;
    const next = Effect.gen(function* () {
      // why: a proof may take longer than the clearance lasts, and goes on when its end was told
      judging ??= yield* Effect.forkIn(
        Effect.flatMap(Queue.take(newest), (head) =>
          atHead(cleared, head, Queue.poll(newest), (before) => prove(before, options)),
        ),
        scope,
      );
      const remainingMs = expiryOf(latest) + 1 - (yield* Clock.currentTimeMillis);
      const event: Option.Option<Watched> = isLost
        ? Option.some(yield* Fiber.join(judging))
        : yield* Effect.timeoutOption(Fiber.join(judging), Math.max(0, remainingMs));
      if (Option.isNone(event)) {
        const clearance = yield* Effect.result(ready(latest));
        // why: where the clock went back meanwhile it is not over yet, and its end is still to be told
        if (Result.isSuccess(clearance)) return null;
        isLost = true;
        return { _tag: "Lost", head: null, reason: clearance.failure, report: copyOf(latest) } satisfies Watched;
      }
      judging = null;
      const state = event.value;
      latest = state.report;
      isLost = state._tag === "Lost";
      if (!isLost) cleared = latest;
      return { ...state, report: copyOf(state.report) };
    });
    return Stream.fromPull(Effect.succeed(Effect.map(next, (state) => [state] as const))).pipe(
      Stream.filter((state) => state !== null),
    );
  }).pipe(Stream.unwrap);
