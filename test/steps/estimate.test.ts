import * as Result from "effect/Result";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { eip7825Cap } from "../../src/Chains.js";
import { MethodNotSupported, RpcError } from "../../src/errors/rpc.js";
import { ExecutionReverted, InsufficientFunds, OutOfGas } from "../../src/errors/verdicts.js";
import { Hex } from "../../src/primitives/hex.js";
import * as Estimate from "../../src/steps/estimate.js";
import { chain, outcome, transaction } from "./parts.js";

const call = transaction({ data: Hex.make("0x12345678") });
const context = (changed: Partial<Estimate.GasContext> = {}): Estimate.GasContext => ({
  chain: chain(),
  blockGasLimit: 60_000_000n,
  receiverHasCode: true,
  ...changed,
});
const codes = ({ findings }: Estimate.Decision) => findings.map(({ code, severity }) => `${code}/${severity}`);
/** ceil((peak + 2300) · 64/63), and 10 % on top. */
const buffered = (peak: bigint) => ((((peak + 2300n) * 64n + 62n) / 63n) * 110n + 99n) / 100n;

describe("the gas limit", () => {
  it("is the larger of estimate and simulated peak, with a buffer", () => {
    const decide = (estimate: bigint, peak: bigint) =>
      Estimate.decide(call, 0, Result.succeed(estimate), outcome({ maxUsedGas: peak }), context()).output.limit;
    expect(decide(40_000n, 60_000n)).toBe(buffered(60_000n));
    expect(decide(80_000n, 60_000n)).toBe(88_000n);
  });
  it("needs no buffer where nothing is executed", () => {
    const { output } = Estimate.decide(
      transaction({ value: 1n }),
      0,
      Result.succeed(23_456n),
      outcome({ gasUsed: 23_456n, maxUsedGas: null }),
      context({ receiverHasCode: false }),
    );
    expect(output.limit).toBe(23_456n);
  });
  it("on a node without a peak trusts its estimate for refunds, and without both takes the bound of EIP-3529", () => {
    const seen = outcome({ gasUsed: 80_000n, maxUsedGas: null });
    const estimated = Estimate.decide(call, 0, Result.succeed(100_000n), seen, context());
    expect(estimated.output.limit).toBe(110_000n);
    const alone = Estimate.decide(call, 0, null, seen, context());
    expect(alone.output.limit).toBe(buffered(100_000n));
  });
  it("does not believe a peak below what was used", () => {
    const seen = outcome({ gasUsed: 80_000n, maxUsedGas: 1n });
    expect(Estimate.decide(call, 0, null, seen, context()).output).toMatchObject({
      peak: 80_000n,
      limit: buffered(80_000n),
    });
  });
  it("says when the witnesses are far apart", () => {
    const far = Estimate.decide(call, 0, Result.succeed(500_000n), outcome(), context());
    expect(codes(far)).toEqual(["GasWitnessesDisagree/info"]);
    expect(codes(Estimate.decide(call, 0, Result.succeed(55_000n), outcome(), context()))).toEqual([]);
  });
});

describe("the cap", () => {
  it("cuts the buffer, and says so", () => {
    const decision = Estimate.decide(call, 0, Result.succeed(eip7825Cap - 1n), outcome(), context());
    expect(decision.output.limit).toBe(eip7825Cap);
    expect(codes(decision)).toContain("GasHeadroomThin/info");
  });
  it("is never cut below what is needed: that is a blocker", () => {
    const decision = Estimate.decide(call, 0, Result.succeed(eip7825Cap + 1n), outcome(), context());
    expect(decision.output.limit).toBe(eip7825Cap + 1n);
    expect(codes(decision)).toContain("TxGasLimitTooHigh/blocker");
  });
  it("of a block holds as well", () => {
    const decision = Estimate.decide(
      call,
      0,
      Result.succeed(2_000_000n),
      outcome(),
      context({ blockGasLimit: 1_000_000n }),
    );
    expect(codes(decision)).toContain("BlockGasLimitExceeded/blocker");
  });
  it("that is only assumed gives way to a node whose estimate is above it", () => {
    const unknown = context({ chain: chain({ txGasCapKnown: false }) });
    const decision = Estimate.decide(
      call,
      0,
      Result.succeed(20_000_000n),
      outcome({ maxUsedGas: 19_000_000n }),
      unknown,
    );
    expect(decision.output.limit).toBe(22_000_000n);
    expect(codes(decision)).toEqual([]);
  });
  it("never leaves a limit above itself without a blocker, for any witnesses", () =>
    fc.assert(
      fc.property(
        fc.option(fc.bigInt({ min: 1n, max: 200_000_000n }), { nil: null }),
        fc.bigInt({ min: 1n, max: 200_000_000n }),
        fc.option(fc.bigInt({ min: 1n, max: 200_000_000n }), { nil: null }),
        (estimate, used, peak) => {
          const seen = outcome({ gasUsed: used, maxUsedGas: peak });
          const decision = Estimate.decide(
            call,
            0,
            estimate === null ? null : Result.succeed(estimate),
            seen,
            context(),
          );
          const { limit } = decision.output;
          if (limit === null) throw new Error("a limit is known");
          if (limit > eip7825Cap) expect(decision.findings.some(({ severity }) => severity === "blocker")).toBe(true);
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
    Estimate.decide(
      { ...call, gas: limit },
      0,
      estimate === null ? null : Result.succeed(estimate),
      outcome({ gasUsed: used }),
      context(),
    );
  it("is never changed", () => expect(given(123_456n, 200_000n).output.limit).toBe(123_456n));
  it("below the estimate is a warning, below what was used a blocker", () => {
    expect(codes(given(60_000n, 70_000n))).toContain("GasHeadroomThin/warning");
    expect(codes(given(40_000n, null))).toContain("OutOfGas/blocker");
    expect(codes(given(eip7825Cap + 1n, null))).toContain("TxGasLimitTooHigh/blocker");
  });
});

describe("a failed estimate", () => {
  const beside = (failure: Parameters<typeof Result.fail>[0], seen = outcome()) =>
    codes(Estimate.decide(call, 0, Result.fail(failure as OutOfGas), seen, context()));
  it("beside a success in simulation is shown, and blocks nothing", () => {
    // reth answers "out of gas" where an explicit gas or price made it run a revert again
    expect(beside(new OutOfGas({ gasLimit: null }))).toEqual(["OutOfGas/warning"]);
    expect(beside(new InsufficientFunds({}))).toEqual(["InsufficientFunds/info"]);
    const reason = new MethodNotSupported({ detail: "", code: -32601 });
    expect(beside(new RpcError({ method: "eth_estimateGas", reason }))).toEqual(["MethodNotSupported/info"]);
  });
  it("beside a failure in simulation adds nothing", () => {
    const failure = new ExecutionReverted({ data: Hex.make("0x") });
    const failed = outcome({ status: "reverted", failure });
    expect(beside(new ExecutionReverted({ data: Hex.make("0x") }), failed)).toEqual(["ExecutionReverted/info"]);
  });
  it("where nothing was simulated is the verdict", () => {
    const nothing = outcome({ status: "unknown", gasUsed: null, maxUsedGas: null, evidence: "unavailable" });
    expect(beside(new ExecutionReverted({ data: Hex.make("0x") }), nothing)[0]).toBe("ExecutionReverted/blocker");
  });
});
