/** EIP-7702 delegations that the transactions carry: whether they hold, and what they give away. Pure. */
import type { Address } from "../../primitives/hex.js";
import { address, figures, text } from "../../primitives/statement.js";
import { note, type Finding } from "../../report/finding.js";
import type { View } from "../../witness/view.js";
import type { Case } from "./bundle.js";

const nobody: string = "0x0000000000000000000000000000000000000000";

/** One authorisation, with the account that signed it. */
interface Delegation {
  /** null when the signature is none: the chain then skips it. */
  readonly authority: Address | null;
  readonly delegate: Address;
  readonly chainId: number;
  readonly transaction: number;
}

const delegationsOf = (bundle: ReadonlyArray<Case>): ReadonlyArray<Delegation> =>
  bundle.flatMap(({ authorizations, index }) =>
    authorizations.map(({ authority, entry }) => ({
      authority,
      delegate: entry.address.toLowerCase() as Address,
      chainId: entry.chainId,
      transaction: index,
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
  const where = { step: "approvals", transaction } as const;
  if (authority === null || (delegation.chainId !== 0 && chainId !== null && delegation.chainId !== chainId)) {
    const why = authority === null ? "its signature is none" : `it is for chain ${delegation.chainId}`;
    return [
      note(
        "DelegationIneffective",
        "info",
        {
          sentence: `an authorisation (EIP-7702) has no effect: ${why}`,
          numbers: figures(address("delegate", delegate)),
          remedy: "leave it out",
        },
        { ...where, evidence: "estimated" },
      ),
    ];
  }
  const applied = isApplied(delegation, authority, after);
  const evidence = applied === null ? "estimated" : "measured";
  if (applied === false)
    return [
      note(
        "DelegationIneffective",
        "warning",
        {
          sentence:
            "an authorisation (EIP-7702) does not hold at the end: its nonce is not the account's, or another one follows",
          numbers: figures(address("account", authority), address("delegate", delegate)),
          remedy: "sign it again with the nonce that the account will have",
        },
        { ...where, evidence },
      ),
    ];
  if (delegate === nobody)
    return [
      note(
        "DelegationCleared",
        "info",
        { sentence: "the account's delegation is cleared", numbers: figures(address("", authority)) },
        { ...where, evidence },
      ),
    ];
  const set = note(
    "DelegationSet",
    "warning",
    {
      sentence: "an account gives its delegate the right to do anything in its name (EIP-7702)",
      numbers: figures(
        address("account", authority),
        address("delegate", delegate),
        text("", delegation.chainId === 0 ? "on every chain" : `on chain ${delegation.chainId}`),
      ),
      remedy: "sign only if you trust the delegate's code with everything the account holds",
    },
    { ...where, evidence },
  );
  const code = after.account(delegate);
  return code === null || code.codeSize > 0n
    ? [set]
    : [
        set,
        note(
          "DelegateWithoutCode",
          "warning",
          {
            sentence: "the account delegates to an address without code; calls to it do nothing",
            numbers: figures(address("delegate", delegate)),
            remedy: "check the delegate; whoever deploys there later controls the account",
          },
          { ...where, evidence: "measured" },
        ),
      ];
};

/** What every delegation of the bundle does, as findings. */
export const checkDelegations = (
  bundle: ReadonlyArray<Case>,
  { after, chainId }: { readonly after: View; readonly chainId: number | null },
): ReadonlyArray<Finding> => delegationsOf(bundle).flatMap((delegation) => say(delegation, after, chainId));
