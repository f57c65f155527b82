/** Places of others that nobody announces, in any slot: what a tracer shows, and what was read of slots that a node names. */
import { encodeAbiParameters, keccak256, pad, toHex, type Hex } from "viem";
import { describe, expect, it } from "vitest";
import { checkChanges, type ContractsSeen } from "../../rooms/steps.js";
import { Address } from "../../rooms/primitives.js";
import {
  alice,
  answered,
  bob,
  bundle,
  filled,
  hexOf,
  inhabited,
  log,
  native,
  outcome,
  seeing,
  token,
  word,
} from "../parts.js";
import { at, kind, topics } from "./arbitrary.js";

const stranger = at("7");
const contract = token;
const place = (slot: number): Hex => pad(toHex(slot));
const hashed = (...words: ReadonlyArray<bigint | string>) => keccak256(`0x${words.map(word).join("")}`);
/** The slot of `sender`'s entry in the mapping in a place, and of `key` within it. */
const entry = (sender: Address, n: number) => hashed(sender, BigInt(n));
const within = (key: Address, sender: Address, n: number) => hashed(key, BigInt(entry(sender, n)));

type Slots = Readonly<Record<Hex, bigint | string>>;
const stateOf = (slots: Slots) =>
  new Map([
    [
      contract,
      {
        ...{ balance: null, nonce: 1, code: null },
        storage: new Map(Object.entries(slots).map(([slot, held]) => [slot as Hex, `0x${word(held)}` as Hex])),
      },
    ],
  ]);
const diffOf = (had: Slots, has: Slots) =>
  ({ pre: stateOf(had), post: stateOf({ ...had, ...has }) }) as unknown as NonNullable<ContractsSeen["named"]>[number];

interface Case {
  readonly had?: Slots;
  readonly has: Slots;
  readonly data?: string;
  readonly logs?: ReadonlyArray<ReturnType<typeof log>>;
  readonly by?: "named" | "traced";
  readonly owner?: Address;
  /** Wei that the sender gives the contract. */
  readonly paid?: bigint;
}
const called = `0x12345678${word(stranger)}`;
const told = ({ had = {}, has, data = called, logs = [], by = "named", owner = bob, paid = 0n }: Case) => {
  const before = {
    ...inhabited({ [contract]: "0x00" }),
    // owner()
    call: seeing([{ kind: "call", to: contract, data: hexOf("0x8da5cb5b"), gas: 0, returnCap: 0 }, answered(owner)])
      .call,
  };
  const { findings } = checkChanges(
    bundle({ to: contract, data: hexOf(data) }).map((each) =>
      filled(each, {
        outcome: outcome({ logs }),
        transfers: paid > 0n ? [native(0, alice, contract, paid)] : [],
      }),
    ),
    [],
    {
      ...{ before: seeing(), suspects: [], codeOf: () => null, evidence: "measured" },
      ...{ worlds: [{ slots: seeing(), before, after: before }], [by]: [diffOf(had, has)] },
    },
  );
  return findings
    .filter(({ code }) => code === "ContractControlChanged")
    .map(({ severity, numbers }) => [severity, ...numbers.map(({ value }) => value)]);
};
const taking = "new owner, without an event";
const pending = "an account is named that may take it over, without an event";
const operating = "another account gets a right in the sender's entry, without an event";

describe("an account of the calldata in an empty variable", () => {
  const has = { [place(5)]: stranger };
  it.each(["named", "traced"] as const)("may take over a contract of the sender's, with what is %s", (by) => {
    expect(told({ has, by, owner: alice })).toEqual([["warning", pending, contract, stranger]]);
  });
  it("may take over a contract that keeps the sender in another variable, packed or not", () => {
    for (const held of [alice, `0x01${alice.slice(2)}`, `${alice}01`])
      expect(told({ had: { [place(4)]: held }, has })).toEqual([["warning", pending, contract, stranger]]);
  });
  it("is information where nothing shows that the sender owns anything there", () => {
    for (const had of [{}, { [place(4)]: bob }, { [entry(alice, 0)]: alice }])
      expect(told({ had, has })).toEqual([["info", pending, contract, stranger]]);
  });
  it("is found beside what is packed with it", () => {
    const packed = BigInt(stranger) << 8n;
    expect(told({ had: { [place(5)]: 1n }, has: { [place(5)]: packed + 1n }, owner: alice })).toHaveLength(1);
  });
  it.each<[string, Partial<Case>]>([
    ["the calldata does not name", { data: `0x12345678${word(bob)}` }],
    ["is the sender", { has: { [place(5)]: alice }, data: `0x12345678${word(alice)}` }],
    ["is the contract itself", { has: { [place(5)]: contract }, data: `0x12345678${word(contract)}` }],
    ["is a number", { has: { [place(5)]: 10n ** 30n }, data: `0x12345678${word(10n ** 30n)}` }],
    ["is kept in a mapping of something else", { has: { [hashed(7n, 2n)]: stranger } }],
    ["an event announces", { logs: [log(contract, [topics.ownership, word(alice), word(stranger)])] }],
    ["an event offers it to", { logs: [log(contract, [kind("OwnerNominated(address)"), word(stranger)])] }],
  ])("is none where %s", (_, given) => {
    expect(told({ has, owner: alice, ...given })).toEqual([]);
  });
  it("is no finding where a token moves", () => {
    const moved = [log(stranger, [topics.transfer, word(alice), word(bob)], [word(5n)])];
    const moving = bundle({ to: contract, data: hexOf(called) }).map((each) =>
      filled(each, {
        outcome: outcome({ logs: moved }),
        transfers: [
          {
            ...{ standard: "erc20", token: stranger, from: alice, to: bob, amount: 5n, tokenId: null },
            ...{ transaction: 0, evidence: "logged" },
          },
        ],
      }),
    );
    const before = inhabited({ [contract]: "0x00" });
    const seen = { before: seeing(), suspects: [], codeOf: () => null, evidence: "measured" } as const;
    const worlds = [{ slots: seeing(), before, after: before }];
    expect(checkChanges(moving, [], { ...seen, worlds, named: [diffOf({}, has)] }).findings).toEqual([]);
  });
});

describe("a sender's entry in a mapping", () => {
  it("gives a right to the account of the calldata that is a key in it", () => {
    for (const n of [0, 3, 20])
      for (const by of ["named", "traced"] as const)
        expect(told({ has: { [within(stranger, alice, n)]: 1n }, by })).toEqual([
          ["warning", operating, contract, alice, stranger],
        ]);
  });
  it("gives a right to the account of the calldata that stands in it, whoever stood there before", () => {
    for (const had of [0n, bob])
      expect(told({ had: { [entry(alice, 3)]: had }, has: { [entry(alice, 3)]: stranger } })).toEqual([
        ["warning", operating, contract, alice, stranger],
      ]);
  });
  it("is information where an event of the contract names the account, known or not", () => {
    const has = { [within(stranger, alice, 3)]: 1n };
    const named = [kind("Entrusted(address,address)"), word(alice), word(stranger)];
    expect(told({ has, logs: [log(contract, named)] })).toEqual([["info", operating, contract, alice, stranger]]);
    expect(told({ has, logs: [log(bob, named)] })).toMatchObject([["warning", operating, contract, alice, stranger]]);
  });
  it("is information where a sender pays, because a deal is stored by its partner", () => {
    const has = { [entry(alice, 3)]: stranger };
    expect(told({ has, paid: 5n })).toEqual([["info", operating, contract, alice, stranger]]);
    expect(told({ has: { [within(stranger, alice, 3)]: 1n }, paid: 5n })).toEqual([
      ["warning", operating, contract, alice, stranger],
    ]);
    expect(told({ has: { [place(5)]: stranger }, owner: alice, paid: 5n })).toEqual([
      ["info", pending, contract, stranger],
    ]);
  });
  it.each<[string, Case]>([
    ["an amount", { has: { [entry(alice, 3)]: 10n ** 18n } }],
    ["an amount of an account", { has: { [within(stranger, alice, 3)]: 10n ** 18n } }],
    ["a yes of its own", { has: { [entry(alice, 3)]: 1n } }],
    ["another's", { has: { [within(stranger, bob, 3)]: 1n } }],
    ["the sender within another's", { has: { [within(alice, stranger, 3)]: 1n } }],
    ["far behind", { has: { [within(stranger, alice, 21)]: 1n } }],
    ["nobody whom the calldata names", { has: { [within(stranger, alice, 3)]: 1n }, data: "0x12345678" }],
    ["taken back", { had: { [within(stranger, alice, 3)]: 1n }, has: { [within(stranger, alice, 3)]: 0n } }],
  ])("has no finding for %s", (_, given) => {
    expect(told(given)).toEqual([]);
  });
  it("has no finding where a known call or event shows it", () => {
    const has = { [within(stranger, alice, 5)]: 1n };
    const asked = `0xa22cb465${word(stranger)}${word(1n)}`;
    const logs = [
      log(contract, [kind("ApprovalForAll(address,address,bool)"), word(alice), word(stranger)], [word(1n)]),
    ];
    expect([told({ has, data: asked }), told({ has, logs })]).toEqual([[], []]);
    const voted = [
      log(contract, [kind("DelegateChanged(address,address,address)"), word(alice), word(0n), word(stranger)]),
    ];
    expect(told({ has: { [entry(alice, 5)]: stranger }, logs: voted })).toEqual([]);
    // of another contract it says nothing
    const others = [log(bob, [kind("ApprovalForAll(address,address,bool)"), word(alice), word(stranger)], [word(1n)])];
    expect(told({ has, logs: others })).toHaveLength(1);
  });
});

it("a sender's place that goes to another has one finding, in any slot and by any view", () => {
  const [had, has] = [{ [place(7)]: alice }, { [place(7)]: stranger }];
  const expected = [["warning", taking, contract, alice, stranger]];
  expect([told({ had, has }), told({ had, has, by: "traced" })]).toEqual([expected, expected]);
});

it("many accounts and slots take no longer than a moment", () => {
  const account = (index: number) => Address.make(`0x${keccak256(toHex(index)).slice(26)}`);
  const accounts = Array.from({ length: 5_000 }, (_, index) => account(index));
  const slots = Object.fromEntries(accounts.map((_, index) => [keccak256(toHex(index)), 1n]));
  const data = `0x12345678${encodeAbiParameters([{ type: "address[]" }], [accounts]).slice(2)}`;
  const start = performance.now();
  expect(told({ has: slots, data })).toEqual([]);
  expect(performance.now() - start).toBeLessThan(10_000);
});
