/**
 * Who gets rights over what: ERC-20 allowances, operators, single NFT approvals, Permit2. Lives on the witness.
 *
 * Rights are found in the simulated logs and measured before and after in the same simulated block:
 * events alone miss tokens that stay silent, and say nothing of what was there before.
 */
import { note, type Finding } from "../errors/finding.js";
import type { Address } from "../errors/hex.js";
import { readAddress, readBool, readPermit2Allowance, readUint256, type Answer } from "../witness/answers.js";
import { allowance, getApproved, isApprovedForAll, permit2Allowance, type Query } from "../witness/queries.js";
import { rightsIn, type Right } from "./logs/approvals.js";
import type { Approval, Outcome } from "./outputs.js";

export type { Right };

type Lookup = (query: Query) => Answer | undefined;

/** The canonical Permit2, the same on every chain. */
export const permit2 = "0x000000000022d473030f116ddee9f6b43ac78ba3" as Address;

/** From here on an allowance counts as unlimited: more than any token's supply. */
const unlimitedFrom = 2n ** 128n;
/** Permit2 amounts are uint160; its own "unlimited" is the maximum. */
const permit2Max = 2n ** 160n - 1n;

const keyOf = ({ standard, token, owner, spender, tokenId, operator }: Right): string =>
  `${standard}/${token}/${owner}/${spender}/${tokenId ?? ""}/${operator}`;

/** Every right that the outcomes tell of, the last word of each, at most `limit`. */
export const rights = (
  outcomes: ReadonlyArray<Outcome>,
  limit: number,
): { readonly kept: ReadonlyArray<Right>; readonly cut: number } => {
  const all = new Map<string, Right>();
  outcomes.forEach((outcome, transaction) => {
    if (outcome.status !== "success") return;
    for (const right of rightsIn(outcome.logs, transaction)) all.set(keyOf(right), right);
  });
  const kept = [...all.values()].slice(0, limit);
  return { kept, cut: all.size - kept.length };
};

const queryOf = ({ standard, token, owner, spender, tokenId, operator }: Right): Query => {
  if (standard === "permit2") return permit2Allowance(permit2, owner, token, spender);
  if (operator) return isApprovedForAll(token, owner, spender);
  return tokenId === null ? allowance(token, owner, spender) : getApproved(token, tokenId);
};

/** What the witness reads, before and after alike, and whom the spenders are. */
export const queries = (asked: ReadonlyArray<Right>): ReadonlyArray<Query> => [
  ...asked.map(queryOf),
  ...[...new Set(asked.map(({ spender }) => spender))].map((address): Query => ({ kind: "account", address })),
];

interface Level {
  readonly amount: bigint | null;
  readonly expiration: bigint | null;
}

const levelIn = (lookup: Lookup, right: Right): Level => {
  const answer = lookup(queryOf(right));
  if (right.standard === "permit2") {
    const read = readPermit2Allowance(answer);
    return { amount: read?.amount ?? null, expiration: read?.expiration ?? null };
  }
  if (right.operator) {
    const approved = readBool(answer);
    return { amount: approved === null ? null : approved ? 1n : 0n, expiration: null };
  }
  if (right.tokenId === null) return { amount: readUint256(answer), expiration: null };
  const approved = readAddress(answer);
  return { amount: approved === null ? null : approved === right.spender ? 1n : 0n, expiration: null };
};

const spenderKind = (before: Answer | undefined, after: Answer | undefined): Approval["spenderKind"] => {
  if (after?.kind !== "account") return "unknown";
  if (after.codeSize === 0n) return "eoa";
  if (after.codePrefix.toLowerCase().startsWith("0xef0100")) return "delegated";
  return before?.kind === "account" && before.codeSize === 0n ? "created" : "contract";
};

const isUnlimited = (right: Right, amount: bigint | null): boolean =>
  amount !== null &&
  (right.operator
    ? amount === 1n
    : right.tokenId === null && (right.standard === "permit2" ? amount === permit2Max : amount >= unlimitedFrom));

/** The approvals, measured where the witness could, and what to say of them. `now`: the simulated time, epoch seconds. */
export const decide = (
  asked: ReadonlyArray<Right>,
  before: Lookup,
  after: Lookup,
): { readonly outputs: ReadonlyArray<Approval>; readonly findings: ReadonlyArray<Finding> } => {
  const findings: Array<Finding> = [];
  const outputs = asked.map((right): Approval => {
    const [had, has] = [levelIn(before, right), levelIn(after, right)];
    const account: Query = { kind: "account", address: right.spender };
    const amount = has.amount ?? right.said;
    const approval: Approval = {
      standard: right.standard,
      token: right.token,
      owner: right.owner,
      spender: right.spender,
      tokenId: right.tokenId,
      before: had.amount,
      after: amount,
      expiration: has.expiration,
      unlimited: isUnlimited(right, amount),
      spenderKind: spenderKind(before(account), after(account)),
      transaction: right.transaction,
      evidence: has.amount === null ? "logged" : "measured",
    };
    findings.push(...say(approval, right));
    return approval;
  });
  return { outputs, findings };
};

const say = (approval: Approval, right: Right): ReadonlyArray<Finding> => {
  const where = { step: "approvals", transaction: right.transaction, evidence: approval.evidence } as const;
  const over = `${right.operator ? "all of " : ""}${approval.token}${approval.tokenId === null ? "" : ` id ${approval.tokenId}`} of ${approval.owner} to ${approval.spender}`;
  if (approval.after === null || approval.after === 0n) return [];
  const grows = approval.before === null || approval.after > approval.before;
  if (approval.unlimited && grows) {
    return [
      note(
        "ApprovalUnlimited",
        "warning",
        {
          verdict: "an unlimited approval is given",
          evidence: over,
          remedy: "approve only what is needed, or trust the spender with everything",
        },
        where,
      ),
    ];
  }
  return grows
    ? [
        note(
          "ApprovalGranted",
          "info",
          { verdict: "an approval is given", evidence: `${over}, ${approval.after} units` },
          where,
        ),
      ]
    : [];
};
