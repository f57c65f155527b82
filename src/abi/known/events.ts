/** Every known event in one table, by the beginning of its topics: an event is looked up once, and its row says all that it tells of. */
import { granting, harmless, keeping, movementEvents, numbered, sumEvents } from "./movements.js";
import { innerEvents, operationReasons, type InnerEvent } from "./failures.js";
import { controlEvents, rightEvents, votes, type ControlRow, type RightRow } from "./rights.js";

/**
 * Meanings without values. `isReason`: why a call failed that another event tells of. `isExecution`: it holds the call that a
 * Safe executes. `isHarmless`: it names two accounts and gives neither a right. `isGranting`: it gives a right that no getter
 * shows. `isKeeping`: its emitter keeps deposits. `isVote`: it names who votes for an account. `isNumbered`: its data are
 * numbers alone.
 */
type Mark = "isReason" | "isExecution" | "isHarmless" | "isGranting" | "isKeeping" | "isVote" | "isNumbered";

/** The meaning of one kind of event, as far as it is known. */
export interface EventRow extends Partial<Readonly<Record<Mark, true>>> {
  readonly movement?: (typeof movementEvents)[string];
  readonly right?: RightRow;
  readonly control?: ControlRow;
  /** A deposit that is paid out, or interest. */
  readonly sum?: (typeof sumEvents)[string];
  /** It reports on a call that its emitter made. */
  readonly inner?: InnerEvent;
}

/** Events of a SafeL2 that hold what it executes: SafeMultiSigTransaction and SafeModuleTransaction. */
const executed = ["0x66753cd2356569ee", "0xb648d3644f584ed1"];

const under = <K extends keyof EventRow>(name: K, rows: Readonly<Record<string, EventRow[K]>>) =>
  Object.entries(rows).map(([kind, row]): readonly [string, EventRow] => [kind, { [name]: row }]);
const marked = (row: EventRow, kinds: Iterable<string>) => [...kinds].map((kind) => [kind, row] as const);

export const knownEvents: Readonly<Record<string, EventRow>> = [
  ...under("movement", movementEvents),
  ...under("right", rightEvents),
  ...under("control", controlEvents),
  ...under("inner", innerEvents),
  ...marked({ isReason: true }, operationReasons),
  ...marked({ isExecution: true }, executed),
  ...marked({ isHarmless: true }, harmless),
  ...marked({ isGranting: true }, granting),
  ...marked({ isKeeping: true }, keeping),
  ...marked({ isVote: true }, [votes]),
  ...under("sum", sumEvents),
  ...marked({ isNumbered: true }, numbered),
].reduce<Record<string, EventRow>>((all, [kind, row]) => {
  all[kind] = { ...all[kind], ...row };
  return all;
}, {});
