/** User operations as callers give them: every form is read to the same, and what is wrong is named. */
import * as Result from "effect/Result";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hashTypedData, numberToHex, type Hex } from "viem";
import { getUserOperationTypedData } from "viem/account-abstraction";
import { isSigning, operationIn, operationOfTyped, signingIn } from "../rooms/signing.js";

const sender = "0x1111111111111111111111111111111111111111";
const paymaster = "0x2222222222222222222222222222222222222222";
const bare = {
  ...{ sender, nonce: 1n, callData: "0x01", signature: "0x02", callGasLimit: 3n, verificationGasLimit: 4n },
  ...{ preVerificationGas: 5n, maxFeePerGas: 6n, maxPriorityFeePerGas: 7n },
};
const paid = {
  ...bare,
  paymaster,
  paymasterVerificationGasLimit: 8n,
  paymasterPostOpGasLimit: 9n,
  paymasterData: "0xaa",
};
const half = (value: bigint): string => value.toString(16).padStart(32, "0");
const packed = {
  ...{ sender, nonce: 1n, callData: "0x01", signature: "0x02", preVerificationGas: 5n, initCode: "0x" },
  ...{ accountGasLimits: `0x${half(4n)}${half(3n)}`, gasFees: `0x${half(7n)}${half(6n)}` },
  paymasterAndData: `${paymaster}${half(8n)}${half(9n)}aa`,
};

const read = (input: object) => Result.getOrThrow(operationIn(input as never));
const wrong = (input: object): string =>
  Result.match(operationIn(input as never), {
    onFailure: ({ field, problem }) => `${field} ${problem}`,
    onSuccess: () => "",
  });
const of = (entryPoint: string, operation: object, more: object = {}) => ({ entryPoint, operation, ...more });

describe("a user operation", () => {
  it("is read to the same in every form", () => {
    const one = read(of("0.7", paid));
    const json = Object.fromEntries(
      Object.entries(paid).map(([key, value]) => [key, typeof value === "bigint" ? `0x${value.toString(16)}` : value]),
    );
    const address = "0x0000000071727De22E5E9d8BAf0edAc6f37da032";
    for (const other of [
      of("0.7", packed),
      of(address, json),
      of(address, { ...paid, nonce: 1, factory: undefined, factoryData: null }),
      { method: "eth_sendUserOperation", params: [json, address] },
    ]) {
      expect(isSigning(other)).toBe(true);
      expect(read(other)).toEqual(one);
    }
    expect(one).toMatchObject({ version: "0.7", entryPoint: address.toLowerCase(), signer: null, chainId: null });
    expect(
      read(of("0.6", { ...bare, initCode: `${sender}bb`, paymasterAndData: `${paymaster}cc` })).operation,
    ).toMatchObject({
      ...{ factory: sender, factoryData: "0xbb", paymaster, paymasterData: "0xcc" },
    });
  });

  it("has its marker and its paymaster's signature apart", () => {
    const marker = "0x7702000000000000000000000000000000000000";
    for (const form of [
      { ...bare, factory: "0x7702" },
      { ...packed, paymasterAndData: "0x", initCode: "0x7702" },
    ])
      expect(read(of("0.8", form)).operation.factory).toBe(marker);
    const behind = `${packed.paymasterAndData}ddee000222e325a297439656`;
    const beside = { paymasterData: "0xaa", paymasterSignature: "0xddee" };
    expect(read(of("0.9", { ...packed, paymasterAndData: behind })).operation).toMatchObject(beside);
    expect(read(of("0.9", { ...paid, ...beside })).operation).toMatchObject(beside);
    expect(read(of("0.8", { ...packed, paymasterAndData: behind })).operation.paymasterSignature).toBeNull();
    // a length that reaches beyond the data is none
    const beyond = `${packed.paymasterAndData}ddeeffff22e325a297439656`;
    expect(read(of("0.9", { ...packed, paymasterAndData: beyond })).operation.paymasterSignature).toBeNull();
  });

  it("keeps an authorisation, signed or not", () => {
    const entry = { address: paymaster, chainId: "0x1", nonce: "0x2" };
    const unsigned = { authority: sender, address: paymaster, chainId: 1, nonce: 2 };
    expect(read(of("0.8", { ...bare, eip7702Auth: entry })).operation.authorization).toEqual(unsigned);
    const [r, s] = [`0x${"11".repeat(32)}`, `0x${"22".repeat(32)}`];
    const signed = { address: paymaster, chainId: 1, nonce: 2, r, s, yParity: 1 };
    for (const parity of [{ yParity: "0x1" }, { v: "0x1c" }, { v: 28n, yParity: 1 }])
      expect(
        read(of("0.8", { ...bare, authorization: { ...entry, r, s, ...parity } })).operation.authorization,
      ).toEqual(signed);
  });

  const { signature: _, ...unsigned } = bare;
  it.each([
    [of("0.5", bare), "entryPoint must be an address, or a version: 0.6, 0.7, 0.8, 0.9"],
    [of(sender, bare), "version must be that of the EntryPoint"],
    [of("0.7", bare, { version: "0.8" }), "version must be that of the EntryPoint"],
    [of("0.7", unsigned), "operation.signature must be hex bytes, got nothing"],
    [of("0.7", { ...bare, nonce: undefined }), "operation.nonce must be a bigint"],
    [of("0.7", { ...bare, callGasLimit: 2n ** 128n }), "operation.callGasLimit is above"],
    [of("0.7", { ...bare, callGasLimit: -1 }), "operation.callGasLimit must be a whole number"],
    [of("0.7", { ...bare, initCode: "0x" }), "operation.initCode is not a field of a user operation of EntryPoint 0.7"],
    [of("0.6", { ...bare, factory: sender }), "operation.factory is not a field of a user operation of EntryPoint 0.6"],
    [of("0.6", { ...bare, initCode: "0x11" }), "operation.initCode must begin with the 20 bytes of a contract"],
    [of("0.7", { ...packed, paymasterAndData: `${paymaster}00` }), "operation.paymasterAndData must have two numbers"],
    [of("0.7", { ...packed, gasFees: "0x00" }), "operation.gasFees must have two numbers of 16 bytes"],
    [of("0.7", { ...bare, paymasterData: "0x11" }), "operation.paymasterData stands beside paymaster alone"],
    [of("0.7", { ...bare, factoryData: "0x11" }), "operation.factoryData stands beside factory alone"],
    [of("0.8", { ...paid, paymasterSignature: "0x11" }), "operation.paymasterSignature came with EntryPoint 0.9"],
    [of("0.9", { ...paid, paymasterSignature: "0x" }), "operation.paymasterSignature must have as many bytes"],
    [of("0.7", { ...paid, paymasterVerificationGasLimit: null }), "operation.paymasterVerificationGasLimit must be"],
    [
      of("0.8", { ...bare, authorization: { address: sender }, eip7702Auth: { address: paymaster } }),
      "operation.eip7702Auth stands beside authorization",
    ],
    [of("0.7", bare, { signr: sender }), "signr is not a field of a user operation; did you mean signer?"],
    [of("0.7", bare, { chainId: "1" }), "chainId must be a whole number"],
    [{ method: "eth_sendUserOperation", params: [bare] }, "params must be the operation and its EntryPoint"],
    [{ method: "eth_sendUserOperation", params: [unsigned, "0.7"] }, "params[0].signature must be hex bytes"],
  ])("%# names what is wrong", (input, problem) => expect(wrong(input)).toContain(problem));

  it("is read from anything without throwing", () => {
    const fields = Object.keys({ ...paid, ...packed, factory: "", eip7702Auth: "", paymasterSignature: "" });
    const changed = fc.record(Object.fromEntries(fields.map((name) => [name, fc.anything({ withBigInt: true })])), {
      requiredKeys: [],
    });
    fc.assert(
      fc.property(fc.constantFrom("0.6", "0.7", "0.8", "0.9"), changed, fc.boolean(), (version, change, isPacked) => {
        Result.isFailure(operationIn(of(version, { ...(isPacked ? packed : paid), ...change }) as never, "[1]."));
      }),
    );
  });

  const points = {
    "0.6": "0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789",
    "0.7": "0x0000000071727de22e5e9d8baf0edac6f37da032",
    "0.8": "0x4337084d9e255ff0702461cf8895ce9e3b5ff108",
    "0.9": "0x433709009b8330fda32311df1c2afa402ed8d009",
  } as const;
  const typedOf = (operation: object, point: Hex = points["0.8"]) =>
    getUserOperationTypedData({ chainId: 10, entryPointAddress: point, userOperation: operation as never });
  const inTyped = (typedData: object) =>
    Result.getOrNull(operationOfTyped(Result.getOrThrow(signingIn({ typedData, signer: sender }))));

  it("is read out of its typed data, field by field", () => {
    const bytes = (most: number) =>
      fc.uint8Array({ maxLength: most }).map((all): Hex => `0x${Buffer.from(all).toString("hex")}`);
    const account = fc
      .bigInt({ min: 2n ** 152n, max: 2n ** 160n - 1n })
      .map((all) => numberToHex(all, { size: 20 }))
      .filter((all) => !all.startsWith("0x7702"));
    const half = fc.bigInt({ min: 0n, max: 2n ** 128n - 1n });
    const operations = fc.record({
      ...{ sender: account, nonce: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), callData: bytes(80) },
      ...{ callGasLimit: half, verificationGasLimit: half, preVerificationGas: half },
      ...{ maxFeePerGas: half, maxPriorityFeePerGas: half, signature: fc.constant(`0x${"00".repeat(65)}`) },
    });
    const made = fc.record({ factory: account, factoryData: bytes(40) });
    const paidBy = fc.record({
      ...{ paymaster: account, paymasterData: bytes(40) },
      ...{ paymasterVerificationGasLimit: half, paymasterPostOpGasLimit: half },
    });
    const none = fc.constant({});
    fc.assert(
      fc.property(
        fc.constantFrom("0.8" as const, "0.9" as const),
        ...[operations, fc.oneof(none, made), fc.oneof(none, paidBy)],
        (version, own, factory, paymaster) => {
          const operation = { ...own, ...factory, ...paymaster };
          const found = inTyped(typedOf(operation, points[version]));
          const { operation: same, entryPoint } = read(of(version, operation));
          expect(found).toMatchObject({ operation: same, entryPoint, version, chainId: 10, signer: sender });
        },
      ),
    );
  });

  it("is not read out of typed data that its EntryPoint hashes otherwise, or that another paymaster may sign for", () => {
    const typed = typedOf(bare);
    const domained = (domain: object, EIP712Domain?: ReadonlyArray<object>) => ({
      ...{ ...typed, domain: { ...typed.domain, ...domain } },
      types: { ...typed.types, ...(EIP712Domain === undefined ? {} : { EIP712Domain }) },
    });
    expect(inTyped(typed)?.typedData).toMatchObject({ primaryType: "PackedUserOperation" });
    const [name, version] = ["name", "version"].map((of) => ({ name: of, type: "string" }));
    const point = { name: "verifyingContract", type: "address" };
    for (const other of [
      ...[domained({ name: "ERC4338" }), domained({ version: "2" }), domained({ salt: `0x${"11".repeat(32)}` })],
      ...[domained({ chainId: 2n ** 60n }), domained({ chainId: undefined }), domained({ verifyingContract: sender })],
      domained(
        {},
        [name, version, { name: "chainId", type: "uint64" }, point].flatMap((one) => one ?? []),
      ),
      ...[points["0.6"], points["0.7"]].map((verifyingContract) => domained({ verifyingContract })),
      // viem leaves the marker where no authorisation stands beside it, and EntryPoints hash the code that is there
      typedOf({ ...bare, factory: "0x7702" }),
      typedOf({ ...bare, preVerificationGas: 2n ** 128n }),
      typedOf({ ...paid, paymasterData: "0xaa22e325a297439656" }, points["0.9"]),
      typedOf({ ...paid, paymasterData: "0xaa", paymasterSignature: "0xdd" }, points["0.9"]),
    ])
      expect([hashTypedData(other as never), inTyped(other)]).toEqual([hashTypedData(other as never), null]);
  });
});
