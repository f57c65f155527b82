/** Accounts that get something by a bundle, as one list. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Hash } from "../rooms/primitives.js";
import { payeesOf, type BalanceChange, type Report } from "../rooms/report.js";
import { alice, bob, granted, moved, pool, usdc } from "./fixtures.js";

const zero = `0x${"00".repeat(20)}` as const;
const none = { transfers: [], balanceChanges: [], approvals: [], stateChanges: [], transactions: [] };
const wordOf = (digits: string): Hash => Hash.make(`0x${digits.padStart(64, "0")}`);
const gained = (changed: Partial<BalanceChange>): BalanceChange => ({
  ...{ account: bob, token: usdc, tokenId: null, before: 0n, after: 9n, delta: 9n, evidence: "measured" },
  ...changed,
});
const slot = (holds: Report["stateChanges"][number]["holds"], after: string | null) =>
  ({
    account: pool,
    slot: null,
    holds,
    before: null,
    after: after === null ? null : wordOf(after),
    transaction: 0,
    seen: "lens",
  }) as const;
const receipts = (part: Partial<Parameters<typeof payeesOf>[0]>) =>
  payeesOf({ ...none, ...part }).flatMap(({ address, receives }) =>
    receives.map(({ token, tokenId, amount }) => [address, token, tokenId, amount]),
  );
const rights = (part: Partial<Parameters<typeof payeesOf>[0]>) =>
  payeesOf({ ...none, ...part }).flatMap(({ address, rights: had }) =>
    had.map(({ kind, account, token, amount }) => [address, kind, account, token, amount]),
  );

describe("Report.payees", () => {
  it("is empty where nothing moves and nobody gets a right", () => {
    expect(payeesOf(none)).toEqual([]);
    expect(receipts({ transfers: [moved({ amount: 0n }), moved({ to: alice }), moved({ to: zero })] })).toEqual([]);
    expect(receipts({ balanceChanges: [gained({ delta: -1n }), gained({ delta: 0n })] })).toEqual([]);
    expect(rights({ approvals: [granted({ after: 0n }), granted({ spender: zero })] })).toEqual([]);
    expect(
      rights({ stateChanges: [slot("owner", null), slot("owner", "0"), slot("threshold", "2"), slot(null, "ff")] }),
    ).toEqual([]);
  });

  it("gives the sum of transfers, by token and id, and what balances gain beyond it", () => {
    const transfers = [
      moved({ amount: 2n }),
      moved({ amount: 3n }),
      moved({ amount: 4n, token: null, standard: "native" }),
      moved({ amount: 1n, tokenId: 7n, standard: "erc721" }),
      moved({ amount: 5n, to: alice, from: pool }),
    ];
    // why: of what transfers tell and what a balance gains the larger counts
    const balanceChanges = [gained({ account: pool, delta: 99n }), gained({}), gained({ account: alice, token: null })];
    expect(receipts({ transfers, balanceChanges })).toEqual([
      [bob, usdc, null, 9n],
      [pool, usdc, 7n, 1n],
      [pool, usdc, null, 99n],
      [pool, null, null, 4n],
      [alice, usdc, null, 5n],
      [alice, null, null, 9n],
    ]);
  });

  it("includes standing approvals, delegations, and control by a storage slot, and no longer word as account", () => {
    const authorization = { address: bob, chainId: 1, nonce: 0, r: wordOf("1"), s: wordOf("1"), yParity: 0 };
    const part = {
      approvals: [
        granted({ after: 5n }),
        granted({ after: 5n }),
        granted({ after: null, standard: "erc721", tokenId: 3n }),
      ],
      transactions: [{ input: { authorizationList: [authorization] } }, { input: { authorizationList: null } }],
      stateChanges: [slot("owner", alice.slice(2)), slot("key", `1${alice.slice(2)}`), slot("delegate", bob.slice(2))],
    };
    expect(rights(part as never)).toEqual([
      [bob, "delegation", null, null, null],
      [pool, "erc20", alice, usdc, 5n],
      [pool, "erc721", alice, usdc, null],
      [alice, "control", pool, null, null],
    ]);
  });

  it("is the same for any order of rows", () => {
    const party = fc.constantFrom(alice, bob, pool, usdc, zero);
    const transfer = fc.record({ to: party, from: party, amount: fc.bigInt(0n, 9n) }).map(moved);
    const approval = fc.record({ spender: party, owner: party, after: fc.bigInt(0n, 3n) }).map(granted);
    const part = fc.record({ transfers: fc.array(transfer), approvals: fc.array(approval) });
    fc.assert(
      fc.property(part, ({ transfers, approvals }) => {
        const payees = payeesOf({ ...none, transfers, approvals });
        const other = payeesOf({ ...none, transfers: transfers.toReversed(), approvals: approvals.toReversed() });
        expect(other).toEqual(payees);
        const total = transfers
          .filter(({ from, to }) => from !== to && to !== zero)
          .reduce((sum, { amount }) => sum + amount, 0n);
        expect(payees.flatMap(({ receives }) => receives).reduce((sum, { amount }) => sum + amount, 0n)).toBe(total);
      }),
    );
  });
});
