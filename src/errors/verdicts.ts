/**
 * Verdicts on a transaction: flat tagged errors with their evidence in fields.
 *
 * Amounts are wei, gas is gas, prices are wei per gas. Evidence that the source did not carry is
 * `null`. `message` = sentence · numbers with units · what to do.
 */
import * as Schema from "effect/Schema";
import { ExecutionReverted, VmHalt, OutOfGas } from "./verdicts/execution.js";
import { InsufficientFunds } from "./verdicts/funds.js";
import { NonceTooLow, NonceTooHigh, NonceOverflow } from "./verdicts/nonce.js";
import { FeeCapTooLow, TipAboveFeeCap } from "./verdicts/fee.js";
import {
  IntrinsicGasTooLow,
  GasAllowanceExceeded,
  BlockGasLimitExceeded,
  TxGasLimitTooHigh,
  GasUintOverflow,
} from "./verdicts/gas.js";
import { SenderNotEoa, InitCodeTooLarge, NoCode, ChainIdMismatch } from "./verdicts/account.js";
import { PolicyViolation, SimulationDiverged, OutcomeChanged, NotProven } from "./verdicts/proof.js";

export * from "./verdicts/account.js";
export * from "./verdicts/execution.js";
export * from "./verdicts/fee.js";
export * from "./verdicts/funds.js";
export * from "./verdicts/gas.js";
export * from "./verdicts/nonce.js";
export * from "./verdicts/proof.js";

/** Every verdict, in the order of the design. */
export const Verdict = Schema.Union([
  ExecutionReverted,
  VmHalt,
  OutOfGas,
  InsufficientFunds,
  NonceTooLow,
  NonceTooHigh,
  NonceOverflow,
  FeeCapTooLow,
  TipAboveFeeCap,
  IntrinsicGasTooLow,
  GasAllowanceExceeded,
  BlockGasLimitExceeded,
  TxGasLimitTooHigh,
  GasUintOverflow,
  SenderNotEoa,
  InitCodeTooLarge,
  NoCode,
  ChainIdMismatch,
  PolicyViolation,
  SimulationDiverged,
  OutcomeChanged,
  NotProven,
]);
export type Verdict = typeof Verdict.Type;
