/** The bytes of transactions beside viem's: the same for every request, both ways, and none where viem makes none. */
import fc from "fast-check";
import {
  parseTransaction,
  serializeTransaction,
  toRlp,
  fromRlp,
  type Hex,
  type TransactionSerializable,
  type TransactionSerialized,
} from "viem";
import { describe, expect, it } from "vitest";
import { readSigned, unsignedBytes, withoutBlobs, type Request } from "../rooms/transaction.js";
import { accountArbitrary, requestArbitrary } from "./requests.js";

const viems = (request: unknown): Hex | null => {
  try {
    return serializeTransaction(request as TransactionSerializable);
  } catch {
    return null;
  }
};

/** Changes of which most make fields that no signer takes. */
const changes: ReadonlyArray<readonly [field: string, value: unknown]> = [
  ...[0, -1, 1.5, 2 ** 53].map((chainId) => ["chainId", chainId] as const),
  ...[-1, 1.5, 2 ** 60].map((nonce) => ["nonce", nonce] as const),
  ...[-1n, 2n ** 256n].flatMap((amount) =>
    ["gas", "value", "gasPrice", "maxFeePerGas", "maxPriorityFeePerGas", "maxFeePerBlobGas"].map(
      (field) => [field, amount] as const,
    ),
  ),
  ["maxPriorityFeePerGas", 2n ** 255n],
  // the checksum of WETH, then with one letter of another case
  ...["0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2", "0xC02AaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"].flatMap((account) => [
    ["to", account] as const,
    ["accessList", [{ address: account, storageKeys: [] }]] as const,
    [
      "authorizationList",
      [{ address: account, chainId: 1, nonce: 1, r: `0x${"0".repeat(63)}1`, s: `0x${"0".repeat(63)}2`, yParity: 1 }],
    ] as const,
  ]),
  ["to", "0x12"],
  ["data", "0xzz"],
  ["accessList", [{ address: `0x${"11".repeat(20)}`, storageKeys: ["0x12"] }]],
  ["accessList", [{ address: "0x12", storageKeys: [] }]],
  ["blobVersionedHashes", []],
  ["blobVersionedHashes", [`0x02${"ab".repeat(31)}`]],
  ["blobVersionedHashes", [`0x01${"ab".repeat(30)}`]],
];

describe("the bytes of a request", () => {
  it("are viem's, of every type", () =>
    fc.assert(
      fc.property(requestArbitrary, (request) => {
        expect(unsignedBytes(request)).toBe(serializeTransaction(request as TransactionSerializable));
      }),
      { numRuns: 500 },
    ));

  it("are viem's, or none where viem makes none, whatever one field is changed to", () =>
    fc.assert(
      fc.property(requestArbitrary, fc.constantFrom(...changes), (request, [field, value]) => {
        fc.pre(field in request);
        const changed = { ...request, [field]: value } as unknown as Request;
        expect(unsignedBytes(changed)).toBe(viems(changed));
      }),
      { numRuns: 2_000 },
    ));

  it("are none with a fee of another type", () => {
    const plain = { chainId: 1, nonce: 0, gas: 21_000n, data: "0x", value: 0n, gasPrice: 1n } as const;
    for (const request of [
      { type: "legacy", ...plain, maxFeePerGas: 1n },
      { type: "eip2930", ...plain, accessList: [], maxPriorityFeePerGas: 1n },
    ])
      expect([unsignedBytes(request as never), viems(request)]).toEqual([null, null]);
  });
});

describe("signed bytes", () => {
  it("are read as viem reads them, with what it leaves out", () =>
    fc.assert(
      fc.asyncProperty(requestArbitrary, accountArbitrary, async (request, account) => {
        const raw = await account.signTransaction(request as TransactionSerializable);
        const { r: _, s: _s, v: _v, yParity: _y, ...parsed } = parseTransaction(raw as TransactionSerialized);
        const list = "authorizationList" in parsed ? parsed.authorizationList : undefined;
        const caps = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n };
        const isPriced = request.type === "legacy" || request.type === "eip2930";
        expect(readSigned(raw)?.request).toEqual({
          ...{ nonce: 0, value: 0n, gas: 0n, data: "0x", ...(isPriced ? { gasPrice: 0n } : caps) },
          ...(request.type === "eip4844" ? { maxFeePerBlobGas: 0n } : {}),
          ...parsed,
          ...(list === undefined ? {} : { authorizationList: list.map(({ v: _each, ...each }) => each) }),
        });
        expect(withoutBlobs(raw)).toBe(raw);
      }),
      { numRuns: 150 },
    ));

  it("are those of the payload where blobs travel with it", () =>
    fc.assert(
      fc.asyncProperty(
        requestArbitrary.filter(({ type }) => type === "eip4844"),
        accountArbitrary,
        async (request, account) => {
          const raw = await account.signTransaction(request as TransactionSerializable);
          const payload = fromRlp(`0x${raw.slice(4)}`, "hex");
          const carried: Hex = `0x03${toRlp([payload, ["0x12"], ["0x34"], ["0x56"]] as never).slice(2)}`;
          expect(withoutBlobs(carried)).toBe(raw);
          expect(readSigned(carried)).toEqual(readSigned(raw));
        },
      ),
      { numRuns: 20 },
    ));
});
