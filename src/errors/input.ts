/** Errors that the input alone shows, before anything is sent. */
import * as Schema from "effect/Schema";
import { count, stated, text } from "../primitives/statement.js";
import { escapeText } from "../primitives/text.js";

const wrongField = ({ field, problem }: { readonly field: string; readonly problem: string }): string =>
  `${escapeText(field)}: ${problem}`;

const correctField = ({ field }: { readonly field: string }): string => `correct \`${escapeText(field)}\``;

/** A field of the input that cannot be right; nothing was sent. */
export class InvalidTransaction extends stated<InvalidTransaction>()("InvalidTransaction", {
  /** Path of the field, e.g. `to`, `[1].args[0]`, `options.deadline`. */
  field: Schema.String,
  /** The problem with it. */
  problem: Schema.String,
})(wrongField, () => [text("", "nothing was sent")], correctField) {}

/** A setting of the connection cannot be right; nothing was opened. */
export class InvalidConnection extends stated<InvalidConnection>()("InvalidConnection", {
  /** Which part, e.g. `url`, `timeoutMs`, `headers.authorization`. */
  field: Schema.String,
  /** The problem with it. */
  problem: Schema.String,
})(wrongField, () => [text("", "no connection was made")], correctField) {}

/** A step of your own, or what it passes to `request`, is invalid; nothing was made or sent. */
export class InvalidStep extends stated<InvalidStep>()("InvalidStep", {
  /** Which part, e.g. `steps[0].name`, `code`. */
  field: Schema.String,
  /** The problem with it. */
  problem: Schema.String,
})(wrongField, () => [], correctField) {}

/** The client was disposed: it sends no more requests, and running ones have ended. */
export class Disposed extends stated<Disposed>()("Disposed", {
  /** True if it was disposed while this was under way, so that a transaction of it may be sent. */
  isCut: Schema.Boolean,
})(
  "the client was disposed",
  () => [text("", "what was under way has ended")],
  "make another client, and dispose of it after its last use",
  ({ isCut }) => isCut,
) {}

/** A report of another version: too old or too new to be read, or read from version 4 and not proven since. */
export class ReportVersion extends stated<ReportVersion>()("ReportVersion", {
  /** The report's `version`. */
  found: Schema.Int,
  /** The version that this library writes, and clears. */
  supported: Schema.Int,
})(
  "the report is of another version",
  ({ found, supported }) => [count("found", found), count("needed", supported)],
  ({ found, supported }) =>
    found === supported - 1
      ? "prove it again with this version"
      : `${found > supported ? "read it with the newer library that wrote it, or " : ""}scan again with this version`,
) {}
