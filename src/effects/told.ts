/** The logs of a transaction as rows: who gets a right, who gets to act, and what else they tell of. Pure. */
import type { ControlRow } from "../abi/known/rights.js";
import { addressOf, valueBy, valuesOf, wordOf } from "../abi/words.js";
import type { Address } from "../primitives/hex.js";
import { memoizeList } from "../primitives/record.js";
import type { OutcomeLog } from "../report/parts.js";
import { eventIn, type Event } from "./events.js";
import { announcedBy, type Right } from "./rights.js";

/** One change of control that a contract announced. */
export interface Control extends Pick<ControlRow, "kind" | "what"> {
  /** The contract over which it is. */
  readonly contract: Address;
  /** The account that gets it; null where the event names nobody or takes it away. */
  readonly gains: Address | null;
  /** The account that had it before, or from which it is taken. */
  readonly loses: Address | null;
  /** The role, where there is one. */
  readonly role: string | null;
  readonly transaction: number;
  /** The log that announces it. */
  readonly log: OutcomeLog;
}

/** The account that a word names; null where it names none. */
export const party = (word: bigint | null): Address | null =>
  word === null || BigInt.asUintN(160, word) === 0n ? null : addressOf(word);

const controlBy = ({ log, contract, row: { control } }: Event, transaction: number): Control | null => {
  if (control === undefined) return null;
  const { kind, what, values } = control;
  const valueAs = valueBy(values, valuesOf(log, values.length));
  const role = valueAs("role");
  return {
    ...{ kind, what, contract, transaction, log },
    ...{ gains: party(valueAs("gains")), loses: party(valueAs("loses")) },
    role: role === null ? null : wordOf(role),
  };
};

/** The rows that the logs of one transaction make, each kind in the order of the logs. */
export interface Told {
  readonly events: ReadonlyArray<Event>;
  readonly rights: ReadonlyArray<Right>;
  readonly controls: ReadonlyArray<Control>;
}

/** Reads the logs of a transaction; read once for all that compare and judge its run. */
export const toldIn = memoizeList((logs: ReadonlyArray<OutcomeLog>, transaction: number): Told => {
  const events = logs.map(eventIn);
  return {
    events,
    rights: events.flatMap((event) => announcedBy(event, transaction) ?? []),
    controls: events.flatMap((event) => controlBy(event, transaction) ?? []),
  };
});
