/** One reading per head of everything that the watched reports of an endpoint hang on, whoever asks first. */
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import * as Semaphore from "effect/Semaphore";
import type { Failure } from "../eth/index.js";
import type { Hash } from "../primitives/hex.js";
import { Rpc, type Memory } from "../rpc/index.js";
import { read, requestsFor, type Reading, type Touched } from "./reading.js";

/** A reading that was asked for, and whose sets it covers. */
interface Asked {
  readonly sets: ReadonlySet<Touched>;
  readonly answer: Deferred.Deferred<Reading, Failure>;
}

/** What the watchers of one endpoint share. */
interface Shared {
  readonly sets: Set<Touched>;
  /** The latest by look and head: the first, and those of sets that came later. */
  readonly readings: Map<string, ReadonlyArray<Asked>>;
  readonly proofs: Semaphore.Semaphore;
}

/** Readings that are kept: late askers find them. */
const mostKept = 16;

/** Proofs of one endpoint's watched reports at once: more of them end no sooner, and the first of them later. */
const mostProofs = 8;

const endpoints = new WeakMap<Memory, Shared>();

/** What is shared on an endpoint. */
export const sharedOn = (memory: Memory): Shared => {
  const shared: Shared = endpoints.get(memory) ?? {
    sets: new Set(),
    readings: new Map(),
    proofs: Semaphore.makeUnsafe(mostProofs),
  };
  // why: a connection has one memory, and it goes with the connection
  endpoints.set(memory, shared);
  return shared;
};

/** Counts a set among those that every reading covers, until the scope ends. */
export const including = (set: Touched): Effect.Effect<void, never, Rpc | Scope.Scope> =>
  Rpc.use(({ memory }) => {
    const { sets } = sharedOn(memory);
    return Effect.acquireRelease(
      Effect.sync(() => void sets.add(set)),
      () => Effect.sync(() => sets.delete(set)),
    );
  });

/** What the sets hold behind a block; JSON-RPC: one `eth_simulateV1` for as many as one request can read. */
const ask = (sets: ReadonlyArray<Touched>, block: Hash): Effect.Effect<Reading, Failure, Rpc> =>
  Effect.map(
    Effect.forEach(requestsFor(sets), (set) => read(set, block), { concurrency: "unbounded" }),
    (readings) => new Map(readings.flatMap((reading) => [...reading])),
  );

/**
 * The reading of a head that covers `set`: the one that another watcher asked for, else a new one for all sets that none
 * covers. One is under way at a time, so that whoever comes meanwhile is read with all others who did. A `look` finds
 * readings of its own name alone: what was read of a block while it was the newest may be of the next one.
 */
export const readingAt = (
  set: Touched,
  block: Hash,
  look: "newest" | "older" = "newest",
): Effect.Effect<Reading, Failure, Rpc> =>
  Rpc.use(({ memory }) => {
    const { sets, readings } = sharedOn(memory);
    const key = `${look} ${block}`;
    const all = readings.get(key) ?? [];
    const known = all.find((one) => one.sets.has(set));
    if (known !== undefined) return Deferred.await(known.answer);
    const last = all.at(-1);
    if (last !== undefined && !Deferred.isDoneUnsafe(last.answer))
      return Effect.andThen(Effect.exit(Deferred.await(last.answer)), readingAt(set, block, look));
    const uncovered = [...sets].filter((one) => all.every((other) => !other.sets.has(one)));
    const asked: Asked = { sets: new Set(uncovered).add(set), answer: Deferred.makeUnsafe() };
    readings.set(key, [...all, asked]);
    for (const oldest of readings.keys()) {
      if (readings.size <= mostKept) break;
      readings.delete(oldest);
    }
    // why: not in the fiber that asks first, for others wait for it as well
    const asking = Effect.forkDetach(Deferred.into(ask([...asked.sets], block), asked.answer));
    return Effect.andThen(asking, Deferred.await(asked.answer));
  });
