/** What the input alone shows wrong, before anything is sent. */
import * as Schema from "effect/Schema";
import { escapeText } from "../primitives/text.js";

/** A field of the input that cannot be right; nothing was sent. */
export class InvalidTransaction extends Schema.TaggedError<InvalidTransaction>()("InvalidTransaction", {
  /** Path of the field, e.g. `to`, `[1].args[0]`, `options.deadline`. */
  field: Schema.String,
  /** What is wrong with it. */
  problem: Schema.String,
}) {
  override get message(): string {
    return `${escapeText(this.field)}: ${escapeText(this.problem, 1024)} · nothing was sent · correct the input`;
  }
}
