/** A clearance kept true from head to head. */
import type * as Cause from "effect/Cause";
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Option from "effect/Option";
import * as Queue from "effect/Queue";
import * as Result from "effect/Result";
import * as Stream from "effect/Stream";
import type { Head } from "../eth/index.js";
import type { Options } from "../pipeline/index.js";
import { ready, type Blocker } from "../report/ready.js";
import type { Report } from "../report/schema.js";
import type { Rpc } from "../rpc/index.js";
import { atHead, begun, type Judged, type Lost, type Prove, type State, type Watched, type Watching } from "./judge.js";

/** Ms until the clearance of what was told last expires; a lost one has none. */
const leftOf = (report: Report, isLost: boolean): Effect.Effect<number> =>
  Effect.map(Clock.currentTimeMillis, (now) =>
    isLost ? Number.POSITIVE_INFINITY : Math.max(0, report.observed.at + report.options.maxAgeMs - now + 1),
  );

/** The watching of one report: `prove` is the pipeline's. See `Preflight.watch`. */
export const watchWith = <E = never, R = never>(
  prove: Prove,
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
      const watching: Watching = {
        ...{ prove, options, scope: yield* Effect.scope },
        newest: (head) =>
          Effect.map(
            Queue.poll(newest),
            Option.getOrElse(() => head),
          ),
      };
      let state: State = yield* begun(report, watching);
      let told: Report = report;
      let judging: Fiber.Fiber<Judged, E | Cause.Done> | null = null;
      const next = Effect.gen(function* () {
        const left = yield* leftOf(told, state.isLost);
        // why: a proof may take longer than the clearance lasts, and goes on when its end was told
        judging ??= yield* Effect.forkIn(
          Effect.flatMap(Queue.take(newest), (head) => atHead(watching, state, head)),
          watching.scope,
        );
        const judged: Option.Option<Judged> = yield* Number.isFinite(left)
          ? Effect.timeoutOption(Fiber.join(judging), left)
          : Effect.map(Fiber.join(judging), Option.some);
        if (Option.isNone(judged)) {
          const clearance = yield* Effect.result(ready(told));
          // why: where the clock went back meanwhile it is not over yet, and its end is still to be told
          if (Result.isSuccess(clearance)) return null;
          state = { ...state, isLost: true };
          return { _tag: "Lost", head: null, reason: clearance.failure, report: told } satisfies Lost;
        }
        judging = null;
        state = judged.value.state;
        told = judged.value.watched.report;
        return judged.value.watched;
      });
      return Stream.fromPull(Effect.succeed(Effect.map(next, (watched) => [watched] as const))).pipe(
        Stream.filter((watched) => watched !== null),
      );
    }),
  );
