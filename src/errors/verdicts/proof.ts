/** What a report finds against signing: policies, divergence, change, missing proof. */
import * as Schema from "effect/Schema";
import { OutcomeDifference } from "../../primitives/difference.js";
import { nullable } from "../../primitives/hex.js";
import { escapeText } from "../../primitives/text.js";
import { difference, say, text } from "../../primitives/statement.js";
import { stated } from "../stated.js";

/** A policy of the caller does not hold. */
export class PolicyViolation extends stated<PolicyViolation>()(
  "PolicyViolation",
  {
    /** The policy's name, e.g. `maxSpent`. */ policy: Schema.String,
    /** What was found against it, with units. */ detail: Schema.String,
  },
  ({ policy, detail }) =>
    say(`the policy ${escapeText(policy)} does not hold`, [text("", detail)], "do not sign, or change the policy"),
) {}

const differences = {
  /** Every fact that differs, with both values. */
  differences: Schema.Array(OutcomeDifference),
};
const lines = (all: ReadonlyArray<string>) => all.map((line) => text("", line));

/** The same request on the same block behaves differently in another block context. */
export class SimulationDiverged extends stated<SimulationDiverged>()("SimulationDiverged", differences, (error) =>
  say(
    "the contract does not always do the same: the same request had two outcomes in two simulations",
    error.differences.map(difference),
    "do not sign; on chain it may do something else than it does where it can tell that it is being simulated",
  ),
) {}

/** Endpoints that are asked the same answer differently where only one answer is right. */
export class WitnessesDisagree extends stated<WitnessesDisagree>()(
  "WitnessesDisagree",
  {
    /** The JSON-RPC method. */ method: Schema.String,
    /** One line per endpoint, with what it said. */ differences: Schema.Array(Schema.String),
  },
  (error) =>
    say(
      `${escapeText(error.method)}: endpoints disagree about what must be the same`,
      lines(error.differences),
      "do not sign; one of the endpoints is wrong or lies: ask another one",
    ),
) {}

/** The state changed between two runs, and so did the outcome. */
export class OutcomeChanged extends stated<OutcomeChanged>()("OutcomeChanged", differences, (error) =>
  say(
    "the outcome changed since the earlier report",
    error.differences.map(difference),
    "show the new outcome before signing",
  ),
) {}

/**
 * Why there is no clearance. `CheckUnavailable`: a check could not be made, `code` is the finding's; the
 * others speak of the report itself.
 */
export const Gap = Schema.Struct({
  /** What is missing, by its kind. */
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
    "NotMined",
    "StepMissing",
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

/** What one line names: the others are in `missing`. */
const mostTold = 4;

const toldOf = (missing: ReadonlyArray<Gap>) => {
  const sentences = [...new Set(missing.map(({ sentence }) => sentence))];
  const others = sentences.length - mostTold;
  return lines([...sentences.slice(0, mostTold), ...(others > 0 ? [`and ${others} more in missing`] : [])]);
};

/** A clearance was asked for, but these checks are missing. */
export class NotProven extends stated<NotProven>()(
  "NotProven",
  {
    /** Everything that is missing, the checks first. */
    missing: Schema.Array(Gap),
  },
  ({ missing }) =>
    say(
      "the report proves too little to sign",
      toldOf(missing),
      "run `prove`, on a node that can answer what is missing",
    ),
) {}
