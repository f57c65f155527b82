/** How much the answers of a proof may hold together, by the events of its report. */
import * as Effect from "effect/Effect";
import { expect, it } from "vitest";
import { withRoomFor, withRun } from "../../rooms/pipeline.js";
import { CurrentRun } from "../../rooms/rpc.js";

const mebibyte = 1_048_576;
const word = `0x${"11".repeat(32)}` as const;
const log = { address: `0x${"22".repeat(20)}`, topics: [word, word, word], data: word, decoded: null } as const;
const telling = (count: number) =>
  ({ transactions: [{ outcome: { logs: Array.from({ length: count }, () => log) } }] }) as never;
const left = Effect.map(CurrentRun, ({ answers }) => answers?.left);

/** MiB that a proof of so many events may hold more than its scan left, and how much of that is nobody's behind it. */
const roomFor = (count: number) =>
  Effect.runPromise(
    withRun(1_000, () => Effect.all([left, withRoomFor(telling(count), left), left])).pipe(
      Effect.map(([before = 0, within = 0, behind = 0]) => [(within - before) / mebibyte, behind - within]),
    ),
  );

it("the room for answers grows with the events that every run repeats, up to a bound", async () => {
  expect(await roomFor(0)).toEqual([0, 0]);
  const [more = 0, behind] = await roomFor(5_000);
  // five runs of 5,000 events, of 625 bytes each on anvil
  expect(more).toBeGreaterThan((5 * 5_000 * 625) / mebibyte);
  expect([more <= 20, behind]).toEqual([true, 0]);
  expect(await roomFor(10_000)).toEqual([0, 0]);
});

it("the room for answers has no bound outside a run", async () => {
  expect(await Effect.runPromise(withRoomFor(telling(5_000), left))).toBeUndefined();
});
