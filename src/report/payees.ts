/** Accounts that get something by a bundle, as one list for screening. Pure. */
import * as Arr from "effect/Array";
import * as BigInts from "effect/BigInt";
import * as Schema from "effect/Schema";
import { rightStandards } from "../abi/known/rights.js";
import { addressOf, nobody } from "../abi/words.js";
import { Address, amount, Uint } from "../primitives/hex.js";
import type { Transaction } from "../transaction/fields.js";
import type { StateChange } from "./beside.js";
import type { Approval, BalanceChange, Transfer } from "./parts.js";

const address = Schema.NullOr(Address);

/** An account that gets value, tokens or a right by the bundle. */
export const Payee = Schema.Struct({
  /** The account. */
  address: Address,
  /**
   * A sum of what arrives for each token and id, raw units or wei, whatever goes away again. `token`: null = the chain's own
   * currency. `tokenId`: of an ERC-721, ERC-1155 or ERC-6909 token; null of others.
   */
  receives: Schema.Array(Schema.Struct({ token: address, tokenId: amount, amount: Uint })),
  /**
   * Rights after the bundle, of those that it touches. `kind`: the standard of an approval; `delegation`: its code runs in
   * the place of an account (EIP-7702); `control`: a storage slot says that it controls `account`. `account`: whose assets
   * or control it is; null = the signer of a delegation. `token`, `tokenId` and `amount` are an approval's: its contract,
   * the one id, and raw units, 1 for all-or-nothing; null = not known.
   */
  rights: Schema.Array(
    Schema.Struct({
      kind: Schema.Literals([...rightStandards, "delegation", "control"]),
      ...{ account: address, token: address, tokenId: amount, amount },
    }),
  ),
});
export type Payee = typeof Payee.Type;

/** The parts of a report that tell who gets something. */
interface Source {
  readonly transactions: ReadonlyArray<{ readonly input: Pick<Transaction, "authorizationList"> }>;
  readonly transfers: ReadonlyArray<Transfer>;
  readonly balanceChanges: ReadonlyArray<BalanceChange>;
  readonly approvals: ReadonlyArray<Approval>;
  readonly stateChanges: ReadonlyArray<StateChange>;
}

type Row<Part extends "receives" | "rights"> = readonly [account: Address, row: Payee[Part][number]];

const keyOf = (row: object): string => Object.values(row).map(String).join("/");

/** The sums that transfers bring, or the gain of the balance where that is larger. */
const receiptsIn = ({ transfers, balanceChanges }: Source): ReadonlyArray<Row<"receives">> => {
  const sums = new Map<string, Row<"receives">>();
  const add = (to: Address, { token, tokenId }: Pick<Transfer, "token" | "tokenId">, gain: bigint, isNew = false) => {
    const key = keyOf({ to, token, tokenId });
    const before = sums.get(key)?.[1].amount ?? 0n;
    const amount = isNew ? BigInts.max(before, gain) : before + gain;
    if (gain > 0n) sums.set(key, [to, { token, tokenId, amount }]);
  };
  for (const transfer of transfers) if (transfer.to !== transfer.from) add(transfer.to, transfer, transfer.amount);
  for (const change of balanceChanges) add(change.account, change, change.delta, true);
  return [...sums.values()];
};

/** The rights that stand after the bundle. */
const rightsIn = ({ transactions, approvals, stateChanges }: Source): ReadonlyArray<Row<"rights">> => {
  const none = { account: null, token: null, tokenId: null, amount: null };
  const delegates = transactions.flatMap(({ input }) => input.authorizationList ?? []);
  const kept = approvals.filter(({ after }) => after !== 0n);
  return [
    ...kept.map(({ spender, standard: kind, owner: account, token, tokenId, after }): Row<"rights"> => {
      return [spender, { kind, account, token, tokenId, amount: after }];
    }),
    ...delegates.map(({ address: to }): Row<"rights"> => [to, { kind: "delegation", ...none }]),
    ...stateChanges.flatMap(({ account, holds, after }): ReadonlyArray<Row<"rights">> => {
      const word = holds === null || holds === "threshold" || holds === "delegate" ? 0n : BigInt(after ?? 0n);
      // why: a longer word is a key, and no account
      return word >> 160n === 0n ? [[addressOf(word), { kind: "control", ...none, account }]] : [];
    }),
  ];
};

/** The rows of each account, each once and in one order, however they came. */
const byAccount = <Part extends "receives" | "rights">(rows: ReadonlyArray<Row<Part>>) =>
  Arr.groupBy(
    [...new Map(rows.map((row) => [keyOf(row[1]) + row[0], row]))].sort(([a], [b]) => (a < b ? -1 : 1)),
    ([, [account]]) => account,
  );

/** Accounts that get value, tokens or rights, by their addresses; the zero address, where tokens are burned, is none. */
export const payeesOf = (report: Source): ReadonlyArray<Payee> => {
  const [receives, rights] = [byAccount(receiptsIn(report)), byAccount(rightsIn(report))];
  const accounts = Object.keys({ ...receives, ...rights }).filter((account): account is Address => account !== nobody);
  return accounts.sort().map((account) => ({
    address: account,
    receives: (receives[account] ?? []).map(([, [, row]]) => row),
    rights: (rights[account] ?? []).map(([, [, row]]) => row),
  }));
};
