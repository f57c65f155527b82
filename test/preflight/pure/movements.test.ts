/** What one run moves and grants, as a report tells it and as two runs are compared by. */
import { describe, expect, it } from "vitest";
import { everyStep, measureOf, movementsOf, effectsOf } from "../../rooms/pipeline.js";
import type { Address } from "../../rooms/primitives.js";
import { holding as holdingOf, transfers, type Run } from "../../rooms/steps.js";
import { allowance, balanceOf, decimals, supportsInterface, symbol, type View } from "../../rooms/witness.js";
import {
  account,
  alice,
  answer,
  answered,
  bob,
  bundle,
  codes,
  environment,
  filled,
  hexOf,
  log,
  seeing,
  token,
  word,
} from "../../steps/parts.js";
import { topics } from "../../steps/reading/arbitrary.js";
import { did, named, nothing, plan } from "./world.js";

const moved = log(token, [topics.transfer, word(alice), word(bob)], [word(5n)]);
const granted = log(token, [topics.approval, word(alice), word(bob)], [word(9n)]);
const cases = bundle({}).map((one) => filled(one, did({ logs: [moved, granted], gasUsed: 100n })));
const limits = { holdings: 100, rights: 100, tokens: 100 };
const measure = measureOf(cases, transfers(cases), [], limits, everyStep);

const feeRecipient = environment().feeRecipient;
const held = (of: Address, amount: bigint) => [balanceOf(token, of), answered(amount)] as const;
const native = (address: Address, balance: bigint) =>
  [{ kind: "account", address } as const, account("0x", balance)] as const;
const words = [
  [decimals(token), answered(6n)],
  [symbol(token), answer(`0x${Buffer.from("GLD").toString("hex").padEnd(64, "0")}`)],
] as const;
const before = seeing(
  ...[[{ kind: "environment" }, environment({ baseFeePerGas: 2n })] as const, native(alice, 1_000n)],
  ...[held(alice, 50n), held(bob, 1n), [allowance(token, alice, bob), answered(0n)] as const, ...words],
);
const after = seeing(...[native(alice, 800n), native(bob, 0n), held(alice, 45n), held(bob, 6n)], [
  allowance(token, alice, bob),
  answered(9n),
]);
const runOf = (name: Run["name"], views: { before: View; after: View } = { before, after }): Run =>
  named(
    name,
    cases.map(({ outcome, transfers: moves }) => ({ outcome, transfers: moves })),
    views,
  );
const deltas = (run: Run | null) =>
  movementsOf(cases, run, measure, 1).balanceChanges.map(({ account: of, token: what, delta, evidence }) => [
    ...[of, what, delta, evidence],
  ]);

describe("a movement of a run", () => {
  it("is measured where the witness looked, without the gas that the run charged", () => {
    const told = movementsOf(cases, runOf("exact"), measure, 1);
    expect(told.transfers.map(({ standard, amount, evidence }) => [standard, amount, evidence])).toEqual([
      ["erc20", 5n, "logged"],
    ]);
    expect(deltas(runOf("exact"))).toEqual([
      [alice, token, -5n, "measured"],
      [bob, token, 5n, "measured"],
    ]);
    expect(told.tokens).toEqual([{ token, name: null, symbol: "GLD", decimals: 6 }]);
    expect(told.approvals).toMatchObject([
      { owner: alice, spender: bob, before: 0n, after: 9n, evidence: "measured", spenderKind: "eoa" },
    ]);
    expect(codes([...told.assets, ...told.rights])).toEqual(["ApprovalLeftOver/warning"]);
  });
  it("is the whole change of balance in a run that charges nothing", () => {
    for (const free of ["ample", "funded"] as const)
      expect(deltas(runOf(free))).toContainEqual([alice, null, -200n, "measured"]);
  });
  it("is assumed in a state that is partly pretended", () => {
    const pretended = { ...runOf("reserved"), plan: plan({ name: "reserved", pretended: true }) };
    expect(deltas(pretended)).toEqual([
      [alice, token, -5n, "assumed"],
      [bob, token, 5n, "assumed"],
    ]);
  });
  it("is what the events say, where no run answered", () => {
    const told = movementsOf(cases, null, measure, 1);
    expect(deltas(null)).toEqual([
      [alice, token, -5n, "logged"],
      [bob, token, 5n, "logged"],
    ]);
    expect(told.approvals).toMatchObject([{ before: null, after: 9n, evidence: "logged" }]);
    expect(told.tokens).toEqual([]);
  });
  it("stays logged beyond what was asked, and is shown all the same", () => {
    expect(movementsOf(cases, runOf("exact"), nothing, 1).balanceChanges.map(({ account: of }) => of)).toEqual([
      alice,
      bob,
    ]);
    const unseenBy = movementsOf(cases, runOf("exact", { before: seeing(), after: seeing() }), nothing, 1);
    expect(unseenBy.balanceChanges.map(({ evidence }) => evidence)).toEqual(["logged", "logged"]);
  });
  it("is decided by the token's answers on both sides of the run", () => {
    const nft = [supportsInterface(token, hexOf("0x80ac58cd")), answered(1n)] as const;
    for (const views of [
      { before: seeing(nft), after: seeing() },
      { before: seeing(), after: seeing(nft) },
    ])
      expect(movementsOf(cases, runOf("exact", views), measure, 1).transfers).toMatchObject([
        { standard: "erc721", tokenId: 5n, amount: 1n },
      ]);
  });
});

describe("a token that is created in the run", () => {
  const asked = [decimals(token), symbol(token), supportsInterface(token, hexOf("0xd9b67a26")), balanceOf(token, bob)];
  // without code there, a call succeeds and returns nothing
  const absent = seeing(...asked.map((query) => [query, answer("0x")] as const));
  const born = seeing(...words, held(alice, 0n), held(bob, 5n));
  const run = runOf("exact", { before: absent, after: born });
  it("has the symbol and the decimals of its end", () => {
    const told = movementsOf(cases, run, measure, 1);
    expect(told.tokens).toEqual([{ token, name: null, symbol: "GLD", decimals: 6 }]);
    expect(told.transfers).toMatchObject([{ standard: "erc20", token, amount: 5n, tokenId: null }]);
  });
  it("has the standard that it answers to at the end, in report and summary", () => {
    const nft = [supportsInterface(token, hexOf("0x80ac58cd")), answered(1n)] as const;
    const views = { before: absent, after: seeing(nft) };
    expect(movementsOf(cases, runOf("exact", views), measure, 1).transfers).toMatchObject([
      { standard: "erc721", tokenId: 5n, amount: 1n },
    ]);
    const told = effectsOf(cases, runOf("exact", views), measure);
    expect([...told.standards]).toEqual([[token, "erc721"]]);
    expect(effectsOf(cases, run, measure).standards.get(token)).toBe("erc20");
  });
  it("has no measured balance before: only its events are known", () =>
    expect(deltas(run)).toEqual([
      [alice, token, -5n, "logged"],
      [bob, token, 5n, "logged"],
    ]));
  it("is known by its answers before, when it is gone at the end", () => {
    const gone = movementsOf(cases, runOf("exact", { before, after: absent }), measure, 1);
    expect(gone.tokens).toEqual([{ token, name: null, symbol: "GLD", decimals: 6 }]);
  });
});

describe("the record of a run", () => {
  it("holds all measured balances, unchanged ones too, and no others", () => {
    const told = effectsOf(cases, runOf("exact"), {
      ...nothing,
      holdings: [holdingOf(alice, null), holdingOf(bob, token), holdingOf(feeRecipient, token)],
    });
    expect(told.balanceChanges.map(({ account: of, delta }) => [of, delta])).toEqual([
      // 200 wei for 100 gas at a base fee of 2: nothing but gas left
      [alice, 0n],
      [bob, 5n],
    ]);
    expect(told.outcomes).toEqual(cases.map(({ outcome }) => outcome));
    expect(told.approvals).toEqual([]);
  });
  it("is the same of the same run", () =>
    expect(effectsOf(cases, runOf("exact"), measure)).toEqual(effectsOf(cases, runOf("exact"), measure)));
});
