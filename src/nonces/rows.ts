/** A lane as stores outside this process write it, where everything is text and nothing is taken on trust. */
import * as Schema from "effect/Schema";
import { bigintFromString, numberFromString } from "effect/SchemaTransformation";

/** Whole and below 10^16: more than any nonce, or time in ms, that is written. */
const whole = Schema.String.check(Schema.isPattern(/^(?:0|[1-9]\d{0,15})$/));
const nonce = whole.pipe(Schema.decodeTo(Schema.BigInt, bigintFromString));
const count = whole.pipe(Schema.decodeTo(Schema.Number, numberFromString));

/** The store's clock, epoch ms. */
export const clockFields = { now: count };

/** The bounds of a lane, with the store's clock. */
export const boundFields = { ...clockFields, floor: nonce, next: nonce, tail: nonce };

/** Fields that tell the states of a lane apart, where that is written. */
export const headFields = { ...boundFields, doubt: nonce, doubtAt: count, commits: count, format: count };

/** One nonce, but for what each store writes in its own way. */
export const slotFields = {
  nonce,
  state: Schema.Literals(["free", "reserved", "committed", "settled"]),
  token: Schema.String,
  width: count.pipe(Schema.decodeTo(Schema.Literals([0, 1, 2]))),
  until: count,
  since: count,
  offeredAt: count,
  outcome: Schema.String,
};
