/** Every known function in one table, by its selector: a call is looked up once, and its row says all that it asks for. */
import * as Rows from "effect/Record";
import { each, merged } from "../../primitives/record.js";
import { argumentsAt } from "../words.js";
import { forms, lenientForms } from "./batches.js";
import { moves } from "./movements.js";
import { grants, handovers, payouts, taking } from "./rights.js";

/** The meaning of one function, as far as it is known. */
export interface CallRow {
  /** It is of a Safe itself: execTransaction, and setup of 1.1 and later and of 1.0. */
  readonly isOfSafe?: true;
  /** It takes tokens by a right that Permit2 keeps. */
  readonly isTaking?: true;
  /** It makes calls out of its arguments, and `isLenient` where it may pass over their failures. */
  readonly isBatch?: true;
  readonly isLenient?: true;
  readonly move?: (typeof moves)[string];
  readonly grant?: (typeof grants)[string];
  /** The argument that names who may act for the contract, or who gets what the caller has in it. */
  readonly handover?: number;
  readonly payout?: number;
  /** The name of a function of tokens that answers by a `bool` whether it worked. */
  readonly answers?: string;
  /** It burns or mints: the arguments with the account, else it is the caller's own, and with the amount. */
  readonly supply?: { readonly from?: number; readonly to?: number; readonly amount: number };
  /** It changes the level of a right, and does not set it. */
  readonly changes?: "more" | "less";
}

export const knownCalls: Readonly<Record<string, CallRow>> = merged<CallRow>(
  Rows.map(moves, (move) => ({ move })),
  Rows.map(grants, (grant) => ({ grant })),
  Rows.map(handovers, (handover) => ({ handover })),
  Rows.map(payouts, (payout) => ({ payout })),
  // of ERC-20 and ERC-6909
  each({ answers: "transfer" }, ["0xa9059cbb", "0x095bcdb6"]),
  each({ answers: "transferFrom" }, ["0x23b872dd", "0xfe99049a"]),
  each({ answers: "approve" }, ["0x095ea7b3", "0x426a8493"]),
  each({ answers: "setOperator" }, ["0x558a7297"]),
  each({ answers: "increaseAllowance", changes: "more" }, ["0x39509351"]),
  each({ answers: "increaseApproval", changes: "more" }, ["0xd73dd623"]),
  each({ answers: "decreaseAllowance", changes: "less" }, ["0xa457c2d7"]),
  each({ answers: "decreaseApproval", changes: "less" }, ["0x66188463"]),
  // of ERC-1363
  each({ answers: "transferAndCall" }, ["0x1296ee62", "0x4000aea0"]),
  each({ answers: "transferFromAndCall" }, ["0xd8fbe994", "0xc1d34b89"]),
  each({ answers: "approveAndCall" }, ["0x3177029f", "0xcae9ca51"]),
  // of tokens that can be burned and minted
  each({ answers: "burn", supply: { amount: 0 } }, ["0x42966c68"]),
  each({ answers: "burn", supply: { from: 0, amount: 1 } }, ["0x9dc29fac"]),
  each({ answers: "burnFrom", supply: { from: 0, amount: 1 } }, ["0x79cc6790"]),
  each({ answers: "mint", supply: { to: 0, amount: 1 } }, ["0x40c10f19"]),
  each({ isOfSafe: true }, ["0x6a761202", "0xb63e800d", "0xa97ab18a"]),
  each({ isTaking: true }, taking),
  each({ isBatch: true }, Object.keys(forms)),
  each({ isLenient: true }, Object.keys(lenientForms)),
);
const unknown: CallRow = {};

/** The row of a call, by its calldata. */
export const callRowOf = (data: string): CallRow => knownCalls[data.slice(0, argumentsAt).toLowerCase()] ?? unknown;
