/** What a report finds against signing: policies, divergence, change, missing proof. */
import * as Schema from "effect/Schema";
import { nullable } from "../../primitives/hex.js";
import { escapeText } from "../../primitives/text.js";
import { figures, statementText, text, type Statement } from "../../primitives/statement.js";

/** A policy of the caller does not hold. */
export class PolicyViolation extends Schema.TaggedError<PolicyViolation>()("PolicyViolation", {
  /** The policy's name, e.g. `maxSpent`. */ policy: Schema.String,
  /** What was found against it, with units. */ detail: Schema.String,
}) {
  get statement(): Statement {
    return {
      sentence: `the policy ${escapeText(this.policy)} does not hold`,
      numbers: figures(text("", this.detail)),
      remedy: "do not sign, or change the policy",
    };
  }
  override get message() {
    return statementText(this.statement);
  }
}

const differences = {
  /** One line per fact that differs, with both values. */
  differences: Schema.Array(Schema.String),
};

/** The same request on the same block behaves differently in another block context. */
export class SimulationDiverged extends Schema.TaggedError<SimulationDiverged>()("SimulationDiverged", differences) {
  get statement(): Statement {
    return {
      sentence: "the outcome depends on being watched: two runs on the same block differ",
      numbers: figures(...this.differences.map((line) => text("", line))),
      remedy: "do not sign; the contract may behave differently on chain",
    };
  }
  override get message() {
    return statementText(this.statement);
  }
}

/** The world moved between two runs and the outcome with it. */
export class OutcomeChanged extends Schema.TaggedError<OutcomeChanged>()("OutcomeChanged", differences) {
  get statement(): Statement {
    return {
      sentence: "the outcome changed since the earlier report",
      numbers: figures(...this.differences.map((line) => text("", line))),
      remedy: "show the new outcome before signing",
    };
  }
  override get message() {
    return statementText(this.statement);
  }
}

/**
 * Why there is no clearance. `CheckUnavailable`: a check could not be made, `code` is the finding's; the
 * others speak of the report itself.
 */
export const Gap = Schema.Struct({
  reason: Schema.Literals([
    "NotProven",
    "RequestIncomplete",
    "Altered",
    "StatePretended",
    "BlockNotNewest",
    "NotSimulated",
    "NotSuccessful",
    "Expired",
    "DatedInTheFuture",
    "Stale",
    "FundsUnknown",
    "CheckUnavailable",
    "SignedOtherwise",
  ]),
  /** In words, escaped. */
  sentence: Schema.String,
  /** The code of the finding behind it, where there is one. */
  code: nullable(Schema.String),
});
export interface Gap extends Schema.Schema.Type<typeof Gap> {}

/** One reason why there is no clearance. */
export const gap = (reason: Gap["reason"], sentence: string, code: string | null = null): Gap => ({
  reason,
  sentence,
  code,
});

/** A clearance was asked for, but these checks are missing. */
export class NotProven extends Schema.TaggedError<NotProven>()("NotProven", { missing: Schema.Array(Gap) }) {
  get statement(): Statement {
    return {
      sentence: "the report proves too little to sign",
      numbers: figures(...this.missing.map(({ sentence }) => text("", sentence))),
      remedy: "run `prove`, on a node that can answer what is missing",
    };
  }
  override get message() {
    return statementText(this.statement);
  }
}
