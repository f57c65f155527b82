/** Logs and their known meaning. */
import { knownEvents, type EventRow } from "../abi/known/events.js";
import { eventOf } from "../abi/words.js";
import { lower, type Address } from "../primitives/hex.js";
import type { OutcomeLog } from "../report/parts.js";

/** A log, and what is known of its kind. */
export interface Event {
  readonly log: OutcomeLog;
  readonly contract: Address;
  readonly row: EventRow;
}

const unknown: EventRow = {};
const known = new WeakMap<OutcomeLog, Event>();

/** Looks a log up, once for all that read it. */
export const eventIn = (log: OutcomeLog): Event => {
  const found = known.get(log);
  if (found !== undefined) return found;
  // why: written out, for of thousands the spreading of objects is what takes time
  const event = { log, contract: lower(log.address), row: knownEvents[eventOf(log) ?? ""] ?? unknown };
  known.set(log, event);
  return event;
};
