/** The values of blocks that may come: such as real blocks have, and contrary to the next one's. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { contraryBlock, ordinaryBlock } from "../../rooms/pipeline.js";
import type { Request } from "../../rooms/transaction.js";

const gwei = 10n ** 9n;
const request = (maxFeePerGas: bigint) => [{ request: { maxFeePerGas } as Request }];
const ground = { usual: `0x${"5a".repeat(20)}`, taken: 100_000n, blocks: 4, baseFee: gwei, isLast: true } as const;
const luck = fc
  .uint8Array({ minLength: 40, maxLength: 40 })
  .map((bytes) => `0x${Buffer.from(bytes).toString("hex")}` as const);
const steps = (limit: bigint, blocks: number, sign: bigint): bigint =>
  blocks === 0 ? limit : steps(limit + sign * (limit / 1_024n - 1n), blocks - 1, sign);

describe("an ordinary simulated block", () => {
  it.each([30_000_000n, 60_000_000n])("keeps a gas limit that rests at %i", (gasLimit) => {
    fc.assert(
      fc.property(luck, (drawn) => {
        expect(ordinaryBlock({ ...ground, gasLimit, signed: request(2n * gwei) }, drawn).values.gasLimit).toBe(
          gasLimit,
        );
      }),
    );
  });
  it.each([30_000_000n, 59_941_408n])(
    "moves a gas limit of %i by whole steps in front of the last block",
    (gasLimit) => {
      const seen = fc
        .sample(luck, 50)
        .map(
          (drawn) => ordinaryBlock({ ...ground, gasLimit, isLast: false, signed: request(2n * gwei) }, drawn).values,
        );
      const above = gasLimit === 30_000_000n ? steps(gasLimit, 4, 1n) : 60_000_000n;
      expect(new Set(seen.map((values) => values.gasLimit))).toEqual(new Set([above, steps(gasLimit, 4, -1n)]));
    },
  );
  it("moves another gas limit by whole steps of builders, or not, and no further than a round number", () => {
    const seen = (gasLimit: bigint) =>
      new Set(
        fc
          .sample(luck, 100)
          .map((drawn) => ordinaryBlock({ ...ground, gasLimit, signed: request(2n * gwei) }, drawn).values.gasLimit),
      );
    expect(seen(44_444_444n)).toEqual(new Set([44_444_444n, steps(44_444_444n, 4, 1n), steps(44_444_444n, 4, -1n)]));
    const below = 59_941_408n;
    expect(seen(below)).toEqual(new Set([below, 60_000_000n, steps(below, 4, -1n)]));
  });
  it("has a base fee that no share of the next one's gives away, and that the requests can pay", () => {
    fc.assert(
      fc.property(luck, fc.bigInt(0n, 100n * gwei), fc.constantFrom(0n, 1n, 1_000n * gwei), (drawn, baseFee, more) => {
        const { baseFeePerGas } = ordinaryBlock(
          { ...ground, baseFee, gasLimit: null, signed: request(baseFee + more) },
          drawn,
        ).values;
        expect(baseFeePerGas).not.toBeNull();
        const fee = baseFeePerGas ?? 0n;
        expect(fee <= baseFee + more).toBe(true);
        const off = fee > baseFee ? fee - baseFee : baseFee - fee;
        expect(off <= baseFee / 16n + 2n).toBe(true);
      }),
    );
    const drawn = fc
      .sample(luck, 100)
      .map((one) => ordinaryBlock({ ...ground, gasLimit: null, signed: request(2n * gwei) }, one).values.baseFeePerGas);
    expect(new Set(drawn).size).toBeGreaterThan(50);
  });
  it("has a producer that is an account without code, with something of its own", () => {
    const { state, values } = ordinaryBlock(
      { ...ground, gasLimit: null, signed: request(gwei) },
      `0x${"ab".repeat(40)}`,
    );
    expect(Object.keys(state)).toEqual([values.feeRecipient]);
    expect(Object.keys(state[values.feeRecipient] ?? {}).sort()).toEqual(["balance", "nonce"]);
  });
});

it("pays most by the base fee in the last block", () => {
  fc.assert(
    fc.property(luck, luck, fc.bigInt(0n, 100n * gwei), (one, other, baseFee) => {
      const of = { ...ground, baseFee, gasLimit: null, signed: request(1_000n * gwei) };
      const last = ordinaryBlock(of, one).values.baseFeePerGas ?? 0n;
      for (const block of [ordinaryBlock, contraryBlock])
        expect((block({ ...of, isLast: false }, other).values.baseFeePerGas ?? 0n) <= last).toBe(true);
    }),
  );
});

it("a contrary block has another parity of gas limit and base fee, and a producer with code and no bit at its ends", () => {
  fc.assert(
    fc.property(luck, (drawn) => {
      const { state, values } = contraryBlock({ ...ground, gasLimit: 30_000_000n, signed: request(2n * gwei) }, drawn);
      expect([(values.gasLimit ?? 0n) % 2n, (values.baseFeePerGas ?? 0n) % 2n]).toEqual([1n, 1n]);
      expect(values.feeRecipient).toMatch(/^0xa5.*a5$/);
      expect(state[values.feeRecipient]).toMatchObject({ code: expect.stringMatching(/^0x00/) });
    }),
  );
});
