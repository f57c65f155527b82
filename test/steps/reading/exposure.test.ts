/** What a proof looks at of what contracts could take: bounded, and what was cut is counted. */
import * as Result from "effect/Result";
import { describe, expect, it } from "vitest";
import type { Report } from "../../../src/Report.js";
import type { Address } from "../../rooms/primitives.js";
import type { Right } from "../../rooms/effects.js";
import { exposed, readExposure, type Case } from "../../rooms/steps.js";
import { allowance, getApproved, ownerOf, unseen, type View } from "../../rooms/witness.js";
import { alice, answered, bob, caseOf, filled, hexOf, token, word } from "../parts.js";

const ids = (count: number) =>
  exposed({
    bundle: [{ ...filled(caseOf({ from: alice, to: bob, data: "0x12345678" })), authorizations: [] }],
    ...{ rights: [], known: [], trusted: [], accounts: [], wanted: [], tokens: [token], codes: new Map() },
    transfers: Array.from({ length: count }, (_, index) => ({
      ...{ standard: "erc721" as const, token, tokenId: BigInt(index), amount: BigInt(index), from: bob, to: alice },
      ...{ transaction: 0, evidence: "logged" as const },
    })),
  });

describe("ids of one token", () => {
  it("are all read where they are few", () => {
    const { pairs, cut } = ids(64);
    expect([pairs.map((pair) => pair.ids.length), cut]).toEqual([[64], 0]);
  });
  it("are cut where they are many, and the pair counts as unread, too", () => {
    const { pairs, cut } = ids(12_000);
    expect([pairs.map((pair) => pair.ids.length), cut]).toEqual([[64], 1]);
  });
});

/** What is looked at where alice calls bob. */
const lookedAt = (changed: Partial<Parameters<typeof exposed>[0]>, authorizations: Case["authorizations"] = []) => {
  const bundle = [{ ...filled(caseOf({ from: alice, to: bob, data: "0x12345678" })), authorizations }];
  const none = { rights: [], known: [], trusted: [], accounts: [], wanted: [], tokens: [], transfers: [] };
  return { bundle, found: exposed({ ...none, codes: new Map(), bundle, ...changed }) };
};

it("a delegate in two authorisations is counted once", () => {
  const entry = { chainId: 1, address: bob, nonce: 0, r: "0x1", s: "0x1", yParity: 0 } as never;
  const twice = [alice, alice].map((authority) => ({ authority, entry }));
  const { pairs } = lookedAt({ tokens: [token] }, twice).found;
  expect(pairs.map((pair) => [pair.isDelegate, pair.token])).toEqual([
    [true, null],
    [true, token],
    [false, token],
  ]);
});

describe("the approval of one NFT in the exposure", () => {
  const right: Right = {
    ...{ standard: "erc721", token, keeper: token, owner: alice, spender: bob, tokenId: 7n, operator: false },
    ...{ open: null, claim: 1n, expiration: null, seen: "log", transaction: 0 },
  };
  const rowsWhere = (owner: Address) => {
    const { bundle, found } = lookedAt({ tokens: [token], rights: [right] });
    const answers = new Map([
      [getApproved(token, 7n).data, answered(bob)],
      [ownerOf(token, 7n).data, answered(owner)],
    ]);
    const after: View = { ...unseen, call: ({ data }) => answers.get(data) ?? answered(0n) };
    return readExposure(found, bundle, {
      before: unseen,
      after,
      standards: new Map(),
      transfers: [],
      evidence: "measured",
    }).rows;
  };
  it("counts where the spender could take it from its owner", () =>
    expect(rowsWhere(alice)).toMatchObject([
      { spender: bob, account: alice, tokenId: 7n, by: "allowance", amount: 1n },
    ]));
  it("does not count where the owner has it no more", () => expect(rowsWhere(bob)).toEqual([]));
});

const [conduit, permit2] = [
  "0xc0dc0dc0dc0dc0dc0dc0dc0dc0dc0dc0dc0dc0dc",
  "0x000000000022d473030f116ddee9f6b43ac78ba3",
] as const;
const [opensea, controller] = [
  "0x1e0049783f008a0085193e00003d00cd54003c71",
  "0x00000000f9490004c11cef243f5400493c00ad63",
] as const;
const nobody = `0x${"0".repeat(40)}` as const;

describe("accounts to look at beside the called ones", () => {
  const moved = [
    {
      standard: "erc20",
      token,
      tokenId: null,
      amount: 5n,
      from: alice,
      to: conduit,
      transaction: 0,
      evidence: "logged",
    },
  ] as const;
  const codes = new Map([[bob, Result.succeed(hexOf(`0x73${conduit.slice(2)}`))]]);
  const seaport = new Map([[bob, Result.succeed(hexOf(`0x7f${"0".repeat(24)}${controller.slice(2)}`))]]);
  const spenders = (changed: Parameters<typeof lookedAt>[0]) =>
    lookedAt({ tokens: [token], codes, ...changed }).found.pairs.map(({ spender }) => spender);
  it.each([
    ["are none where nothing is taken and nobody asks", spenders({}), [bob]],
    ["are those that the code names, of tokens that somebody names", spenders({ wanted: [token] }), [bob, conduit]],
    ["are those that the code names, of tokens that are taken", spenders({ transfers: moved }), [bob, conduit]],
    [
      "are conduits where the code names who makes them",
      spenders({ transfers: moved, codes: seaport }),
      [bob, opensea],
    ],
  ])("%s", (_, found, expected) => expect(found).toEqual(expected));
  it("replace none of the called ones", () => {
    const wanted = Array.from({ length: 60 }, (_, place): Address => `0x${(place + 1).toString(16).padStart(40, "7")}`);
    const { pairs, cut } = lookedAt({ codes, wanted }).found;
    expect([pairs.length, cut, pairs.some(({ spender }) => spender === conduit)]).toEqual([60, 0, false]);
  });
});

describe("a token that leaves a sender by a call not its own", () => {
  interface Told {
    readonly to?: Address;
    readonly amount?: bigint;
    readonly of?: Address;
    /** The contract that is called, and the calldata. */
    readonly call?: readonly [Address, string];
    /** What bob may spend before and after. */
    readonly may?: readonly [bigint, bigint];
    readonly rights?: ReadonlyArray<Right>;
    /** Who calls whom with what, by a tracer. */
    readonly calls?: ReadonlyArray<readonly [from: string, to: string, input: string]>;
  }
  const take = `0x23b872dd${word(alice)}${word(conduit)}${word(5n)}`;
  const strangeIn = ({ to = conduit, amount = 5n, of = alice, may = [0n, 0n], rights = [], ...told }: Told) => {
    const [callee, data] = told.call ?? [bob, "0x12345678"];
    const bundle = [{ ...filled(caseOf({ from: alice, to: callee, data: hexOf(data) })), authorizations: [] }];
    const transfers = [
      {
        ...({ standard: "erc20", token, tokenId: null, amount, from: of, to, transaction: 0 } as const),
        evidence: "logged" as const,
      },
    ];
    const none = { known: [], trusted: [], accounts: [], wanted: [], codes: new Map() };
    const found = exposed({ ...none, bundle, rights, tokens: [token], transfers });
    const [before, after] = may.map((amountThen): View => ({
      ...unseen,
      call: ({ data: asked }) => answered(asked === allowance(token, alice, bob).data ? amountThen : 0n),
    }));
    const frame = ([from, at, input]: readonly [string, string, string]) => ({
      ...{ type: "CALL", from, to: at, input, output: "0x", gas: "0x1", gasUsed: "0x1" },
    });
    const calls = told.calls?.map(frame);
    const traces =
      calls === undefined ? [] : [{ trace: { ...frame([alice, callee, data]), calls }, tokens: new Set<Address>() }];
    const facts = { before: before ?? unseen, after: after ?? unseen, standards: new Map(), transfers, traces };
    const { moved, unread }: NonNullable<Report["exposure"]> = readExposure(found, bundle, {
      ...facts,
      evidence: "measured",
    });
    expect(unread).toBe(moved?.length ?? 0);
    return moved?.map(({ spender }) => spender) ?? [];
  };
  const granted: Right = {
    ...{ standard: "erc20", token, keeper: token, owner: alice, spender: bob, tokenId: null, operator: false },
    ...{ open: null, claim: 5n, expiration: null, seen: "calldata", transaction: 0 },
  };
  const transfer = `0xa9059cbb${word(conduit)}${word(5n)}`;
  const approve = `0x095ea7b3${word(bob)}${word(5n)}`;
  it.each<readonly [string, Told, ReadonlyArray<string | null>]>([
    ["is strange where nobody who was looked at may spend it", {}, [null]],
    ["is strange where the call only gives a right, too", { call: [token, approve] }, [null]],
    ["is the called contract's, which may spend it", { may: [2n ** 255n, 2n ** 255n] }, []],
    ["is the called contract's, which uses up its right", { may: [5n, 0n] }, []],
    ["is the called contract's, which gets its right in the bundle and uses it up", { rights: [granted] }, []],
    ["is none where the sender calls the token", { call: [token, transfer] }, []],
    ["is none where the sender's own code runs", { call: [alice, "0x12345678"] }, []],
    ["is none where it is burnt", { to: nobody }, []],
    ["is none where the token itself takes it", { to: token }, []],
    ["is none where the amount is zero", { amount: 0n }, []],
    ["is none where another account loses it", { of: conduit }, []],
    [
      "is the stranger's that a tracer shows",
      {
        calls: [
          [bob, conduit, "0x"],
          [conduit, token, take],
        ],
      },
      [conduit],
    ],
    [
      "is the stranger's that a tracer shows, where the called contract has a right, too",
      { may: [9n, 9n], calls: [[conduit, token, take]] },
      [conduit],
    ],
    ["is the called contract's by a tracer, whatever the right", { calls: [[bob, token, take]] }, []],
    [
      "is the asker's of Permit2",
      {
        calls: [
          [bob, permit2, "0x"],
          [permit2, token, take],
        ],
      },
      [],
    ],
    [
      "is the asker's of Permit2, who may be a stranger",
      {
        calls: [
          [conduit, permit2, "0x"],
          [permit2, token, take],
        ],
      },
      [conduit],
    ],
    ["is judged by rights where a tracer shows no such call", { calls: [[bob, conduit, "0x"]] }, [null]],
  ])("%s", (_, told, expected) => expect(strangeIn(told)).toEqual(expected));
});
