/**
 * Verdicts on a transaction: flat tagged errors with their evidence in fields.
 *
 * Amounts are wei, gas is gas, prices are wei per gas. Evidence that the source did not carry is
 * `null`. `message` = sentence · numbers with units · what to do.
 */
import * as Schema from "effect/Schema";
import * as Struct from "effect/Struct";
import { Address, Hex, nullable } from "../primitives/hex.js";
import { Revert } from "../abi/revert.js";
import { describeRevert } from "../abi/print.js";
import { escapeText, quoteText } from "../primitives/text.js";
import { address, difference, gas, quote, text, account, amount, answered, stated } from "../primitives/statement.js";
import { OutcomeDifference } from "../primitives/difference.js";
import * as rules from "./rules.js";

export * from "./rules.js";

/** The call reverted; `revert` is what the contract said, decoded as far as the ABIs reach. */
export class ExecutionReverted extends stated<ExecutionReverted>()("ExecutionReverted", {
  /** The revert bytes; null when the node lost them. */
  data: nullable(Hex),
  /** The decoded revert; null where the node gave no data. */
  revert: nullable(Revert),
  /** The node's own words, unescaped and bounded; may be the contract's text. Escape before showing. */
  text: nullable(Schema.String),
  /** The contract that was called; null where it is not known. */
  to: account,
  /** The contract inside that reverted first, by a trace; left out where none tells. */
  contract: Schema.optionalKey(Address),
  ...answered,
})(
  ({ revert, text }) => {
    const reason = revert !== null ? describeRevert(revert) : text === null ? null : quoteText(text);
    return reason === null ? "the call reverts" : `the call reverts with ${reason}`;
  },
  ({ to, contract = null }) => [address("to", to), address("reverted in", contract === to ? null : contract)],
  ({ data, revert }) =>
    revert === null && data === null
      ? "try another node; this one gave no revert data"
      : "do not sign; the contract refuses this call in this state",
) {}

const halted = {
  /** The contract inside that failed first, by a trace; left out where none tells. */
  contract: Schema.optionalKey(Address),
};
const haltedIn = ({ contract }: Schema.Struct<typeof halted>["Type"]) => address("halted in", contract ?? null);

/** The EVM stopped: invalid opcode, bad jump, stack. */
export class VmHalt extends stated<VmHalt>()("VmHalt", {
  /** The node's name for it, unescaped and bounded. */
  halt: nullable(Schema.String),
  ...halted,
  ...answered,
})(
  "the EVM halts",
  (error) => [quote("", error.halt), haltedIn(error)],
  "do not sign; the contract cannot execute this call",
) {}

/** The gas ran out. */
export class OutOfGas extends stated<OutOfGas>()("OutOfGas", {
  /** The gas limit it ran with, gas; null where it is not known. */
  gasLimit: amount,
  ...halted,
  ...answered,
})(
  "the gas runs out",
  (error) => [gas("gas limit", error.gasLimit), haltedIn(error)],
  "raise `gas`, or leave it out to have it chosen",
) {}

/** A policy of the caller does not hold. */
export class PolicyViolation extends stated<PolicyViolation>()("PolicyViolation", {
  /** The policy's name, e.g. `maxSpent`. */ policy: Schema.String,
  /** The policy's objection, with units. */ detail: Schema.String,
})(
  ({ policy }) => `the policy ${escapeText(policy)} does not hold`,
  ({ detail }) => [text("", detail)],
  "do not sign, or change the policy",
) {}

const differing = {
  /** Every fact that differs, with both values. */
  differences: Schema.Array(OutcomeDifference),
};
const differencesOf = (error: Schema.Struct<typeof differing>["Type"]) => error.differences.map(difference);
const linesOf = (lines: ReadonlyArray<string>) => lines.map((line) => text("", line));

/** The same request on the same block behaves differently in another block context. */
export class SimulationDiverged extends stated<SimulationDiverged>()("SimulationDiverged", differing)(
  "the same request had different outcomes in two simulations",
  differencesOf,
  "do not sign; the contract may detect simulations and do something else on chain",
) {}

/** Endpoints answer the same question differently, where only one answer is right. */
export class WitnessesDisagree extends stated<WitnessesDisagree>()("WitnessesDisagree", {
  /** The JSON-RPC method. */ method: Schema.String,
  /** One line per endpoint, with what it said. */ differences: Schema.Array(Schema.String),
})(
  ({ method }) => `${escapeText(method)}: endpoints disagree where only one answer is right`,
  ({ differences }) => linesOf(differences),
  "do not sign; one endpoint is wrong or lies, so ask another one",
) {}

/** The state changed between two runs, and so did the outcome. */
export class OutcomeChanged extends stated<OutcomeChanged>()("OutcomeChanged", differing)(
  "the outcome changed since the earlier report",
  differencesOf,
  "show the new outcome before signing",
) {}

/** Actions by kind of gap. */
const remedies = {
  NotProven: "run `prove` before you sign",
  RequestIncomplete: "give nonce, gas, fees and chain id, or use another node",
  Altered: "make the report again, and do not change it",
  StatePretended: "make the report again without overrides",
  BlockNotNewest: "make the report again without `block`",
  NotSimulated: "use a node that supports `eth_simulateV1`",
  NotSuccessful: "do not sign; make a new report when the transactions can succeed",
  Expired: "run `prove` again",
  DatedInTheFuture: "check the local clock, then run `prove` again",
  Stale: "run `prove` again, or use another endpoint",
  FundsUnknown: "fund the payer, or use a node that shows its balance",
  CheckUnavailable: "run `prove` on a node that can answer what is missing",
  Blocked: "do not sign it",
  NotMined: "wait until the earlier transactions are mined",
  StepMissing: "make the report with every step of this pipeline",
  Caution: "read the warnings, then allow them with `onCaution`",
};

/**
 * Why there is no clearance. `CheckUnavailable`: a check could not be made, `Blocked`: a finding without an error of its
 * own is against it, and `code` is the finding's; the others speak of the report itself.
 */
export const Gap = Schema.Struct({
  /** The kind of what is missing. */
  reason: Schema.Literals(Struct.keys(remedies)),
  /** In words, escaped. */
  sentence: Schema.String,
  /** The code of the finding behind it, where there is one. */
  code: nullable(Schema.String),
  /** The action to take, where the finding behind it says more than {@link NotProven} would. */
  remedy: Schema.optionalKey(Schema.String),
});
export interface Gap extends Schema.Schema.Type<typeof Gap> {}

/** One reason why there is no clearance; `remedy` = what the finding behind it says to do, empty where it says nothing. */
export const gap = (reason: Gap["reason"], sentence: string, code: string | null = null, remedy = ""): Gap => ({
  reason,
  sentence,
  code,
  ...(remedy === "" ? {} : { remedy }),
});

/** Number of sentences that one line names: the others are in `missing`. */
const mostTold = 1;

const toldOf = (missing: ReadonlyArray<Gap>) => {
  const sentences = [...new Set(missing.map(({ sentence }) => sentence))];
  const others = sentences.length - mostTold;
  return linesOf([...sentences.slice(0, mostTold), ...(others > 0 ? [`and ${others} more in missing`] : [])]);
};

/** The report does not allow signing: `missing` lists what it lacks. */
export class NotProven extends stated<NotProven>()("NotProven", {
  /** Everything that is missing, the checks first. */
  missing: Schema.Array(Gap),
})(
  "the report does not allow signing",
  ({ missing }) => toldOf(missing),
  // why: the first gap is the one that the sentence names
  ({ missing: [first] }) => first?.remedy ?? remedies[first?.reason ?? "NotProven"],
) {}

/** Every verdict, in the order of the design. */
export const Verdict = Schema.Union([
  ExecutionReverted,
  VmHalt,
  OutOfGas,
  rules.InsufficientFunds,
  rules.NonceTooLow,
  rules.NonceTooHigh,
  rules.NonceOverflow,
  rules.ReplacementRefused,
  rules.FeeCapTooLow,
  rules.TipAboveFeeCap,
  rules.IntrinsicGasTooLow,
  rules.GasAllowanceExceeded,
  rules.BlockGasLimitExceeded,
  rules.TxGasLimitTooHigh,
  rules.GasUintOverflow,
  rules.SenderNotEoa,
  rules.InitCodeTooLarge,
  rules.NoCode,
  rules.UnknownDelegateCall,
  rules.ChainIdMismatch,
  PolicyViolation,
  SimulationDiverged,
  OutcomeChanged,
  WitnessesDisagree,
  NotProven,
]);
export type Verdict = typeof Verdict.Type;
