import { describe, expect, it } from "vitest";
import { contraryTime, gridOf, isSplit as isParted } from "../../rooms/pipeline.js";

const unpaced = gridOf({ blockTimeMs: 2_000 }, false);

describe("the time of the second simulated block", () => {
  it.each([
    ["so many seconds on, where no fork is known of", 4, null, 1_013n],
    ["the same, where the fork is behind all of a bundle", 4, 1_053n, 1_013n],
    ["the same, where the fork is in front of all of it", 4, 1_013n, 1_013n],
    ["the same, of one transaction, which no fork parts", 1, 1_020n, 1_013n],
    ["behind a fork that would part a bundle", 4, 1_021n, 1_021n],
    ["behind it by one more, where the distance would be even", 4, 1_020n, 1_021n],
    ["behind it, where it parts the last from the others", 4, 1_052n, 1_053n],
  ])("is %s", (_, count, nextFork, time) => {
    expect(contraryTime(1_000n, unpaced, 1, count, nextFork)).toBe(time);
    expect(isParted(count, contraryTime(1_000n, unpaced, 1, count, nextFork), nextFork, 13n)).toBe(false);
    expect((time - 1_000n) % 2n).toBe(1n);
  });
});
