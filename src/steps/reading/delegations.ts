/** EIP-7702 delegations that the transactions carry: whether they hold, and what they give away. Pure. */
import { nobody } from "../../abi/words.js";
import type { Address } from "../../primitives/hex.js";
import { address, text } from "../../primitives/statement.js";
import { note, type Evidence, type Finding } from "../../report/finding.js";
import type { View } from "../../witness/view.js";
import type { Case } from "./bundle.js";

/** One authorisation, with the account that signed it. */
interface Delegation {
  /** null when the signature is none: the chain then skips it. */
  readonly authority: Address | null;
  readonly delegate: Address;
  readonly chainId: number;
  readonly transaction: number;
  /** Whether the authority's own transactions in flight are counted: they can take the nonce, and pools refuse it beside them. */
  readonly isCounted: boolean;
}

const delegationsOf = (bundle: ReadonlyArray<Case>): ReadonlyArray<Delegation> =>
  bundle.flatMap(({ authorizations, index }) =>
    authorizations.map(({ authority, entry }) => ({
      authority,
      delegate: entry.address.toLowerCase() as Address,
      chainId: entry.chainId,
      transaction: index,
      isCounted: bundle.some(({ signer }) => signer === authority),
    })),
  );

/** The accounts that delegate and their delegates: their code tells what the delegations do. */
export const delegationAccounts = (bundle: ReadonlyArray<Case>): ReadonlyArray<Address> =>
  delegationsOf(bundle).flatMap(({ authority, delegate }) => [
    ...(authority === null ? [] : [authority]),
    ...(delegate === nobody ? [] : [delegate]),
  ]);

/** Whether the authority's code is what the authorisation makes of it; null = nobody saw it. */
const isApplied = ({ delegate }: Delegation, authority: Address, after: View): boolean | null => {
  const seen = after.account(authority);
  if (seen === null) return null;
  return delegate === nobody ? seen.codeSize === 0n : seen.codePrefix.toLowerCase() === `0xef0100${delegate.slice(2)}`;
};

const say = (delegation: Delegation, after: View, chainId: number | null): ReadonlyArray<Finding> => {
  const { authority, delegate, transaction } = delegation;
  const ineffective = (severity: "info" | "warning", evidence: Evidence, why: string) => [
    note(
      "DelegationIneffective",
      severity,
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
    return ineffective("warning", "measured", "its nonce is not the account's, or another one follows");
  const where = { transaction, evidence: applied === null ? "estimated" : "measured" } as const;
  const account = address("account", authority);
  const inFlight = text("its own transactions in flight", delegation.isCounted ? null : "not known");
  if (delegate === nobody) return [note("DelegationCleared", "info", where, account, inFlight)];
  const chains = text("", delegation.chainId === 0 ? "on every chain" : `on chain ${delegation.chainId}`);
  const set = note("DelegationSet", "warning", where, account, address("delegate", delegate), inFlight, chains);
  const isEmpty = after.account(delegate)?.codeSize === 0n;
  const empty = { transaction, evidence: "measured" } as const;
  return isEmpty ? [set, note("DelegateWithoutCode", "warning", empty, address("delegate", delegate))] : [set];
};

/** What every delegation of the bundle does, as findings. */
export const checkDelegations = (
  bundle: ReadonlyArray<Case>,
  { after, chainId }: { readonly after: View; readonly chainId: number | null },
): ReadonlyArray<Finding> => delegationsOf(bundle).flatMap((delegation) => say(delegation, after, chainId));
