/** Which smaller limit stands where a call inside burns its gas, by what simulations and traces tell. */
import { describe, expect, it } from "vitest";
import { judgeSmaller, type Seen } from "../../rooms/pipeline.js";
import { alice, hexOf, outcome, token, word } from "../../steps/parts.js";

const hex = (value: bigint) => `0x${value.toString(16)}`;
const slot = hexOf(`0x${word(1n)}`);

/** A payout at a limit: one call burns what it gets, and one behind it takes 2,000. */
const at = (limit: bigint, { rest = 50_000n, skips = false, stored = 7n, logs = 0 } = {}): Seen => {
  const base = { from: alice, to: token, input: "0x", output: "0x", value: "0x0" };
  const burnt = { ...base, type: "CALL", gas: hex(limit), gasUsed: hex(limit), error: "out of gas" };
  const behind = { ...base, type: "CALL", gas: hex(2_000n + rest), gasUsed: "0x7d0" };
  const trace = { ...base, type: "CALL", gasUsed: hex(limit), calls: skips ? [burnt] : [burnt, behind] };
  const log = { address: token, topics: [], data: hexOf("0x") };
  const told = outcome({ gasUsed: limit, returnData: null, logs: Array.from({ length: logs }, () => log) as never });
  const storage = (value: bigint) => new Map([[slot, hexOf(`0x${word(value)}`)]]);
  const account = (value: bigint) =>
    new Map([[token, { balance: null, nonce: 1, code: null, storage: storage(value) }]]);
  return {
    ...{ limits: [limit], outcomes: [told], traces: [{ trace, tokens: new Set() }] },
    traced: [{ pre: account(1n), post: account(stored) }] as never,
  };
};
const [larger, smaller] = [at(16_000_000n, { rest: 250_000n }), at(1_600_000n)];
const judged = (first: Seen, ...others: ReadonlyArray<Seen>) => judgeSmaller(larger, [first, ...others], 22_100n);

describe("a smaller limit", () => {
  it.each<[string, ReturnType<typeof judged>, string]>([
    ["stands where all is the same", judged(smaller, at(1_200_000n), at(800_000n, { rest: 0n })), "stands"],
    ["is open where too little is left behind", judged(at(1_600_000n, { rest: 22_099n }), at(800_000n)), "open"],
    ["is open where a call is skipped below it", judged(smaller, at(800_000n, { skips: true })), "open"],
    ["is open where an event is missing below it", judged(smaller, at(800_000n, { logs: 1 })), "open"],
    ["is open where a slot differs below it", judged(smaller, at(800_000n, { stored: 8n })), "open"],
    ["is none where a call is skipped", judged(at(1_600_000n, { skips: true })), "differs"],
    ["is none where a slot differs", judged(at(1_600_000n, { stored: 8n })), "differs"],
    ["is none where an event differs", judged(at(1_600_000n, { logs: 1 })), "differs"],
    ["is open where nothing was simulated", judged({ ...smaller, outcomes: [] }), "open"],
    ["is open where no calls are told", judged({ ...smaller, traces: [] }), "open"],
    ["is open where no changes are told", judged({ ...smaller, traced: [] }), "open"],
    ["is open where nothing is told below it", judged(smaller, { ...at(800_000n), traces: [] }), "open"],
    ["is open where a trace is of another run", judged({ ...smaller, outcomes: at(1_600_001n).outcomes }), "open"],
  ])("%s", (_, found, expected) => expect(found).toBe(expected));

  it("is judged only for transactions whose own limit changes", () => {
    const both = (one: Seen): Seen => ({
      limits: [...one.limits, 21_000n],
      outcomes: [...one.outcomes, outcome({ gasUsed: 21_000n })],
      traces: one.traces,
      traced: [...one.traced, ...one.traced],
    });
    expect(judgeSmaller(both(larger), [both(smaller)], 22_100n)).toBe("stands");
  });

  it("stands for a bundle only where each of its transactions does the same", () => {
    const two = (one: Seen, other: Seen): Seen => ({
      limits: [...one.limits, ...other.limits],
      outcomes: [...one.outcomes, ...other.outcomes],
      traces: [...one.traces, ...other.traces],
      traced: [...one.traced, ...other.traced],
    });
    const judge = (trial: Seen) => judgeSmaller(two(larger, larger), [trial], 22_100n);
    const skipping = at(1_600_000n, { skips: true });
    expect(judge(two(smaller, smaller))).toBe("stands");
    expect([judge(two(smaller, skipping)), judge(two(skipping, smaller))]).toEqual(["differs", "differs"]);
    const unseen = { ...smaller, traces: [] };
    expect([judge(two(smaller, unseen)), judge(two(unseen, smaller))]).toEqual(["open", "open"]);
  });
});
