/** Balances and allowances of tokens that the caller pretends: where a token may keep them, and whether it tells them. Pure. */
import { wordOf } from "../../abi/words.js";
import { concat, keccak256 } from "../../primitives/bytes.js";
import { lower, type Address, type Hash, type Hex } from "../../primitives/hex.js";
import { address, text, units } from "../../primitives/statement.js";
import { code, type Finding } from "../../report/finding.js";
import type { ReportOptions } from "../../report/schema.js";
import { readUint256 } from "../../witness/answers.js";
import { allowance, balanceOf, type CallQuery } from "../../witness/queries.js";
import type { View } from "../../witness/view.js";

/** One amount that is pretended: a balance, or where there is a spender an allowance. */
export interface PretendedAmount {
  readonly token: Address;
  readonly owner: Address;
  readonly spender: Address | null;
  readonly amount: bigint;
}

/** The amounts that the options pretend, addresses in lower case. */
export const pretendedIn = ({
  tokenOverrides,
}: Pick<ReportOptions, "tokenOverrides">): ReadonlyArray<PretendedAmount> => {
  const { balances = [], allowances = [] } = tokenOverrides ?? {};
  return [...balances.map((row) => ({ ...row, spender: null })), ...allowances].map((row) => ({
    ...{ token: lower(row.token), owner: lower(row.owner), amount: row.amount },
    spender: row.spender === null ? null : lower(row.spender),
  }));
};

/** The getter that tells an amount. */
export const getterOf = ({ token, owner, spender }: PretendedAmount): CallQuery =>
  spender === null ? balanceOf(token, owner) : allowance(token, owner, spender);

/** The first slot of a struct at a namespace, by OpenZeppelin's ERC-7201 (`openzeppelin.storage.ERC20`) and Solidstate. */
const namespaces = [
  0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00n,
  BigInt(keccak256("0x736f6c696473746174652e636f6e7472616374732e73746f726167652e455243323042617365")),
];
/** Slots of mappings: the first ones, and the first two behind gaps of 50, and of namespaces. */
const mappings: ReadonlyArray<Hash> = [
  ...Array.from({ length: 128 }, (_, place) => BigInt(place)),
  ...[151n, 201n, 251n, 301n, 351n, ...namespaces].flatMap((first) => [first, first + 1n]),
].map(wordOf);

const hashOf = (...parts: ReadonlyArray<Hex>): Hash => keccak256(concat(...parts));
const keyOf = (account: Address): Hash => wordOf(BigInt(account));
/** Solady's slots: account, eight zero bytes, a seed, and of an allowance the spender. */
const soladySlot = (owner: Address, seed: Hex, ...spender: ReadonlyArray<Address>): Hash =>
  hashOf(owner, "0x0000000000000000", seed, ...spender);

/**
 * Slots in which a token may keep an amount. Solidity hashes key and slot, Vyper slot and key; an allowance is in a mapping
 * within one, by owner first or by spender.
 */
export const candidatesOf = ({ owner, spender }: PretendedAmount): ReadonlyArray<Hash> => {
  const key = keyOf(owner);
  if (spender === null)
    return [...mappings.flatMap((slot) => [hashOf(key, slot), hashOf(slot, key)]), soladySlot(owner, "0x87a211a2")];
  const pairs = [[key, keyOf(spender)] as const, [keyOf(spender), key] as const];
  return [
    ...mappings.flatMap((slot) =>
      pairs.flatMap(([outer, inner]) => [hashOf(inner, hashOf(outer, slot)), hashOf(hashOf(slot, outer), inner)]),
    ),
    soladySlot(owner, "0x7f5e9f20", spender),
  ];
};

/**
 * The caller pretends a balance or an allowance, and the token tells another amount: it keeps it where nobody found it,
 * works it out of something else, or packs it with other values.
 * @figures address("token", usdc), address("of", alice), units("pretended", 5_000_000n), units("told", 0n)
 */
export const TokenNotPretended = code("chain", ["unavailable"], "TokenNotPretended", [
  "a balance or an allowance of a token could not be pretended",
  "give the storage slot itself in `stateOverrides`, or leave the amount out",
]);

/** Reports the amounts that a token does not tell in front of the transactions. */
export const checkPretended = (options: Pick<ReportOptions, "tokenOverrides">, before: View): ReadonlyArray<Finding> =>
  pretendedIn(options).flatMap((row) => {
    const told = readUint256(before.call(getterOf(row)));
    if (told === row.amount) return [];
    return [
      TokenNotPretended.unavailable(
        { evidence: "measured" },
        ...[address("token", row.token), address("of", row.owner), address("spender", row.spender)],
        ...[units("pretended", row.amount), units("told", told), text("", told === null ? "nothing was read" : null)],
      ),
    ];
  });
