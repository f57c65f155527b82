/** When code that is only there after a bundle was there for one of its calls. */
import { describe, expect, it } from "vitest";
import type { Address } from "../../src/primitives/hex.js";
import { appearanceOf, type Appearance, type Makers } from "../../src/steps/code.js";

const target = `0x${"aa".repeat(20)}` as Address;

/** Per transaction: `deploys` or `authorises` the target, `calls` something, or `pays` without running code. */
const makersOf = (bundle: ReadonlyArray<"deploys" | "authorises" | "calls" | "pays">): Makers => ({
  creates: bundle.map((what) => (what === "deploys" ? target : null)),
  authorities: bundle.map((what) => (what === "authorises" ? [target] : [])),
  runs: bundle.map((what) => what !== "pays"),
});

describe("appearanceOf", () => {
  it.each<[ReadonlyArray<"deploys" | "authorises" | "calls" | "pays">, number, Appearance]>([
    [["deploys", "calls"], 1, "before"],
    [["calls", "deploys"], 0, "after"],
    [["pays", "calls", "deploys"], 1, "after"],
    [["authorises"], 0, "before"],
    [["calls", "authorises"], 0, "after"],
    // only a call before it can have been the factory
    [["calls", "calls"], 1, "before"],
    // nothing before it runs code
    [["pays", "calls"], 1, "after"],
    // the factory may be the call before or the one after
    [["calls", "calls", "calls"], 1, "unclear"],
    [["calls", "calls", "pays"], 1, "before"],
  ])("in %j for call %i is %s", (bundle, index, expected) => {
    expect(appearanceOf(target, index, makersOf(bundle))).toBe(expected);
  });
});
