/**
 * Token balances and allowances below what a call tried to move: read from the revert, or measured for a
 * plain `transfer` or `transferFrom` (ERC-20) that failed or returned false. Lives on the witness; pure.
 */
import type { RevertCustom, RevertLayer } from "../../abi/revert.js";
import { moves } from "../../abi/known/movements.js";
import { addressOf, argumentsAt, placeOf, wordAt, addressAt } from "../../abi/words.js";
import type { Address } from "../../primitives/hex.js";
import { address, quote, text, units, count } from "../../primitives/statement.js";
import { note, type Finding } from "../../report/finding.js";
import type { Outcome, Transfer } from "../../report/parts.js";
import type { Transaction } from "../../transaction/fields.js";
import { readUint256 } from "../../witness/answers.js";
import { allowance, balanceOf } from "../../witness/queries.js";
import type { View } from "../../witness/view.js";
import type { Case, Ran } from "./bundle.js";
import { safely } from "../../primitives/record.js";
import type { Call } from "../../abi/batches.js";

interface Move {
  readonly token: Address;
  readonly owner: Address;
  /** Who moves them, where it is not the owner. */
  readonly spender: Address | null;
  /** Raw units. */
  readonly amount: bigint;
}

/** The movement that a plain token call asks for; null where the call is another. */
const moveOf = ({ from, to, data }: Transaction): Move | null => {
  const { from: of, amount: at } = moves[data.slice(0, argumentsAt).toLowerCase()] ?? { to: 0 };
  if (to === null || at === undefined || data.length !== placeOf(at + 1)) return null;
  const [word, amount] = [of === undefined ? 0n : wordAt(data, placeOf(of)), wordAt(data, placeOf(at))];
  if (word === null || amount === null || word >> 160n !== 0n) return null;
  const owner = of === undefined ? from : addressOf(word);
  return { token: to, owner, spender: owner === from ? null : from, amount };
};

const queriesOf = ({ token, owner, spender }: Move) => ({
  balance: balanceOf(token, owner),
  allowance: spender === null ? null : allowance(token, owner, spender),
});

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
  const args = safely(() => layer.args, []);
  const [account, has, needs] = args;
  return typeof account === "string" && typeof has === "bigint" && typeof needs === "bigint"
    ? { what, account, has, needs }
    : null;
};

const patterns: ReadonlyArray<readonly [Shortfall["what"], RegExp]> = [
  [
    "allowance",
    /(insufficient|exceeds|low)[ -_a-z]{0,24}(allowance|approval)|allowance[ -_a-z]{0,12}(exceeded|too low)/i,
  ],
  ["balance", /(insufficient|exceeds|low|not enough)[ -_a-z]{0,24}balance|balance[ -_a-z]{0,12}too low/i],
];

const inWords = (layer: RevertLayer): Shortfall["what"] | null =>
  layer._tag === "Reason"
    ? (patterns.find(([, pattern]) => pattern.test(layer.reason.slice(0, 256)))?.[0] ?? null)
    : null;

const falsehood = `0x${"0".repeat(64)}`;
const hasFailed = ({ status, returnData }: Outcome): boolean =>
  status === "reverted" || status === "halted" || (status === "success" && returnData === falsehood);

const measured = (move: Move, before: View): ReadonlyArray<Shortfall> => {
  const reads = queriesOf(move);
  const balance = readUint256(before.call(reads.balance));
  const allowed = reads.allowance === null ? null : readUint256(before.call(reads.allowance));
  // why: a token without allowances is an NFT, and the last argument its id
  if (reads.allowance !== null && allowed === null) return [];
  return [
    ...(balance !== null && balance < move.amount
      ? [{ what: "balance", account: move.owner, has: balance, needs: move.amount } as const]
      : []),
    ...(allowed !== null && allowed < move.amount
      ? [{ what: "allowance", account: move.spender ?? move.owner, has: allowed, needs: move.amount } as const]
      : []),
  ];
};

/** `TokenShortfall` where the revert or the measurement shows one. */
export const check = (
  { index, input, outcome }: Case & Pick<Ran, "outcome">,
  { before }: { readonly before: View },
): ReadonlyArray<Finding> => {
  if (!hasFailed(outcome)) return [];
  const layers = (outcome.revert?.layers ?? []).map(({ layer }) => layer);
  const named = layers.flatMap((layer) => {
    const found = layer._tag === "Custom" ? fromCustom(layer) : null;
    return found !== null && found.has < found.needs ? [found] : [];
  });
  const move = moveOf(input);
  // why: the witness read the state before the whole bundle, which is that of its first transaction only
  const found = named.length > 0 ? named : move === null || index > 0 ? [] : measured(move, before);
  if (found.length > 0)
    return found.map(({ what, account, has, needs }) =>
      note(
        "TokenShortfall",
        "warning",
        { transaction: index, evidence: named.length > 0 ? outcome.evidence : "measured" },
        text("too low", what),
        // why: what a contract in between passes on does not say whose it is
        ...(move === null ? [] : [address("token", move.token)]),
        address(what === "balance" ? "account" : "spender", account),
        units("has", has),
        units("needs", needs),
        units("short by", needs - has),
      ),
    );
  const what = layers.map(inWords).find((word) => word !== null) ?? null;
  const reason = layers.find((layer) => layer._tag === "Reason");
  if (what === null || reason === undefined) return [];
  const where = { transaction: index, evidence: "estimated" } as const;
  return [note("TokenShortfall", "warning", where, text("too low", what), quote("the contract says", reason.reason))];
};

const isToItself = ({ to, data }: Call): boolean => {
  const row = moves[data.slice(0, argumentsAt)];
  return row !== undefined && addressAt(data, placeOf(row.to)) === to;
};

/** What the calldata sends to the token itself and the token still has at the end: a pair that is paid to burn has not. */
export const checkStranded = (bundle: ReadonlyArray<Ran>, transfers: ReadonlyArray<Transfer>): ReadonlyArray<Finding> =>
  transfers
    .filter(({ token, from, to }) => token !== null && to === token && from !== token)
    .filter((transfer, index, all) => all.findIndex(({ token }) => token === transfer.token) === index)
    .flatMap(({ token, tokenId, transaction, evidence }) => {
      const net = transfers
        .filter((other) => other.token === token && (other.to === token || other.from === token))
        .reduce((sum, { to, amount }) => (to === token ? sum + amount : sum - amount), 0n);
      const entry = bundle[transaction];
      if (net <= 0n || token === null || entry === undefined || entry.input.to === null) return [];
      return entry.calls.read.some((call) => call.to === token && isToItself(call))
        ? [
            note(
              "TokensStranded",
              "warning",
              { transaction, evidence },
              ...[address("token", token), count("id", tokenId), units("amount", net)],
            ),
          ]
        : [];
    });
