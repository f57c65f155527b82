/** The rule by which a state is the newest, or not, or nobody can tell. */
import { describe, expect, it } from "vitest";
import { lookup } from "../../src/Chains.js";
import { freshnessOf, minesOnDemand, type FreshnessOptions } from "../rooms/report.js";

const now = 1_790_000_000_000;
const time = BigInt(now / 1000);
const minutes = (many: number) => BigInt(Math.round(many * 60));
const hours = 60;

/** Everything as it should be on Ethereum, but for what is said. */
const seen = ({ headAge = 0n, chainId = 1, ...changed }: Partial<FreshnessOptions> & { readonly headAge?: bigint }) => {
  const { freshness, findings } = freshnessOf({
    ...{ base: 100n, head: { number: 100n, timestamp: time - headAge }, highest: 100n, least: null, timestamp: null },
    ...{
      now,
      aheadMs: null,
      elapsedMs: 50,
      hasAdvanced: false,
      heldMs: 0,
      isShared: false,
      chain: lookup(chainId),
      chainId,
    },
    ...changed,
  });
  return [freshness, ...findings.map(({ code, severity }) => `${code}/${severity}`)].join(" ");
};
const head = (number: bigint) => ({ number, timestamp: time });
const stale = "stale PendingStale/unavailable";
const doubtful = "unknown HeadOld/warning";
const untold = "unknown FreshnessUnknown/info";

describe("the age of a head by block number", () => {
  it.each<[string, Partial<FreshnessOptions>, string]>([
    ["the number is one ahead, which a block while answers travel explains", { highest: 101n }, "fresh"],
    ["the number is two ahead on a chain of 12 s", { highest: 102n }, stale],
    ["the header is two ahead on a chain of 12 s", { head: head(102n) }, stale],
    ["the header lags as the state does, and another answer is far ahead", { head: head(100n), highest: 120n }, stale],
    ["the number is three ahead after 25 s", { highest: 103n, elapsedMs: 25_000 }, "fresh"],
    ["the number is four ahead after 25 s", { highest: 104n, elapsedMs: 25_000 }, stale],
    ["the number is two ahead, and the clock was set back in the middle", { highest: 102n, elapsedMs: -10_000 }, stale],
    ["pending state is three ahead of the header", { base: 103n }, "fresh"],
    ["pending state is four ahead of the header, and the number three", { base: 104n, highest: 103n }, stale],
    ["the number is within Base's pace", { highest: 106n, chainId: 8453 }, "fresh"],
    ["the number is one above Base's pace", { highest: 107n, chainId: 8453 }, stale],
    ["the number is within an unknown chain's pace", { highest: 102n, chainId: 4242 }, "fresh"],
    ["the number is one above an unknown chain's pace", { highest: 103n, chainId: 4242 }, stale],
    ["the number is three ahead on a chain that mines on demand", { highest: 103n, chainId: 31337 }, stale],
    ["there is no base", { base: null, highest: 120n }, "unknown"],
    ["there is no header, and another answer is far ahead", { head: null, highest: 120n }, stale],
    ["neither a header nor another answer gives a number", { head: null, highest: null }, untold],
    ["the chain's blocks take no time", { chain: { paceKnown: true, blockTimeMs: 0 }, highest: 1_000n }, "fresh"],
  ])("is $2: %s", (_, changed, expected) => expect(seen(changed)).toBe(expected));
});

describe("the age of a head by time", () => {
  it.each<[string, Partial<FreshnessOptions> & { readonly headAge?: bigint }, string]>([
    ["39 s old on a chain of 12 s slots", { headAge: 39n }, "fresh"],
    ["40 s old on a chain of 12 s slots", { headAge: 40n }, doubtful],
    ["51 s old on a chain of 12 s slots", { headAge: 51n }, doubtful],
    ["52 s old on a chain of 12 s slots", { headAge: 52n }, stale],
    ["18 s old on a chain of 5 s slots", { headAge: 18n, chainId: 100 }, "fresh"],
    ["19 s old on a chain of 5 s slots", { headAge: 19n, chainId: 100 }, doubtful],
    ["24 s old on a chain of 5 s slots", { headAge: 24n, chainId: 100 }, stale],
    ["10 s old on a fast chain", { headAge: 10n, aheadMs: 0, chainId: 8453 }, "fresh"],
    ["11 s old on a fast chain", { headAge: 11n, aheadMs: 0, chainId: 137 }, doubtful],
    ["20 s old on a fast chain", { headAge: 20n, chainId: 8453 }, doubtful],
    ["21 s old on a fast chain", { headAge: 21n, chainId: 8453 }, stale],
    ["2 minutes old on an unknown chain", { headAge: minutes(2), chainId: 4242 }, "fresh"],
    ["more than 2 minutes old on an unknown chain", { headAge: minutes(2) + 1n, chainId: 4242 }, doubtful],
    ["10 minutes old on an unknown chain", { headAge: minutes(10), chainId: 4242 }, doubtful],
    ["more than 10 minutes old on an unknown chain", { headAge: minutes(10) + 1n, chainId: 4242 }, stale],
    ["11 minutes old on a chain without an id", { headAge: minutes(11), chain: lookup(null), chainId: null }, stale],
    ["three days old on a development chain", { headAge: minutes(72 * hours), chainId: 31337 }, "fresh"],
    [
      "9 minutes old on a development chain, whatever else a caller says of it",
      { headAge: minutes(9), chainId: 1337, chain: lookup(1) },
      "fresh",
    ],
    [
      "the node's own clock is twelve seconds before its simulated block",
      { now: now - 10_000, timestamp: time + 51n },
      "fresh",
    ],
    ["the node's own clock counts, a second later", { now: now - 10_000, timestamp: time + 52n }, doubtful],
    ["the block after the latest is no clock", { headAge: 0n, timestamp: time + 12n, chainId: 8453 }, "fresh"],
    [
      "three days old, with the wall clock in a pending block",
      { headAge: minutes(72 * hours), timestamp: time },
      stale,
    ],
    [
      "an hour old by the node's own clock, and not by the local clock",
      { now: now - 3_600_000, headAge: 3_700n, timestamp: time },
      stale,
    ],
    ["no header, and an old state", { head: null, timestamp: time - minutes(3) }, stale],
    ["no header, and a new state", { head: null, timestamp: time }, untold],
  ])("is $2: %s", (_, changed, expected) => expect(seen(changed)).toBe(expected));
});

describe("the age of a head that others share, or that stays", () => {
  it.each<[string, Partial<FreshnessOptions> & { readonly headAge?: bigint }, string]>([
    ["52 s old, and another endpoint has it", { headAge: 52n, isShared: true }, doubtful],
    ["52 s old, and newest for one slot", { headAge: 52n, heldMs: 12_000 }, doubtful],
    ["52 s old, and newest for less than a slot", { headAge: 52n, heldMs: 11_999 }, stale],
    ["120 s old, and shared", { headAge: 120n, isShared: true, heldMs: 60_000 }, doubtful],
    ["121 s old, and shared", { headAge: 121n, isShared: true, heldMs: 60_000 }, stale],
    ["21 s old on a fast chain, and newest for 10 s", { headAge: 21n, heldMs: 10_000, chainId: 8453 }, doubtful],
    ["21 s old on a fast chain, and newest for less than 10 s", { headAge: 21n, heldMs: 9_999, chainId: 8453 }, stale],
    ["more than a minute old on a fast chain, and shared", { headAge: 61n, isShared: true, chainId: 8453 }, stale],
    ["52 s old and shared, and a later block is known", { headAge: 52n, isShared: true, highest: 102n }, stale],
    [
      "ten minutes old on a chain without a pace, and shared",
      { headAge: 601n, isShared: true, heldMs: 9e6, chainId: 4242 },
      stale,
    ],
  ])("is $2: %s", (_, changed, expected) => expect(seen(changed)).toBe(expected));
});

describe("the age of a head by clocks that disagree", () => {
  const skewed = "ClockSkew/info";
  it.each<[string, Partial<FreshnessOptions> & { readonly headAge?: bigint }, string]>([
    ["15 s between clock and Date are tolerated", { aheadMs: 15_000 }, "fresh"],
    ["the Date counts before a local clock 1 s behind", { headAge: 40n, aheadMs: -1_000 }, "fresh"],
    [
      "the local clock 16 s behind the Date counts by itself",
      { headAge: 40n, aheadMs: -16_000 },
      `unknown ${skewed} HeadOld/warning`,
    ],
    ["the local clock counts without a Date", { headAge: 40n }, doubtful],
    [
      "the local clock counts without a Date on a fast chain, below its limit",
      { headAge: 15n, chainId: 8453 },
      "fresh",
    ],
    ["15 s back between clock and Date are tolerated", { aheadMs: -15_000 }, "fresh"],
    ["the Date counts beside a late local clock", { aheadMs: 16_000 }, `fresh ${skewed}`],
    [
      "a dead node stays dead beside a clock that is an hour late",
      { aheadMs: 3_600_000 },
      `stale ${skewed} PendingStale/unavailable`,
    ],
    [
      "an early local clock counts",
      { aheadMs: -3_600_000, headAge: 3_600n },
      `stale ${skewed} PendingStale/unavailable`,
    ],
    [
      "an early local clock counts though the head advances: the node may lag as its clock does",
      { aheadMs: -3_600_000, headAge: 3_600n, hasAdvanced: true },
      `stale ${skewed} PendingStale/unavailable`,
    ],
    ["a head from the future cannot be dated", { headAge: -16n }, "unknown ClockSkew/warning"],
    [
      "a head from the future cannot be dated, for any Date",
      { headAge: -3_600n, aheadMs: 60_000 },
      "unknown ClockSkew/warning",
    ],
    [
      "a head from the future is dated by a clock that is as late",
      { headAge: -3_600n, aheadMs: 3_590_000 },
      `fresh ${skewed}`,
    ],
    ["a head from the future that advances is fresh", { headAge: -16n, hasAdvanced: true }, `fresh ${skewed}`],
    ["a development chain may be anywhere in time", { headAge: -3_600n, chainId: 31337 }, "fresh"],
    [
      "times beyond all clocks are no accident",
      { head: { number: 100n, timestamp: 2n ** 256n - 1n } },
      "unknown ClockSkew/warning",
    ],
  ])("is $2: %s", (_, changed, expected) => expect(seen(changed)).toBe(expected));
});

it("the chains of anvil, hardhat and geth --dev mine on demand", () =>
  expect([31337, 1337, 1, 4242, null].map(minesOnDemand)).toEqual([true, true, false, false, false]));
