/** Those of this process that wait for a nonce of the same lane in one store, by one endpoint: one looks at the chain, the others stand behind it in order. */
import * as Clock from "effect/Clock";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import { Rpc } from "../../rpc/index.js";
import type { LaneId } from "../lane.js";
import type { Store } from "../store.js";
import type { LaneFacts } from "./chain.js";

/** The places of the callers that wait, in order; and what the chain said to whoever looked last, epoch ms. */
export interface Line {
  readonly places: Array<Deferred.Deferred<void>>;
  last: { readonly facts: LaneFacts; readonly at: number } | null;
}

const ofStores = new WeakMap<Store, Map<string, Line>>();

/**
 * Finds where those stand who wait for a lane of a store by the endpoint. Whoever has another store, or node, waits for
 * something else, though the lane is called the same: development chains share ids.
 */
export const placeOf = (store: Store, lane: LaneId) =>
  Rpc.useSync(({ endpoint }) => {
    const lines = ofStores.get(store) ?? new Map<string, Line>();
    ofStores.set(store, lines);
    return { lines, name: `${endpoint} ${lane.id}` };
  });

/** Runs `use` when all who came before are gone, or after `withinMs`. */
export const inLine = <A, E, R>(
  { lines, name }: { readonly lines: Map<string, Line>; readonly name: string },
  withinMs: number,
  use: (line: Line) => Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const line: Line = lines.get(name) ?? { places: [], last: null };
      const place = Deferred.makeUnsafe<void>();
      line.places.push(place);
      lines.set(name, line);
      return { line, place };
    }),
    ({ line, place }) =>
      Effect.andThen(
        line.places[0] === place ? Effect.void : Effect.timeoutOption(Deferred.await(place), withinMs),
        use(line),
      ),
    ({ line: { places }, place }) =>
      Effect.sync(() => {
        places.splice(places.indexOf(place), 1);
        const [next] = places;
        if (next === undefined) lines.delete(name);
        else Deferred.doneUnsafe(next, Effect.void);
      }),
  );

/** For how long what one of them read serves the next, ms: a count that is old is harmless. */
const sharedMs = 250;

/** Returns what the chain says, read by whoever stands first, or just before by who stood there. */
export const sharedFacts = <E, R>(line: Line, read: Effect.Effect<LaneFacts, E, R>): Effect.Effect<LaneFacts, E, R> =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis;
    if (line.last !== null && now - line.last.at < sharedMs) return line.last.facts;
    const facts = yield* read;
    line.last = { facts, at: now };
    return facts;
  });
