/** Changes of owners, roles, proxies and Safes that the logs announce, as findings. Pure. */
import type { Address } from "../../primitives/hex.js";
import { address, hash, text } from "../../primitives/statement.js";
import { note, type Finding, type Severity } from "../../report/finding.js";
import { unseen, type View } from "../../witness/view.js";
import type { Ran } from "./bundle.js";
import { controlsIn, type Control } from "./controlLogs.js";

const controlsOf = (bundle: ReadonlyArray<Ran>): ReadonlyArray<Control> =>
  bundle.flatMap(({ index, outcome: { status, logs } }) => (status === "success" ? controlsIn(logs, index) : []));

/** Harmless where the contract comes into being here, where a sender only gains, or where nobody owned it and nobody does. */
const severityOf = (change: Control, before: View, senders: ReadonlySet<Address>): Exclude<Severity, "blocker"> => {
  if (before.account(change.contract)?.codeSize === 0n) return "info";
  if (change.code === "OwnershipChanged" && change.loses === null && change.gains === null) return "info";
  const gained = change.gains !== null && senders.has(change.gains);
  const lost = change.loses !== null && senders.has(change.loses);
  return gained && !lost && change.code !== "ContractControlChanged" ? "info" : "warning";
};

const sendersOf = (bundle: ReadonlyArray<Ran>): ReadonlySet<Address> => new Set(bundle.map(({ input }) => input.from));

/** The changes that the bundle's logs announce: what a sender loses first, then whatever else may do harm. */
const worstFirst = (bundle: ReadonlyArray<Ran>): ReadonlyArray<Control> => {
  const senders = sendersOf(bundle);
  const rankOf = (change: Control): number => {
    if (change.loses !== null && senders.has(change.loses)) return 0;
    return severityOf(change, unseen, senders) === "warning" ? 1 : 2;
  };
  return controlsOf(bundle)
    .map((change) => ({ change, rank: rankOf(change) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ change }) => change);
};

/** How many contracts that change hands are looked at; of the others it is taken that they existed before. */
const mostContracts = 64;

/** The contracts that change hands: whether they existed before tells how bad it is. */
export const controlAccounts = (bundle: ReadonlyArray<Ran>): ReadonlyArray<Address> =>
  [...new Set(worstFirst(bundle).map(({ contract }) => contract))].slice(0, mostContracts);

/** Every change of control that the bundle's logs announce. */
export const checkControl = (
  bundle: ReadonlyArray<Ran>,
  { before }: { readonly before: View },
): ReadonlyArray<Finding> => {
  const senders = sendersOf(bundle);
  return worstFirst(bundle).map((change) =>
    note(
      change.code,
      severityOf(change, before, senders),
      { transaction: change.transaction, evidence: "logged" },
      text("", change.what),
      address("contract", change.contract),
      hash("role", change.role),
      address("from", change.loses),
      address("to", change.gains),
    ),
  );
};
