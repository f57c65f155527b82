/** How much gas to allow: three witnesses, a buffer, and a cap that is never passed in silence. */
import * as Result from "effect/Result";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { eip7825Cap } from "../rooms/chains.js";
import {
  ExecutionReverted,
  InsufficientFunds,
  IntrinsicGasTooLow,
  MethodNotSupported,
  OutOfGas,
  RpcError,
  type Verdict,
} from "../rooms/errors.js";
import { Hex } from "../rooms/primitives.js";
import type { AccountCode, Outcome } from "../rooms/report.js";
import { Estimate, type Facts } from "../rooms/steps.js";
import type { Transaction } from "../../src/Transaction.js";
import { filled, caseOf, chain, codes as codesIn, outcome, parties } from "./parts.js";

type Failure = RpcError | Verdict;
type Asked = Facts["estimate"];
interface Known extends Partial<Pick<Facts, "chain" | "blockGasLimit">> {
  readonly input?: Partial<Transaction>;
  readonly seen?: Outcome;
  readonly receiver?: AccountCode["kind"];
  readonly index?: number;
}

const data = Hex.make("0x12345678");
const decide = (
  estimate: Asked | bigint,
  { input = { data }, seen = outcome(), receiver = "contract", index = 0, ...answered }: Known = {},
) => {
  const code = parties(caseOf(input).input, receiver);
  const one = filled({ ...caseOf(input), index }, { outcome: seen, code });
  const answers: Pick<Facts, "estimate" | "chain" | "blockGasLimit" | "granted"> = {
    granted: () => null,
    estimate: typeof estimate === "bigint" ? Result.succeed(estimate) : estimate,
    chain: chain(),
    blockGasLimit: 60_000_000n,
    ...answered,
  };
  const limited = { ...one, gas: Estimate.choose(one, answers) };
  const findings = Estimate.check(limited, answers);
  return { output: Estimate.read(limited, answers), codes: codesIn(findings), findings, limited };
};
/** ceil((peak + 2300) · 64/63), and 10 % on top. */
const buffered = (peak: bigint) => ((((peak + 2300n) * 64n + 62n) / 63n) * 110n + 99n) / 100n;

describe("the gas limit", () => {
  it("is the larger of estimate and simulated peak, with a buffer", () => {
    const limit = (estimate: bigint, maxUsedGas: bigint) =>
      decide(estimate, { seen: outcome({ maxUsedGas }) }).output.limit;
    expect(limit(40_000n, 60_000n)).toBe(buffered(60_000n));
    expect(limit(80_000n, 60_000n)).toBe(88_000n);
  });
  it("needs no buffer where nothing is executed", () => {
    const seen = outcome({ gasUsed: 23_456n, maxUsedGas: null });
    const { output } = decide(23_456n, { input: { value: 1n }, seen, receiver: "nobody" });
    expect(output.limit).toBe(23_456n);
  });
  it("has a buffer where the receiver may have code", () => {
    const seen = outcome({ gasUsed: 23_456n, maxUsedGas: null });
    for (const receiver of ["contract", "delegated", "precompile", "unknown"] as const)
      expect(decide(23_456n, { input: { value: 1n }, seen, receiver }).output.limit).toBeGreaterThan(23_456n);
  });
  it("trusts the node's estimate for refunds without a peak, and without both takes the bound of EIP-3529", () => {
    const seen = outcome({ gasUsed: 80_000n, maxUsedGas: null });
    expect(decide(100_000n, { seen }).output.limit).toBe(110_000n);
    expect(decide(null, { seen }).output.limit).toBe(buffered(100_000n));
  });
  it("ignores a peak below what was used", () => {
    const seen = outcome({ gasUsed: 80_000n, maxUsedGas: 1n });
    expect(decide(null, { seen }).output).toMatchObject({ peak: 80_000n, limit: buffered(80_000n) });
  });
  it("has a finding where the sources differ much", () => {
    const far = decide(500_000n);
    expect([far.codes, Estimate.isLimitDoubtful(far.limited)]).toEqual([["GasWitnessesDisagree/info"], true]);
    const near = decide(55_000n);
    expect([near.codes, Estimate.isLimitDoubtful(near.limited)]).toEqual([[], false]);
  });
  it("is estimated for the first of a bundle only", () => {
    const first = decide(500_000n);
    const second = decide(500_000n, { index: 1 });
    expect([first.output.estimate, second.output.estimate]).toEqual([500_000n, null]);
    expect(second.output.limit).toBe(buffered(50_000n));
  });
  it("has a finding where it is unknown and nothing failed", () => {
    const nothing = outcome({ status: "unknown", gasUsed: null, maxUsedGas: null, evidence: "unavailable" });
    const unknown = decide(null, { seen: nothing });
    expect([unknown.output.limit, unknown.output.evidence, unknown.codes]).toEqual([
      null,
      "unavailable",
      ["GasUnknown/unavailable"],
    ]);
    const failure = new ExecutionReverted({ data: Hex.make("0x") });
    expect(decide(null, { seen: outcome({ status: "reverted", failure }) }).codes).toEqual([]);
  });
});

describe("the cap on gas", () => {
  it("cuts the buffer, with a finding", () => {
    const { output, codes, findings } = decide(eip7825Cap - 1n);
    expect(output.limit).toBe(eip7825Cap);
    expect(codes).toContain("GasBufferCut/info");
    expect(findings.find(({ code }) => code === "GasBufferCut")?.numbers).toEqual([
      { name: "limit", unit: "gas", value: eip7825Cap },
      { name: "with the whole buffer", unit: "gas", value: ((eip7825Cap - 1n) * 110n + 99n) / 100n },
    ]);
  });
  it("never cuts what is needed, which is a blocker", () => {
    const { output, codes } = decide(eip7825Cap + 1n);
    expect(output.limit).toBe(eip7825Cap + 1n);
    expect(codes).toContain("TxGasLimitTooHigh/blocker");
  });
  it("may be a block's limit", () =>
    expect(decide(2_000_000n, { blockGasLimit: 1_000_000n }).codes).toContain("BlockGasLimitExceeded/blocker"));
  it("gives way, where it is assumed, to a node whose estimate is above it", () => {
    const { output, codes } = decide(20_000_000n, {
      seen: outcome({ maxUsedGas: 19_000_000n }),
      chain: chain({ txGasCapKnown: false }),
    });
    expect(output.limit).toBe(22_000_000n);
    expect(codes).toEqual([]);
  });
  it("never leaves a limit above itself without a blocker, for any answers", () =>
    fc.assert(
      fc.property(
        fc.option(fc.bigInt({ min: 1n, max: 200_000_000n }), { nil: null }),
        fc.bigInt({ min: 1n, max: 200_000_000n }),
        fc.option(fc.bigInt({ min: 1n, max: 200_000_000n }), { nil: null }),
        (estimate, used, peak) => {
          const { output, findings } = decide(estimate, { seen: outcome({ gasUsed: used, maxUsedGas: peak }) });
          const { limit } = output;
          if (limit === null) throw new Error("a limit is known");
          if (limit > eip7825Cap) expect(findings.some(({ severity }) => severity === "blocker")).toBe(true);
          else {
            expect(limit).toBeGreaterThanOrEqual(estimate ?? 0n);
            expect(limit).toBeGreaterThanOrEqual(peak ?? used);
          }
        },
      ),
    ));
});

describe("the caller's own limit", () => {
  const given = (limit: bigint, estimate: bigint | null, used = 50_000n) =>
    decide(estimate, { input: { data, gas: limit }, seen: outcome({ gasUsed: used }) });
  it("is never changed", () =>
    expect(given(123_456n, 200_000n).output).toMatchObject({ limit: 123_456n, by: "caller", estimate: 200_000n }));
  it("below the estimate is a warning, below what was used a blocker", () => {
    expect(given(60_000n, 70_000n).codes).toContain("GasBelowEstimate/warning");
    expect(given(70_000n, 70_000n).codes).toEqual([]);
    expect(given(40_000n, null).codes).toContain("OutOfGas/blocker");
    expect(given(eip7825Cap + 1n, null).codes).toContain("TxGasLimitTooHigh/blocker");
  });
});

describe("a far smaller limit that may do the same", () => {
  const used = 16_500_000n;
  const limitOf = (told: Partial<ReturnType<typeof decide>["output"]>, fork: "osaka" | "amsterdam" = "osaka") =>
    Estimate.frugalLimit({ ...decide(344_216n).output, used, limit: eip7825Cap, ...told }, fork);
  it.each([
    ["is 64 slots above the least that works", limitOf({ estimate: 344_216n }), 344_216n + 64n * 22_100n],
    ["is twice the least that works, where that is more", limitOf({ estimate: 3_000_000n }), 6_000_000n],
    ["has dearer slots since Amsterdam", limitOf({ estimate: 344_216n }, "amsterdam"), 344_216n + 64n * 97_920n],
    ["is none where more than half is needed", limitOf({ estimate: 4_200_000n }), null],
    ["is none where little was used", limitOf({ used: 60_000n }), null],
    ["is none where the chosen limit is as small", limitOf({ used: 1_700_000n, limit: 1_758_616n }), null],
    ["is none where the used gas is unknown", limitOf({ used: null }), null],
    [
      "is none where next to nothing is left of a little",
      limitOf({ estimate: null, used: 5_000_000n, limit: 5_000_000n }),
      null,
    ],
    [
      "stands on the slots where nobody estimates and next to nothing is left",
      limitOf({ estimate: null }),
      256n * 22_100n,
    ],
    ["stands on the slots where the estimate is what was used", limitOf({ estimate: used }), 256n * 22_100n],
    [
      "stands on the slots where the limit is above what was simulated",
      limitOf({ estimate: used, limit: 18_437_000n }),
      256n * 22_100n,
    ],
    ["is none where some gas is left", limitOf({ estimate: 12_000_000n, used: 12_000_000n }), null],
    ["is none since Amsterdam, where the slots cost too much", limitOf({ estimate: used }, "amsterdam"), null],
  ])("%s", (_, found, expected) => expect(found).toBe(expected));
});

describe("a failed estimate", () => {
  const beside = (failure: Failure, seen = outcome()) => decide(Result.fail(failure), { seen }).codes;
  it("is shown and blocks nothing beside a success in simulation", () => {
    // reth answers "out of gas" where an explicit gas or price made it run a revert again
    expect(beside(new OutOfGas({ gasLimit: null }))).toEqual(["OutOfGas/warning"]);
    expect(beside(new InsufficientFunds({}))).toEqual(["InsufficientFunds/info"]);
    const reason = new MethodNotSupported({ detail: "", code: -32601 });
    expect(beside(new RpcError({ method: "eth_estimateGas", reason }))).toEqual(["MethodNotSupported/info"]);
  });
  it("adds nothing beside a failure in simulation", () => {
    const failure = new ExecutionReverted({ data: Hex.make("0x") });
    const failed = outcome({ status: "reverted", failure });
    expect(beside(new ExecutionReverted({ data: Hex.make("0x") }), failed)).toEqual([]);
    expect(beside(new OutOfGas({ gasLimit: null }), failed)).toEqual(["OutOfGas/info"]);
  });
  it("is the verdict where nothing was simulated", () => {
    const nothing = outcome({ status: "unknown", gasUsed: null, maxUsedGas: null, evidence: "unavailable" });
    expect(beside(new ExecutionReverted({ data: Hex.make("0x") }), nothing)[0]).toBe("ExecutionReverted/blocker");
    // but of the node's own limit, for it is asked with none
    const capped = new IntrinsicGasTooLow({ have: 3_000_000n, want: 3_621_000n });
    expect(beside(capped, nothing)).toEqual(["IntrinsicGasTooLow/info", "GasUnknown/unavailable"]);
  });
  it("stands beside the number that it did not give", () => {
    const refusal = new OutOfGas({ gasLimit: null });
    expect(decide(Result.fail(refusal)).output).toMatchObject({ estimate: null, refusal, evidence: "measured" });
  });
});
