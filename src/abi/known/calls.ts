/** Every known function in one table, by its selector: a call is looked up once, and its row says all that it asks for. */
import { argumentsAt } from "../words.js";
import { forms, lenientForms } from "./batches.js";
import { moves } from "./movements.js";
import { grants, handovers, payouts, taking } from "./rights.js";

/**
 * Meanings without values. `isOfSafe`: it is of a Safe itself, execTransaction, and setup of 1.1 and later and of 1.0.
 * `isTaking`: it takes tokens by a right that Permit2 keeps. `isBatch`: it makes calls out of its arguments, and `isLenient`
 * where it may pass over their failures.
 */
type Mark = "isOfSafe" | "isTaking" | "isBatch" | "isLenient";

/** The meaning of one function, as far as it is known. */
export interface CallRow extends Partial<Readonly<Record<Mark, true>>> {
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

const under = <K extends keyof CallRow>(name: K, rows: Readonly<Record<string, CallRow[K]>>) =>
  Object.entries(rows).map(([selector, row]): readonly [string, CallRow] => [selector, { [name]: row }]);
const marked = (row: CallRow, selectors: Iterable<string>) => [...selectors].map((each) => [each, row] as const);

export const knownCalls: Readonly<Record<string, CallRow>> = [
  ...under("move", moves),
  ...under("grant", grants),
  ...under("handover", handovers),
  ...under("payout", payouts),
  ...under("answers", {
    // of ERC-20 and ERC-6909
    ...{ "0xa9059cbb": "transfer", "0x095bcdb6": "transfer" },
    ...{ "0x23b872dd": "transferFrom", "0xfe99049a": "transferFrom" },
    ...{ "0x095ea7b3": "approve", "0x426a8493": "approve", "0x558a7297": "setOperator" },
    ...{ "0x39509351": "increaseAllowance", "0xd73dd623": "increaseApproval" },
    ...{ "0xa457c2d7": "decreaseAllowance", "0x66188463": "decreaseApproval" },
    // of ERC-1363
    ...{ "0x1296ee62": "transferAndCall", "0x4000aea0": "transferAndCall" },
    ...{ "0xd8fbe994": "transferFromAndCall", "0xc1d34b89": "transferFromAndCall" },
    ...{ "0x3177029f": "approveAndCall", "0xcae9ca51": "approveAndCall" },
    // of tokens that can be burned and minted
    ...{ "0x42966c68": "burn", "0x9dc29fac": "burn", "0x79cc6790": "burnFrom", "0x40c10f19": "mint" },
  }),
  ...under("supply", {
    ...{ "0x42966c68": { amount: 0 }, "0x9dc29fac": { from: 0, amount: 1 }, "0x79cc6790": { from: 0, amount: 1 } },
    "0x40c10f19": { to: 0, amount: 1 },
  }),
  ...marked({ changes: "more" }, ["0x39509351", "0xd73dd623"]),
  ...marked({ changes: "less" }, ["0xa457c2d7", "0x66188463"]),
  ...marked({ isOfSafe: true }, ["0x6a761202", "0xb63e800d", "0xa97ab18a"]),
  ...marked({ isTaking: true }, taking),
  ...marked({ isBatch: true }, Object.keys(forms)),
  ...marked({ isLenient: true }, Object.keys(lenientForms)),
].reduce<Record<string, CallRow>>((all, [selector, row]) => {
  all[selector] = { ...all[selector], ...row };
  return all;
}, {});
const unknown: CallRow = {};

/** The row of a call, by its calldata. */
export const callRowOf = (data: string): CallRow => knownCalls[data.slice(0, argumentsAt).toLowerCase()] ?? unknown;
