/** Transactions and requests as calls, and a checked input handed in again. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as Transaction from "../../src/Transaction.js";
import { bareCall, buildRequest, exactCall, filledOf, validate } from "../rooms/transaction.js";
import { requestArbitrary } from "./requests.js";

const from = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
const to = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
const one = (input: unknown) => Result.getOrThrow(validate(input)).transactions[0];

describe("a transaction as a call", () => {
  it("has the caller's fields, and nothing that the pipeline fills in", () => {
    const whole = { from, to, value: 1n, chainId: 1, gas: 2n, nonce: 3, maxFeePerGas: 4n, maxPriorityFeePerGas: 5n };
    expect(bareCall(one({ ...whole, maxPriorityFeePerGas: 4n }), 21_000n)).toEqual({
      ...{ from, to, data: "0x", value: 1n, gas: 21_000n },
    });
    expect(bareCall(one({ from, data: "0x00", gas: 7n }), null)).toEqual({ from, data: "0x00", value: 0n });
    const accessList = [{ address: to, storageKeys: [] }];
    const blobs = { blobVersionedHashes: [`0x01${"00".repeat(31)}`], maxFeePerBlobGas: 9n };
    expect(bareCall(one({ from, to, accessList, ...blobs }), 1n)).toEqual({
      ...{ from, to, data: "0x", value: 0n, gas: 1n, accessList, ...blobs },
    });
  });

  it("is exactly the request, without its type and chain", () => {
    fc.assert(
      fc.property(requestArbitrary, (request) => {
        const { type, chainId, ...fields } = request;
        expect(exactCall(request, from)).toEqual({ from, ...fields });
        expect([type, chainId]).toHaveLength(2);
      }),
    );
  });
});

describe("the filled-in fields of a request", () => {
  it("build the same request again, and are null where there are none", () => {
    fc.assert(
      fc.property(requestArbitrary, (request) => {
        const input = { ...one({ from, to }), to: null, data: request.data, value: request.value };
        const lists = Object.fromEntries(
          Object.entries(request).filter(([name]) => /List|Hashes|BlobGas|^to$/.test(name)),
        );
        expect(buildRequest({ ...input, ...lists }, filledOf(request))).toEqual(request);
      }),
    );
    expect(new Set(Object.values(filledOf(null)))).toEqual(new Set([null]));
    expect(filledOf(undefined)).toEqual(filledOf(null));
  });
});

describe("a checked input", () => {
  it("is passed on unchanged, and a lookalike is not", () => {
    const checked = Effect.runSync(Transaction.check([{ from, to }]));
    expect(Effect.runSync(Transaction.check(checked))).toBe(checked);
    expect(Result.isFailure(validate({ ...checked }))).toBe(true);
  });
});
