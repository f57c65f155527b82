/** What reads the clock, the block, its price, its producer or its randomness, as honest contracts do. */
import { encodeAbiParameters, keccak256, toHex } from "viem";
import * as Policy from "../../../src/Policy.js";
import * as artifacts from "../../contracts/artifacts.js";
import { calldata, nobody, other } from "../scene.js";
import { act, approve, ether, mint, type Rows, type Who } from "./stage.js";

const salt = toHex(7n, { size: 32 });
const secret = keccak256(encodeAbiParameters([{ type: "uint256" }, { type: "bytes32" }], [42n, salt]));
const topic = "cheaper gas";
const proposalOf = ({ address }: Who) =>
  BigInt(keccak256(encodeAbiParameters([{ type: "address" }, { type: "string" }], [address, topic])));
const year = 365n * 24n * 3600n;

export const clocks: Rows = {
  "what a grant has released since last month": {
    input: ({ at }, who) => act(who, at.grant, artifacts.Shares, "releaseVested"),
  },
  "what a grant has released since a moment ago": {
    input: ({ at }, who) => act(who, at.vesting, artifacts.Vesting, "release"),
    // a few seconds' worth is twice as much a moment later: what comes in differs by the block
    severe: ["ChanceDependent/warning"],
  },
  "a token at a falling price, the rest given back": {
    input: ({ at }, who) => act(who, at.auction, artifacts.Auction, "buy", [], ether),
  },
  "a collectible at a falling price, the rest given back": {
    input: ({ at }, who) => act(who, at.gallery, artifacts.Gallery, "buy", [], ether),
    options: () => ({ policies: [Policy.maxSpent("native", ether)] }),
  },
  "a collectible that another may get first": {
    input: ({ at }, who) => act(who, at.crowdedGallery, artifacts.Gallery, "buy", [], ether / 10n),
    // somebody else is in the pool with the same call, and the numbers are given in order
    crowded: ["DependsOnPending/warning"],
  },
  "a collectible by a draw": {
    input: ({ at }, who) => act(who, at.gallery, artifacts.Gallery, "draw"),
    severe: ["ChanceDependent/warning"],
  },
  "a bid, and the last one paid back": {
    before: ({ at }) => [{ to: at.english, data: calldata(artifacts.English, "bid"), value: ether }],
    input: ({ at }, who) => act(who, at.english, artifacts.English, "bid", [], 2n * ether),
  },
  "work that is due, paid": {
    input: ({ at }, who) => act(who, at.upkeep, artifacts.Upkeep, "performUpkeep", ["0x"]),
  },
  "gas paid back at its price": {
    input: ({ at }, who) => act(who, at.upkeep, artifacts.Upkeep, "relay"),
  },
  "a vote, weighed at an earlier block": {
    before: ({ at }, who) => [
      mint(at.chamber, who),
      { to: at.chamber, data: calldata(artifacts.Chamber, "propose", [topic]) },
    ],
    input: ({ at }, who) => act(who, at.chamber, artifacts.Chamber, "castVote", [proposalOf(who), 1]),
  },
  "votes moved, counted at their block": {
    before: ({ at }, who) => [mint(at.chamber, who)],
    input: ({ at }, who) => act(who, at.chamber, artifacts.Chamber, "transfer", [other.address, ether]),
  },
  "a proposal for later blocks": {
    input: ({ at }, who) => act(who, at.chamber, artifacts.Chamber, "propose", ["more light"]),
  },
  "a call put off, under a hash of its time": {
    input: ({ at }, who) => act(who, at.patience, artifacts.Patience, "schedule", [nobody, 1n, "0x1234", 86_400n]),
  },
  "a secret": { input: ({ at }, who) => act(who, at.patience, artifacts.Patience, "commit", [secret]) },
  "a secret shown": {
    before: ({ at }) => [{ to: at.patience, data: calldata(artifacts.Patience, "commit", [secret]) }],
    input: ({ at }, who) => act(who, at.patience, artifacts.Patience, "reveal", [42n, salt]),
  },
  "a name for a year, the rest given back": {
    input: ({ at }, who) => act(who, at.patience, artifacts.Patience, "register", ["alice", year], ether / 100n),
  },
  "a month's due, taken by the merchant": {
    before: ({ at }, who) => [
      ...[mint(at.gold, who), approve(at.gold, at.till)],
      { to: at.till, data: calldata(artifacts.Till, "subscribe") },
    ],
    input: ({ at }, who) => act(who, at.till, artifacts.Till, "charge", [who.address, other.address, ether]),
  },
  "the block written down": { input: ({ at }, who) => act(who, at.almanac, artifacts.Almanac, "write") },
  "a message with a number and a hash of its block": {
    input: ({ at }, who) => act(who, at.almanac, artifacts.Almanac, "post", ["0x1234"], ether),
  },
  "a tip for the block's producer": {
    input: ({ at }, who) => act(who, at.almanac, artifacts.Almanac, "tip", [], ether),
  },
  "every value of the block, in one event": {
    input: ({ at }, who) => act(who, at.context, artifacts.ContextReader, "read"),
  },
  "many events with the time": { input: ({ at }, who) => act(who, at.chronicle, artifacts.Chronicle, "record", [60n]) },
  "a blob, and where it belongs": {
    input: (_, { address }) => ({
      from: address,
      to: nobody,
      maxFeePerBlobGas: 1_000_000_000n,
      blobVersionedHashes: [`0x01${"ab".repeat(31)}`],
    }),
    // no commitment of a blob is at hand to sign it with
    isMined: false,
  },
};
