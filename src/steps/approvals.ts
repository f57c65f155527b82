/**
 * Who gets rights over what: ERC-20 allowances, operators, single NFT approvals, Permit2. Lives on the witness.
 *
 * Rights are found in the simulated logs and in the calldata, and measured before and after in the same
 * simulated block: events alone miss tokens that stay silent, and say nothing of what was there before.
 */
import { note, type Finding } from "../report/finding.js";
import type { Address } from "../primitives/hex.js";
import type { Transaction } from "../Transaction.js";
import { readAddress, readBool, readPermit2Allowance, readUint256, type Answer } from "../witness/answers.js";
import { allowance, getApproved, isApprovedForAll, permit2Allowance, type Query } from "../witness/queries.js";
import { nobody, rightsIn, settleRight, type Right } from "./reading/approvalLogs.js";
import { rightsAsked } from "./reading/calldata.js";
import type { Standards } from "./reading/transferLogs.js";
import type { Approval, Outcome } from "../report/parts.js";

export type { Right };

type Lookup = (query: Query) => Answer | undefined;

/** From here on an allowance counts as unlimited: more than any token's supply. */
const unlimitedFrom = 2n ** 128n;
/** What tokens with narrow amounts keep where everything was asked for (UNI, COMP). */
const narrowMaximum = 2n ** 96n - 1n;

const keyOf = ({ standard, token, keeper, owner, spender, tokenId, operator }: Right): string =>
  `${standard}/${token}/${keeper}/${owner}/${spender}/${tokenId ?? ""}/${operator}`;

/** Whom and what a right is about, whatever the standard: an event and a call that tell of the same. */
const aboutOf = ({ token, keeper, owner, spender, operator, transaction }: Right): string =>
  `${transaction}/${token}/${keeper}/${owner}/${spender}/${operator}`;

/** Rights that the calldata of successful transactions asks for and no event tells of. */
const silent = (
  transactions: ReadonlyArray<Transaction>,
  outcomes: ReadonlyArray<Outcome>,
  told: ReadonlyArray<Right>,
): ReadonlyArray<Right> => {
  const known = new Set(told.map(aboutOf));
  return transactions.flatMap(({ from, to, data }, index) =>
    to === null || outcomes[index]?.status !== "success"
      ? []
      : rightsAsked({ from, to, data: data.toLowerCase() as typeof data }, index).filter(
          (right) => !known.has(aboutOf(right)),
        ),
  );
};

/** Every right that calldata and logs tell of, the last word of each, at most `limit`. */
export const rights = (
  transactions: ReadonlyArray<Transaction>,
  outcomes: ReadonlyArray<Outcome>,
  limit: number,
): { readonly kept: ReadonlyArray<Right>; readonly cut: number } => {
  const told = outcomes.flatMap(({ status, logs }, index) => (status === "success" ? rightsIn(logs, index) : []));
  const all = new Map<string, Right>();
  for (const right of [...told, ...silent(transactions, outcomes, told)]) all.set(keyOf(right), right);
  const kept = [...all.values()].slice(0, limit);
  return { kept, cut: all.size - kept.length };
};

/** `more` behind `known`, each right once. */
export const union = (known: ReadonlyArray<Right>, more: ReadonlyArray<Right>): ReadonlyArray<Right> => {
  // why: the last run has the last word on what is said; the order is that of the first
  const all = new Map(known.map((right) => [keyOf(right), right]));
  for (const right of more) all.set(keyOf(right), right);
  return [...all.values()];
};

/** Rights that are not among `known`. */
export const newIn = (known: ReadonlyArray<Right>, found: ReadonlyArray<Right>): ReadonlyArray<Right> => {
  const keys = new Set(known.map(keyOf));
  return found.filter((right) => !keys.has(keyOf(right)));
};

const queryOf = ({ standard, token, keeper, owner, spender, tokenId, operator }: Right): Query => {
  if (standard === "permit2") return permit2Allowance(keeper, owner, token, spender);
  if (operator) return isApprovedForAll(token, owner, spender);
  return tokenId === null ? allowance(token, owner, spender) : getApproved(token, tokenId);
};

/** A right whose shape leaves open what it is, is asked about in both ways. */
const readings = (right: Right): ReadonlyArray<Right> =>
  right.open === null
    ? [right]
    : [
        { ...right, standard: "erc20", tokenId: null },
        { ...right, standard: "erc721", tokenId: right.open },
      ];

/** What the witness reads, before and after alike, and whom the spenders are. */
export const queries = (asked: ReadonlyArray<Right>): ReadonlyArray<Query> => [
  ...asked.flatMap(readings).map(queryOf),
  ...[...new Set(asked.map(({ spender }) => spender))].map((address): Query => ({ kind: "account", address })),
];

interface Level {
  readonly amount: bigint | null;
  readonly expiration: bigint | null;
  /** Of a single NFT: who may take it. */
  readonly approved: Address | null;
}

const unread: Level = { amount: null, expiration: null, approved: null };
const flag = (value: boolean | null): bigint | null => (value === null ? null : value ? 1n : 0n);

const levelIn = (lookup: Lookup, right: Right): Level => {
  const answer = lookup(queryOf(right));
  if (right.standard === "permit2") {
    const read = readPermit2Allowance(answer);
    return read === null ? unread : { ...unread, amount: read.amount, expiration: read.expiration };
  }
  if (right.operator) return { ...unread, amount: flag(readBool(answer)) };
  if (right.tokenId === null) return { ...unread, amount: readUint256(answer) };
  const approved = readAddress(answer);
  return { ...unread, approved, amount: flag(approved === null ? null : approved === right.spender) };
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
    : right.tokenId === null && (amount >= unlimitedFrom || (right.standard === "erc20" && amount === narrowMaximum)));

const approvalOf = (asked: Right, before: Lookup, after: Lookup): Approval | null => {
  const [had, has] = [levelIn(before, asked), levelIn(after, asked)];
  const takenBack = asked.tokenId !== null && asked.spender === nobody;
  // why: an NFT's approval is taken back by approving nobody; what changes is the right of whoever had it
  if (takenBack && (had.approved === null || had.approved === nobody)) return null;
  const right = takenBack ? { ...asked, spender: had.approved ?? nobody } : asked;
  const amount = takenBack ? 0n : (has.amount ?? right.said);
  const account: Query = { kind: "account", address: right.spender };
  const isMeasured = takenBack ? has.approved !== null : has.amount !== null;
  return {
    standard: right.standard,
    token: right.token,
    owner: right.owner,
    spender: right.spender,
    tokenId: right.tokenId,
    before: takenBack ? 1n : had.amount,
    after: amount,
    expiration: has.expiration ?? right.expiration,
    unlimited: isUnlimited(right, amount),
    spenderKind: spenderKind(before(account), after(account)),
    transaction: right.transaction,
    evidence: isMeasured ? "measured" : right.source === "event" ? "logged" : "estimated",
  };
};

/** What the rights are judged by, beside the rights themselves. */
export interface Setting {
  readonly standards: Standards;
  /** Epoch seconds of the simulated block. */
  readonly now: bigint | null;
  readonly transactions: ReadonlyArray<Transaction>;
}

/** The approvals, measured where the witness could, and what to say of them. */
export const decide = (
  asked: ReadonlyArray<Right>,
  before: Lookup,
  after: Lookup,
  setting: Setting,
): { readonly outputs: ReadonlyArray<Approval>; readonly findings: ReadonlyArray<Finding> } => {
  const settled = new Map(asked.map((right) => settleRight(right, setting.standards)).map((one) => [keyOf(one), one]));
  const decided = [...settled.values()].flatMap((right) => {
    const approval = approvalOf(right, before, after);
    // what only the calldata says, of a contract that answers nothing like an allowance, is no approval
    return approval === null || (approval.evidence === "estimated" && before(queryOf(right)) !== undefined)
      ? []
      : [{ right, approval }];
  });
  return {
    outputs: decided.map(({ approval }) => approval),
    findings: decided.flatMap(({ right, approval }) => say(right, approval, setting)),
  };
};

/** Whether granting is all that the transaction asked for, and nothing comes behind it. */
const isPurpose = ({ owner, transaction }: Approval, { transactions }: Setting, spender: Address): boolean => {
  const call = transactions[transaction];
  if (call === undefined || call.to === null || transactions.length > 1) return false;
  const asked = rightsAsked({ from: call.from, to: call.to, data: call.data.toLowerCase() as typeof call.data }, 0);
  return asked.some((right) => right.owner === owner && right.spender === spender);
};

const spenderWarnings: Partial<Readonly<Record<Approval["spenderKind"], string>>> = {
  eoa: "an account without code",
  delegated: "a delegated account",
  created: "a contract that this bundle creates",
};

const say = (right: Right, approval: Approval, setting: Setting): ReadonlyArray<Finding> => {
  const { after, before, expiration, unlimited } = approval;
  const where = { step: "approvals", transaction: approval.transaction, evidence: approval.evidence } as const;
  const over = `${right.operator ? "all of " : ""}${approval.token}${approval.tokenId === null ? "" : ` id ${approval.tokenId}`} of ${approval.owner} to ${approval.spender}`;
  const expired =
    right.standard === "permit2" && expiration !== null && setting.now !== null && expiration < setting.now;
  if (after === null || after === 0n || expired || (before !== null && after <= before)) return [];
  const isOurs = setting.transactions.some(({ from }) => from === approval.spender);
  const exposed = isOurs ? undefined : spenderWarnings[approval.spenderKind];
  const granted = unlimited
    ? note(
        "ApprovalUnlimited",
        "warning",
        {
          verdict: "an unlimited approval is given",
          evidence: exposed === undefined ? over : `${over}, ${exposed}`,
          remedy: "approve only what is needed, or trust the spender with everything",
        },
        where,
      )
    : note(
        "ApprovalGranted",
        exposed === undefined ? "info" : "warning",
        {
          verdict: "an approval is given",
          evidence: `${over}, ${after} units${exposed === undefined ? "" : `, ${exposed}`}`,
          remedy: exposed === undefined ? "" : "contracts take approvals, people do not: check the spender",
        },
        where,
      );
  if (isPurpose(approval, setting, approval.spender)) return [granted];
  return [
    granted,
    note(
      "ApprovalLeftOver",
      "warning",
      {
        verdict: "an approval given on the way is left over at the end",
        evidence: `${over}, ${after} units`,
        remedy: "approve exactly what is spent, or take the rest back in the same bundle",
      },
      where,
    ),
  ];
};
