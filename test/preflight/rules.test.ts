/** Rule by rule on every fork of every client: the cells of the table that `npm run accuracy` prints. */
import { afterAll, beforeAll, describe, it } from "vitest";
import { bedsOf, ruled, type Bed } from "../harness/accuracy/beds.js";
import { groundOf, rules } from "../harness/accuracy/rules.js";

describe.each(bedsOf(ruled))("rules of the accuracy table on %s", (name, start) => {
  let on: Bed;
  beforeAll(async () => {
    on = await start();
  });
  afterAll(() => on?.stop());

  for (const [rule, { isOf, prove }] of Object.entries(rules))
    it.skipIf(isOf?.(name) === false)(rule, { timeout: 60_000 }, () => prove(groundOf(name, on)));
});
