/** The calls of one simulation by what each is there for: where they stand, and which answer is whose. Pure. */
import * as Arr from "effect/Array";
import * as BigInts from "effect/BigInt";
import { eip7825Cap } from "../../chains/rules.js";
import type * as Eth from "../../eth/index.js";
import { witnessCall, witnessFees, type Placement } from "../../witness/placement.js";
import { gasFor, type Query } from "../../witness/queries.js";
import { seenIn, type View } from "../../witness/view.js";
import { grantedOf } from "./granted.js";
import type { Plan } from "./plan.js";
import { readBy, secondCalls } from "./secondReading.js";

/** A call of a simulation. */
export interface Slot {
  /**
   * `before` and `after`: the witness at both ends. `between`: the witness right in front of a transaction. `gift`: what
   * an account is given for its own reading, which is `second`.
   */
  readonly role: "before" | "between" | "transaction" | "after" | "gift" | "second";
  /** Which transaction or reading it belongs to; 0 for `before` and `after`. */
  readonly place: number;
  readonly request: Eth.CallRequest;
}

type Laid = Pick<Plan, "calls" | "before" | "after" | "between" | "second" | "room">;

/** Queries in front of a transaction; none for the first one, which has what is read before all. */
export const queriesBefore = ({ between }: Pick<Plan, "between">, place: number): ReadonlyArray<Query> =>
  place === 0 ? [] : (between?.(place) ?? []);

/** A call that asks the witness, at a price that no block refuses. */
export const readerCall = (at: Placement, queries: ReadonlyArray<Query>, gas?: bigint): Eth.CallRequest => ({
  ...witnessCall(at, queries, gas),
  ...witnessFees,
});

/**
 * The slots of a plan by blocks of their own: all in one where `apart` is null, else one for each transaction. `mark` is
 * the wei that the last reader carries to the witness; null = none.
 */
export const layoutOf = (plan: Laid & Pick<Plan, "apart">, at: Placement, mark: bigint | null) => {
  const reader = (role: Slot["role"], place: number, queries: ReadonlyArray<Query>, beyond = 0n) => {
    const most = gasFor(queries);
    const own = BigInts.min(most, plan.room ?? most);
    // why: what it takes itself is counted twice below
    const gas = beyond === 0n ? own : BigInts.max(own, BigInts.min(2n * own + beyond, eip7825Cap));
    return queries.length === 0 ? [] : [{ role, place, request: readerCall(at, queries, gas) }];
  };
  // why: asked for as much as all calls may take, it sees whether that much is there; asking takes nothing away
  const before = reader("before", 0, plan.before, BigInts.sumAll(plan.calls.map(({ gas }) => gas)));
  const after = reader("after", 0, plan.after).map(({ request, ...slot }) => ({
    ...slot,
    request: mark === null ? request : { ...request, value: mark },
  }));
  const second = (plan.second ?? []).flatMap((reading, place) => {
    const calls = secondCalls(reading, at);
    return calls.map((request, index): Slot => ({
      role: index === calls.length - 1 ? "second" : "gift",
      place,
      request,
    }));
  });
  // why: what one transaction leaves behind is what the next one meets
  const entries = plan.calls.map(({ request }, place): ReadonlyArray<Slot> => [
    ...reader("between", place, queriesBefore(plan, place)),
    { role: "transaction", place, request },
  ]);
  const { apart = null } = plan;
  const rows =
    apart === null
      ? [entries.flat()]
      : entries.flatMap((row, place) => [...Array.from({ length: place === 0 ? 0 : apart.blocks - 1 }, () => []), row]);
  return rows.map((row, index) => [
    ...(index === 0 ? before : []),
    ...row,
    ...(index === rows.length - 1 ? [...after, ...second] : []),
  ]);
};

/** Gas that the transaction of a call shows; null where transactions are not shown, or not those of the calls. */
const shownIn = ({ calls, transactions }: Eth.SimulatedBlock, place: number): bigint | null => {
  const transaction = transactions?.length === calls.length ? transactions[place] : undefined;
  return typeof transaction === "object" ? transaction.gas : null;
};

/** Reads the slots' answers, in their order, from the blocks that hold them. */
export const answersIn = (plan: Laid, rows: ReturnType<typeof layoutOf>, blocks: ReadonlyArray<Eth.SimulatedBlock>) => {
  const results = blocks.flatMap((block) =>
    block.calls.map((result, place) => ({ result, shown: shownIn(block, place) })),
  );
  const met = Arr.zip(rows.flat(), results).map(([slot, { result, shown }]) => {
    const { gasUsed: used, maxUsedGas } = result;
    const gas = { asked: BigInt(slot.request.gas ?? 0), shown, used, peak: BigInts.max(used, maxUsedGas ?? 0n) };
    return { slot, result, gas };
  });
  const find = (role: Slot["role"], place: number) =>
    met.find(({ slot }) => slot.role === role && slot.place === place);
  const views = {
    before: seenIn(plan.before, find("before", 0)?.result),
    after: seenIn(plan.after, find("after", 0)?.result),
    /** The witness's view right in front of a transaction behind the first. */
    between: (place: number): View | null => seenIn(queriesBefore(plan, place), find("between", place)?.result),
  };
  const gases = met.map(({ gas }) => gas);
  const granted = grantedOf(gases, views.before?.environment?.gasLeft ?? null);
  /** The answers of all slots, with the least gas that each call is known to have had. */
  const all = met.map((answer, index) => ({ ...answer, granted: granted[index] ?? 0n }));
  const of = (role: Slot["role"]) => all.filter(({ slot }) => slot.role === role);
  const second = of("second").filter(({ gas, granted }) => granted === gas.asked);
  return {
    all,
    of,
    /** The answers to what the run is there for: without readings of accounts behind it. */
    measured: all.filter(({ slot: { role } }) => role !== "gift" && role !== "second"),
    ...views,
    /** The readings that accounts made themselves; a reading that was cut short is none. */
    second: readBy(plan.second ?? [], (place) => second.find(({ slot }) => slot.place === place)?.result),
  };
};
