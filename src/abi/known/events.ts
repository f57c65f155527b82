/** Every known event in one table, by the beginning of its topics: an event is looked up once, and its row says all that it tells of. */
import * as Rows from "effect/Record";
import { each, merged } from "../../primitives/record.js";
import { granting, harmless, keeping, movementEvents, numbered, sumEvents } from "./movements.js";
import { innerEvents, operationReasons, type InnerEvent } from "./failures.js";
import { controlEvents, rightEvents, votes, type ControlRow, type RightRow } from "./rights.js";

/**
 * The meaning of one kind of event, as far as it is known. `isReason`: why a call failed that another event tells of.
 * `isExecution`: it holds the call that a Safe executes. `isHarmless`: it names two accounts and gives neither a right.
 * `isGranting`: it gives a right that no getter shows. `isKeeping`: its emitter keeps deposits. `isVote`: it names who votes
 * for an account. `isNumbered`: its data are numbers alone.
 */
export interface EventRow extends Partial<
  Record<"isReason" | "isExecution" | "isHarmless" | "isGranting" | "isKeeping" | "isVote" | "isNumbered", true>
> {
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

export const knownEvents: Readonly<Record<string, EventRow>> = merged<EventRow>(
  Rows.map(movementEvents, (movement) => ({ movement })),
  Rows.map(rightEvents, (right) => ({ right })),
  Rows.map(controlEvents, (control) => ({ control })),
  Rows.map(sumEvents, (sum) => ({ sum })),
  Rows.map(innerEvents, (inner) => ({ inner })),
  each({ isReason: true }, operationReasons),
  each({ isExecution: true }, executed),
  each({ isHarmless: true }, harmless),
  each({ isGranting: true }, granting),
  each({ isKeeping: true }, keeping),
  each({ isVote: true }, [votes]),
  each({ isNumbered: true }, numbered),
);
