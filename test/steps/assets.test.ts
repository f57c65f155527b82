/** What moves: told by logs, measured by balances, and both shown where they disagree. */
import { describe, expect, it } from "vitest";
import type { Address } from "../rooms/primitives.js";
import type { Transfer } from "../rooms/report.js";
import { Assets, holding, type Holding } from "../rooms/steps.js";
import { balanceOf, balanceOf1155, ownerOf, unseen, type View } from "../rooms/witness.js";
import {
  account,
  alice,
  answered,
  bob,
  bundle,
  codes,
  environment,
  fee,
  filled,
  native,
  outcome,
  seeing,
  token,
} from "./parts.js";

const moved = (amount: bigint, changed: Partial<Transfer> = {}): Transfer => ({
  ...{ ...native(0, alice, bob, amount), standard: "erc20", token },
  ...changed,
});
const nft = (tokenId: bigint) => moved(1n, { standard: "erc721", tokenId });
const read = (
  holdings: ReadonlyArray<Holding>,
  transfers: ReadonlyArray<Transfer>,
  { before = unseen, after = unseen, ...known }: Partial<Assets.MovementFacts> = {},
) => {
  const sights = {
    before,
    after,
    transfers,
    standards: new Map(),
    paid: new Map(),
    operator: new Map(),
    deposits: new Set<Address>(),
    signers: new Set([alice]),
    isContradicted: () => false,
    evidence: "measured",
  } as const;
  const { changes, findings } = Assets.read(holdings, { ...sights, ...known });
  return {
    changes: changes.map(({ delta, evidence }) => [delta, evidence]),
    findings,
    codes: codes(findings),
    measured: Assets.measure(holdings, { ...sights, ...known }).map(({ delta }) => delta),
  };
};
const balances = (of: Address, amount: bigint): View => seeing([balanceOf(token, of), answered(amount)]);

describe("a measured balance", () => {
  it("has no finding where it agrees with the events", () => {
    const { changes, codes: found } = read([holding(alice, token)], [moved(5n)], {
      ...{ before: balances(alice, 9n), after: balances(alice, 4n) },
    });
    expect([changes, found]).toEqual([[[-5n, "measured"]], []]);
  });
  it("counts where it disagrees with the events, and both numbers are shown", () => {
    const { changes, findings } = read([holding(bob, token)], [moved(5n)], {
      ...{ before: balances(bob, 0n), after: balances(bob, 4n) },
    });
    expect(changes).toEqual([[4n, "measured"]]);
    expect(findings[0]).toMatchObject({ code: "TransferMismatch", severity: "warning", evidence: "measured" });
    expect(findings[0]?.numbers).toEqual(
      expect.arrayContaining([
        { name: "events say", unit: "units", value: 5n },
        { name: "measured", unit: "units", value: 4n },
      ]),
    );
  });
  it("shows a change in silence, and an unchanged one is measured but not shown", () => {
    const silent = read([holding(alice, token)], [], { before: balances(alice, 9n), after: balances(alice, 1n) });
    expect([silent.changes, silent.codes]).toEqual([[[-8n, "measured"]], ["TransferMismatch/warning"]]);
    const still = read([holding(alice, token)], [], { before: balances(alice, 9n), after: balances(alice, 9n) });
    expect([still.changes, still.codes, still.measured]).toEqual([[], [], [0n]]);
  });
  it("is shown on request though it did not change, where it could be read", () => {
    const wanted = [{ ...holding(alice, token), wanted: true }];
    const views = { before: balances(alice, 9n), after: balances(alice, 9n) };
    expect(read(wanted, [], views).changes).toEqual([[0n, "measured"]]);
    expect(read(wanted, []).changes).toEqual([]);
  });
  it("is replaced by the events where it was not read on both sides", () => {
    const { changes, measured } = read([holding(alice, token)], [moved(5n)], { before: balances(alice, 9n) });
    expect([changes, measured]).toEqual([[[-5n, "logged"]], []]);
  });
  it("in native currency does not include the gas of the simulation", () => {
    const view = (balance: bigint) => seeing([{ kind: "account", address: alice }, account("0x", balance)]);
    const paid: Assets.MovementFacts["paid"] = new Map([[alice, 90n]]);
    const told = read([holding(alice, null)], [native(0, alice, bob, 10n)], {
      ...{ before: view(200n), after: view(100n), paid },
    });
    expect([told.changes, told.codes]).toEqual([[[-10n, "measured"]], []]);
  });
});

describe("a deposit at the EntryPoint", () => {
  const deposits = new Set([token]);
  const looked = (by: Address, [deposit, left]: readonly [bigint, bigint], [had, has]: readonly [bigint, bigint]) => {
    const view = (amount: bigint, balance: bigint): View =>
      seeing([balanceOf(token, by), answered(amount)], [{ kind: "account", address: by }, account("0x", balance)]);
    const sights = { before: view(deposit, had), after: view(left, has), deposits };
    return read([holding(by, null), holding(by, token)], had === has ? [] : [native(0, token, by, has - had)], sights);
  };
  it("is no token, whatever happens to it", () => {
    for (const [by, levels, balance] of [
      [alice, [5n, 9n], [7n, 7n]],
      [alice, [9n, 5n], [7n, 11n]],
      [bob, [9n, 5n], [7n, 7n]],
    ] as const)
      expect(looked(by, levels, balance).codes).toEqual([]);
  });
  it("of a signer that shrinks for nothing is shown, with a doubt", () => {
    for (const balance of [
      [7n, 7n],
      [7n, 10n],
    ] as const) {
      const { changes, codes: found } = looked(alice, [9n, 5n], balance);
      expect([changes.at(-1), found]).toEqual([[-4n, "measured"], ["TransferMismatch/warning"]]);
    }
  });
});

describe("tokens with ids", () => {
  const owned = (one: Address) => ({ ...holding(one, token, 7n), owned: true });
  const owns = (owner: Address | null): View =>
    seeing([ownerOf(token, 7n), owner === null ? answered(2n ** 200n) : answered(owner)]);
  it("are owned or not, one by one; a new id had no owner", () => {
    const both = read([owned(alice), owned(bob)], [nft(7n)], { before: owns(alice), after: owns(bob) });
    expect([both.changes, both.codes]).toEqual([
      [
        [-1n, "measured"],
        [1n, "measured"],
      ],
      [],
    ]);
    expect(read([owned(bob)], [nft(7n)], { before: owns(null), after: owns(bob) }).changes).toEqual([[1n, "measured"]]);
  });
  it("are not measured where no owner could be read on either side", () =>
    expect(read([owned(bob)], [nft(7n)], { before: owns(null), after: owns(null) }).changes).toEqual([[1n, "logged"]]));
  it("are not measured where they were read on one side alone", () =>
    expect(read([owned(bob)], [nft(7n)], { before: owns(alice), after: unseen }).changes).toEqual([[1n, "logged"]]));
  it("are shown by id; the collection only where the ids do not explain it", () => {
    const collection = [holding(bob, token)];
    const explained = read(collection, [nft(7n)], { before: balances(bob, 0n), after: balances(bob, 1n) });
    expect(explained.changes).toEqual([]);
    const odd = read(collection, [nft(7n)], { before: balances(bob, 0n), after: balances(bob, 3n) });
    expect([odd.changes, odd.codes]).toEqual([[[3n, "measured"]], ["TransferMismatch/warning"]]);
  });
  it("of ERC-1155 have a balance per id, and none of the whole", () => {
    const transfer = moved(6n, { standard: "erc1155", tokenId: 3n });
    const view = (amount: bigint) => seeing([balanceOf1155(token, bob, 3n), answered(amount)]);
    const told = read([holding(bob, token, 3n)], [transfer], { before: view(1n), after: view(7n) });
    expect([told.changes, told.codes]).toEqual([[[6n, "measured"]], []]);
  });
  it("are dropped where the token turns out to be none of them", () =>
    expect(
      read([owned(bob)], [], { before: owns(alice), after: owns(bob), standards: new Map([[token, "erc20"]]) }).changes,
    ).toEqual([]));
});

it("disagreements are listed one by one up to a number, with that of the native currency beside them", () => {
  const many = Array.from({ length: 50 }, (_, index) => holding(alice, token, BigInt(index)));
  const view = (amount: bigint): View => ({
    ...unseen,
    call: () => answered(amount),
    account: () => account("0x", amount),
  });
  const told = (holdings: ReadonlyArray<Holding>) => read(holdings, [], { before: view(1n), after: view(2n) }).codes;
  const warned = Array.from({ length: 32 }, () => "TransferMismatch/warning");
  expect(told(many)).toEqual(warned);
  expect(told([...many, holding(alice, null)])).toEqual([...warned, "TransferMismatch/info"]);
  const ofItself = Array.from({ length: 50 }, (_, at) => holding(`0x${String(at + 1).padStart(40, "a")}`, null));
  expect(told([...ofItself, ...many]).filter((code) => code === "TransferMismatch/warning")).toEqual(warned);
});

describe("the gas cost that a run charged", () => {
  const [one, two] = bundle({}, { from: bob });
  const cases = [
    filled(one, {
      outcome: outcome({ gasUsed: 100n }),
      fee: fee(50n, { value: { gasPrice: null, maxFeePerGas: 50n, maxPriorityFeePerGas: 3n } }),
    }),
    filled(two ?? one, {
      outcome: outcome({ gasUsed: 10n }),
      fee: fee(null, { value: { gasPrice: 9n, maxFeePerGas: null, maxPriorityFeePerGas: null } }),
    }),
  ];
  it("was paid by each signer at its effective price, and its tips earned by the fee recipient", () => {
    const before = seeing([{ kind: "environment" }, environment()]);
    expect([...Assets.gasPaid(cases, 7n, { before })]).toEqual([
      [alice, 1_000n],
      [environment().feeRecipient, -(300n + 20n)],
      [bob, 90n],
    ]);
  });
  it("includes blobs, where one price for all of them explains what gas and events do not", () => {
    const hashes = [`0x01${"ab".repeat(31)}`, `0x01${"cd".repeat(31)}`] as const;
    const [posting] = bundle({ blobVersionedHashes: hashes, maxFeePerBlobGas: 7n });
    const cost = (left: bigint, cap = 7n) => {
      const seen = (balance: bigint) => seeing([{ kind: "account", address: alice }, account("0x", balance)]);
      const sights = { before: seen(10n ** 9n), after: seen(10n ** 9n - 1_000n - left) };
      const one = filled({ ...posting, input: { ...posting.input, maxFeePerBlobGas: cap } });
      return Assets.withBlobs(new Map([[alice, 1_000n]]), [one], [], sights).get(alice);
    };
    expect([cost(0n), cost(5n * 262_144n), cost(8n * 262_144n)]).toEqual([1_000n, 1_000n + 5n * 262_144n, 1_000n]);
    expect([cost(5n * 262_144n + 1n), cost(-262_144n)]).toEqual([1_000n, 1_000n]);
  });
  it("allows the operator fee, whole or without the unused limit, in a signer's balance", () => {
    const extra = { l1Fee: 9n, l1FeeAtMost: 9n, operatorFee: 60n, operatorFeeAtMost: 90n };
    const charged = cases.map((each, index) => (index === 0 ? { ...each, charged: { extra, findings: [] } } : each));
    const operator = Assets.operatorFees(charged, [{ gas: 200n }, { gas: 10n }]);
    expect(operator.get(alice)).toEqual({ taken: 60n, given: 120n });
    const after = (balance: bigint) => seeing([{ kind: "account", address: alice }, account("0x", balance)]);
    for (const [balance, delta] of [
      [435n, -5n],
      [615n, -5n],
      [434n, -66n],
      [616n, 116n],
    ] as const) {
      const known = { before: after(500n), after: after(balance), operator };
      const { changes, measured } = read([holding(alice, null)], [native(0, alice, bob, 5n)], known);
      expect([changes, measured]).toEqual([[[delta, "measured"]], [delta]]);
    }
  });
  it("is credited to no recipient whom the witness did not see", () =>
    expect([...Assets.gasPaid(cases, 7n, { before: unseen }).keys()]).toEqual([alice, bob]));
});
