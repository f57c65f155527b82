/** Logs and their known meaning. */
import { memoize } from "effect/Function";
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

/** Looks a log up, once for all that read it. */
export const eventIn = memoize((log: OutcomeLog): Event => ({
  ...{ log, contract: lower(log.address), row: knownEvents[eventOf(log) ?? ""] ?? unknown },
}));
