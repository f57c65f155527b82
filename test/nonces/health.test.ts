/** What is wrong with a lane, from its status. */
import { describe, expect, it } from "vitest";
import { health, type Status } from "../../src/Nonces.js";

const hash = `0x${"ab".repeat(32)}` as const;
const committed = (nonce: bigint, outcome: string, ageMs = 1_000) => ({ nonce, hash, attempts: 1, ageMs, outcome });
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
    ["a name of the language", { committed: [committed(5n, "constructor")] }, []],
  ])("of %s", (_, change, kinds) => {
    expect(health({ ...sound, ...change }).map(({ kind }) => kind)).toEqual(kinds);
  });
  it("takes the age from its caller", () => {
    expect(health(sound, { oldAfterMs: 999 })).toMatchObject([{ kind: "old", nonce: 5n }]);
  });
});
