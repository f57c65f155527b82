/** One call of the pipeline: its clock, its deadline, its one abort signal, the loop of its rounds, and the ledger of what it asked. */
import * as Clock from "effect/Clock";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import { turn } from "../primitives/effects.js";
import { CurrentRun, Rpc, type LedgerEntry, type HeadSighting } from "../rpc/index.js";
import { mostRunBytes } from "../rpc/service.js";
import type { AskRule } from "../primitives/names.js";
import type { OutcomeLog } from "../report/parts.js";
import type { Report } from "../report/schema.js";

/** The ledger being written, and what the answers say of the newest block and of the time. */
interface Recorder {
  /** Epoch ms at which the run began. */
  readonly startedAt: number;
  readonly entries: Array<LedgerEntry>;
  /** The place of each among those that were sent out. */
  readonly turns: WeakMap<LedgerEntry, number>;
  readonly sighted: HeadSighting;
  /** Requests in the report's own ledger, where this call did not write it. */
  readonly earlier: Report["ledger"] | null;
}

const recorderOf = (startedAt: number, earlier: Report["ledger"] | null): Recorder => ({
  ...{ startedAt, earlier, entries: [], turns: new WeakMap() },
  sighted: { block: null, aheadMs: null, testimonies: [] },
});

/** The recorder of the call that is under way. */
const CurrentRecorder: Context.Reference<Recorder> = Context.Reference("evm-preflight/CurrentRecorder", {
  defaultValue: () => recorderOf(0, null),
});

/** Reads what the answers of this call said of the newest block and of the time. */
export const sightedSoFar: Effect.Effect<HeadSighting> = Effect.map(CurrentRecorder, ({ sighted }) => sighted);

/** `abort()` makes an exception with a stack unless it is given one; some platforms have no `DOMException` (Hermes). */
const runEnded = Object.assign(new Error("the run has ended"), { name: "AbortError" });

/** A function of the pipeline, called once the endpoint's gate lets it in: who waits holds nothing but its input. */
export const admitted =
  <Input extends ReadonlyArray<unknown>, A, E, R>(call: (...input: Input) => Effect.Effect<A, E, R>) =>
  (...input: Input): Effect.Effect<A, E, R | Rpc> =>
    Effect.flatMap(Rpc, ({ admit }) => admit(Effect.suspend(() => call(...input))));

/**
 * Runs `use` with a deadline of `deadlineMs` for every request in it, one budget for all its answers, and one AbortSignal, aborted
 * when the run ends or is interrupted. `earlier` is what the report already holds of a ledger.
 */
export const withRun = <A, E, R>(
  deadlineMs: number,
  use: () => Effect.Effect<A, E, R>,
  earlier: Report["ledger"] | null = null,
): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(
    Effect.sync(() => new AbortController()),
    (controller) =>
      Effect.flatMap(Clock.currentTimeMillis, (startedAt) => {
        const recorder = recorderOf(startedAt, earlier);
        let turns = 0;
        return Effect.provideService(Effect.suspend(use), CurrentRun, {
          round: 1,
          rounds: { last: 0 },
          deadline: startedAt + deadlineMs,
          answers: { left: mostRunBytes },
          sighted: recorder.sighted,
          turn: () => turns++,
          record: (entry, turn) => {
            recorder.entries.push(entry);
            recorder.turns.set(entry, turn);
          },
          signal: controller.signal,
        }).pipe(Effect.provideService(CurrentRecorder, recorder));
      }),
    (controller) => Effect.sync(() => controller.abort(runEnded)),
  );

/** Bytes of some 6,000 events. */
const mostAgain = 4 * 1_048_576;
/** Runs of a proof that may hold the events of its report, beside what every call may. */
const mostRuns = 5;

/** Bytes of a log as nodes write it. */
const bytesOf = ({ topics, data }: OutcomeLog): number => 384 + 70 * topics.length + data.length;

/**
 * A proof, whose runs all say again the events that its report tells of: the answers of its call may hold so much more, 20 MiB
 * at most.
 * For more events than some 6,000 there is no further room.
 */
export const withRoomFor = <A, E, R>({ transactions }: Pick<Report, "transactions">, ask: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Effect.service(CurrentRun), ({ answers }) => {
    let told = 0;
    for (const { outcome } of transactions) for (const log of outcome.logs) told += bytesOf(log);
    // guard: room for events
    const more = told > mostAgain ? 0 : mostRuns * told;
    if (answers != null) answers.left += more;
    return ask;
  });

/** Requests in a round of their own, after all that was asked so far, by this rule; null = at first. */
export const inRound = <A, E, R>(because: AskRule | null, ask: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.updateService(ask, CurrentRun, ({ rounds = { last: 0 }, ...run }) => {
    rounds.last += 1;
    return { ...run, rounds, round: rounds.last, because };
  });

/** The last round that was begun. */
export const lastRound: Effect.Effect<number> = Effect.map(
  Effect.service(CurrentRun),
  ({ round, rounds }) => rounds?.last ?? round,
);

/** Takes back the round that was begun last, of which nothing was asked. */
export const roundSpared: Effect.Effect<void> = Effect.map(Effect.service(CurrentRun), ({ rounds }) => {
  if (rounds !== undefined) rounds.last -= 1;
});

/** Counts rounds for requests outside any call of the pipeline, for who listens to them. */
export const counted = <A, E, R>(ask: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.updateService(ask, CurrentRun, (run) => ({ ...run, rounds: { last: 0 } }));

/** Goes on after all that was asked so far, in branches that begin at the last of its rounds. */
export const afterwards = <A, E, R>(ask: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.updateService(ask, CurrentRun, (run) => ({ ...run, round: run.rounds?.last ?? run.round }));

/**
 * Asks side by side with others, and goes on by itself: it counts its own rounds from the one that it begins in,
 * and whoever goes on after all of them the most.
 */
export const inBranch = <A, E, R>(ask: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.service(CurrentRun), (run) => {
    const rounds = { last: run.round };
    const join = Effect.sync(() => {
      if (run.rounds !== undefined) run.rounds.last = Math.max(run.rounds.last, rounds.last);
    });
    return Effect.ensuring(Effect.provideService(ask, CurrentRun, { ...run, rounds }), join);
  });

/** Requests that take no more than so many ms of what the deadline leaves. */
export const within = <A, E, R>(ms: number, ask: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.updateService(ask, CurrentRun, (run) => ({
      ...run,
      deadline: Math.min(run.deadline ?? Infinity, now + ms),
    })),
  );

const textually = (a: string | null, b: string | null): number =>
  a === b ? 0 : a === null ? -1 : b === null ? 1 : a < b ? -1 : 1;

const ledgerAt = (now: number, recorder: Recorder): Report["ledger"] => {
  const { earlier } = recorder;
  const rounds = earlier?.rounds ?? 0;
  const turnOf = (entry: LedgerEntry): number => recorder.turns.get(entry) ?? 0;
  const requests = [...recorder.entries].sort(
    (a, b) =>
      a.round - b.round ||
      textually(a.method, b.method) ||
      textually(a.run, b.run) ||
      textually(a.endpoint, b.endpoint) ||
      // why: what is sent ahead goes out in front of the rest or behind it
      Number(a.because === "speculated") - Number(b.because === "speculated") ||
      turnOf(a) - turnOf(b),
  );
  return {
    rounds: rounds + requests.reduce((most, { round, tries }) => (tries > 0 ? Math.max(most, round) : most), 0),
    requests: [
      ...(earlier?.requests ?? []),
      ...requests.map((entry) => {
        const round = entry.round + rounds;
        return { ...entry, round, because: round === 1 && entry.because !== "speculated" ? null : entry.because };
      }),
    ],
    ms: (earlier?.ms ?? 0) + (now - recorder.startedAt),
  };
};

/**
 * The ledger so far, by round, method, run and endpoint, then in the order in which requests were sent out: whatever is
 * answered first changes nothing.
 */
export const ledgerSoFar: Effect.Effect<Report["ledger"]> = Effect.zipWith(
  Clock.currentTimeMillis,
  Effect.service(CurrentRecorder),
  ledgerAt,
);

/** Why more is asked, when, and what; `S` is what is known so far. */
export interface Rule<S, R = never> {
  readonly because: AskRule;
  /** How often it may apply; once, where nothing is said. */
  readonly most?: (known: S) => number;
  /** True if it begins anew, so that what was asked of the others is asked of what is new. */
  readonly isAnew?: boolean;
  /** True if more has to be asked. Pure. */
  readonly applies: (known: S) => boolean;
  /** Returns what is known then. Asks in rounds of its own. */
  readonly ask: (known: S) => Effect.Effect<S, never, R>;
}

/** A rule that asks in one round. */
export const rule = <S, R>({ ask, ...when }: Rule<S, R>): Rule<S, R> => ({
  ...when,
  ask: (known) => inRound(when.because, ask(known)),
});

/**
 * Asks by the first rule that applies, again and again. Of rules that apply at the same time the one that stands first
 * is asked, so that their order is part of what they say; each as often as it may, and once more where one began anew,
 * which bounds the rounds. What was learned is judged in a turn of the event loop of its own: answers may be large.
 */
export const rounds = Effect.fnUntraced(function* <S, R>(first: S, rules: ReadonlyArray<Rule<S, R>>) {
  const times = new Map<Rule<S, R>, number>();
  let known = first;
  for (;;) {
    yield* turn;
    const next = rules.find((one) => (times.get(one) ?? 0) < (one.most?.(known) ?? 1) && one.applies(known));
    if (next === undefined) return known;
    times.set(next, (times.get(next) ?? 0) + 1);
    if (next.isAnew === true) for (const each of rules) if (each.isAnew !== true) times.delete(each);
    known = yield* next.ask(known);
  }
});
