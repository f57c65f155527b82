/**
 * Token balances and allowances below what a call tried to move: read from the revert, or measured for a
 * plain `transfer` or `transferFrom` (ERC-20) that failed or returned false. Lives on the witness; pure.
 */
import * as Result from "effect/Result";
import { note, type Finding } from "../../report/finding.js";
import type { Address } from "../../primitives/hex.js";
import type { RevertCustom, RevertLayer } from "../../abi/revert.js";
import { escapeText, shortAddress } from "../../primitives/text.js";
import type { Transaction } from "../../Transaction.js";
import { readUint256, type Answer } from "../../witness/answers.js";
import { allowance, balanceOf, type Query } from "../../witness/queries.js";
import type { Outcome } from "../../report/parts.js";

interface Move {
  readonly token: Address;
  readonly owner: Address;
  /** Who moves them, where it is not the owner. */
  readonly spender: Address | null;
  /** Raw units. */
  readonly amount: bigint;
}

const wordAt = (data: string, index: number): string => data.slice(10 + index * 64, 74 + index * 64);
const addressAt = (data: string, index: number): Address | null => {
  const word = wordAt(data, index);
  return word.length === 64 && word.startsWith("0".repeat(24)) ? `0x${word.slice(24).toLowerCase()}` : null;
};

/** The movement that a plain token call asks for; null where the call is another. */
const moveOf = ({ from, to, data }: Transaction): Move | null => {
  const selector = data.slice(0, 10).toLowerCase();
  if (to === null || (selector !== "0xa9059cbb" && selector !== "0x23b872dd")) return null;
  const words = selector === "0xa9059cbb" ? 2 : 3;
  if (data.length !== 10 + words * 64) return null;
  const owner = words === 2 ? from : addressAt(data, 0);
  const amount = BigInt(`0x${wordAt(data, words - 1)}`);
  return owner === null ? null : { token: to, owner, spender: words === 2 || owner === from ? null : from, amount };
};

const queriesOf = ({ token, owner, spender }: Move) => ({
  balance: balanceOf(token, owner),
  allowance: spender === null ? null : allowance(token, owner, spender),
});

/** What the witness reads before the first of these transactions. */
export const queries = ([first]: ReadonlyArray<Transaction>): ReadonlyArray<Query> => {
  const move = first === undefined ? null : moveOf(first);
  if (move === null) return [];
  const { balance, allowance: allowed } = queriesOf(move);
  return allowed === null ? [balance] : [balance, allowed];
};

interface Shortfall {
  readonly what: "balance" | "allowance";
  readonly account: string;
  readonly has: bigint;
  readonly needs: bigint;
}

/** OpenZeppelin's ERC-6093 errors: (account, has, needed). */
const customErrors: Readonly<Record<string, Shortfall["what"]>> = {
  ERC20InsufficientBalance: "balance",
  ERC20InsufficientAllowance: "allowance",
  ERC1155InsufficientBalance: "balance",
};

const fromCustom = (layer: RevertCustom): Shortfall | null => {
  const what = customErrors[layer.name];
  if (what === undefined) return null;
  const args = Result.getOrElse(
    Result.try(() => layer.args),
    (): ReadonlyArray<unknown> => [],
  );
  const [account, has, needs] = args;
  return typeof account === "string" && typeof has === "bigint" && typeof needs === "bigint"
    ? { what, account, has, needs }
    : null;
};

const said: ReadonlyArray<readonly [Shortfall["what"], RegExp]> = [
  [
    "allowance",
    /(insufficient|exceeds|low)[ -_a-z]{0,24}(allowance|approval)|allowance[ -_a-z]{0,12}(exceeded|too low)/i,
  ],
  ["balance", /(insufficient|exceeds|low|not enough)[ -_a-z]{0,24}balance|balance[ -_a-z]{0,12}too low/i],
];

const inWords = (layer: RevertLayer): Shortfall["what"] | null =>
  layer._tag === "Reason" ? (said.find(([, pattern]) => pattern.test(layer.reason.slice(0, 256)))?.[0] ?? null) : null;

const falsehood = `0x${"0".repeat(64)}`;
const hasFailed = ({ status, returnData }: Outcome): boolean =>
  status === "reverted" || status === "halted" || (status === "success" && returnData === falsehood);

const measured = (move: Move, lookup: (query: Query) => Answer | undefined): ReadonlyArray<Shortfall> => {
  const asked = queriesOf(move);
  const balance = readUint256(lookup(asked.balance));
  const allowed = asked.allowance === null ? null : readUint256(lookup(asked.allowance));
  // why: a token without allowances is an NFT, and the last argument its id
  if (asked.allowance !== null && allowed === null) return [];
  return [
    ...(balance !== null && balance < move.amount
      ? [{ what: "balance", account: move.owner, has: balance, needs: move.amount } as const]
      : []),
    ...(allowed !== null && allowed < move.amount
      ? [{ what: "allowance", account: move.spender ?? move.owner, has: allowed, needs: move.amount } as const]
      : []),
  ];
};

const sentenceOf = ({ what, account, has, needs }: Shortfall) => ({
  verdict:
    what === "balance"
      ? "the token balance is below what the call tried to move"
      : "the token allowance is below what the call tried to move",
  evidence: `${what === "balance" ? "account" : "spender"} ${shortAddress(account)}, has ${has}, needs ${needs}, short by ${needs - has} (raw units)`,
  remedy: what === "balance" ? "lower the amount, or obtain the tokens first" : "approve the amount first",
});

/** `TokenShortfall` where the revert or the measurement shows one. */
export const decide = (
  transaction: Transaction,
  index: number,
  outcome: Outcome,
  lookup: (query: Query) => Answer | undefined,
): ReadonlyArray<Finding> => {
  if (!hasFailed(outcome)) return [];
  const where = { step: "funds", transaction: index } as const;
  const layers = (outcome.revert?.layers ?? []).map(({ layer }) => layer);
  const named = layers.flatMap((layer) => {
    const found = layer._tag === "Custom" ? fromCustom(layer) : null;
    return found !== null && found.has < found.needs ? [found] : [];
  });
  const move = moveOf(transaction);
  // why: the witness read the state before the whole bundle, which is that of its first transaction only
  const found = named.length > 0 ? named : move === null || index > 0 ? [] : measured(move, lookup);
  if (found.length > 0)
    return found.map((shortfall) => note("TokenShortfall", "warning", sentenceOf(shortfall), where));
  const what = layers.map(inWords).find((word) => word !== null);
  const reason = layers.find((layer) => layer._tag === "Reason");
  return what === undefined || what === null || reason === undefined
    ? []
    : [
        note(
          "TokenShortfall",
          "warning",
          {
            verdict: `the contract says that a token ${what} is too low`,
            evidence: `"${escapeText(reason.reason, 120)}"`,
            remedy: what === "balance" ? "lower the amount, or obtain the tokens first" : "approve the amount first",
          },
          { ...where, evidence: "estimated" },
        ),
      ];
};
