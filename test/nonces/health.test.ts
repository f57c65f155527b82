/** What is wrong with a lane, from its status. */
import { describe, expect, it } from "vitest";
import { health, type Status } from "../../src/Nonces.js";

const hash = `0x${"ab".repeat(32)}` as const;
const committed = (nonce: bigint, outcome: string, ageMs = 1_000, offeredMs: number | null = 500) => ({
  ...{ nonce, hash, attempts: 1, ageMs, offeredMs, outcome, state: "handed" as const, why: "" },
});
const settled = (nonce: bigint, outcome: string, ageMs = 1_000) => ({ nonce, hash, ageMs, outcome });
const sound: Status = {
  lane: "1:0x00000000000000000000000000000000000000aa:0",
  counts: { latest: 5n, pending: 6n },
  floor: 5n,
  next: 7n,
  reserved: [],
  committed: [committed(5n, "accepted")],
  gaps: [],
  foreign: [],
  settled: [],
  violations: [],
};

describe("health", () => {
  it.each<[what: string, change: Partial<Status>, kinds: ReadonlyArray<string>]>([
    ["a sound lane", {}, []],
    ["nothing in flight", { committed: [], counts: null }, []],
    ["unknown, alreadyKnown and tooHigh", { committed: [committed(5n, "unknown"), committed(6n, "tooHigh")] }, []],
    ["a head that is refused", { committed: [committed(5n, "rejected")] }, ["rejected"]],
    ["one that is refused behind it", { committed: [committed(5n, ""), committed(6n, "rejected")] }, ["rejected"]],
    ["a head that pays too little", { committed: [committed(5n, "underpriced")] }, ["underpriced"]],
    ["a head that is old", { committed: [committed(5n, "accepted", 300_001)] }, ["old"]],
    ["one that is old behind it", { committed: [committed(5n, ""), committed(6n, "", 300_001)] }, []],
    ["a gap", { gaps: [5n], committed: [committed(6n, "accepted")] }, ["gap"]],
    ["a chain that went back", { counts: { latest: 4n, pending: 6n } }, ["behind"]],
    ["damage, first of all", { violations: ["nonce 5 stands twice"], gaps: [5n] }, ["damaged", "gap"]],
    ["one that another's took", { settled: [settled(3n, "mined"), settled(4n, "burned")] }, ["burned"]],
    ["mined ones, however old", { settled: [settled(4n, "mined", 900_000)] }, []],
    ["one whose end is not known yet", { settled: [settled(4n, "accepted")] }, []],
    ["one whose end nobody looks for", { settled: [settled(4n, "accepted", 60_001)] }, ["unkept"]],
    ["bytes that nobody sends again", { committed: [committed(5n, "accepted", 60_001, 60_001)] }, ["unkept"]],
    ["bytes that only their owner has", { committed: [committed(5n, "accepted", 60_001, null)] }, []],
    ["old bytes that are sent again", { committed: [committed(5n, "accepted", 60_001)] }, []],
    ["one that is mined, which nobody settles", { committed: [committed(4n, "accepted", 60_001)] }, ["unkept"]],
    ["an old one that the chain has passed", { committed: [committed(4n, "accepted", 300_001)] }, ["unkept"]],
    ["a refused one that the chain has passed", { committed: [committed(4n, "rejected")] }, []],
    [
      "an old one behind one that the chain has passed",
      { committed: [committed(4n, "", 300_001), committed(5n, "", 300_001)] },
      ["old", "unkept"],
    ],
    ["a gap that the chain has passed", { gaps: [4n] }, []],
    ["an old one where the chain is not known", { counts: null, committed: [committed(4n, "", 300_001)] }, ["old"]],
    ["a name of the language", { committed: [committed(5n, "constructor")] }, []],
  ])("lists the problems of %s", (_, change, kinds) => {
    expect(health({ ...sound, ...change }).map(({ kind }) => kind)).toEqual(kinds);
  });
  it("calls a nonce already used on chain, and does not say to replace it", () => {
    const [concern] = health({ ...sound, committed: [committed(4n, "accepted", 300_001)] });
    expect(concern?.sentence).toContain("nonce 4 is already used on chain, and no process watches this account");
  });
  it("takes the age limit from its caller", () => {
    expect(health(sound, { oldAfterMs: 999 })).toMatchObject([{ kind: "old", nonce: 5n }]);
  });
});
