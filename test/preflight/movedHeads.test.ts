/** A part of `npm run accuracy:heads`: a competitor's block among the requests, and each `ready` signed and mined behind it. */
import { describe, expect, it } from "vitest";
import { everyPlace, headBeds, isFalse, manners, randomRuns, type Placed } from "../harness/accuracy/heads.js";

/** So many times fewer places than the program counts. */
const less = 2;

const bounded = headBeds.filter(([name]) => !/43114|901|anvil, chain 1/.test(name));
const paced = headBeds.filter(([name]) => name.endsWith("chain 1"));

describe.each(bounded)("another's block between the requests, on %s", (_, start) => {
  it("leaves nothing ready on a block that a later request could show to be old", async () => {
    const ground = await start();
    try {
      const all: Array<Placed> = [];
      for (const [index, manner] of manners.filter(({ confirmHead }) => !confirmHead).entries())
        all.push(...(await everyPlace(ground, "emptied", manner, { stride: 4 * less, offset: index % (4 * less) })));
      expect(all.filter(isFalse)).toEqual([]);
      expect(all.length).toBeGreaterThan(30 / less);
    } finally {
      await ground.stop();
    }
  }, 600_000);

  it("leaves nothing ready on a block that a second endpoint shows to be old", async () => {
    const ground = await start();
    try {
      const all: Array<Placed> = [];
      for (const [index, manner] of manners.filter(({ confirmHead }) => !confirmHead).entries())
        all.push(
          ...(await everyPlace(ground, "emptied", manner, {
            stride: 7 * less,
            offset: index % (7 * less),
            members: 2,
          })),
        );
      expect(all.filter(isFalse)).toEqual([]);
      expect(all.length).toBeGreaterThan(30 / less);
    } finally {
      await ground.stop();
    }
  }, 600_000);

  it("leaves a confirmed report ready on the latest block, wherever the block came", async () => {
    const ground = await start();
    try {
      const [confirmed] = manners.filter(({ confirmHead, isFamiliar }) => confirmHead && isFamiliar);
      if (confirmed === undefined) throw new Error("no manner confirms");
      const emptied = await everyPlace(ground, "emptied", confirmed, { stride: 3 * less });
      expect(emptied.filter(({ verdict }) => verdict === "ready")).toEqual([]);
      const idle = await everyPlace(ground, "idle", confirmed, { stride: 3 * less });
      expect(idle.map(({ verdict, isTrue }) => [verdict, isTrue])).toEqual(idle.map(() => ["ready", true]));
    } finally {
      await ground.stop();
    }
  }, 600_000);
});

describe.each(paced)(
  "another's block between the requests of a proof on its connection's last head, on %s",
  (_, start) => {
    it("leaves nothing ready on a block that a later request could show to be old, and a harmless one leaves it ready", async () => {
      const ground = await start();
      try {
        for (const [index, manner] of manners.filter(({ by }) => by !== "preflight").entries())
          for (const kind of ["emptied", "nonce", "idle"] as const) {
            const all = await everyPlace(ground, kind, manner, { stride: 4 * less, offset: index % (4 * less) });
            expect(all.filter(isFalse)).toEqual([]);
            expect(all.length).toBeGreaterThan(2 / less);
            // a scan whose pending state is of an older block is not believed, whatever its proof says
            if (kind === "idle" && manner.by === "prove")
              expect(all.map(({ verdict }) => verdict)).toEqual(all.map(() => "ready"));
          }
      } finally {
        await ground.stop();
      }
    }, 600_000);

    it("leaves nothing falsely ready that was sent ahead, at drawn places, orders and base fees", async () => {
      const ground = await start();
      try {
        const told: Array<unknown> = [];
        const tally = await randomRuns(ground, { runs: 30, seed: 5, speculate: true }, (one) => void told.push(one));
        expect([tally.falsely, told]).toEqual([0, []]);
        expect(tally.ready).toBeGreaterThan(1);
        expect(tally.inOneRound).toBeGreaterThan(0);
      } finally {
        await ground.stop();
      }
    }, 600_000);
  },
);

// geth refuses a block that its pending one has overtaken
describe.each(bounded.filter(([name]) => name.endsWith("1337")))("a header that stays behind, on %s", (_, start) => {
  it("gives no ready report that other answers contradict", async () => {
    const ground = await start();
    try {
      const all: Array<Placed> = [];
      for (const manner of manners.filter(({ confirmHead, by }) => !confirmHead && by !== "speculate"))
        all.push(...(await everyPlace(ground, "emptied", manner, { stride: 3, isStale: true })));
      expect(all.filter(isFalse)).toEqual([]);
      expect(all.length).toBeGreaterThan(30);
    } finally {
      await ground.stop();
    }
  }, 600_000);
});
