/** A clearance kept true from head to head. */
import type * as Cause from "effect/Cause";
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Option from "effect/Option";
import * as Queue from "effect/Queue";
import * as Result from "effect/Result";
import * as Scope from "effect/Scope";
import * as Stream from "effect/Stream";
import { Chains } from "../Chains.js";
import type { Head } from "../Eth.js";
import type { Options } from "../preflight/prepare.js";
import { ready, type Blocker } from "../report/ready.js";
import type { Hash } from "../primitives/hex.js";
import type { Difference } from "../report/diff.js";
import type { Report } from "../report/schema.js";
import type { Rpc } from "../Rpc.js";
import { essentialDiff } from "./essence.js";
import { byHeader } from "./header.js";
import { including, readingAt } from "./readings.js";
import { isUntouched } from "./reading.js";
import { standOf, withStand } from "./stood.js";
import { touchedBy, type Held } from "./touch.js";

/** The clearance holds at this head: the same requests do the same, and `Report.ready` clears them. */
export interface Fresh {
  readonly _tag: "Fresh";
  /** The head that it was judged by. */
  readonly head: Head;
  /** What to sign by; dated at this head (`observed.at`), so that its clearance lasts from here. */
  readonly report: Report;
  /** `reading`: nothing that the outcome hangs on has changed since its proof. `proof`: it was proven again. */
  readonly by: "reading" | "proof";
}

/** The requests still may be signed, but not on what was said before. */
export interface Moved {
  readonly _tag: "Moved";
  /** The head that it was judged by. */
  readonly head: Head;
  /** What the new proof says otherwise, but for prices of the moment. */
  readonly diff: ReadonlyArray<Difference>;
  /** Proven at this head; what comes next is compared with it. */
  readonly report: Report;
}

/** There is no clearance now. Every head after it is proven, so that `Fresh` or `Moved` may follow. */
export interface Lost {
  readonly _tag: "Lost";
  /** null = none came before the clearance expired. */
  readonly head: Head | null;
  /** As `Report.ready` fails, or `FeeCapTooLow` by the head alone. */
  readonly reason: Blocker;
  /** The latest that was proven. */
  readonly report: Report;
}

/** What a head means for a watched report. */
export type Watched = Fresh | Moved | Lost;

/** How a report is proven again. */
export type Prove = (report: Report, options?: Options) => Effect.Effect<Report, never, Rpc>;

/** Ms after its proof when a report is proven again, whatever was read meanwhile: the pool is looked at by proofs alone. */
const mostUnproven = 5 * 60_000;

/** A report that is watched, from the head that it was last judged at. */
interface State {
  /** As it was proven last. */
  readonly report: Report;
  readonly isLost: boolean;
  /** What it hangs on, with the scope of its watching; null = every head is a proof. */
  readonly held: { readonly what: Held; readonly scope: Scope.Closeable } | null;
}

/** The same report, shown true at a later time. */
const dated = (report: Report, { header }: Head, at: number): Report => ({
  ...report,
  observed: { ...report.observed, at, latestNumber: header.number },
});

const letGo = ({ held }: State): Effect.Effect<void> =>
  held === null ? Effect.void : Scope.close(held.scope, Exit.void);

/** What all heads of one watching are judged with. */
interface Watching {
  readonly prove: Prove;
  readonly options: Options;
  /** Ends with the stream. */
  readonly scope: Scope.Scope;
}

/** What a proof says, and what is watched from then on. */
const judge = (before: State, again: Report, head: Head): Effect.Effect<Watched> =>
  Effect.map(Effect.result(ready(again)), (clearance): Watched => {
    if (Result.isFailure(clearance)) return { _tag: "Lost", head, reason: clearance.failure, report: again };
    const diff = essentialDiff(before.report, again);
    return diff.length === 0
      ? { _tag: "Fresh", head, report: again, by: "proof" }
      : { _tag: "Moved", head, diff, report: again };
  });

const holding = (
  report: Report,
  stand: Hash | null,
  { options, scope: parent }: Watching,
): Effect.Effect<State["held"], never, Rpc> =>
  Effect.flatMap(stand === null ? Effect.succeed(null) : touchedBy(report, stand, options), (what) =>
    what === null
      ? Effect.succeed(null)
      : Effect.flatMap(Scope.fork(parent), (scope) =>
          Effect.as(Scope.provide(including(what.touched), scope), { what, scope }),
        ),
  );

const proven = (watching: Watching, state: State, head: Head): Effect.Effect<Judged, never, Rpc> =>
  Effect.gen(function* () {
    const { report: again, stand } = yield* withStand(watching.prove(state.report, watching.options));
    const watched = yield* judge(state, again, head);
    yield* letGo(state);
    // why: what is no clearance is compared with the last that was one
    if (watched._tag === "Lost") return { watched, state: { report: state.report, isLost: true, held: null } };
    return { watched, state: { report: again, isLost: false, held: yield* holding(again, stand, watching) } };
  });

interface Judged {
  readonly watched: Watched;
  readonly state: State;
}

/** What a head means: by its header, else by what the outcome hangs on, else by a proof. */
const atHead = (watching: Watching, state: State, head: Head): Effect.Effect<Judged, never, Rpc> =>
  Effect.gen(function* () {
    const { report, held } = state;
    const chains = yield* Effect.service(Chains);
    const now = yield* Clock.currentTimeMillis;
    const said = byHeader(report, head.header, chains(report.chainId), now);
    if (said.is === "lost") {
      const lost: Lost = { _tag: "Lost", head, reason: said.reason, report };
      return { watched: lost, state: { ...state, isLost: true } };
    }
    const isDue = state.isLost || held === null || now - report.observed.at > mostUnproven;
    if (said.is === "prove" || isDue) return yield* proven(watching, state, head);
    const { touched, block, held: before } = held.what;
    const reading = yield* Effect.result(
      head.header.hash === block ? Effect.succeed(before) : readingAt(touched, head.header.hash),
    );
    if (Result.isFailure(reading) || !isUntouched(touched, before, reading.success))
      return yield* proven(watching, state, head);
    const fresh = dated(report, head, now);
    const clearance = yield* Effect.result(ready(fresh));
    return Result.isFailure(clearance)
      ? yield* proven(watching, state, head)
      : { watched: { _tag: "Fresh", head, report: fresh, by: "reading" }, state };
  });

/** Ms until the clearance of what was told last expires; a lost one has none. */
const leftOf = (report: Report, isLost: boolean): Effect.Effect<number> =>
  Effect.map(Clock.currentTimeMillis, (now) =>
    isLost ? Number.POSITIVE_INFINITY : Math.max(0, report.observed.at + report.options.maxAgeMs - now + 1),
  );

/** The watching of one report: `prove` is the pipeline's. See `Preflight.watch`. */
export const watchWith =
  (prove: Prove) =>
  <E = never, R = never>(
    report: Report,
    heads: Stream.Stream<Head, E, R>,
    options: Options = {},
  ): Stream.Stream<Watched, Blocker | E, Rpc | R> =>
    Stream.unwrap(
      Effect.gen(function* () {
        yield* ready(report);
        // why: while one is judged the newest head waits, and only that one
        const newest = yield* Queue.sliding<Head, E | Cause.Done>(1);
        yield* Effect.forkScoped(
          Queue.into(
            Stream.runForEach(heads, (head) => Queue.offer(newest, head)),
            newest,
          ),
        );
        const watching: Watching = { prove, options, scope: yield* Effect.scope };
        let state: State = { report, isLost: false, held: yield* holding(report, standOf(report), watching) };
        let told: Report = report;
        const next = Effect.gen(function* () {
          const left = yield* leftOf(told, state.isLost);
          const head = yield* Number.isFinite(left)
            ? Effect.timeoutOption(Queue.take(newest), left)
            : Effect.map(Queue.take(newest), Option.some);
          if (Option.isNone(head)) {
            const clearance = yield* Effect.result(ready(told));
            // why: where the clock went back meanwhile it is not over yet, and its end is still to be told
            if (Result.isSuccess(clearance)) return null;
            state = { ...state, isLost: true };
            return { _tag: "Lost", head: null, reason: clearance.failure, report: told } satisfies Lost;
          }
          const judged: Judged = yield* atHead(watching, state, head.value);
          state = judged.state;
          told = judged.watched.report;
          return judged.watched;
        });
        return Stream.fromPull(Effect.succeed(Effect.map(next, (watched) => [watched] as const))).pipe(
          Stream.filter((watched) => watched !== null),
        );
      }),
    );
