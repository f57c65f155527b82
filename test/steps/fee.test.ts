import * as Result from "effect/Result";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lookup } from "../../src/Chains.js";
import { Hash, Hex } from "../../src/primitives/hex.js";
import { MethodNotPermitted, MethodNotSupported, RpcError } from "../../src/errors/rpc.js";
import * as Fee from "../../src/steps/fee.js";
import { chain, transaction } from "./parts.js";

const gwei = 10n ** 9n;
const parent = Hash.make(`0x${"ab".repeat(32)}`);

type Header = Extract<Fee.FeeFacts["header"], { readonly _tag: "Success" }>["success"];
/** The fields that fees are decided by; the rest of a header says nothing about them. */
const header = (changed: Partial<Header> = {}): Fee.FeeFacts["header"] =>
  Result.succeed({
    hash: parent,
    number: 1n,
    baseFeePerGas: gwei,
    gasUsed: 15_000_000n,
    gasLimit: 30_000_000n,
    blobGasUsed: null,
    extraData: null,
    ...changed,
  } as Header);
const history = (rows: ReadonlyArray<readonly [used: number, tips: ReadonlyArray<bigint>]>) =>
  Result.succeed({
    oldestBlock: 0n,
    baseFeePerGas: [...rows.map(() => gwei), gwei],
    gasUsedRatio: rows.map(([used]) => used),
    reward: rows.map(([, tips]) => tips),
    baseFeePerBlobGas: null,
    blobGasUsedRatio: null,
  });
const receipts = (...prices: ReadonlyArray<readonly [type: string, price: bigint]>) =>
  Result.succeed(prices.map(([type, effectiveGasPrice]) => ({ type, effectiveGasPrice })));
const refused = Result.fail(
  new RpcError({ method: "eth_getBlockReceipts", reason: new MethodNotPermitted({ detail: "403", httpStatus: 403 }) }),
);
const absent = Result.fail(
  new RpcError({ method: "eth_feeHistory", reason: new MethodNotSupported({ detail: "", code: -32601 }) }),
);

const context = (changed: Partial<Fee.FeeContext> = {}): Fee.FeeContext => ({
  chain: chain(),
  level: "normal",
  horizonSeconds: 60,
  simulatedBaseFee: gwei,
  parentHash: parent,
  ...changed,
});
const codes = (findings: ReadonlyArray<{ readonly code: string; readonly severity: string }>) =>
  findings.map(({ code, severity }) => `${code}/${severity}`);

describe("the base fee", () => {
  const quoted = (simulatedBaseFee: bigint | null, found = header()) =>
    Fee.quote({ history: null, receipts: null, header: found }, context({ simulatedBaseFee }));
  it("is the larger of the simulated and the computed one, and a disagreement on the same block is said", () => {
    expect(quoted(gwei).baseFeePerGas).toBe(gwei);
    expect(codes(quoted(gwei).findings)).toEqual([]);
    expect(quoted(gwei + 1n).baseFeePerGas).toBe(gwei + 1n);
    expect(quoted(gwei - 1n).baseFeePerGas).toBe(gwei);
    expect(codes(quoted(gwei - 1n).findings)).toEqual(["BaseFeeDisagrees/info"]);
    expect(codes(quoted(gwei - 1n, header({ hash: Hash.make(`0x${"cd".repeat(32)}`) })).findings)).toEqual([]);
  });
  it("follows the parameters in an OP-stack header", () => {
    const jovian = header({
      gasUsed: 0n,
      extraData: Hex.make(`0x01000000fa00000006${(7n * gwei).toString(16).padStart(16, "0")}`),
    });
    const quote = Fee.quote(
      { history: null, receipts: null, header: jovian },
      context({ chain: lookup(10), simulatedBaseFee: null }),
    );
    expect(quote.baseFeePerGas).toBe(7n * gwei);
    expect(quote.evidence).toBe("estimated");
  });
  it("that nobody knows makes the cap unknown, and is said", () => {
    const quote = Fee.quote(
      { history: absent, receipts: refused, header: absent },
      context({ simulatedBaseFee: null }),
    );
    expect([quote.baseFeePerGas, quote.maxFeePerGas, quote.evidence]).toEqual([null, null, "unavailable"]);
    expect(codes(Fee.decide(transaction(), 0, quote).findings)).toEqual(["EvidenceReduced/unavailable"]);
  });
});

describe("the tip", () => {
  const tipOf = (facts: Partial<Fee.FeeFacts>, changed: Partial<Fee.FeeContext> = {}) => {
    const { tip, tipSource, findings } = Fee.quote(
      { history: null, receipts: null, header: header(), ...facts },
      context({ chain: chain({ minTip: 1n }), ...changed }),
    );
    return { tip, tipSource, codes: codes(findings) };
  };
  const rows = history([
    [0.5, [1n, 20n, 300n]],
    [0, [9n, 9_000n, 9_000n]],
    [0.5, [3n, 40n, 500n]],
    [0.5, [2n, 30n, 400n]],
    [0.5, [0n, 0n, 0n]],
  ]);
  it("is the median of recent blocks at the level asked for, empty blocks and zeros left out", () => {
    for (const [level, tip] of [
      ["slow", 2n],
      ["normal", 30n],
      ["fast", 400n],
    ] as const)
      expect(tipOf({ history: rows }, { level })).toEqual({ tip, tipSource: "feeHistory", codes: [] });
  });
  it("comes from receipts where there is no history, deposits left out", () => {
    const seen = receipts(
      ["0x7e", 99n * gwei],
      ["0x2", gwei + 5n],
      ["0x2", gwei + 7n],
      ["0x2", gwei + 9n],
      ["0x0", gwei],
    );
    expect(tipOf({ history: absent, receipts: seen })).toEqual({
      tip: 7n,
      tipSource: "receipts",
      codes: ["MethodNotSupported/info"],
    });
  });
  it("is the chain's minimum where a node gives neither: two levels of evidence, no more", () =>
    expect(tipOf({ history: absent, receipts: refused }, { chain: chain({ minTip: 77n }) })).toEqual({
      tip: 77n,
      tipSource: "minimum",
      codes: ["MethodNotSupported/info", "MethodNotPermitted/info"],
    }));
  it("of a node that lies is not followed beyond the chain's most", () => {
    const greedy = history([[0.5, [10n ** 15n, 10n ** 15n, 10n ** 15n]]]);
    expect(tipOf({ history: greedy }, { chain: chain({ maxTip: 5n * gwei }) })).toMatchObject({
      tip: 5n * gwei,
      codes: ["TipCapped/warning"],
    });
  });
});

describe("the cap", () => {
  const quote = Fee.quote(
    { history: null, receipts: null, header: header() },
    context({ chain: chain({ minTip: 5n }) }),
  );
  it("outlives the horizon of full blocks, in seconds", () => {
    const short = Fee.quote({ history: null, receipts: null, header: header() }, context({ horizonSeconds: 12 }));
    expect(Number((short.maxFeePerGas ?? 0n) - short.tip) / 1e9).toBeCloseTo(1.125, 4);
    expect(Number((quote.maxFeePerGas ?? 0n) - 5n) / 1e9).toBeCloseTo(1.125 ** 5, 3);
    const base = Fee.quote(
      { history: null, receipts: null, header: absent },
      context({ chain: lookup(8453), simulatedBaseFee: gwei }),
    );
    expect(Number((base.maxFeePerGas ?? 0n) - base.tip) / 1e9).toBeCloseTo(1.004 ** 300, 1);
    expect(base.horizonSeconds).toBe(60);
  });
  it("says how far it reaches where the horizon is beyond reason", () => {
    const long = Fee.quote({ history: null, receipts: null, header: header() }, context({ horizonSeconds: 86_400 }));
    expect(long.horizonSeconds).toBeLessThan(86_400);
    expect(long.maxFeePerGas).toBeLessThan(1n << 98n);
  });
  it("is never changed where the caller gave it", () => {
    const decide = (changed: Parameters<typeof transaction>[0]) => Fee.decide(transaction(changed), 0, quote).output;
    expect(decide({ gasPrice: 3n * gwei })).toMatchObject({
      gasPrice: 3n * gwei,
      maxFeePerGas: null,
      tipSource: "caller",
    });
    expect(decide({ maxFeePerGas: 2n * gwei })).toMatchObject({ maxFeePerGas: 2n * gwei, maxPriorityFeePerGas: 5n });
    expect(decide({ maxFeePerGas: 2n, maxPriorityFeePerGas: 1n })).toMatchObject({
      maxFeePerGas: 2n,
      maxPriorityFeePerGas: 1n,
    });
    expect(decide({ maxPriorityFeePerGas: 9n })).toMatchObject({
      maxFeePerGas: (quote.maxFeePerGas ?? 0n) + 4n,
      maxPriorityFeePerGas: 9n,
    });
  });
  it("below the base fee is a blocker", () => {
    expect(codes(Fee.decide(transaction({ maxFeePerGas: gwei - 1n }), 0, quote).findings)).toEqual([
      "FeeCapTooLow/blocker",
    ]);
    expect(codes(Fee.decide(transaction({ gasPrice: gwei - 1n }), 0, quote).findings)).toEqual([
      "FeeCapTooLow/blocker",
    ]);
  });
  it("is shortened only as far as the next block goes, and the horizon reached is shown", () => {
    const { output } = Fee.decide(transaction(), 0, quote);
    const room = (output.maxFeePerGas ?? 0n) - gwei - 5n;
    expect(Fee.shorten(output, room, quote)).toMatchObject({ horizonSeconds: 0, maxFeePerGas: gwei + 5n });
    expect(Fee.shorten(output, room + 1n, quote)).toBeNull();
    const half = Fee.shorten(output, room / 2n, quote);
    expect(half?.horizonSeconds).toBeGreaterThanOrEqual(12);
    expect(half?.horizonSeconds).toBeLessThan(60);
  });
  it("holds as long as it says, for any reduction", () =>
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n * gwei }), (reduction) => {
        const { output } = Fee.decide(transaction(), 0, quote);
        const shorter = Fee.shorten(output, reduction, quote);
        if (shorter === null) return;
        let base = gwei;
        for (let seconds = 0; seconds < (shorter.horizonSeconds ?? 0); seconds += 12) base += base / 8n;
        expect(shorter.maxFeePerGas).toBeGreaterThanOrEqual(base + 5n);
      }),
    ));
});
