/** Those of this process that wait for a nonce of the same lane: one looks at the chain, the others stand behind it in order. */
import * as Clock from "effect/Clock";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import type { Facts } from "./chain.js";

/** Who waits, in order; and what the chain said to whoever looked last, epoch ms. */
export interface Line {
  readonly places: Array<Deferred.Deferred<void>>;
  last: { readonly facts: Facts; readonly at: number } | null;
}

const lines = new Map<string, Line>();

/** Whether anybody of this process waits for the lane. */
export const isCrowded = (lane: string): boolean => lines.has(lane);

const enter = (lane: string) =>
  Effect.sync(() => {
    const line: Line = lines.get(lane) ?? { places: [], last: null };
    const place = Deferred.makeUnsafe<void>();
    line.places.push(place);
    lines.set(lane, line);
    return { line, place };
  });

const leave = (lane: string, { places }: Line, place: Deferred.Deferred<void>) =>
  Effect.suspend(() => {
    places.splice(places.indexOf(place), 1);
    const [next] = places;
    if (next !== undefined) return Effect.asVoid(Deferred.succeed(next, undefined));
    lines.delete(lane);
    return Effect.void;
  });

/** Runs `use` when all who came before are gone, or after `withinMs`. */
export const inLine = <A, E, R>(
  lane: string,
  withinMs: number,
  use: (line: Line) => Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(
    enter(lane),
    ({ line, place }) =>
      Effect.andThen(
        line.places[0] === place ? Effect.void : Effect.timeoutOption(Deferred.await(place), withinMs),
        use(line),
      ),
    ({ line, place }) => leave(lane, line, place),
  );

/** For how long what one of them read serves the next, ms: a count that is old is harmless. */
const sharedMs = 250;

/** What the chain says, read by whoever stands first, or just before by who stood there. */
export const sharedFacts = <E, R>(line: Line, read: Effect.Effect<Facts, E, R>): Effect.Effect<Facts, E, R> =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis;
    if (line.last !== null && now - line.last.at < sharedMs) return line.last.facts;
    const facts = yield* read;
    line.last = { facts, at: now };
    return facts;
  });
