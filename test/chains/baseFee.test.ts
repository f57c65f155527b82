import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lookup } from "../../src/Chains.js";
import {
  baseFeesBehind,
  blocksWithin,
  effectiveGasPrice,
  growBaseFee,
  nextBaseFee,
  parametersOf,
  unknownChain,
  type BaseFeeParameters,
} from "../rooms/chains.js";

const parameters = fc.record({
  elasticity: fc.bigInt({ min: 1n, max: 64n }),
  denominator: fc.bigInt({ min: 1n, max: 4_000n }),
  minBaseFeePerGas: fc.bigInt({ min: 0n, max: 10n ** 12n }),
});
const gasLimit = 30_000_000n;
const parent = (baseFeePerGas: bigint, gasUsed: bigint, blobGasUsed: bigint | null = null) => ({
  baseFeePerGas,
  gasUsed,
  gasLimit,
  blobGasUsed,
});
const extraOf = (version: number, denominator: number, elasticity: number, min?: bigint): string =>
  `0x${version.toString(16).padStart(2, "0")}${denominator.toString(16).padStart(8, "0")}${elasticity.toString(16).padStart(8, "0")}${min === undefined ? "" : min.toString(16).padStart(16, "0")}`;

describe("the next base fee", () => {
  const ethereum = lookup(1);
  it.each([
    // the examples of EIP-1559's own test suite
    [1_000_000_000n, 20_000_000n, 10_000_000n, 1_000_000_000n],
    [1_000_000_000n, 20_000_000n, 9_000_000n, 987_500_000n],
    [1_000_000_000n, 20_000_000n, 11_000_000n, 1_012_500_000n],
  ])("of %s with limit %s and %s used is %s", (baseFeePerGas, limit, gasUsed, next) =>
    expect(nextBaseFee({ baseFeePerGas, gasLimit: limit, gasUsed, blobGasUsed: null }, ethereum)).toBe(next),
  );
  it("counts Jovian's data footprint like gas, and only there", () => {
    const jovian = parametersOf(lookup(10), { extraData: extraOf(1, 250, 6, 0n) });
    const holocene = parametersOf(lookup(10), { extraData: extraOf(0, 250, 6) });
    const header = parent(10n ** 9n, 0n, gasLimit);
    expect(nextBaseFee(header, jovian)).toBe(10n ** 9n + (10n ** 9n * 5n) / 250n);
    expect(nextBaseFee(header, holocene)).toBeLessThan(10n ** 9n);
    expect(nextBaseFee(parent(10n ** 9n, gasLimit / 2n, gasLimit), ethereum)).toBe(10n ** 9n);
  });
  it("reads its parameters from the header of Holocene and Jovian, and from nothing that looks like it", () => {
    const read = (extraData: string | null, chain = lookup(8453)) => parametersOf(chain, { extraData });
    expect(read(extraOf(0, 77, 9))).toMatchObject({ denominator: 77n, elasticity: 9n, minBaseFeePerGas: 5_000_000n });
    expect(read(extraOf(1, 77, 9, 123n))).toMatchObject({ denominator: 77n, elasticity: 9n, minBaseFeePerGas: 123n });
    for (const odd of [
      null,
      "0x",
      extraOf(0, 0, 9),
      extraOf(0, 9, 0),
      extraOf(1, 77, 9),
      extraOf(0, 7, 9, 1n),
      "0xd883",
    ])
      expect(read(odd)).toMatchObject({ denominator: 1000n, elasticity: 5n });
    expect(read(extraOf(0, 77, 9), lookup(1))).toMatchObject({ denominator: 8n, elasticity: 2n });
    expect(read(extraOf(0, 77, 9), unknownChain)).toMatchObject({ denominator: 77n });
  });
  it("does not divide by zero, whatever parameters a caller's chain has", () => {
    const wrong = parametersOf({ ...unknownChain, elasticity: 0n, denominator: 0n }, null);
    expect(nextBaseFee(parent(7n, 1n), wrong)).toBe(7n - 1n + 1n);
    expect(growBaseFee(7n, 3, wrong).blocks).toBe(3);
  });
});

describe("the highest base fee within a horizon", () => {
  const afterFull = (base: bigint, blocks: number, rules: BaseFeeParameters): bigint => {
    let fee = base;
    for (let block = 0; block < blocks; block++) fee = nextBaseFee(parent(fee, gasLimit), rules) ?? fee;
    return fee;
  };
  it("is at least that of so many full blocks, for any parameters", () =>
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n }), fc.nat(200), parameters, (base, blocks, rules) => {
        const grown = growBaseFee(base, blocks, rules);
        expect(grown.baseFeePerGas).toBeGreaterThanOrEqual(afterFull(base, grown.blocks, rules));
        expect(grown.blocks).toBeLessThanOrEqual(blocks);
        expect(grown.baseFeePerGas).toBeLessThan(1n << 128n);
      }),
    ));
  it("stops at the block where the fee exceeds any sense, and names its number", () => {
    const grown = growBaseFee(10n ** 9n, 10_000, lookup(1));
    expect(grown.blocks).toBeLessThan(1_000);
    expect(grown.baseFeePerGas).toBeLessThan(1n << 97n);
    expect(growBaseFee(5_000_000n, 300, lookup(8453)).blocks).toBe(300);
  });
  it("agrees with the number of blocks that a cap outlives", () =>
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 12n }), fc.nat(100), parameters, (base, blocks, rules) => {
        const { baseFeePerGas, blocks: reached } = growBaseFee(base, blocks, rules);
        expect(blocksWithin(base, baseFeePerGas, blocks, rules)).toBe(reached);
        const start = base > rules.minBaseFeePerGas ? base : rules.minBaseFeePerGas;
        expect(blocksWithin(base, start - 1n, blocks, rules)).toBe(-1);
        expect(blocksWithin(base, start, blocks, rules)).toBe(0);
      }),
    ));
});

describe("the effective price", () => {
  it("is the gas price of a legacy transaction, else base fee and tip within the cap", () => {
    const legacy = { gasPrice: 9n, maxFeePerGas: null, maxPriorityFeePerGas: null };
    expect(effectiveGasPrice(legacy, 3n)).toBe(9n);
    expect(effectiveGasPrice({ gasPrice: null, maxFeePerGas: 10n, maxPriorityFeePerGas: 2n }, 3n)).toBe(5n);
    expect(effectiveGasPrice({ gasPrice: null, maxFeePerGas: 10n, maxPriorityFeePerGas: 2n }, 9n)).toBe(10n);
  });
});

describe("base fees behind blocks that are all empty, half full, full", () => {
  const ethereum = lookup(1);
  it.each([
    [1_000_000_000n, 1, [875_000_000n, 1_000_000_000n, 1_125_000_000n]],
    [1_000_000_000n, 3, [669_921_875n, 1_000_000_000n, 1_423_828_125n]],
    [7n, 2, [7n, 7n, 9n]],
  ])("are right for %s wei, %i blocks later: %s", (base, blocks, fees) => {
    expect(baseFeesBehind(base, blocks, ethereum)).toEqual(fees);
  });
  it("are computed for any gas limit by the chain's own parameters", () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 12n), parameters, (base, given) => {
        const at = base > given.minBaseFeePerGas ? base : given.minBaseFeePerGas;
        const limit = gasLimit * given.elasticity;
        const after = (gasUsed: bigint) => nextBaseFee({ ...parent(at, gasUsed), gasLimit: limit }, given);
        expect(baseFeesBehind(at, 1, given)).toEqual([0n, limit / 2n, limit].map(after));
      }),
    );
  });
});
