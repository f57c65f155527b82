/** Markets: trades, stakes, loans, interest, and a pool in which others trade too. */
import * as Policy from "../../../src/Policy.js";
import * as artifacts from "../../contracts/artifacts.js";
import { calldata } from "../scene.js";
import { act, approve, ether, mint, type Rows, type Stage, type Who } from "./stage.js";

const tradeIn = (pool: "pair" | "busy", least: bigint) => ({
  before: ({ at }: Stage, who: Who) => [mint(at.gold, who), approve(at.gold, at.router)],
  input: ({ at, now }: Stage, who: Who) =>
    act(who, at.router, artifacts.Router, "exactInput", [at[pool], 100n * ether, least, who.address, now + 1_200n]),
});

export const markets: Rows = {
  "a trade with a minimum and a deadline": tradeIn("pair", 198n * ether),
  // three others trade ahead of it where the pool is full
  "a trade in a busy market": tradeIn("busy", 190n * ether),
  "a trade in a busy market, held to a minimum by a policy": {
    ...tradeIn("busy", 190n * ether),
    options: ({ at }) => ({
      policies: [Policy.minReceived(at.silver, 198n * ether), Policy.maxSpent(at.gold, 100n * ether)],
    }),
  },
  "a trade of ether, and the rest back, in one call": {
    input: ({ at, now }, who) => {
      const args = [at.wethPair, ether / 10n, 100n * ether, who.address, now + 1_200n];
      return act(who, at.router, artifacts.Router, "exactInput", args, ether / 10n);
    },
  },
  "an allowance, and the trade it is for, in one bundle": {
    before: ({ at }, who) => [mint(at.gold, who)],
    input: ({ at, now }, who) => [
      act(who, at.gold, artifacts.Token, "approve", [at.router, 10n * ether]),
      act(who, at.router, artifacts.Router, "exactInput", [at.pair, 10n * ether, ether, who.address, now + 1_200n]),
    ],
  },
  "liquidity given": {
    before: ({ at }, who) => [
      ...[at.gold, at.silver].flatMap((token) => [mint(token, who), approve(token, at.router)]),
    ],
    input: ({ at, now }, who) =>
      act(who, at.router, artifacts.Router, "addLiquidity", [at.pair, 100n * ether, now + 1_200n]),
  },
  "a stake": {
    before: ({ at }, who) => [mint(at.gold, who), approve(at.gold, at.farm)],
    input: ({ at }, who) => act(who, at.farm, artifacts.Farm, "deposit", [5n * ether]),
  },
  "rewards for each block": {
    before: ({ at }, who) => [
      ...[mint(at.gold, who), approve(at.gold, at.farm)],
      { to: at.farm, data: calldata(artifacts.Farm, "deposit", [5n * ether]) },
    ],
    input: ({ at }, who) => act(who, at.farm, artifacts.Farm, "harvest"),
    // a few blocks' worth is a fifth more in the block after: what comes in differs by the block
    severe: ["ChanceDependent/warning"],
  },
  "a loan against ether, by a price that must be fresh": {
    input: ({ at }, who) => act(who, at.bank, artifacts.Bank, "borrow", [100n * ether], ether),
  },
  "a debt that grows, paid back whole": {
    before: ({ at }, who) => [
      ...[mint(at.gold, who), approve(at.gold, at.bank)],
      { to: at.bank, data: calldata(artifacts.Bank, "borrow", [100n * ether]), value: ether },
    ],
    input: ({ at }, who) => act(who, at.bank, artifacts.Bank, "repayAll"),
  },
  "a price told by its operator": {
    input: ({ at }, who) => act(who, at.feed, artifacts.Feed, "submit", [2_001n]),
  },
  "savings paid in": {
    before: ({ at }, who) => [mint(at.gold, who), approve(at.gold, at.savings)],
    input: ({ at }, who) => act(who, at.savings, artifacts.Savings, "deposit", [50n * ether, who.address]),
  },
  "savings taken out, with interest": {
    before: ({ at }, who) => [
      ...[mint(at.gold, who), approve(at.gold, at.savings)],
      { to: at.savings, data: calldata(artifacts.Savings, "deposit", [50n * ether, who.address]) },
    ],
    input: ({ at }, who) => act(who, at.savings, artifacts.Savings, "redeem", [40n * ether, who.address, who.address]),
  },
};
