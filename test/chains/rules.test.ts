/** Whose word on the fork in force counts, and what it allows. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { TestClock } from "effect/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sent } from "../rooms/eth.js";
import { lookup } from "../../src/Chains.js";
import { forkOf, mostGas, ruled, type Signs } from "../rooms/chains.js";
import { askForks } from "../rooms/pipeline.js";
import { forksIn, type Fork } from "../rooms/primitives.js";
import { layerScripted } from "../../src/testing.js";

const hash = `0x${"ab".repeat(32)}`;
const prague: Signs["header"] = { requestsHash: hash, blockAccessListHash: null, slotNumber: null };
const amsterdam: Signs["header"] = { requestsHash: hash, blockAccessListHash: hash, slotNumber: 7n };
const sparse: Signs["header"] = { requestsHash: null, blockAccessListHash: null, slotNumber: null };

describe("the fork in force", () => {
  it.each<[string, Fork | null, Signs["header"], Fork | null, string]>([
    ["is what executes", "osaka", prague, null, "osaka, executed"],
    ["is what executes, whatever is configured", "osaka", prague, "amsterdam", "osaka, executed"],
    ["is what executes, where the header tells nothing", "amsterdam", sparse, null, "amsterdam, executed"],
    ["is uncertain where the header is another's", "amsterdam", prague, "amsterdam", "amsterdam, executed, uncertain"],
    ["is uncertain the other way round, too", "osaka", amsterdam, null, "osaka, executed, uncertain"],
    ["is the header's where nothing was executed", null, amsterdam, null, "amsterdam, header"],
    ["is uncertain against what is configured", null, amsterdam, "osaka", "amsterdam, header, uncertain"],
    ["is the configured one where nothing else tells", null, sparse, "osaka", "osaka, config"],
    ["is the configured one where the header fits", null, prague, "osaka", "osaka, config"],
    ["is uncertain where the header does not fit", null, prague, "amsterdam", "amsterdam, config, uncertain"],
    ["is the table's where nobody tells", null, null, null, "null, table"],
  ])("%s", (_, executed, header, config, expected) => {
    const { fork, by, agrees } = forkOf({ executed, header, config });
    expect(`${fork}, ${by}${agrees ? "" : ", uncertain"}`).toBe(expected);
  });
});

describe("the gas cap and size limits of a fork", () => {
  const [ethereum, unknown, arbitrum, bnb] = [1, 4_242, 42_161, 56].map(lookup) as [
    ...[ReturnType<typeof lookup>, ReturnType<typeof lookup>, ReturnType<typeof lookup>, ReturnType<typeof lookup>],
  ];
  const executed = (fork: Fork, agrees = true) => ({ fork, agrees, by: "executed" }) as const;
  const of = ({ txGasCap, txGasCapKnown, maxInitCodeSize }: ReturnType<typeof lookup>) => [
    ...[txGasCap, txGasCapKnown, maxInitCodeSize],
  ];
  const cap = 2n ** 24n;
  it.each([
    ["Osaka on a chain of the table: as it says", ruled(ethereum, executed("osaka")), [cap, true, 49_152]],
    ["Osaka on an unknown chain: the cap is certain", ruled(unknown, executed("osaka")), [cap, true, 49_152]],
    ["Osaka on a chain without a cap: none", ruled(arbitrum, executed("osaka")), [null, true, 49_152]],
    ["Osaka on a chain whose cap is not certain: as it says", ruled(bnb, executed("osaka")), [cap, false, 49_152]],
    [
      "Osaka by what is configured: not certain",
      ruled(unknown, { ...executed("osaka"), by: "config" }),
      [cap, false, 49_152],
    ],
    ["Amsterdam: as much as a block has", ruled(ethereum, executed("amsterdam")), [null, true, 131_072]],
    [
      "Amsterdam on a chain with a cap of its own",
      ruled({ ...ethereum, txGasCap: 9n }, executed("amsterdam")),
      [9n, true, 131_072],
    ],
    ["before Osaka: as much as a block has", ruled(ethereum, executed("beforeOsaka")), [null, true, 49_152]],
    [
      "nobody knows: as the table says",
      ruled(unknown, { fork: null, agrees: true, by: "table" }),
      [cap, false, 49_152],
    ],
    ["two of them: nothing of ours blocks", ruled(ethereum, executed("amsterdam", false)), [cap, false, 131_072]],
  ])("%s", (_, chain, expected) => expect(of(chain)).toEqual(expected));
  it("give a transaction the cap, else the block's limit, else what most chains allow", () => {
    expect(mostGas(ethereum, 60_000_000n)).toBe(cap);
    expect(mostGas(ruled(ethereum, executed("amsterdam")), 60_000_000n)).toBe(60_000_000n);
    expect(mostGas(arbitrum, null)).toBe(cap);
  });
});

describe("the answer of `eth_config`", () => {
  const config = (precompiles: object, systemContracts: object, next: unknown = null) => ({
    current: { activationTime: 0, precompiles, systemContracts },
    next,
  });
  it.each([
    ["nothing new", config({}, {}), { fork: "beforeOsaka", next: null }],
    ["the curve of Osaka", config({ P256VERIFY: "0x100" }, {}), { fork: "osaka", next: null }],
    [
      "the builders of Amsterdam, and when the next comes",
      config({ P256VERIFY: "0x100" }, { BUILDER_DEPOSIT_CONTRACT_ADDRESS: "0x01" }, { activationTime: 1_791_294_816 }),
      { fork: "amsterdam", next: 1_791_294_816n },
    ],
    ["a time that is none", config({}, {}, { activationTime: "soon" }), { fork: "beforeOsaka", next: null }],
  ])("is read as a fork schedule: %s", (_, told, expected) => expect(forksIn(told)).toEqual(expected));
  it("is requested once, and again when the next fork has come", async () => {
    const node = layerScripted({
      eth_config: (_, before) => ({ current: { precompiles: {} }, next: { activationTime: 100 * (before + 1) } }),
    });
    const times = [0, 99_999, 100_000, 150_000, 200_000];
    const told = await Effect.runPromise(
      Effect.forEach(times, (time) => Effect.andThen(TestClock.setTime(time), sent(askForks))).pipe(
        Effect.provide(Layer.mergeAll(node, TestClock.layer())),
      ),
    );
    expect(told.map(({ next }) => next)).toEqual([100n, 100n, 200n, 200n, 300n]);
  });
  it("is ignored where it has another shape", () =>
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), (told) => {
        expect(["beforeOsaka", "osaka", "amsterdam", null]).toContain(forksIn(told).fork);
      }),
    ));
});
