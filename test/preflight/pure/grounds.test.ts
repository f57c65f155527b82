/** What the worlds of a proof stand on, by tables: kind of chain, tag, and what the endpoint takes. */
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import { describe, expect, it } from "vitest";
import { lookup } from "../../../src/Chains.js";
import { gasRows, groundOf, signedOf, worldsOf, worldsOn, type World } from "../../rooms/pipeline.js";
import { alice, hexOf } from "../../steps/parts.js";
import { header } from "../../steps/reading/facts.js";
import { answersTo, counted, roundOf, scanned } from "./world.js";

type Input = Parameters<typeof groundOf>[0];

const chains = { ethereum: lookup(1), opStack: lookup(10), unknown: lookup(123_456) };

const head = header({ number: 100n });
/** Seconds of the head. */
const then = 1_790_000_000n;

interface Given {
  readonly chain?: keyof typeof chains;
  readonly tag?: "pending" | "latest" | bigint;
  readonly takesHashes?: boolean;
  readonly takesEntries?: boolean;
  /** How many transactions there are, and the gas of each. */
  readonly count?: number;
  readonly gas?: bigint | null;
  readonly options?: Partial<Input["report"]["options"]>;
  readonly observed?: Partial<Input["report"]["observed"]>;
  readonly input?: Partial<Input>;
}

const inputOf = ({ chain = "ethereum", tag = "pending", count = 1, gas = null, ...given }: Given): Input => {
  const { report } = scanned(
    Array.from({ length: count }, () => ({ gas })),
    { block: tag, counts: counted([alice, 4, 4]) },
  );
  const signed = signedOf(report);
  if (signed === null) throw new Error("a request has a hole");
  return {
    report: {
      ...report,
      options: { ...report.options, block: tag, ...given.options },
      observed: { ...report.observed, ...given.observed },
    },
    ...{ signed, chain: chains[chain], head: answersTo(roundOf(signed, { header: head })).header },
    ...{ takesHashes: given.takesHashes ?? true, takesEntries: given.takesEntries ?? true },
    ...{ nextFork: null, isOwn: true, reach: 5, draw: null, further: null, isBlobFeeRead: false, lastUse: null },
    ...given.input,
  };
};

const ground = (given: Given) => groundOf(inputOf(given), Number(then) * 1_000);

const state = ({ block }: { readonly block: unknown }) =>
  typeof block === "object" ? "hash" : typeof block === "bigint" ? `${block}` : String(block);

/** A head whose base fee can fall no further, and requests that can pay no other. */
const low = header({ number: 100n, baseFeePerGas: 7n });
const floor = answersTo(roundOf(inputOf({}).signed, { header: low })).header;
const capped = Arr.map(inputOf({}).signed, (entry) => ({
  ...entry,
  request: { ...entry.request, maxFeePerGas: 7n } as typeof entry.request,
}));

const pendingBlock = { baseNumber: 101n, latestNumber: 100n } as const;

describe("the ground of the simulated blocks", () => {
  const rows: ReadonlyArray<
    [chain: keyof typeof chains, tag: "pending" | "latest" | bigint, next: string, exact: string, apart: string]
  > = [
    // why: a guess is looked at beside the sealed head
    ["ethereum", "pending", "hash", "pending", "hash"],
    ["ethereum", "latest", "hash", "hash", "hash"],
    ["ethereum", 90n, "90", "90", "90"],
    // why: what is ordered before us is in every world
    ["opStack", "pending", "pending", "pending", "hash"],
    ["opStack", "latest", "hash", "hash", "hash"],
    ["opStack", 90n, "90", "90", "90"],
    ["unknown", "pending", "hash", "pending", "hash"],
    ["unknown", "latest", "hash", "hash", "hash"],
  ];
  it.each(rows)("is right for %s, on %s: next on %s, exact on %s, apart on %s", (chain, tag, next, exact, apart) => {
    const { sealed, far, head } = ground({ chain, tag });
    expect([state(sealed), state(far), state(head)]).toEqual([next, exact, apart]);
  });
  it.each(rows.map(([chain, tag]) => [chain, tag] as const))(
    "names no hash for %s, on %s, where the node takes none",
    (chain, tag) => {
      const { sealed, far, head, onHead } = ground({ chain, tag, takesHashes: false });
      expect([state(sealed), state(far)]).toEqual([String(tag), String(tag)]);
      expect([state(head), onHead]).toEqual([tag === "pending" ? "latest" : String(tag), null]);
    },
  );

  it.each<[chain: keyof typeof chains, tag: "latest" | "pending" | bigint, seconds: bigint]>([
    ["ethereum", "latest", 12n],
    ["ethereum", "pending", 12n],
    ["opStack", "latest", 2n],
    ["unknown", "latest", 1n],
    ["ethereum", 90n, 0n],
  ])("puts for %s, on %s, the next block %i s behind the newest", (chain, tag, later) => {
    expect(ground({ chain, tag }).next).toMatchObject({ number: 101n, time: then + later });
  });

  it.each<[takesEntries: boolean, of: string, given: Given, expected: Partial<ReturnType<typeof ground>>]>([
    [true, "a bracket", {}, { isBracketed: true, steps: [3], distance: 5 }],
    [true, "a short bracket", { input: { reach: 1 } }, { isBracketed: true, steps: [1], distance: 1 }],
    [true, "no further world", { input: { further: 0 } }, { isBracketed: false, steps: [], distance: 5 }],
    [false, "one block at a time", {}, { isBracketed: false, steps: [], distance: null }],
    [
      true,
      "a number that the caller pretends",
      { options: { blockOverrides: { number: 7n } } },
      { isBracketed: false, steps: [], isPlaced: true, next: { number: null, time: then + 12n, baseFee: 10n ** 9n } },
    ],
    [
      true,
      "a time that the caller pretends",
      { options: { blockOverrides: { time: 7n } } },
      { isBracketed: false, isPlaced: true },
    ],
  ])("takes several blocks: %s, %s", (takesEntries, _, given, expected) => {
    expect(ground({ ...given, takesEntries })).toMatchObject(expected);
  });

  it.each<[of: string, given: Given, isApart: boolean]>([
    ["one transaction", { count: 1 }, false],
    ["two", { count: 2 }, true],
    ["two, and one block at a time", { count: 2, takesEntries: false }, false],
    ["two behind what is ordered before them", { count: 2, chain: "opStack" }, false],
    ["two on the latest block of such a chain", { count: 2, chain: "opStack", tag: "latest" }, true],
    ["two at a place that the caller pretends", { count: 2, options: { blockOverrides: { number: 7n } } }, false],
  ])("for %s puts transactions in blocks of their own or not", (_, given, isApart) => {
    expect(ground(given)).toMatchObject({ isApart, spread: null });
  });

  it("spreads over blocks a bundle that is larger than one", () => {
    expect(ground({ count: 2, gas: 16_000_000n }).spread).toMatchObject({ blocks: 1, seconds: 12n });
    expect(ground({ count: 2, gas: 15_000_000n }).spread).toBeNull();
  });

  it.each<[given: Given, expected: Partial<ReturnType<typeof ground>>]>([
    // why: sealed beside it, so that what comes behind the pending block is one further
    [{ takesHashes: true }, { isPastNext: true, isFeeNamed: true, next: { ...ground({}).next } }],
    [{ takesHashes: false }, { isPastNext: false, isFeeNamed: true }],
  ])("is right where the pending block is itself the next: %o", (given, expected) => {
    const found = ground({ ...given, observed: pendingBlock });
    expect(found).toMatchObject(expected);
    expect(found.next.number).toBe(given.takesHashes === true ? 101n : 102n);
  });
});

describe("the simulated blocks on their ground", () => {
  const rolled = (digits: string, size: number) => hexOf(`0x${digits.repeat(size)}`);
  const worlds = (given: Given) => {
    const input = inputOf(given);
    const on = groundOf(input, Number(then) * 1_000);
    return worldsOn(input, on, {
      draw: { prevRandao: rolled("ab", 32), chance: rolled("17", 40) },
      roots: on.isBracketed ? { next: rolled("01", 32), exact: rolled("02", 32) } : null,
      between: on.steps.map((steps) => ({
        ...{ steps, chance: rolled("2b", 40), prevRandao: rolled("cd", 32), beaconRoot: rolled("03", 32) },
      })),
    });
  };

  const worldsIn = (given: Given): Readonly<Record<string, World>> =>
    Object.fromEntries(worlds(given).rows.map((world) => [world.key, world]));
  const worldOf = (given: Given, key: string): World => worldsIn(given)[key] ?? expect.fail(`no world ${key}`);
  /** A world by its block: the state, the blocks in front, its number, and seconds behind the head. */
  const blockIn = (world: World | undefined): string => {
    if (world === undefined) return "none";
    const { ahead, apart, context } = world;
    const at = context.time == null ? "-" : BigInt(context.time) - then;
    const block = `${state(world)} ${ahead.length} ${context.number ?? "-"} ${at}`;
    return apart === null ? block : `${block} apart ${apart.blocks}`;
  };

  it.each<[of: string, input: Partial<Input>, seconds: bigint]>([
    ["no signature", { lastUse: null }, 72n],
    ["one that is of use for an hour", { lastUse: then + 3_600n }, 3_600n],
    ["one that is of no use behind the bracket", { lastUse: then + 60n }, 72n],
    ["one that is of use for ever", { lastUse: 2n ** 64n }, 72n + 30n * 86_400n],
    ["one that a fork comes before", { lastUse: then + 3_600n, nextFork: then + 1_800n }, 72n],
    ["one that a fork comes behind", { lastUse: then + 3_600n, nextFork: then + 3_601n }, 3_600n],
  ])("end with the last one for %s", (_, input, seconds) => {
    const { context, steps } = worldOf({ input }, "exact");
    expect([BigInt(context.time ?? 0n) - then, context.number, steps]).toEqual([seconds, 106n, 5]);
  });
  it("leave room in the last one for both of two signatures", () => {
    const lastUse = then + 3_600n;
    expect(worldOf({ count: 2, input: { lastUse } }, "exact").context.time).toBe(lastUse - 12n);
  });

  const endpoints = { everything: {}, "no hash": { takesHashes: false }, "one block": { takesEntries: false } };

  it.each<
    readonly [chain: keyof typeof chains, tag: "pending" | "latest" | bigint, takes: keyof typeof endpoints, string]
  >([
    // exact, next, between, readerOnly, oneBlockEach, exactOnLatest
    [
      "ethereum",
      "pending",
      "everything",
      "pending 5 106 72 apart 1, hash 0 101 12, hash 3 104 48 apart 3, pending 0 - -, hash 0 101 72 apart 3, hash 5 106 72 apart 1",
    ],
    [
      "ethereum",
      "pending",
      "no hash",
      "pending 5 106 72 apart 1, pending 0 101 12, pending 3 104 48 apart 3, pending 0 - -, latest 0 - 72 apart 3, pending 5 106 72 apart 1",
    ],
    ["ethereum", "pending", "one block", "pending 0 - 72, hash 0 101 12, none, pending 0 - -, none, hash 0 - 72"],
    [
      "ethereum",
      "latest",
      "everything",
      "hash 5 106 72 apart 1, hash 0 101 12, hash 3 104 48 apart 3, hash 0 101 12, hash 0 101 72 apart 3, hash 5 106 72 apart 1",
    ],
    [
      "ethereum",
      "latest",
      "no hash",
      "latest 5 106 72 apart 1, latest 0 101 12, latest 3 104 48 apart 3, latest 0 - -, latest 0 - 72 apart 3, latest 5 106 72 apart 1",
    ],
    ["ethereum", "latest", "one block", "hash 0 - 72, hash 0 101 12, none, hash 0 101 12, none, hash 0 - 72"],
    [
      "ethereum",
      90n,
      "everything",
      "90 5 106 60 apart 1, 90 0 101 0, 90 3 104 36 apart 3, 90 0 - -, 90 0 - 60 apart 3, 90 5 106 60 apart 1",
    ],
    [
      "ethereum",
      90n,
      "no hash",
      "90 5 106 60 apart 1, 90 0 101 0, 90 3 104 36 apart 3, 90 0 - -, 90 0 - 60 apart 3, 90 5 106 60 apart 1",
    ],
    ["ethereum", 90n, "one block", "90 0 - 60, 90 0 101 0, none, 90 0 - -, none, 90 0 - 60"],
    [
      "opStack",
      "pending",
      "everything",
      "pending 5 106 12, pending 0 101 2, pending 3 104 8, pending 0 - -, hash 0 101 12 apart 3, pending 5 106 12",
    ],
    [
      "opStack",
      "pending",
      "no hash",
      "pending 5 106 12, pending 0 101 2, pending 3 104 8, pending 0 - -, latest 0 - 12 apart 3, pending 5 106 12",
    ],
    ["opStack", "pending", "one block", "pending 0 - 12, pending 0 101 2, none, pending 0 - -, none, pending 0 - 12"],
    [
      "opStack",
      "latest",
      "everything",
      "hash 5 106 12 apart 1, hash 0 101 2, hash 3 104 8 apart 3, hash 0 101 2, hash 0 101 12 apart 3, hash 5 106 12 apart 1",
    ],
    [
      "opStack",
      "latest",
      "no hash",
      "latest 5 106 12 apart 1, latest 0 101 2, latest 3 104 8 apart 3, latest 0 - -, latest 0 - 12 apart 3, latest 5 106 12 apart 1",
    ],
    ["opStack", "latest", "one block", "hash 0 - 12, hash 0 101 2, none, hash 0 101 2, none, hash 0 - 12"],
    [
      "opStack",
      90n,
      "everything",
      "90 5 106 10 apart 1, 90 0 101 0, 90 3 104 6 apart 3, 90 0 - -, 90 0 - 10 apart 3, 90 5 106 10 apart 1",
    ],
    [
      "opStack",
      90n,
      "no hash",
      "90 5 106 10 apart 1, 90 0 101 0, 90 3 104 6 apart 3, 90 0 - -, 90 0 - 10 apart 3, 90 5 106 10 apart 1",
    ],
    ["opStack", 90n, "one block", "90 0 - 10, 90 0 101 0, none, 90 0 - -, none, 90 0 - 10"],
    [
      "unknown",
      "pending",
      "everything",
      "pending 5 106 62 apart 1, hash 0 101 1, hash 3 104 38 apart 3, pending 0 - -, hash 0 101 62 apart 3, hash 5 106 62 apart 1",
    ],
    [
      "unknown",
      "pending",
      "no hash",
      "pending 5 106 62 apart 1, pending 0 101 1, pending 3 104 38 apart 3, pending 0 - -, latest 0 - 62 apart 3, pending 5 106 62 apart 1",
    ],
    ["unknown", "pending", "one block", "pending 0 - 62, hash 0 101 1, none, pending 0 - -, none, hash 0 - 62"],
    [
      "unknown",
      "latest",
      "everything",
      "hash 5 106 62 apart 1, hash 0 101 1, hash 3 104 38 apart 3, hash 0 101 1, hash 0 101 62 apart 3, hash 5 106 62 apart 1",
    ],
    [
      "unknown",
      "latest",
      "no hash",
      "latest 5 106 62 apart 1, latest 0 101 1, latest 3 104 38 apart 3, latest 0 - -, latest 0 - 62 apart 3, latest 5 106 62 apart 1",
    ],
    ["unknown", "latest", "one block", "hash 0 - 62, hash 0 101 1, none, hash 0 101 1, none, hash 0 - 62"],
    [
      "unknown",
      90n,
      "everything",
      "90 5 106 61 apart 1, 90 0 101 0, 90 3 104 37 apart 3, 90 0 - -, 90 0 - 61 apart 3, 90 5 106 61 apart 1",
    ],
    [
      "unknown",
      90n,
      "no hash",
      "90 5 106 61 apart 1, 90 0 101 0, 90 3 104 37 apart 3, 90 0 - -, 90 0 - 61 apart 3, 90 5 106 61 apart 1",
    ],
    ["unknown", 90n, "one block", "90 0 - 61, 90 0 101 0, none, 90 0 - -, none, 90 0 - 61"],
  ])("for %s, on %s, by an endpoint that takes %s: %s", (chain, tag, takes, expected) => {
    const all = worldsIn({ chain, tag, count: 2, ...endpoints[takes] });
    const keys = ["exact", "next", "between 0", "readerOnly", "oneBlockEach", "exactOnLatest"];
    expect(keys.map((key) => blockIn(all[key])).join(", ")).toBe(expected);
    const [whole] = expected.split(", ");
    for (const key of ["reserved", "atNextFee"]) expect(blockIn(all[key])).toBe(whole);
    for (const key of ["ample", "reordered"]) expect(blockIn(all[key])).toBe(whole?.split(" apart ")[0]);
  });

  it("are the same for the same random bytes", () => {
    expect(worlds({ count: 2 })).toEqual(worlds({ count: 2 }));
  });

  it("have a reason each, and a form of their own", () => {
    const rows = worlds({ count: 2 }).rows.map(({ key, why, form }) => [key, why, form]);
    expect(rows).toEqual([
      ["exact", "always", "whole"],
      ["next", "always", "whole"],
      ["reserved", "nonceAhead", "whole"],
      ["readerOnly", "notMeasured", "reader"],
      ["ample", "notScanned", "ample"],
      ["between 0", "nearer", "whole"],
      ["reordered", "otherSenders", "limits"],
      ["oneBlockEach", "manyBlocks", "limits"],
      ["exactOnLatest", "worldsDiffer", "effects"],
      ["atNextFee", "worldsDiffer", "effects"],
    ]);
  });

  it("share no time and no number, unless the caller pretends them", () => {
    const of = (key: "number" | "time") => ["next", "between 0", "exact"].map((name) => worldOf({}, name).context[key]);
    expect(of("number")).toEqual([101n, 104n, 106n]);
    expect(new Set(of("time")).size).toBe(3);
    const placed = worldsIn({ options: { blockOverrides: { number: 7n, time: 9n } } });
    for (const { context } of Object.values(placed)) expect([context.number, context.time]).toEqual([7n, 9n]);
  });

  it("differ in what the chain lets vary, and in nothing that it fixes", () => {
    const [next, exact] = [worldOf({}, "next"), worldOf({}, "exact")];
    expect(exact.context.feeRecipient).not.toBe(next.context.feeRecipient);
    expect(exact.context.prevRandao).not.toBe(next.context.prevRandao);
    const fixed = worldsIn({ chain: "opStack" });
    for (const { context } of Object.values(fixed)) expect(context).not.toHaveProperty("feeRecipient");
    expect(fixed["exact"]?.context).not.toHaveProperty("gasLimit");
  });

  it("have the same value of a caller's override in each", () => {
    const all = worlds({ options: { blockOverrides: { baseFeePerGas: 5n } }, count: 2 }).rows;
    for (const { context } of all) expect(context.baseFeePerGas).toBe(5n);
  });

  it("differ from the last block of a clearance in one value each", () => {
    const given = { count: 2 };
    const [next, exact] = [worldOf(given, "next"), worldOf(given, "exact")];
    const { context: priced, ...atNextFee } = worldOf(given, "atNextFee");
    expect(priced).toEqual({ ...exact.context, baseFeePerGas: next.context.baseFeePerGas });
    expect(atNextFee).toMatchObject({ block: exact.block, ahead: exact.ahead, producer: exact.producer });
    const { block, context, producer } = worldOf(given, "exactOnLatest");
    expect({ block, context, producer }).toEqual({
      block: next.block,
      context: exact.context,
      producer: exact.producer,
    });
  });

  it("have other limits in the block of one of them, by keys of their own", () => {
    const exact = worldOf({ count: 2 }, "exact");
    const rows = gasRows(
      exact,
      [
        [1n, 2n],
        [3n, 4n],
      ],
      3,
    );
    expect(rows.map(({ key, form, limits, apart }) => [key, form, limits, apart])).toEqual([
      ["gas 3", "limits", [1n, 2n], null],
      ["gas 4", "limits", [3n, 4n], null],
    ]);
    for (const { block, context, ahead } of rows)
      expect({ block, context, ahead }).toMatchObject({
        block: exact.block,
        context: exact.context,
        ahead: exact.ahead,
      });
  });

  it("have a far smaller limit, and half of it, in the next block, where far more was used than estimated", () => {
    const given: Given = { count: 2 };
    const of = (told: { readonly used: bigint; readonly estimate: bigint }) => {
      const input = inputOf(given);
      const [first, ...others] = input.signed;
      const burning = { ...first, said: { ...first.said, gas: { ...first.said.gas, limit: 16_777_216n, ...told } } };
      const on = groundOf(input, Number(then) * 1_000);
      const chance = { draw: { prevRandao: rolled("ab", 32), chance: rolled("17", 40) }, roots: null, between: [] };
      const { rows } = worldsOn({ ...input, signed: [burning, ...others] }, on, chance);
      const other = others[0]?.request.gas;
      return rows.flatMap(({ key, form, limits, block }) =>
        limits === undefined ? [] : [[key, form, limits[0], limits[1] === other, block === on.sealed.block]],
      );
    };
    expect(of({ used: 16_000_000n, estimate: 400_000n })).toEqual([
      ["gas 64", "limits", 1_814_400n, true, true],
      ["gas 65", "limits", 907_200n, true, true],
    ]);
    expect(of({ used: 400_000n, estimate: 390_000n })).toEqual([]);
  });
});

describe("later blocks that copy the next one", () => {
  const rowsOf = (given: Given) => Effect.runSync(worldsOf(inputOf(given))).rows;
  const twinsOf = (given: Given) => rowsOf(given).filter(({ key }) => key.startsWith("twin"));

  it.each<[chain: keyof typeof chains, given: Given]>([
    ["ethereum", { tag: "pending" }],
    ["ethereum", { tag: "latest" }],
    ["opStack", { tag: "pending" }],
    ["opStack", { tag: "latest" }],
    ["unknown", { tag: "pending" }],
    ["unknown", { tag: "latest", count: 2 }],
  ])(
    "stand on its state for %s, %o, and differ in number, time, randomness, root, and one in its base fee",
    (chain, given) => {
      const [, next] = rowsOf({ chain, ...given });
      const twins = twinsOf({ chain, ...given });
      expect(twins.map(({ steps }) => steps)).toEqual([5, 3]);
      for (const [place, twin] of twins.entries()) {
        const { block, state: on, spread, apart, producer, context, ahead, why, form } = twin;
        expect({ block, state: on, spread, producer }).toEqual({
          ...{ block: next.block, state: next.state, spread: next.spread, producer: {} },
        });
        expect([why, form, apart, ahead.length]).toEqual(["nearer", "whole", null, twin.steps]);
        const { number, time, prevRandao, beaconRoot, baseFeePerGas, ...kept } = context;
        const {
          number: first,
          time: then_,
          prevRandao: roll,
          beaconRoot: root,
          baseFeePerGas: fee,
          ...same
        } = next.context;
        expect(kept).toEqual(same);
        expect(BigInt(number ?? 0)).toBe(BigInt(first ?? 0) + BigInt(twin.steps));
        expect(BigInt(time ?? 0) > BigInt(then_ ?? 0)).toBe(true);
        expect([prevRandao === roll, beaconRoot === root]).toEqual([false, false]);
        expect(baseFeePerGas === fee).toBe(place === 0);
      }
    },
  );

  it.each<[of: string, given: Given, fees: ReadonlyArray<bigint>]>([
    ["behind empty blocks", {}, [10n ** 9n, 669_921_875n]],
    ["behind one empty block", { input: { reach: 3 } }, [10n ** 9n, 875_000_000n]],
    ["behind no more than four, however fast the chain is", { input: { reach: 37 } }, [10n ** 9n, 586_181_641n]],
    ["no higher than the request pays, where it cannot fall", { input: { head: floor } }, [7n, 10n]],
    ["its own, where the request pays no other", { input: { head: floor, signed: capped } }, [7n, 7n]],
    ["what the caller pretends", { options: { blockOverrides: { baseFeePerGas: 5n } } }, [5n, 5n]],
  ])("have its base fee, and another: %s", (_, given, fees) => {
    expect(twinsOf(given).map(({ context }) => context.baseFeePerGas)).toEqual(fees);
  });

  it.each<[where: string, given: Given, steps: ReadonlyArray<number>]>([
    ["no further world is wanted", { input: { further: 0 } }, []],
    ["the node takes one block at a time", { takesEntries: false }, []],
    ["nothing is left of the bracket", { input: { reach: 0 } }, []],
    ["one block is left of it", { input: { reach: 1 } }, [1, 1]],
    ["eight further worlds are wanted", { input: { reach: 15, further: 8 } }, [15, 2]],
    ["a chain is fast", { input: { reach: 37 } }, [37, 19]],
    ["the caller pretends a number", { options: { blockOverrides: { number: 7n } } }, []],
  ])("are two at most: where %s", (_, given, steps) => {
    expect(twinsOf(given).map((twin) => twin.steps)).toEqual(steps);
  });
});

describe("the difficulty of simulated blocks", () => {
  const withHead = (difficulty: bigint | null): Given => ({
    input: { head: answersTo(roundOf(inputOf({}).signed, { header: header({ number: 100n, difficulty }) })).header },
  });
  const saidIn = (given: Given) => {
    const input = inputOf(given);
    const { rows } = worldsOn(input, groundOf(input, Number(then) * 1_000), {
      ...{
        draw: { prevRandao: hexOf(`0x${"ab".repeat(32)}`), chance: hexOf(`0x${"17".repeat(40)}`) },
        roots: null,
        between: [],
      },
    });
    return [...new Set(rows.flatMap(({ form, context }) => (form === "reader" ? [] : [context.difficulty])))];
  };

  it.each<[head: string, difficulty: bigint | null, said: bigint | undefined]>([
    ["has one", 2n, 2n],
    ["has none since the merge", 0n, undefined],
    ["does not tell it", null, undefined],
  ])("is right where the latest block %s", (_, difficulty, said) => {
    expect(saidIn(withHead(difficulty))).toEqual([said]);
  });
});
