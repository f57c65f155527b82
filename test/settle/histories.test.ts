/** Settlements on real nodes: every constructed history is told as what it is. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { groundOn, histories, settledFrom, type Ground } from "../harness/histories.js";
import { scenesFor } from "../preflight/scene.js";

/** As many as have varieties of their own. */
const each = 5;

describe.each(scenesFor("settled histories"))("settlements of random histories on %s", (_, start) => {
  let ground: Ground;
  beforeAll(async () => {
    ground = await groundOn(await start());
  });
  afterAll(() => ground?.scene.stop());

  it.each(Object.keys(histories) as Array<keyof typeof histories>)(
    "have the class %s",
    async (kind) => {
      for (let index = 0; index < each; index++) {
        const settled = await settledFrom(kind, ground, index);
        expect([kind, index, settled.class, settled.transactions, settled.balances]).toEqual([
          kind,
          index,
          kind,
          settled.transactions,
          settled.balances,
        ]);
      }
    },
    30_000,
  );
});
