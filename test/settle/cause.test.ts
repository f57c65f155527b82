/** Why something else happened, decided from replays alone. */
import { describe, expect, it } from "vitest";
import { causeOf, isAmountOnly, ranBehind, type Hindsight, type MinedOutcome } from "../rooms/settle.js";
import type { Receipt } from "../rooms/eth.js";

type Replay = NonNullable<Hindsight["replay"]>;

const token = `0x${"11".repeat(20)}` as const;
const topic = `0x${"ab".repeat(32)}` as const;
const word = (value: bigint) => `0x${value.toString(16).padStart(64, "0")}` as const;
const party = word(BigInt(`0x${"99".repeat(20)}`));

const ran = (amount: bigint, changes: Partial<MinedOutcome> = {}): MinedOutcome => ({
  status: "success",
  gasUsed: 50_000n,
  logs: [{ address: token, topics: [topic, party], data: word(amount) }],
  ...changes,
});
const failed: MinedOutcome = { status: "failure", gasUsed: 30_000n, logs: [] };
const [said, now] = [ran(5n), ran(7n)];

const replay = (changes: Partial<Replay>): Replay => ({
  ...{ behind: now, alone: now, earlier: now, rehashed: null, elsewhere: now },
  ...changes,
});

describe("the cause of a difference", () => {
  const rows: ReadonlyArray<readonly [string, Replay, string]> = [
    ["nobody could be asked", replay({ behind: null }), "unknown"],
    ["the simulator gives another outcome than the chain", replay({ behind: said, alone: said }), "simulatorWrong"],
    ["in its block, and nobody ran it alone", replay({ behind: said, alone: null }), "simulatorWrong"],
    [
      "the simulator gives other gas than the chain",
      replay({ behind: { ...now, gasUsed: 1n }, alone: { ...now, gasUsed: 1n } }),
      "simulatorWrong",
    ],
    [
      "in its block the simulator has no gas left, and alone it has",
      replay({ behind: failed, earlier: said, elsewhere: said }),
      "priceMoved",
    ],
    ["only its own block is known", replay({ alone: null }), "unknown"],
    ["those before it in its block made the difference", replay({ alone: said }), "ordering"],
    ["they made it fail", replay({ alone: failed }), "ordering"],
    ["the state that was stood on is gone", replay({ earlier: null }), "unknown"],
    ["amounts moved since", replay({ earlier: said, elsewhere: said }), "priceMoved"],
    ["amounts moved since, and by the clock", replay({ earlier: ran(6n), elsewhere: said }), "priceMoved"],
    ["it would have failed before, and amounts moved", replay({ earlier: failed, elsewhere: failed }), "priceMoved"],
    ["the hashes of the blocks between make it", replay({ earlier: said, rehashed: ran(6n) }), "contextDependent"],
    ["they do not, and amounts moved", replay({ earlier: said, rehashed: said }), "priceMoved"],
    ["no other block could be tried", replay({ elsewhere: null }), "unknown"],
    ["another block gives another outcome on the same state", replay({ elsewhere: said }), "contextDependent"],
    ["nothing explains it but pending state", replay({}), "ordering"],
  ];
  it.each(rows)("is found: %s", (_, asked, expected) => {
    const cause = causeOf(said, now, asked, false);
    expect(cause).toEqual({ class: expected, evidence: expected === "unknown" ? "unavailable" : "measured" });
  });

  it("is the simulator's where the latest state gave the forecast", () => {
    expect(causeOf(said, now, replay({}), true).class).toBe("simulatorWrong");
    // what pending transactions have warmed costs less, and is no lie
    const cheaper = ran(7n, { gasUsed: 40_000n });
    expect(causeOf(cheaper, now, replay({}), true).class).toBe("ordering");
  });
  it("is the order where a status flips with the state", () => {
    expect(causeOf(failed, now, replay({ earlier: failed, elsewhere: failed }), true).class).toBe("ordering");
  });
});

const both = (one: MinedOutcome, other: MinedOutcome): MinedOutcome => ran(0n, { logs: [...one.logs, ...other.logs] });

describe("the choice of a block that is run again", () => {
  const receiptOf = (cumulativeGasUsed: bigint | null): Receipt => ({
    ...({} as Receipt),
    ...{ ...now, logs: now.logs.map((log) => ({ ...log })) as never, cumulativeGasUsed },
  });
  const before = ran(1n, { gasUsed: 30_000n });
  it.each<[string, ReadonlyArray<MinedOutcome>, bigint | null, MinedOutcome | null]>([
    ["nothing was run", [], 50_000n, null],
    ["it did the same, whatever came before it", [before, now], 1n, now],
    ["it did something else behind those of its block", [before, failed], 80_000n, failed],
    ["it did something else, and so did those before it", [before, failed], 80_001n, null],
    ["it did something else, and came first", [failed], 50_000n, failed],
    ["it did something else, and the receipt does not tell what came before it", [before, failed], null, failed],
  ])("is right: %s", (_, calls, cumulative, expected) => {
    expect(ranBehind(calls, receiptOf(cumulative))).toEqual(expected);
  });
});

describe("a difference in amounts alone", () => {
  const log = (changes: Partial<MinedOutcome["logs"][number]>) =>
    ran(5n, { logs: now.logs.map((one) => ({ ...one, ...changes })) });
  const rows: ReadonlyArray<readonly [string, MinedOutcome, MinedOutcome, boolean]> = [
    ["another amount", said, now, true],
    ["the same", said, said, false],
    ["another status", said, failed, false],
    ["a log more", said, ran(5n, { logs: [...now.logs, ...now.logs] }), false],
    ["another contract", said, log({ address: `0x${"22".repeat(20)}` }), false],
    ["another event", said, log({ topics: [word(1n), party] }), false],
    ["another party", said, log({ topics: [topic, word(BigInt(`0x${"77".repeat(20)}`))] }), false],
    ["another collectible", log({ topics: [topic, word(1n)] }), log({ topics: [topic, word(2n)] }), false],
    [
      "the parties in another order",
      log({ topics: [topic, party, topic] }),
      log({ topics: [topic, topic, party] }),
      false,
    ],
    ["two events in another order", both(said, now), both(now, said), true],
    ["longer data", said, log({ data: `${word(5n)}00` }), false],
    ["addresses in other letters", said, log({ address: token, topics: [topic.toUpperCase() as never, party] }), true],
  ];
  it.each(rows)("is judged: %s", (_, one, other, expected) => {
    expect(isAmountOnly(one, other)).toBe(expected);
  });
});
