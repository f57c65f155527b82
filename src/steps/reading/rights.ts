/**
 * Who gets to act: EIP-7702 delegations the transactions carry, and changes of owners, roles, proxies
 * and Safes that their logs announce. Findings of their own. Lives on the witness: `accounts` and a
 * pure `decide`.
 */
import { note, type Finding, type Severity } from "../../report/finding.js";
import type { Address } from "../../primitives/hex.js";
import { authorityOf } from "../../transaction/signer.js";
import type { Transaction } from "../../Transaction.js";
import type { Answer } from "../../witness/answers.js";
import { controlsIn, type Control } from "./controlLogs.js";
import type { Outcome } from "../../report/parts.js";

/** What the witness saw of an account before and after; undefined where it saw nothing. */
interface Seen {
  readonly before: Answer | undefined;
  readonly after: Answer | undefined;
}
type See = (account: Address) => Seen;

const nobody: string = "0x0000000000000000000000000000000000000000";

/** One authorisation, with the account that signed it. */
interface Delegation {
  /** null when the signature is none: the chain then skips it. */
  readonly authority: Address | null;
  readonly delegate: Address;
  readonly chainId: number;
  readonly transaction: number;
}

const delegationsOf = (transactions: ReadonlyArray<Transaction>): ReadonlyArray<Delegation> =>
  transactions.flatMap(({ authorizationList }, transaction) =>
    (authorizationList ?? []).map((authorization) => ({
      authority: authorityOf(authorization),
      delegate: authorization.address.toLowerCase() as Address,
      chainId: authorization.chainId,
      transaction,
    })),
  );

const controlsOf = (outcomes: ReadonlyArray<Outcome>): ReadonlyArray<Control> =>
  outcomes.flatMap(({ status, logs }, transaction) => (status === "success" ? controlsIn(logs, transaction) : []));

/** How many changes of control one report names. */
const mostControls = 64;

/** Whose code tells what the rights mean: delegates, the accounts that delegate, contracts that change hands. */
export const accounts = (
  transactions: ReadonlyArray<Transaction>,
  outcomes: ReadonlyArray<Outcome>,
): ReadonlyArray<Address> => [
  ...new Set([
    ...delegationsOf(transactions).flatMap(({ authority, delegate }) => [
      ...(authority === null ? [] : [authority]),
      ...(delegate === nobody ? [] : [delegate]),
    ]),
    ...controlsOf(outcomes)
      .slice(0, mostControls)
      .map(({ contract }) => contract),
  ]),
];

const codeOf = (answer: Answer | undefined) =>
  answer?.kind === "account" ? { size: answer.codeSize, prefix: answer.codePrefix.toLowerCase() } : null;

const sayDelegation = (delegation: Delegation, see: See, chainId: number | null): ReadonlyArray<Finding> => {
  const { authority, delegate, transaction } = delegation;
  if (authority === null || (delegation.chainId !== 0 && chainId !== null && delegation.chainId !== chainId)) {
    const why = authority === null ? "its signature is none" : `it is for chain ${delegation.chainId}`;
    return [
      note(
        "AuthorizationSet",
        "info",
        {
          verdict: "an authorisation (EIP-7702) has no effect",
          evidence: `delegate ${delegate}; ${why}`,
          remedy: "leave it out",
        },
        { step: "approvals", transaction, evidence: "estimated" },
      ),
    ];
  }
  const after = codeOf(see(authority).after);
  const clears = delegate === nobody;
  const applied = after === null ? null : clears ? after.size === 0n : after.prefix === `0xef0100${delegate.slice(2)}`;
  const evidence = applied === null ? "estimated" : "measured";
  const where = { step: "approvals", transaction, evidence } as const;
  if (applied === false) {
    return [
      note(
        "AuthorizationSet",
        "warning",
        {
          verdict:
            "an authorisation (EIP-7702) does not hold at the end: its nonce is not the account's, or another one follows",
          evidence: `account ${authority}, delegate ${delegate}`,
          remedy: "sign it again with the nonce that the account will have",
        },
        where,
      ),
    ];
  }
  if (clears)
    return [
      note("AuthorizationSet", "info", { verdict: "the account's delegation is cleared", evidence: authority }, where),
    ];
  const set = note(
    "AuthorizationSet",
    "warning",
    {
      verdict: "an account gives its delegate the right to do anything in its name (EIP-7702)",
      evidence: `account ${authority}, delegate ${delegate}, ${delegation.chainId === 0 ? "on every chain" : `on chain ${delegation.chainId}`}`,
      remedy: "sign only if you trust the delegate's code with everything the account holds",
    },
    where,
  );
  const code = codeOf(see(delegate).after);
  return code === null || code.size > 0n
    ? [set]
    : [
        set,
        note(
          "DelegateWithoutCode",
          "warning",
          {
            verdict: "the account delegates to an address without code; calls to it do nothing",
            evidence: `delegate ${delegate}`,
            remedy: "check the delegate; whoever deploys there later controls the account",
          },
          where,
        ),
      ];
};

/** Harmless where the contract comes into being here, or where a sender only gains. */
const severityOf = (change: Control, see: See, senders: ReadonlySet<Address>): Exclude<Severity, "blocker"> => {
  const before = codeOf(see(change.contract).before);
  if (before !== null && before.size === 0n) return "info";
  if (change.code === "OwnershipChanged" && change.loses === null) return "info";
  const gained = change.gains !== null && senders.has(change.gains);
  const lost = change.loses !== null && senders.has(change.loses);
  return gained && !lost && change.code !== "ContractControlChanged" ? "info" : "warning";
};

const sayControl = (change: Control, see: See, senders: ReadonlySet<Address>): Finding =>
  note(
    change.code,
    severityOf(change, see, senders),
    {
      verdict: change.what,
      evidence: [
        `contract ${change.contract}`,
        ...(change.role === null ? [] : [`role ${change.role}`]),
        ...(change.loses === null ? [] : [`from ${change.loses}`]),
        ...(change.gains === null ? [] : [`to ${change.gains}`]),
      ].join(", "),
      remedy: "sign only if you mean to change who controls it",
    },
    { step: "approvals", transaction: change.transaction, evidence: "logged" },
  );

/** Every delegation and change of control, as findings. */
export const decide = (
  transactions: ReadonlyArray<Transaction>,
  outcomes: ReadonlyArray<Outcome>,
  see: See,
  chainId: number | null,
): ReadonlyArray<Finding> => {
  const senders = new Set(transactions.map(({ from }) => from));
  return [
    ...delegationsOf(transactions).flatMap((delegation) => sayDelegation(delegation, see, chainId)),
    ...controlsOf(outcomes)
      .slice(0, mostControls)
      .map((change) => sayControl(change, see, senders)),
  ];
};
