/** What a header decides without asking. */
import { describe, expect, it } from "vitest";
import { lookup, type Chain } from "../../src/Chains.js";
import { unknownChain } from "../rooms/chains.js";
import type { Header } from "../../src/Eth.js";
import type { Report } from "../../src/Report.js";
import { note } from "../harness/notes.js";
import { essentialDiff, lostBy } from "../rooms/watch.js";
import { swap } from "../report/scenes.js";

const now = 1_800_000_000_000;
const header = (changes: Partial<Header> = {}): Header =>
  ({
    ...{ number: 5n, timestamp: 1_799_999_995n, gasLimit: 30_000_000n, gasUsed: 15_000_000n, baseFeePerGas: 100n },
    ...{ blobGasUsed: null, extraData: null },
    ...changes,
  }) as Header;
const reportOf = (cap: bigint | null, chainId: number, nextFork: bigint | null = null): Report =>
  ({
    chainId,
    transactions: [
      {
        input: { from: `0x${"01".repeat(20)}` },
        request: { gas: 21_000n, ...(cap === null ? { gasPrice: 100n } : { maxFeePerGas: cap }) },
      },
    ],
    observed: { rules: { nextFork } },
  }) as never;

describe("a new header", () => {
  const ethereum = lookup(1);
  it.each<
    readonly [
      what: string,
      isLost: boolean,
      cap: bigint | null,
      changes: Partial<Header>,
      chain: Chain,
      fork: bigint | null,
    ]
  >([
    ["whose child costs as much, at its target", false, 100n, {}, ethereum, null],
    ["whose child costs exactly the cap", false, 112n, { gasUsed: 30_000_000n }, ethereum, null],
    ["whose child costs more than the cap", true, 111n, { gasUsed: 30_000_000n }, ethereum, null],
    ["the same, of a gas price", true, null, { gasUsed: 30_000_000n }, ethereum, null],
    ["the same, on a chain that nobody described", false, 111n, { gasUsed: 30_000_000n }, unknownChain, null],
    [
      "the same, on a known chain without its entry",
      false,
      111n,
      { gasUsed: 30_000_000n },
      { ...ethereum, known: false },
      null,
    ],
    ["the same, on the OP stack", false, 111n, { gasUsed: 30_000_000n }, lookup(10), null],
    ["without a base fee", false, 1n, { baseFeePerGas: null }, ethereum, null],
    ["of two minutes ago", false, 99n, { timestamp: 1_799_999_880n }, ethereum, null],
    ["before a fork that the next block may activate", false, 99n, {}, ethereum, 1_800_000_007n],
    ["before a fork that is further off", true, 99n, {}, ethereum, 1_800_000_008n],
  ])("loses the clearance, or not: %s, %s", (_, isLost, cap, changes, chain, fork) =>
    expect(lostBy(reportOf(cap, 1, fork), header(changes), chain, now)?._tag).toBe(isLost ? "FeeCapTooLow" : undefined),
  );
  it("may be old on a chain that mines on demand", () =>
    expect(lostBy(reportOf(1n, 31337), header({ timestamp: 1n }), ethereum, now)?._tag).toBe("FeeCapTooLow"));
});

describe("the essential change of a proof", () => {
  it("is nothing where only the finding that the chain had moved is gone, with its verdict", () => {
    const other = note("ForkAhead", "warning", { evidence: "measured" });
    const moved = { ...other, code: "OutcomeChanged" as const };
    const before = swap();
    const after: Report = { ...before, findings: [...before.findings, moved], verdict: "caution" };
    expect(essentialDiff(after, before)).toEqual([]);
    expect(essentialDiff(before, { ...after, findings: [...after.findings, other] })).not.toEqual([]);
  });
});
