/**
 * Verdicts on a transaction: flat tagged errors with their evidence in fields.
 *
 * Amounts are wei, gas is gas, prices are wei per gas. Evidence that the source did not carry is
 * `null`. `message` = sentence · numbers with units · what to do.
 */
import * as Schema from "effect/Schema";
import * as execution from "./verdicts/execution.js";
import * as funds from "./verdicts/funds.js";
import * as nonce from "./verdicts/nonce.js";
import * as fee from "./verdicts/fee.js";
import * as gas from "./verdicts/gas.js";
import * as account from "./verdicts/account.js";
import * as proof from "./verdicts/proof.js";

export * from "./verdicts/account.js";
export * from "./verdicts/execution.js";
export * from "./verdicts/fee.js";
export * from "./verdicts/funds.js";
export * from "./verdicts/gas.js";
export * from "./verdicts/nonce.js";
export * from "./verdicts/proof.js";

/** Every verdict, in the order of the design. */
export const Verdict = Schema.Union([
  execution.ExecutionReverted,
  execution.VmHalt,
  execution.OutOfGas,
  funds.InsufficientFunds,
  nonce.NonceTooLow,
  nonce.NonceTooHigh,
  nonce.NonceOverflow,
  nonce.ReplacementRefused,
  fee.FeeCapTooLow,
  fee.TipAboveFeeCap,
  gas.IntrinsicGasTooLow,
  gas.GasAllowanceExceeded,
  gas.BlockGasLimitExceeded,
  gas.TxGasLimitTooHigh,
  gas.GasUintOverflow,
  account.SenderNotEoa,
  account.InitCodeTooLarge,
  account.NoCode,
  account.UnknownDelegateCall,
  account.ChainIdMismatch,
  proof.PolicyViolation,
  proof.SimulationDiverged,
  proof.OutcomeChanged,
  proof.WitnessesDisagree,
  proof.NotProven,
]);
export type Verdict = typeof Verdict.Type;
