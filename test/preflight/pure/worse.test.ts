/** What a report shows of two worlds: the least that comes in, the most that leaves. */
import { expect, it } from "vitest";
import type { BalanceChange, Transfer } from "../../rooms/report.js";
import { worseOf } from "../../rooms/pipeline.js";
import { alice, bob, native, token } from "../../steps/parts.js";

const moved = (amount: bigint, from = bob, to = alice): Transfer => ({
  ...{ ...native(0, from, to, amount), standard: "erc20", token },
});
const changed = (delta: bigint, changes: Partial<BalanceChange> = {}): BalanceChange => ({
  ...{ account: alice, token, tokenId: null, before: 0n, after: delta, delta, evidence: "measured" },
  ...changes,
});
const whose = new Set<string>([alice]);
const world = (transfers: ReadonlyArray<Transfer>, balanceChanges: ReadonlyArray<BalanceChange>) => ({
  transfers,
  balanceChanges,
});
const shown = (here: ReturnType<typeof world>, there: ReturnType<typeof world>) => {
  const { transfers, balanceChanges } = worseOf(here, there, whose);
  return [transfers.map(({ amount }) => amount), balanceChanges.map(({ delta, after }) => [delta, after])];
};

it("the worse of two movements is the least that comes in and the most that leaves", () => {
  const [young, old] = [world([moved(10n)], [changed(10n)]), world([moved(80n)], [changed(80n)])];
  expect(shown(old, young)).toEqual([[10n], [[10n, 10n]]]);
  expect(shown(young, old)).toEqual([[10n], [[10n, 10n]]]);
  const [cheap, dear] = [5n, 7n].map((paid) => world([moved(paid, alice, bob)], [changed(-paid)])) as [
    ReturnType<typeof world>,
    ReturnType<typeof world>,
  ];
  expect(shown(cheap, dear)).toEqual([[7n], [[-7n, -7n]]]);
  expect(shown(dear, cheap)).toEqual([[7n], [[-7n, -7n]]]);
});

it("the worse of two leaves strangers, unmeasured and differently shaped movements as they are", () => {
  const of = (amount: bigint) => world([moved(amount, bob, bob)], [changed(amount, { account: bob })]);
  expect(shown(of(9n), of(1n))).toEqual([[9n], [[9n, 9n]]]);
  const logged = world([], [changed(1n, { evidence: "logged" })]);
  expect(shown(world([moved(9n)], [changed(9n)]), logged)).toEqual([[9n], [[9n, 9n]]]);
  expect(shown(world([moved(9n)], [changed(9n)]), world([], [changed(0n)]))).toEqual([[9n], [[9n, 9n]]]);
});
