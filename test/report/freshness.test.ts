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

describe("by number", () => {
  it.each<[string, Partial<FreshnessOptions>, string]>([
    ["one block may come while the answers travel", { highest: 101n }, "fresh"],
    ["two may not on a chain of 12 s", { highest: 102n }, stale],
    ["the header's number counts as any other", { head: head(102n) }, stale],
    ["where the header lags as the state does, another answer tells", { head: head(100n), highest: 120n }, stale],
    ["in 25 s two more may come", { highest: 103n, elapsedMs: 25_000 }, "fresh"],
    ["but not three", { highest: 104n, elapsedMs: 25_000 }, stale],
    ["a clock set back in the middle gives no time", { highest: 102n, elapsedMs: -10_000 }, stale],
    ["pending state is ahead of the header", { base: 103n }, "fresh"],
    ["but not by far", { base: 104n, highest: 103n }, stale],
    ["five come in a second of Base", { highest: 106n, chainId: 8453 }, "fresh"],
    ["but not six", { highest: 107n, chainId: 8453 }, stale],
    ["of an unknown chain one a second", { highest: 102n, chainId: 4242 }, "fresh"],
    ["but not two", { highest: 103n, chainId: 4242 }, stale],
    ["a chain that mines on demand is judged by number all the same", { highest: 103n, chainId: 31337 }, stale],
    ["without a base there is nothing to judge", { base: null, highest: 120n }, "unknown"],
    ["without a header only other answers tell", { head: null, highest: 120n }, stale],
    ["and where none does, the report says so", { head: null, highest: null }, untold],
    ["no pace is endless", { chain: { paceKnown: true, blockTimeMs: 0 }, highest: 1_000n }, "fresh"],
  ])("%s", (_, changed, expected) => expect(seen(changed)).toBe(expected));
});

describe("by age", () => {
  it.each<[string, Partial<FreshnessOptions> & { readonly headAge?: bigint }, string]>([
    ["one missed slot cannot be told from a node that is one behind", { headAge: 39n }, "fresh"],
    ["two are doubtful", { headAge: 40n }, doubtful],
    ["up to the third", { headAge: 51n }, doubtful],
    ["which is stale", { headAge: 52n }, stale],
    ["slots of 5 s are counted, too", { headAge: 18n, chainId: 100 }, "fresh"],
    ["two of them are doubtful", { headAge: 19n, chainId: 100 }, doubtful],
    ["three are stale", { headAge: 24n, chainId: 100 }, stale],
    ["faster chains have 10 s", { headAge: 10n, aheadMs: 0, chainId: 8453 }, "fresh"],
    ["and are doubtful then", { headAge: 11n, aheadMs: 0, chainId: 137 }, doubtful],
    ["for ten more", { headAge: 20n, chainId: 8453 }, doubtful],
    ["and stale", { headAge: 21n, chainId: 8453 }, stale],
    ["an unknown chain two minutes", { headAge: minutes(2), chainId: 4242 }, "fresh"],
    ["and is doubtful then", { headAge: minutes(2) + 1n, chainId: 4242 }, doubtful],
    ["for ten", { headAge: minutes(10), chainId: 4242 }, doubtful],
    ["and stale", { headAge: minutes(10) + 1n, chainId: 4242 }, stale],
    ["a chain that is not named is unknown", { headAge: minutes(11), chain: lookup(null), chainId: null }, stale],
    ["development chains have no age", { headAge: minutes(72 * hours), chainId: 31337 }, "fresh"],
    ["whatever else a caller says of them", { headAge: minutes(9), chainId: 1337, chain: lookup(1) }, "fresh"],
    [
      "a node's own clock is twelve seconds before what it simulates",
      { now: now - 10_000, timestamp: time + 51n },
      "fresh",
    ],
    ["and counts", { now: now - 10_000, timestamp: time + 52n }, doubtful],
    ["so that the block after the latest is no clock", { headAge: 0n, timestamp: time + 12n, chainId: 8453 }, "fresh"],
    [
      "a pending block with the wall clock makes no dead node fresh",
      { headAge: minutes(72 * hours), timestamp: time },
      stale,
    ],
    [
      "nor does the local clock where the node's own tells",
      { now: now - 3_600_000, headAge: 3_700n, timestamp: time },
      stale,
    ],
    ["without a header an old state is still old", { head: null, timestamp: time - minutes(3) }, stale],
    ["and a new one not known to be new", { head: null, timestamp: time }, untold],
  ])("%s", (_, changed, expected) => expect(seen(changed)).toBe(expected));
});

describe("a head that is as old for others, or stays", () => {
  it.each<[string, Partial<FreshnessOptions> & { readonly headAge?: bigint }, string]>([
    ["is the chain's where another endpoint names it", { headAge: 52n, isShared: true }, doubtful],
    ["or where it was the newest a slot ago", { headAge: 52n, heldMs: 12_000 }, doubtful],
    ["but not a moment ago", { headAge: 52n, heldMs: 11_999 }, stale],
    ["up to ten slots", { headAge: 120n, isShared: true, heldMs: 60_000 }, doubtful],
    ["behind which it stands still", { headAge: 121n, isShared: true, heldMs: 60_000 }, stale],
    ["faster chains stay for 10 s", { headAge: 21n, heldMs: 10_000, chainId: 8453 }, doubtful],
    ["and not for one block", { headAge: 21n, heldMs: 9_999, chainId: 8453 }, stale],
    ["nor longer than a minute", { headAge: 61n, isShared: true, chainId: 8453 }, stale],
    ["no later block is taken back by it", { headAge: 52n, isShared: true, highest: 102n }, stale],
    ["nor is what nobody knows the pace of", { headAge: 601n, isShared: true, heldMs: 9e6, chainId: 4242 }, stale],
  ])("%s", (_, changed, expected) => expect(seen(changed)).toBe(expected));
});

describe("by clocks that disagree", () => {
  const skewed = "ClockSkew/info";
  it.each<[string, Partial<FreshnessOptions> & { readonly headAge?: bigint }, string]>([
    ["15 s are nothing", { aheadMs: 15_000 }, "fresh"],
    ["a Date counts before the local clock", { headAge: 40n, aheadMs: -1_000 }, "fresh"],
    ["which counts by itself beyond 15 s", { headAge: 40n, aheadMs: -16_000 }, `unknown ${skewed} HeadOld/warning`],
    ["or where no other clock does", { headAge: 40n }, doubtful],
    ["but not for less", { headAge: 15n, chainId: 8453 }, "fresh"],
    ["nor back", { aheadMs: -15_000 }, "fresh"],
    ["a local clock that is late is told of, and the other one counts", { aheadMs: 16_000 }, `fresh ${skewed}`],
    ["so that a dead node stays dead", { aheadMs: 3_600_000 }, `stale ${skewed} PendingStale/unavailable`],
    [
      "a local clock that is early counts",
      { aheadMs: -3_600_000, headAge: 3_600n },
      `stale ${skewed} PendingStale/unavailable`,
    ],
    [
      "and a head that advances says nothing against it: the whole node may lag as its clock does",
      { aheadMs: -3_600_000, headAge: 3_600n, hasAdvanced: true },
      `stale ${skewed} PendingStale/unavailable`,
    ],
    ["a head from the future cannot be dated", { headAge: -16n }, "unknown ClockSkew/warning"],
    ["whatever the gateway says", { headAge: -3_600n, aheadMs: 60_000 }, "unknown ClockSkew/warning"],
    ["unless a clock is as late", { headAge: -3_600n, aheadMs: 3_590_000 }, `fresh ${skewed}`],
    ["or it lives", { headAge: -16n, hasAdvanced: true }, `fresh ${skewed}`],
    ["a development chain may be anywhere in time", { headAge: -3_600n, chainId: 31337 }, "fresh"],
    [
      "times beyond all clocks are no accident",
      { head: { number: 100n, timestamp: 2n ** 256n - 1n } },
      "unknown ClockSkew/warning",
    ],
  ])("%s", (_, changed, expected) => expect(seen(changed)).toBe(expected));
});

it("chains that mine on demand are anvil's, hardhat's and geth's", () =>
  expect([31337, 1337, 1, 4242, null].map(minesOnDemand)).toEqual([true, true, false, false, false]));
