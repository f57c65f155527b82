/** Changes of owners, roles, proxies and Safes that the logs announce, as findings. Pure. */
import type { Address } from "../../primitives/hex.js";
import { address, hash, text } from "../../primitives/statement.js";
import { note, type Finding, type Severity } from "../../report/finding.js";
import type { View } from "../../witness/view.js";
import type { Ran } from "./bundle.js";
import { controlsIn, type Control } from "./controlLogs.js";

const controlsOf = (bundle: ReadonlyArray<Ran>): ReadonlyArray<Control> =>
  bundle.flatMap(({ index, outcome: { status, logs } }) => (status === "success" ? controlsIn(logs, index) : []));

/** How many changes of control one report names. */
const mostControls = 64;

/** The contracts that change hands: whether they existed before tells how bad it is. */
export const controlAccounts = (bundle: ReadonlyArray<Ran>): ReadonlyArray<Address> =>
  controlsOf(bundle)
    .slice(0, mostControls)
    .map(({ contract }) => contract);

/** Harmless where the contract comes into being here, where a sender only gains, or where nobody owned it and nobody does. */
const severityOf = (change: Control, before: View, senders: ReadonlySet<Address>): Exclude<Severity, "blocker"> => {
  if (before.account(change.contract)?.codeSize === 0n) return "info";
  if (change.code === "OwnershipChanged" && change.loses === null && change.gains === null) return "info";
  const gained = change.gains !== null && senders.has(change.gains);
  const lost = change.loses !== null && senders.has(change.loses);
  return gained && !lost && change.code !== "ContractControlChanged" ? "info" : "warning";
};

/** Every change of control that the bundle's logs announce. */
export const checkControl = (
  bundle: ReadonlyArray<Ran>,
  { before }: { readonly before: View },
): ReadonlyArray<Finding> => {
  const senders = new Set(bundle.map(({ input }) => input.from));
  return controlsOf(bundle)
    .slice(0, mostControls)
    .map((change) =>
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
