/** Counters and gauges of the nonce protocol. */
import * as Effect from "effect/Effect";
import * as Metric from "effect/Metric";
import { foreign, type Decision } from "./laneRules.js";
import type { Snapshot } from "./store.js";

const counter = (name: string, description: string) =>
  Metric.counter(`evm_preflight_nonces_${name}_total`, { description, incremental: true });
const gauge = (name: string, description: string) => Metric.gauge(`evm_preflight_nonces_${name}`, { description });

export const reserved = counter("reserved", "nonces handed out");
export const committed = counter("committed", "transactions whose broadcast was permitted");
export const settled = counter("settled", "committed nonces that the chain has passed");
export const recycled = counter(
  "recycled",
  "nonces that went back because their lease ended or their transaction was refused",
);
export const fenced = counter("fenced", "commits refused because the lease was lost");

export const keepFailed = counter(
  "keep_failed",
  "reconciliations by keep that failed, and bytes it sent again that a node refused, by lane and reason",
);

const inFlight = gauge("in_flight", "nonces reserved or committed, by lane and state");
const gaps = gauge("gaps", "free nonces below a committed one, by lane");
const lanes = gauge("lanes", "lanes that the store knows");

export const countMoved = ({ moved }: Pick<Decision<unknown>, "answer" | "moved">): Effect.Effect<void> =>
  Effect.andThen(
    moved.settled === 0 ? Effect.void : Metric.update(settled, moved.settled),
    moved.recycled === 0 ? Effect.void : Metric.update(recycled, moved.recycled),
  );

/** Free nonces below a committed one: nothing above them can be mined before they are used. */
export const gapsOf = ({ floor, slots }: Snapshot): ReadonlyArray<bigint> => {
  const highest = slots.findLast(({ state }) => state === "committed")?.nonce ?? floor;
  return slots.filter(({ state, nonce }) => state === "free" && nonce < highest).map(({ nonce }) => nonce);
};

export const gaugeLane = (lane: string, snapshot: Snapshot): Effect.Effect<void> => {
  const count = (state: string) =>
    snapshot.slots.filter((slot) => slot.state === state && slot.width !== 0 && slot.token !== foreign).length;
  const set = (state: string) => Metric.update(Metric.withAttributes(inFlight, { lane, state }), count(state));
  return Effect.all(
    [set("reserved"), set("committed"), Metric.update(Metric.withAttributes(gaps, { lane }), gapsOf(snapshot).length)],
    { discard: true },
  );
};

export const gaugeLanes = (count: number): Effect.Effect<void> => Metric.update(lanes, count);
