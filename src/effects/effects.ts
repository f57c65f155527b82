/**
 * The effects of transactions as rows, by their kind: what their calls ask for and, where they have run, what their logs,
 * movements and answers say. Each log and each call is read once, whoever asks for its rows and however often. Pure.
 */
import type { Calls } from "../abi/batches.js";
import type { Outcome, Transfer } from "../report/parts.js";
import type { Transaction } from "../transaction/fields.js";
import { askedIn, type Asked } from "./asked.js";
import type { Event } from "./events.js";
import { returnedBy } from "./returned.js";
import type { Right } from "./rights.js";
import { executionsIn, toldIn, type Control } from "./told.js";

/** A transaction, as far as its effects are read of it: without an outcome only its calls tell of any. */
interface Source {
  readonly index: number;
  readonly calls?: Pick<Calls, "read">;
  readonly input?: Pick<Transaction, "item">;
  readonly outcome?: Pick<Outcome, "status" | "logs"> & Partial<Pick<Outcome, "returnData">>;
  readonly transfers?: ReadonlyArray<Transfer>;
}

/** The kinds of effects, and the row of each. */
export interface Rows {
  /** A call of the calldata, of its batches too, and what it asks to move, to grant and to hand over. */
  readonly call: Asked;
  /** A right that a call asks for. */
  readonly request: Right;
  /** A log, and what is known of its kind: nothing of one that no row explains. */
  readonly event: Event;
  readonly movement: Transfer;
  /** A right that an event announces. */
  readonly right: Right;
  readonly control: Control;
  /** A deposit that a contract pays out to somebody, or interest that it names. */
  readonly sum: ReturnType<typeof toldIn>["sums"][number];
  /** Calls that a Safe says it executes in its own place. */
  readonly execution: ReturnType<typeof executionsIn>[number];
  /** An answer that is not `true` where it says whether the call worked. */
  readonly returned: ReturnType<typeof returnedBy>[number];
}

const nothing: ReadonlyArray<never> = [];
const callsOf = ({ calls, index }: Source) => askedIn(calls?.read ?? nothing, index);
// why: a failed transaction leaves no logs, whatever a node or a posted report lists
const toldOf = ({ outcome, index }: Source) => toldIn(outcome?.status === "success" ? outcome.logs : nothing, index);
/** The reader of each kind. */
const readers: { readonly [K in keyof Rows]: (source: Source) => ReadonlyArray<Rows[K]> } = {
  call: callsOf,
  request: (source) => callsOf(source).flatMap(({ rights }) => rights),
  event: (source) => toldOf(source).events,
  movement: ({ transfers = [] }) => transfers,
  right: (source) => toldOf(source).rights,
  control: (source) => toldOf(source).controls,
  sum: (source) => toldOf(source).sums,
  execution: ({ outcome }) => executionsIn(outcome?.status === "success" ? outcome.logs : nothing),
  returned: (source) =>
    source.outcome?.status === "success"
      ? returnedBy(source.outcome.returnData ?? null, source.input?.item, callsOf(source)[0])
      : [],
};

/** The rows of one kind that some transactions make, in their order. */
export const effectsIn = <K extends keyof Rows>(sources: ReadonlyArray<Source>, kind: K): ReadonlyArray<Rows[K]> =>
  // why: most are asked of one transaction, whose rows are made once
  sources.length === 1 && sources[0] !== undefined
    ? readers[kind](sources[0])
    : sources.flatMap((source) => readers[kind](source));
