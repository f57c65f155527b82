import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CallResult, SimulatedBlock } from "../../../src/Eth.js";
import { place, queries } from "../../rooms/witness.js";
import { answersIn, layoutOf } from "../../rooms/steps.js";
import { alice, bob, caseOf, hexOf, token } from "../parts.js";

const at = place(new Uint8Array(40).map((_, index) => index + 1));
const query = queries.balanceOf(token, alice);
const { input } = caseOf();

type Plan = Parameters<typeof layoutOf>[0];

/** A plan of `count` transactions, each with a gas limit of its own. */
const planOf = (count: number, changed: Partial<Plan> = {}): Plan => ({
  calls: Array.from({ length: count }, (_, index) => {
    const gas = BigInt(100_000 + index);
    return { input, request: { from: alice, to: bob, gas }, gas };
  }),
  before: [query],
  after: [query],
  ...changed,
});

const reading = (gift: bigint) => ({ from: alice, query, gas: 200_000n, gift, fees: {} });

/** Rows of `role place`, as short as a table needs. */
const names = (plan: Plan) => layoutOf(plan, at, null).map((row) => row.map((slot) => `${slot.role} ${slot.place}`));

const result = (gasUsed: bigint): CallResult => ({
  ...{ status: "success", gasUsed, maxUsedGas: null, returnData: hexOf("0x"), logs: [], error: null, failure: null },
});

/** Blocks that answer a layout: each call used as much gas as its request names, so that an answer tells whose it is. */
const answer = (layout: ReturnType<typeof layoutOf>): ReadonlyArray<SimulatedBlock> =>
  layout.map(
    (row) => ({ calls: row.map(({ request }) => result(BigInt(request.gas ?? 0))) }) as unknown as SimulatedBlock,
  );

describe("the layout of a simulation", () => {
  it.each<[name: string, plan: Plan, rows: ReadonlyArray<ReadonlyArray<string>>]>([
    ["one transaction", planOf(1), [["before 0", "transaction 0", "after 0"]]],
    ["no transaction", planOf(0), [["before 0", "after 0"]]],
    ["nothing to read", planOf(2, { before: [], after: [] }), [["transaction 0", "transaction 1"]]],
    [
      "a reader in front of each but the first",
      planOf(3, { between: () => [query] }),
      [["before 0", "transaction 0", "between 1", "transaction 1", "between 2", "transaction 2", "after 0"]],
    ],
    [
      "a reader in front of the third alone",
      planOf(3, { between: (index) => (index === 2 ? [query] : []) }),
      [["before 0", "transaction 0", "transaction 1", "between 2", "transaction 2", "after 0"]],
    ],
    [
      "blocks of their own",
      planOf(2, { apart: { blocks: 1, seconds: 12n } }),
      [
        ["before 0", "transaction 0"],
        ["transaction 1", "after 0"],
      ],
    ],
    [
      "blocks of their own, three apart",
      planOf(2, { apart: { blocks: 3, seconds: 12n } }),
      [["before 0", "transaction 0"], [], [], ["transaction 1", "after 0"]],
    ],
    [
      "accounts that read for themselves, one of them given the money",
      planOf(1, { second: [reading(0n), reading(1n)] }),
      [["before 0", "transaction 0", "after 0", "second 0", "gift 1", "second 1"]],
    ],
  ])("of %s uses blocks", (_, plan, rows) => {
    expect(names(plan)).toEqual(rows);
  });

  it("lets only the last reader carry the mark", () => {
    const [row = []] = layoutOf(planOf(2, { between: () => [query] }), at, 7n);
    expect(row.filter(({ request }) => request.value !== undefined).map(({ role }) => role)).toEqual(["after"]);
  });

  it("lets the first reader request as much gas as all limits take, and no reader more than its room", () => {
    const gasOf = (plan: Plan, role: string) =>
      BigInt(
        layoutOf(plan, at, null)
          .flat()
          .find((slot) => slot.role === role)?.request.gas ?? 0,
      );
    expect(gasOf(planOf(2), "before")).toBeGreaterThanOrEqual(200_001n);
    expect(gasOf(planOf(2, { room: 30_000n }), "after")).toBe(30_000n);
  });

  it("gives each answer to its question, in every shape", () => {
    const shape = fc.record({
      ...{ count: fc.integer({ min: 0, max: 4 }), hasBefore: fc.boolean(), hasAfter: fc.boolean() },
      ...{ between: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }), gifts: fc.array(fc.bigInt(0n, 1n)) },
      blocks: fc.option(fc.integer({ min: 1, max: 3 })),
    });
    fc.assert(
      fc.property(shape, ({ count, hasBefore, hasAfter, between, gifts, blocks }) => {
        const plan = planOf(count, {
          ...{ before: hasBefore ? [query] : [], after: hasAfter ? [query] : [], second: gifts.map(reading) },
          between: (index) => (between[index] === true ? [query] : []),
          apart: blocks === null ? null : { blocks, seconds: 12n },
        });
        const layout = layoutOf(plan, at, null);
        const answers = answersIn(plan, layout, answer(layout));
        expect(answers.all.map(({ slot, result: { gasUsed } }) => [slot.request.gas, gasUsed])).toEqual(
          layout.flat().map(({ request }) => [request.gas, BigInt(request.gas ?? 0)]),
        );
        expect(answers.of("transaction").map(({ result: { gasUsed } }) => gasUsed)).toEqual(
          plan.calls.map(({ gas }) => gas),
        );
        expect(answers.measured.some(({ slot: { role } }) => role === "second" || role === "gift")).toBe(false);
      }),
    );
  });
});
