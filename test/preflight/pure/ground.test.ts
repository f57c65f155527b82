/** Where runs stood, by tables: on the block that they were asked for, or elsewhere. */
import * as Result from "effect/Result";
import { describe, expect, it } from "vitest";
import { isParted, type Ground } from "../../rooms/pipeline.js";
import { Hash } from "../../rooms/primitives.js";
import type { Run } from "../../rooms/steps.js";
import { holding, named, plan } from "./world.js";

const of = (digits: string) => Hash.make(`0x${digits.repeat(32)}`);
const [wanted, other, zero] = [of("ab"), of("cd"), of("00")];
const ground: Ground = { head: { number: 100n, hash: wanted }, isPlaced: false, isPreconfirmed: false, tolerance: 0 };
const pin = { blockHash: wanted, requireCanonical: true };

/** A run whose witness reads one hash, and whose answer names another. */
const ran = (number: bigint, read: Hash, answered: Hash, block: Run["plan"]["block"] = pin) => {
  const run = named("next", [], { before: holding(1n, { number, parentHash: read }), plan: plan({ block }) });
  return Result.succeed({ ...run, block: { ...run.block, parentHash: answered } });
};

describe("a run that was asked for on block 100", () => {
  it.each([
    ["stands there", ran(101n, wanted, wanted), false],
    ["stands there by what the witness reads", ran(101n, wanted, other), false],
    ["stands on another branch", ran(101n, other, wanted), true],
    ["stands there by the answer, where contracts have no hash of it", ran(101n, zero, wanted), false],
    ["stands elsewhere by the answer, where contracts have no hash of it", ran(101n, zero, other), true],
    ["names no hash at all", ran(101n, zero, zero), false],
    ["stands on the block after, whose number nobody chose", ran(102n, other, other), true],
    ["stands on the block before", ran(100n, other, other), true],
    ["as the latest stands there", ran(101n, wanted, wanted, "latest"), false],
    ["as the latest stands on another", ran(101n, other, other, "latest"), true],
    ["as the latest stands on the block after", ran(102n, other, other, "latest"), true],
    ["as pending may stand on the block after", ran(102n, other, other, "pending"), false],
    ["as pending stands there", ran(101n, wanted, wanted, "pending"), false],
    ["as pending stands on the block before", ran(100n, other, other, "pending"), true],
    ["as pending stands on another branch, or another chain", ran(101n, other, other, "pending"), true],
    ["by a number is the caller's own", ran(91n, other, other, 90n), false],
  ])("%s", (_, run, isElsewhere) => {
    expect(isParted([run], ground)).toBe(isElsewhere);
  });

  it("as what is ordered before us may have been the beginning of the head", () => {
    const preconfirmed = { ...ground, isPreconfirmed: true };
    expect(isParted([ran(101n, other, other, "pending")], preconfirmed)).toBe(false);
    expect(isParted([ran(100n, other, other, "pending")], preconfirmed)).toBe(true);
  });

  it("behind blocks that the caller pretends cannot be seen", () => {
    expect(isParted([ran(900n, other, other)], { ...ground, isPlaced: true })).toBe(false);
    expect(isParted([ran(101n, other, other)], { ...ground, isPlaced: true })).toBe(true);
    expect(isParted([ran(900n, other, other)], { ...ground, isPlaced: true, head: null })).toBe(false);
  });
});
