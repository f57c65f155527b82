/**
 * Verdicts on a transaction: flat tagged errors with their evidence in fields.
 *
 * Amounts are wei, gas is gas, prices are wei per gas. Evidence that the source did not carry is
 * `null`. `message` = sentence · numbers with units · what to do.
 */
import * as Schema from "effect/Schema";
import * as account from "./verdicts/account.js";
import * as limits from "./verdicts/limits.js";
import * as outcome from "./verdicts/outcome.js";

export * from "./verdicts/account.js";
export * from "./verdicts/limits.js";
export * from "./verdicts/outcome.js";

/** Every verdict, in the order of the design. */
export const Verdict = Schema.Union([
  outcome.ExecutionReverted,
  outcome.VmHalt,
  outcome.OutOfGas,
  limits.InsufficientFunds,
  account.NonceTooLow,
  account.NonceTooHigh,
  account.NonceOverflow,
  account.ReplacementRefused,
  limits.FeeCapTooLow,
  limits.TipAboveFeeCap,
  limits.IntrinsicGasTooLow,
  limits.GasAllowanceExceeded,
  limits.BlockGasLimitExceeded,
  limits.TxGasLimitTooHigh,
  limits.GasUintOverflow,
  account.SenderNotEoa,
  account.InitCodeTooLarge,
  account.NoCode,
  account.UnknownDelegateCall,
  account.ChainIdMismatch,
  outcome.PolicyViolation,
  outcome.SimulationDiverged,
  outcome.OutcomeChanged,
  outcome.WitnessesDisagree,
  outcome.NotProven,
]);
export type Verdict = typeof Verdict.Type;
