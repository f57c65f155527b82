/** Logs of a chain that does anything: what was told and not taken back is what the chain holds in the end. */
import * as Effect from "effect/Effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { played, type Weather } from "./wildChain.js";
import { runs } from "../harness/parts.js";

// why: more than a slow taker's queue has room for
const logs = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 2 }) },
  { weight: 1, arbitrary: fc.constant(800) },
);
const weather: fc.Arbitrary<Weather> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ is: fc.constant("mined" as const), logs }) },
  {
    weight: 1,
    arbitrary: fc.record({
      is: fc.constant("reorganised" as const),
      depth: fc.integer({ min: 1, max: 3 }),
      logs: fc.array(logs, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      is: fc.constant("heard" as const),
      count: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constant(1_500)),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ is: "cut" as const }) },
  { weight: 1, arbitrary: fc.constant({ is: "failing" as const }) },
  {
    weight: 3,
    arbitrary: fc.record({ is: fc.constant("later" as const), ms: fc.constantFrom(1, 50, 200, 700, 4_000) }),
  },
);

const mined = (logs: number): Weather => ({ is: "mined", logs });
const reorganised = (depth: number, ...logs: ReadonlyArray<number>): Weather => ({ is: "reorganised", depth, logs });
const heard = (count = 1_500): Weather => ({ is: "heard", count });
const later = (ms: number): Weather => ({ is: "later", ms });
const cut: Weather = { is: "cut" };

/** Where logs were lost, or stayed though their block did not. */
const hard: ReadonlyArray<readonly [what: string, weather: ReadonlyArray<Weather>]> = [
  ["a log before the first head", [later(30), mined(1), later(30), heard(), later(1), mined(1), later(1)]],
  ["a log of a block that no head told of", [mined(0), mined(1), reorganised(1, 0), later(50)]],
  ["one of a height that was skipped", [heard(), mined(1), later(50), reorganised(1, 0, 0), later(50)]],
  ["a log of a head that came before the first was taken", [later(50), mined(1), heard(1)]],
  ["logs on their way while heads went on", [later(1), mined(1), heard(), mined(0), later(50)]],
  ["half of a block's logs", [later(1), mined(2), heard(), later(1), later(1), cut]],
  [
    "a branch below all that was told",
    [mined(0), cut, mined(0), reorganised(2, 0, 0, 0), later(700), reorganised(2, 1, 0)],
  ],
  [
    "a branch whose logs were not given",
    [later(1), mined(1), later(700), heard(), reorganised(1, 1), { is: "failing" }, later(700)],
  ],
  [
    "a block that was gone before its logs came, and the word of that found no room",
    [heard(1), mined(800), mined(0), mined(0), reorganised(3, 0), heard()],
  ],
  [
    "a block that was gone before its logs came, and the word of that was cut off",
    [heard(1), mined(2), reorganised(1, 0, 0), heard(), later(1), cut],
  ],
  [
    // why: while a head is read the next one waits, then logs of a later block still, of which some find no room, then a head
    "more than there is room for",
    [
      ...[later(90), cut, later(700), mined(0), heard(), mined(0), heard(), mined(0), mined(1_500)],
      ...[heard(1), later(90), heard(1), later(90)],
    ],
  ],
];

const inWeather = async (...args: Parameters<typeof played>) => {
  const { wrong, held, should } = await Effect.runPromise(played(...args));
  expect({ wrong, held }).toEqual({ wrong: [], held: should });
};

describe.each([
  ["over a socket", true],
  ["by asking", false],
] as const)("watchLogs in bad weather, %s", (_, hasSocket) => {
  it.each(hard)("leaves after %s exactly the logs that the chain holds", async (_, all) => {
    for (const lateMs of [0, 30]) await inWeather(all, { hasSocket, hasBlooms: false, lateMs });
  });

  it("leaves exactly the logs that the chain holds after any weather", { timeout: 120_000 }, () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(weather, { maxLength: 30 }),
        fc.boolean(),
        fc.constantFrom(0, 30),
        (all, hasBlooms, lateMs) => inWeather(all, { hasSocket, hasBlooms, lateMs }),
      ),
      { numRuns: runs(Number(process.env["RUNS"] ?? 100)) },
    ),
  );
});
