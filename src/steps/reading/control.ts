/** Changes of owners, roles, proxies and Safes that the logs announce, as findings. Pure. */
import type { Address } from "../../primitives/hex.js";
import { address, hash, text } from "../../primitives/statement.js";
import { note, type Finding, type Severity } from "../../report/finding.js";
import { unseen, type View } from "../../witness/view.js";
import type { Ran } from "./bundle.js";
import { controlsIn, type Control } from "./controlLogs.js";

const controlsOf = (bundle: ReadonlyArray<Ran>): ReadonlyArray<Control> =>
  bundle.flatMap(({ index, outcome: { status, logs } }) => (status === "success" ? controlsIn(logs, index) : []));

/** How many changes of control one report names. */
const mostControls = 64;

/** Harmless where the contract comes into being here, where a sender only gains, or where nobody owned it and nobody does. */
const severityOf = (change: Control, before: View, senders: ReadonlySet<Address>): Exclude<Severity, "blocker"> => {
  if (before.account(change.contract)?.codeSize === 0n) return "info";
  if (change.code === "OwnershipChanged" && change.loses === null && change.gains === null) return "info";
  const gained = change.gains !== null && senders.has(change.gains);
  const lost = change.loses !== null && senders.has(change.loses);
  return gained && !lost && change.code !== "ContractControlChanged" ? "info" : "warning";
};

/** The changes to tell of, in their order; where there are too many, warnings before information. */
const kept = (bundle: ReadonlyArray<Ran>, before: View) => {
  const senders = new Set(bundle.map(({ input }) => input.from));
  const all = controlsOf(bundle).map((change) => ({ change, severity: severityOf(change, before, senders) }));
  if (all.length <= mostControls) return all;
  const grave = all.filter(({ severity }) => severity === "warning");
  return [...grave, ...all.filter(({ severity }) => severity !== "warning")].slice(0, mostControls);
};

/** The contracts that change hands: whether they existed before tells how bad it is. */
export const controlAccounts = (bundle: ReadonlyArray<Ran>): ReadonlyArray<Address> =>
  kept(bundle, unseen).map(({ change }) => change.contract);

/** Every change of control that the bundle's logs announce. */
export const checkControl = (
  bundle: ReadonlyArray<Ran>,
  { before }: { readonly before: View },
): ReadonlyArray<Finding> =>
  kept(bundle, before).map(({ change, severity }) =>
    note(
      change.code,
      severity,
      { transaction: change.transaction, evidence: "logged" },
      text("", change.what),
      address("contract", change.contract),
      hash("role", change.role),
      address("from", change.loses),
      address("to", change.gains),
    ),
  );
