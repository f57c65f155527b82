/** What a proof looks at of what contracts could take: bounded, and what was cut is counted. */
import { describe, expect, it } from "vitest";
import type { Address } from "../../rooms/primitives.js";
import type { Right } from "../../rooms/effects.js";
import { exposed, readExposure, type Case } from "../../rooms/steps.js";
import { getApproved, ownerOf, unseen, type View } from "../../rooms/witness.js";
import { alice, answered, bob, caseOf, filled, token } from "../parts.js";

const ids = (count: number) =>
  exposed({
    bundle: [{ ...filled(caseOf({ from: alice, to: bob, data: "0x12345678" })), authorizations: [] }],
    ...{ rights: [], known: [], trusted: [], accounts: [], wanted: [], tokens: [token] },
    transfers: Array.from({ length: count }, (_, index) => ({
      ...{ standard: "erc721" as const, token, tokenId: BigInt(index), amount: BigInt(index), from: bob, to: alice },
      ...{ transaction: 0, evidence: "logged" as const },
    })),
  });

describe("ids of one token", () => {
  it("are all looked at where they are few", () => {
    const { pairs, cut } = ids(64);
    expect([pairs.map((pair) => pair.ids.length), cut]).toEqual([[64], 0]);
  });
  it("are cut where they are many, and the pair counts as not looked at, too", () => {
    const { pairs, cut } = ids(12_000);
    expect([pairs.map((pair) => pair.ids.length), cut]).toEqual([[64], 1]);
  });
});

/** What is looked at where alice calls bob. */
const lookedAt = (changed: Partial<Parameters<typeof exposed>[0]>, authorizations: Case["authorizations"] = []) => {
  const bundle = [{ ...filled(caseOf({ from: alice, to: bob, data: "0x12345678" })), authorizations }];
  const none = { rights: [], known: [], trusted: [], accounts: [], wanted: [], tokens: [], transfers: [] };
  return { bundle, found: exposed({ ...none, bundle, ...changed }) };
};

it("a delegate that two authorisations name is one, and is counted once", () => {
  const entry = { chainId: 1, address: bob, nonce: 0, r: "0x1", s: "0x1", yParity: 0 } as never;
  const twice = [alice, alice].map((authority) => ({ authority, entry }));
  const { pairs } = lookedAt({ tokens: [token] }, twice).found;
  expect(pairs.map((pair) => [pair.isDelegate, pair.token])).toEqual([
    [true, null],
    [true, token],
    [false, token],
  ]);
});

describe("the approval of one NFT", () => {
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
    return readExposure(found, bundle, { after, standards: new Map(), transfers: [], evidence: "measured" }).rows;
  };
  it("could take it from whoever has it", () =>
    expect(rowsWhere(alice)).toMatchObject([
      { spender: bob, account: alice, tokenId: 7n, by: "allowance", amount: 1n },
    ]));
  it("takes nothing from whoever has it no more", () => expect(rowsWhere(bob)).toEqual([]));
});
