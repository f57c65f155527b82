/** What the input alone shows wrong, before anything is sent. */
import * as Schema from "effect/Schema";
import { count, figures, statementText, text, type Statement } from "../primitives/statement.js";
import { escapeText } from "../primitives/text.js";

/** A field of the input that cannot be right; nothing was sent. */
export class InvalidTransaction extends Schema.TaggedError<InvalidTransaction>()("InvalidTransaction", {
  /** Path of the field, e.g. `to`, `[1].args[0]`, `options.deadline`. */
  field: Schema.String,
  /** What is wrong with it. */
  problem: Schema.String,
}) {
  get statement(): Statement {
    return {
      sentence: `${escapeText(this.field)}: ${this.problem}`,
      numbers: figures(text("", "nothing was sent")),
      remedy: "correct the input",
    };
  }
  override get message(): string {
    return statementText(this.statement);
  }
}

/** A report in JSON of another version than this library reads. */
export class ReportVersion extends Schema.TaggedError<ReportVersion>()("ReportVersion", {
  /** The report's `version`. */
  found: Schema.Int,
  /** The version that this library reads and writes. */
  supported: Schema.Int,
}) {
  get statement(): Statement {
    return {
      sentence: "the report is of another version than this library reads",
      numbers: figures(count("found", this.found), count("read", this.supported)),
      remedy:
        this.found > this.supported
          ? "read it with the newer library that wrote it, or scan again with this version"
          : "scan again with this version",
    };
  }
  override get message(): string {
    return statementText(this.statement);
  }
}
