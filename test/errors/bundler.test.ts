import fc from "fast-check";
import { RpcRequestError } from "viem";
import { getUserOperationError } from "viem/account-abstraction";
import { describe, expect, it } from "vitest";
import { Errors } from "evm-preflight";

/** What alto, rundler and the reference bundler answer. */
const refusals: ReadonlyArray<readonly [code: number, message: string, kind: string, entryPointCode: string | null]> = [
  [-32500, "UserOperation reverted during simulation with reason: AA21 didn't pay prefund", "account", "AA21"],
  [-32500, "AA10 sender already constructed", "account", "AA10"],
  [-32501, "UserOperation reverted during simulation with reason: AA33 reverted", "paymaster", "AA33"],
  [-32502, "account uses banned opcode: TIMESTAMP", "opcode", null],
  [-32503, "User operation expires too soon", "outOfTimeRange", null],
  [-32504, "paymaster 0x00…01 is throttled", "throttled", null],
  [-32505, "factory stake too low", "stakeTooLow", null],
  [-32506, "unsupported aggregator", "aggregator", null],
  [-32507, "AA24 signature error", "signature", "AA24"],
  [-32508, "paymaster deposit too low for all mempool UserOps", "paymasterBalance", null],
  [-32521, "UserOperation reverted during simulation with reason: 0x", "reverted", null],
];

describe("a bundler's refusal", () => {
  it.each(refusals)("of code %i is typed: %s", (code, message, kind, entryPointCode) => {
    const body = { method: "eth_sendUserOperation", params: [] };
    const own = { code, message };
    const thrown = new RpcRequestError({ body, error: own, url: "http://127.0.0.1" });
    const forms: ReadonlyArray<unknown> = [
      ...[own, { error: own }, { jsonrpc: "2.0", id: 1, error: own }, thrown],
      ...[new Error("outer", { cause: thrown }), getUserOperationError(thrown, operation)],
    ];
    for (const form of forms)
      expect(Errors.bundlerErrorOf(form)).toMatchObject({
        kind,
        code,
        entryPointCode,
        isRetryable: code === -32504 || code === -32508,
      });
    expect(Errors.bundlerErrorOf(own)?.detail).toBe(message);
  });

  it("is not read out of another code", () => {
    for (const code of [-32000, -32602, 3, -32499, -32509, -32520, -32522])
      expect(Errors.bundlerErrorOf({ code, message: "AA21 didn't pay prefund" })).toBeNull();
    expect(Errors.bundlerErrorOf(null)).toBeNull();
  });

  it("is read from any value without throwing", () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true }), (value) => {
        Errors.bundlerErrorOf(value);
        expect(Errors.bundlerErrorOf({ code: -32521, message: value, data: value })?.kind).toBe("reverted");
      }),
    );
  });
});

const operation = {
  ...{ sender: "0x0000000000000000000000000000000000000001", nonce: 0n, callData: "0x", signature: "0x" },
  ...{ callGasLimit: 1n, verificationGasLimit: 1n, preVerificationGas: 1n, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
} as never;
