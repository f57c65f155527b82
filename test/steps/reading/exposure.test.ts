/** What a proof looks at of what contracts could take: bounded, and what was cut is counted. */
import { describe, expect, it } from "vitest";
import { exposed } from "../../rooms/steps.js";
import { alice, bob, caseOf, filled, token } from "../parts.js";

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
