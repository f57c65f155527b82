/** A rendering is one stretch of the event loop, and a short one. */
import { describe, expect, it } from "vitest";
import type { Report } from "../rooms/report.js";
import { cpu } from "../harness/cpu.js";
import { alice, moved, report, usdc } from "./fixtures.js";
import { at, renderings } from "./renderings.js";

/** So many ids of one token that come, each from somebody else, and are measured. */
const ids = (count: number): Report => {
  const all = Array.from({ length: count }, (_, index) => 2n ** 159n + BigInt(index) * 1_000_003n);
  const one = { token: usdc, evidence: "measured" } as const;
  return report({
    transfers: all.map((tokenId, index) =>
      moved({ ...one, standard: "erc721", tokenId, amount: tokenId, from: at("bb", index), to: alice }),
    ),
    balanceChanges: all.map((tokenId) => ({ ...one, account: alice, tokenId, before: 0n, after: 1n, delta: 1n })),
  });
};

describe("5,200 ids", () => {
  const many = ids(5_200);
  // why: a rendering is one stretch of the event loop. Goal 200 ms; about 100 by itself, and 400 and more where flows are summed per part
  it.each(renderings)("hold the event loop for less than 350 ms of CPU: %s", (_, render) => {
    const stretches = [1, 2, 3].map(() => {
      const begun = cpu();
      render(many);
      return cpu() - begun;
    });
    expect(Math.min(...stretches)).toBeLessThan(350);
  });
});
