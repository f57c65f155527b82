/** Changes of owners, roles, proxies and Safes that the logs announce, as findings. Pure. */
import * as Arr from "effect/Array";
import * as Order from "effect/Order";
import type { Address } from "../../primitives/hex.js";
import { address, type Figure, hash, text } from "../../primitives/statement.js";
import { code, type Finding, type Evidence, type Where } from "../../report/finding.js";
import { unseen, type View } from "../../witness/view.js";
import { ownAccounts, type Ran, type Case } from "./bundle.js";
import { nobody } from "../../abi/words.js";
import { isUnsigned } from "../../transaction/fields.js";
import { effectsIn } from "../../effects/effects.js";
import type { Control } from "../../effects/told.js";

/**
 * It gets another implementation, admin, owner, module or key.
 * @figures text("", "implementation, without an event"), address("contract", pool), address("from", usdc),
 *   address("to", bob)
 * @info where the contract is new, or names somebody first and is not known to be a sender's
 * @blocker where a contract of the sender's own changes hands to somebody whom nobody named
 */
export const ContractControlChanged = code("approvals", ["warning", "info", "blocker"], "ContractControlChanged", [
  "a contract's code, or who controls it, changes",
  "sign only if you mean to change who controls it",
]);

/**
 * The contract announces a new owner.
 * @figures address("contract", pool), address("from", alice), address("to", bob)
 * @info where the contract is new, or the sender only gains it
 */
export const OwnershipChanged = code("approvals", ["warning", "info"], "OwnershipChanged", [
  "the owner of a contract changes",
  "sign only if you mean to change who controls it",
]);

/**
 * An example is a role of OpenZeppelin's AccessControl.
 * @figures address("contract", pool), address("to", bob)
 * @info where the contract is new, or the sender only gains the role
 */
export const RoleChanged = code("approvals", ["warning", "info"], "RoleChanged", [
  "a role over a contract is given or taken away",
  "sign only if you mean to change who controls it",
]);

const codes = { owner: OwnershipChanged, role: RoleChanged, control: ContractControlChanged } as const;

/** A contract's control changes without an event. */
export const controlChanged = (
  severity: "info" | "warning" | "blocker",
  where: Where,
  contract: Address,
  how: string,
  ...parties: ReadonlyArray<Figure | null>
): Finding => {
  const what = text("", `${how}, without an event`);
  return ContractControlChanged[severity](where, what, address("contract", contract), ...parties);
};

/** Harmless where the contract comes into being here, where a sender only gains, or where nobody owned it and nobody does. */
const severityOf = (change: Control, before: View, senders: ReadonlySet<Address>): "info" | "warning" => {
  if (before.account(change.contract)?.codeSize === 0n) return "info";
  if (change.kind === "owner" && change.loses === null && change.gains === null) return "info";
  const gained = change.gains !== null && senders.has(change.gains);
  const isLosing = change.loses !== null && senders.has(change.loses);
  return gained && !isLosing && change.kind !== "control" ? "info" : "warning";
};

/** The changes that the bundle's logs announce: what a sender loses first, then whatever else may do harm. */
const worstFirst = (bundle: ReadonlyArray<Ran>): ReadonlyArray<Control> => {
  const senders = new Set(ownAccounts(bundle));
  const rankOf = (change: Control): number => {
    if (change.loses !== null && senders.has(change.loses)) return 0;
    return severityOf(change, unseen, senders) === "warning" ? 1 : 2;
  };
  return Arr.sortWith(effectsIn(bundle, "control"), rankOf, Order.Number);
};

/** How many contracts that change hands are looked at; of the others it is taken that they existed before. */
const mostContracts = 64;

/** The contracts that change hands: whether they existed before tells how bad it is. */
export const controlAccounts = (bundle: ReadonlyArray<Ran>): ReadonlyArray<Address> =>
  [...new Set(worstFirst(bundle).map(({ contract }) => contract))].slice(0, mostContracts);

/** Every change of control that the bundle's logs announce. */
export const checkControl = (bundle: ReadonlyArray<Ran>, { before }: { readonly before: View }) => {
  const senders = new Set(ownAccounts(bundle));
  return worstFirst(bundle).map((change) =>
    codes[change.kind][severityOf(change, before, senders)](
      { transaction: change.transaction, evidence: "logged" },
      text("", change.what),
      address("contract", change.contract),
      hash("role", change.role),
      address("from", change.loses),
      address("to", change.gains),
    ),
  );
};

/**
 * A node simulated what it will do, on state that the signature would make.
 * @figures address("account", alice), address("delegate", pool)
 */
export const AuthorizationUnsigned = code("approvals", ["info"], "AuthorizationUnsigned", [
  "an authorisation (EIP-7702) is not signed yet, and its effect is assumed",
  "let the account sign what `ready` gives in `signs`, then prove the report with the signature",
]);

/** The authorisations, each with the account that signed it. */
const delegationsOf = (bundle: ReadonlyArray<Case>) =>
  bundle.flatMap(({ authorizations, index }) =>
    authorizations.map(({ authority, entry }) => ({
      /** null when the signature is none: the chain then skips it. */
      authority,
      delegate: entry.address.toLowerCase() as Address,
      chainId: entry.chainId,
      isSigned: !isUnsigned(entry),
      transaction: index,
      /** True if the authority's in-flight transactions count: they can take the nonce; pools refuse it beside them. */
      isCounted: bundle.some(({ signer }) => signer === authority),
    })),
  );

/** The accounts that delegate and their delegates: their code tells what the delegations do. */
export const delegationAccounts = (bundle: ReadonlyArray<Case>): ReadonlyArray<Address> =>
  delegationsOf(bundle).flatMap(({ authority, delegate }) => [
    ...(authority === null ? [] : [authority]),
    ...(delegate === nobody ? [] : [delegate]),
  ]);

/** True if the authority's code is what the authorisation makes of it; null = nobody saw it. */
const isApplied = ({ delegate }: { readonly delegate: Address }, authority: Address, after: View): boolean | null => {
  const account = after.account(authority);
  if (account === null) return null;
  return delegate === nobody
    ? account.codeSize === 0n
    : account.codePrefix.toLowerCase() === `0xef0100${delegate.slice(2)}`;
};

/** @figures address("account", alice) */
export const DelegationCleared = code("approvals", ["info"], "DelegationCleared", [
  "the account's delegation is cleared",
]);

/**
 * It is for another chain or nonce, or a later one replaces it.
 * @figures address("account", alice), address("delegate", pool), text("because", "it is for chain 10")
 * @warning where it is for this chain and still had no effect
 */
export const DelegationIneffective = code("approvals", ["info", "warning"], "DelegationIneffective", [
  "an authorisation (EIP-7702) has no effect at the end",
  "leave it out, or sign it again for this chain and with the nonce that the account will have",
]);

/** @figures address("account", alice), address("delegate", pool), text("", "on chain 1") */
export const DelegationSet = code("approvals", ["warning"], "DelegationSet", [
  "an account lets a delegate contract do anything in its name (EIP-7702)",
  "sign only if you trust the delegate's code with everything the account holds",
]);

/** @figures address("delegate", bob) */
export const DelegateWithoutCode = code("code", ["warning"], "DelegateWithoutCode", [
  "an account delegates to an address without code; calls to it do nothing",
  "check the delegate; whoever deploys there later controls the account",
]);

/** Calls to the account do nothing, for its delegate has no code. */
export const delegatesToNothing = (where: Where, delegate: Address | null): Finding =>
  DelegateWithoutCode.warning(where, address("delegate", delegate));

/** Tells of an authorisation that its account has not signed yet. */
const unsigned = ({ isSigned, authority, delegate, transaction }: ReturnType<typeof delegationsOf>[number]) =>
  isSigned
    ? []
    : [
        AuthorizationUnsigned.info(
          { transaction, evidence: "assumed" },
          address("account", authority),
          address("delegate", delegate),
        ),
      ];

const say = (delegation: ReturnType<typeof delegationsOf>[number], after: View, chainId: number | null) => {
  const { authority, delegate, transaction, isSigned } = delegation;
  const measured = isSigned ? "measured" : "assumed";
  const ineffective = (severity: "info" | "warning", evidence: Evidence, why: string) => [
    DelegationIneffective[severity](
      { transaction, evidence },
      address("account", authority),
      address("delegate", delegate),
      text("because", why),
    ),
  ];
  if (authority === null) return ineffective("info", "estimated", "its signature is none");
  if (delegation.chainId !== 0 && chainId !== null && delegation.chainId !== chainId)
    return ineffective("info", "estimated", `it is for chain ${delegation.chainId}`);
  const applied = isApplied(delegation, authority, after);
  if (applied === false)
    return ineffective("warning", measured, "its nonce is not the account's, or another one follows");
  const where = { transaction, evidence: applied === null ? "estimated" : measured } as const;
  const account = address("account", authority);
  const inFlight = text("its own transactions in flight", delegation.isCounted ? null : "not known");
  if (delegate === nobody) return [DelegationCleared.info(where, account, inFlight)];
  const chains = text("", delegation.chainId === 0 ? "on every chain" : `on chain ${delegation.chainId}`);
  const set = DelegationSet.warning(where, account, address("delegate", delegate), inFlight, chains);
  const isEmpty = after.account(delegate)?.codeSize === 0n;
  return isEmpty ? [set, delegatesToNothing({ transaction, evidence: "measured" }, delegate)] : [set];
};

/** Reports the effect of every delegation of the bundle. */
export const checkDelegations = (
  bundle: ReadonlyArray<Case>,
  { after, chainId }: { readonly after: View; readonly chainId: number | null },
): ReadonlyArray<Finding> =>
  delegationsOf(bundle).flatMap((delegation) => [...say(delegation, after, chainId), ...unsigned(delegation)]);
