/** What a report finds against signing: policies, divergence, change, missing proof. */
import * as Schema from "effect/Schema";
import { escapeText } from "../../primitives/text.js";
import { sentence, type Parts } from "../../primitives/sentence.js";

/** A policy of the caller does not hold. */
export class PolicyViolation extends Schema.TaggedError<PolicyViolation>()("PolicyViolation", {
  /** The policy's name, e.g. `maxSpent`. */ policy: Schema.String,
  /** What was found against it, with units. */ detail: Schema.String,
}) {
  get parts(): Parts {
    return {
      verdict: `the policy ${escapeText(this.policy)} does not hold`,
      evidence: escapeText(this.detail, 1024),
      remedy: "do not sign, or change the policy",
    };
  }
  override get message() {
    return sentence(this.parts);
  }
}

const differences = {
  /** One line per fact that differs, with both values. */
  differences: Schema.Array(Schema.String),
};

/** The same request on the same block behaves differently in another block context. */
export class SimulationDiverged extends Schema.TaggedError<SimulationDiverged>()("SimulationDiverged", differences) {
  get parts(): Parts {
    return {
      verdict: "the outcome depends on being watched: two runs on the same block differ",
      evidence: this.differences.map((line) => escapeText(line)).join("; "),
      remedy: "do not sign; the contract may behave differently on chain",
    };
  }
  override get message() {
    return sentence(this.parts);
  }
}

/** The world moved between two runs and the outcome with it. */
export class OutcomeChanged extends Schema.TaggedError<OutcomeChanged>()("OutcomeChanged", differences) {
  get parts(): Parts {
    return {
      verdict: "the outcome changed since the earlier report",
      evidence: this.differences.map((line) => escapeText(line)).join("; "),
      remedy: "show the new outcome before signing",
    };
  }
  override get message() {
    return sentence(this.parts);
  }
}

/** A clearance was asked for, but these checks are missing. */
export class NotProven extends Schema.TaggedError<NotProven>()("NotProven", { missing: Schema.Array(Schema.String) }) {
  get parts(): Parts {
    return {
      verdict: "the report proves too little to sign",
      evidence: this.missing.map((line) => escapeText(line)).join("; "),
      remedy: "run `prove`, on a node that can answer what is missing",
    };
  }
  override get message() {
    return sentence(this.parts);
  }
}
