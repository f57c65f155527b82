/** Where runs stood, by tables: on the block that they were asked for, or elsewhere. */
import * as Result from "effect/Result";
import { describe, expect, it } from "vitest";
import { isParted, minedBehind, type Ground } from "../../rooms/pipeline.js";
import { InvalidParams, RpcError, SimBlockOrder } from "../../rooms/errors.js";
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

  it("may be ordered behind transactions that began the head", () => {
    const preconfirmed = { ...ground, isPreconfirmed: true };
    expect(isParted([ran(101n, other, other, "pending")], preconfirmed)).toBe(false);
    expect(isParted([ran(100n, other, other, "pending")], preconfirmed)).toBe(true);
  });

  it("cannot be seen behind blocks that the caller pretends", () => {
    expect(isParted([ran(900n, other, other)], { ...ground, isPlaced: true })).toBe(false);
    expect(isParted([ran(101n, other, other)], { ...ground, isPlaced: true })).toBe(true);
    expect(isParted([ran(900n, other, other)], { ...ground, isPlaced: true, head: null })).toBe(false);
  });
});

describe("the latest block by runs that pending state has overtaken", () => {
  const refused = (reason: RpcError["reason"]) => Result.fail(new RpcError({ method: "eth_simulateV1", reason }));
  const late = refused(new SimBlockOrder({ code: -38020, detail: "" }));
  const row = (
    number: bigint | undefined,
    ahead: ReadonlyArray<bigint> = [],
    block: "pending" | typeof pin = "pending",
  ) => ({
    ...{ key: "exact" as const, block, ahead: ahead.map((each) => ({ number: each })) },
    context: number === undefined ? {} : { number },
  });
  it.each([
    ["is the one before the number that it has already", row(102n), late, 101n],
    ["is by the first block of the run, which may be an empty one in front", row(103n, [101n, 102n]), late, 100n],
    ["is not told by a run on a block by its hash", row(102n, [], pin), late, null],
    ["is not told where nobody numbers the block", row(undefined), late, null],
    ["is not told by the order of times", row(102n), refused(new SimBlockOrder({ code: -38021, detail: "" })), null],
    ["is not told by another refusal", row(102n), refused(new InvalidParams({ code: -32602, detail: "" })), null],
    ["is not told where it ran", row(102n), ran(102n, wanted, wanted, "pending"), null],
  ] as const)("%s", (_, asked, answer, mined) => {
    expect(minedBehind([asked], new Map([["exact", answer]]))).toBe(mined);
  });
});
