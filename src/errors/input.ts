/** What the input alone shows wrong, before anything is sent. */
import * as Schema from "effect/Schema";
import { count, text, stated } from "../primitives/statement.js";
import { escapeText } from "../primitives/text.js";

const wrongField = ({ field, problem }: { readonly field: string; readonly problem: string }): string =>
  `${escapeText(field)}: ${problem}`;

/** A field of the input that cannot be right; nothing was sent. */
export class InvalidTransaction extends stated<InvalidTransaction>()(
  "InvalidTransaction",
  {
    /** Path of the field, e.g. `to`, `[1].args[0]`, `options.deadline`. */
    field: Schema.String,
    /** What is wrong with it. */
    problem: Schema.String,
  },
  wrongField,
  () => [text("", "nothing was sent")],
  "correct the input",
) {}

/** What a connection to a node was made with cannot be right; nothing was opened. */
export class InvalidConnection extends stated<InvalidConnection>()(
  "InvalidConnection",
  {
    /** Which part, e.g. `url`, `timeoutMs`, `headers.authorization`. */
    field: Schema.String,
    /** What is wrong with it. */
    problem: Schema.String,
  },
  wrongField,
  () => [text("", "no connection was made")],
  "correct the connection",
) {}

/** A step of one's own, or what it asks `request` for, cannot be what it is given as; nothing was made or sent. */
export class InvalidStep extends stated<InvalidStep>()(
  "InvalidStep",
  {
    /** Which part, e.g. `steps[0].name`, `code`. */
    field: Schema.String,
    /** What is wrong with it. */
    problem: Schema.String,
  },
  wrongField,
  () => [],
  "correct the step",
) {}

/** The client was disposed: nothing is asked any more, and what was under way has ended. */
export class Disposed extends stated<Disposed>()(
  "Disposed",
  {},
  "the client was disposed",
  () => [text("", "what was under way has ended")],
  "make another one, and dispose of it last",
) {}

/** A report in JSON of another version than this library reads. */
export class ReportVersion extends stated<ReportVersion>()(
  "ReportVersion",
  {
    /** The report's `version`. */
    found: Schema.Int,
    /** The version that this library reads and writes. */
    supported: Schema.Int,
  },
  "the report is of another version than this library reads",
  ({ found, supported }) => [count("found", found), count("read", supported)],
  ({ found, supported }) =>
    `${found > supported ? "read it with the newer library that wrote it, or " : ""}scan again with this version`,
) {}
