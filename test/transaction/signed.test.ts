/** Requests to bytes and back: what is signed is read as what was asked for, and nothing else is. */
import { secp256k1 } from "@noble/curves/secp256k1";
import * as Effect from "effect/Effect";
import fc from "fast-check";
import { fromRlp, toRlp, type Hex, type TransactionSerializable } from "viem";
import { describe, expect, it, vi } from "vitest";
import { digestOf } from "../rooms/report.js";
import {
  authorityOf,
  isRequestOf,
  readSigned,
  recoverAuthorities,
  recoverSigner,
  signingHash,
  type Transaction,
} from "../rooms/transaction.js";
import { accountArbitrary, changes, hexOf, lower, requestArbitrary } from "./requests.js";
import { runs } from "../harness/parts.js";
import { transaction } from "../steps/parts.js";

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

it("the signed hash is that of the request now, also when it was changed in place", () =>
  fc.assert(
    fc.property(requestArbitrary, (request) => {
      const [kept, before] = [{ ...request }, signingHash(request)];
      expect(signingHash(request)).toBe(before);
      Object.assign(request, { nonce: request.nonce + 1 });
      expect(signingHash(request)).toBe(signingHash({ ...request }));
      expect(signingHash(request)).not.toBe(before);
      Object.assign(request, kept);
      expect(signingHash(request)).toBe(before);
    }),
  ));

it("the signed hash is that of the lists now, and of fields that a request does not show", () => {
  const key = `0x${"0".repeat(64)}` as const;
  const storageKeys = [key];
  const accessList = [{ address: `0x${"11".repeat(20)}` as const, storageKeys }];
  const fees = { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n } as const;
  const plain = { type: "eip1559", chainId: 1, nonce: 0, data: "0x", value: 0n, gas: 21_000n, ...fees } as const;
  const listed = { ...plain, accessList };
  const before = signingHash(listed);
  storageKeys.push(key);
  expect(signingHash(listed)).not.toBe(before);
  const hidden: { value: bigint } = { value: 0n };
  const { value: _, ...shown } = plain;
  const inheriting = Object.assign(Object.create(hidden), shown) as typeof plain;
  const concealing = Object.defineProperty({ ...shown }, "value", { get: () => hidden.value }) as typeof plain;
  const were = [inheriting, concealing].map(signingHash);
  hidden.value = 1n;
  expect([inheriting, concealing].map(signingHash)).not.toContain(were[0]);
  expect(were).toEqual([signingHash(plain), signingHash(plain)]);
});

describe("signed bytes", () => {
  it("are read as the request and its signer, for every type", async () => {
    await fc.assert(
      fc.asyncProperty(requestArbitrary, accountArbitrary, async (request, account) => {
        const raw = await account.signTransaction(request as TransactionSerializable);
        const read = readSigned(raw);
        expect(read?.from).toBe(lower(account.address));
        expect(read === null ? null : signingHash(read.request)).toBe(signingHash(request));
        expect(readSigned(raw.toUpperCase().replace("0X", "0x"))?.from).toBe(lower(account.address));
      }),
      { numRuns: runs(150) },
    );
  });

  it("are not read with anything else behind or between", async () => {
    await fc.assert(
      fc.asyncProperty(
        requestArbitrary.filter(({ type }) => type !== "eip4844"),
        accountArbitrary,
        async (request, account) => {
          const raw = await account.signTransaction(request as TransactionSerializable);
          expect(readSigned(`${raw}00`)).toBeNull();
          expect(readSigned(raw.slice(0, -2))).toBeNull();
          const prefix = request.type === "legacy" ? "0x" : raw.slice(0, 4);
          const fields = fromRlp(`0x${raw.slice(prefix.length)}`, "hex") as ReadonlyArray<Hex>;
          const encode = (list: ReadonlyArray<unknown>) => `${prefix}${toRlp(list as never).slice(2)}`;
          expect(encode(fields)).toBe(raw);
          expect(readSigned(encode([...fields, "0x01"]))).toBeNull();
          expect(readSigned(encode(fields.slice(0, -3)))).toBeNull();
          // the other half of the curve signs the same, and no chain takes it (EIP-2)
          const s = order - BigInt(fields[fields.length - 1] ?? 0);
          const v = fields[fields.length - 3] ?? "0x";
          const flipped =
            request.type === "legacy" ? BigInt(v) + (BigInt(v) % 2n === 1n ? 1n : -1n) : v === "0x" ? 1n : 0n;
          const hex = (value: bigint): Hex =>
            value === 0n
              ? "0x"
              : `0x${value.toString(16).padStart(value.toString(16).length + (value.toString(16).length % 2), "0")}`;
          expect(
            readSigned(encode([...fields.slice(0, -3), hex(flipped), fields[fields.length - 2], hex(s)])),
          ).toBeNull();
        },
      ),
      { numRuns: runs(60) },
    );
    fc.assert(
      fc.property(fc.oneof(hexOf(0, 200), fc.string(), fc.constantFrom("0x02c0", "0x04", "0x", "0x02f8")), (raw) => {
        expect(readSigned(raw)).toBeNull();
      }),
    );
    for (const odd of [undefined, null, 1, {}, []]) expect(readSigned(odd as unknown as string)).toBeNull();
  });

  it("give back only a sender who signed", () => {
    fc.assert(
      fc.property(hexOf(32), hexOf(0, 40), hexOf(0, 40), fc.integer(), (hash, r, s, yParity) => {
        const signer = recoverSigner(hash, { r, s, yParity });
        expect(signer === null || /^0x[0-9a-f]{40}$/.test(signer)).toBe(true);
      }),
    );
    const zero = `0x${"00".repeat(32)}` as never;
    const none = { address: `0x${"00".repeat(20)}` as never, chainId: -1, nonce: -1, r: zero, s: zero, yParity: 9 };
    expect(authorityOf(none)).toBeNull();
  });
});

describe("the signers of many authorisations", () => {
  const entry = {
    address: transaction({}).from,
    chainId: 1,
    r: "0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
    s: `0x${"22".repeat(32)}`,
    yParity: 0,
  } as const;
  const listed = (first: number, count: number) =>
    transaction({
      authorizationList: Array.from({ length: count }, (_, index) => ({ ...entry, nonce: first + index })),
    });

  it("are recovered in turns of the event loop, a few in each, and once", async () => {
    const recovered = vi.spyOn(secp256k1.Signature, "fromCompact");
    const perTurn: Array<number> = [];
    let isDone = false;
    const turn = () => {
      perTurn.push(recovered.mock.calls.length - perTurn.reduce((sum, count) => sum + count, 0));
      if (!isDone) setImmediate(turn);
    };
    setImmediate(turn);
    const bundle = [listed(0, 20), listed(20, 20)];
    await Effect.runPromise(recoverAuthorities(bundle));
    isDone = true;
    turn();
    expect(recovered).toHaveBeenCalledTimes(40);
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(16);
    for (const { authorizationList } of bundle) authorizationList?.forEach(authorityOf);
    await Effect.runPromise(recoverAuthorities(bundle));
    expect(recovered).toHaveBeenCalledTimes(40);
    recovered.mockRestore();
  });

  it("are those of the authorisation's present fields", () => {
    const changing = { ...entry, nonce: 7 };
    const before = authorityOf(changing);
    changing.nonce = 8;
    expect(authorityOf(changing)).not.toBe(before);
    expect(authorityOf({ ...entry, nonce: 7 })).toBe(before);
  });
});

describe("the digest of requests", () => {
  it("changes with every field, the sender, the order, the chain and the version", () => {
    fc.assert(
      fc.property(requestArbitrary, requestArbitrary, (request, another) => {
        const from = lower(`0x${"aa".repeat(20)}`);
        const { chainId } = request;
        const digest = digestOf(1, chainId, [{ from, request }]);
        expect(digest).toMatch(/^0x[0-9a-f]{64}$/);
        const others = [
          digestOf(2, chainId, [{ from, request }]),
          digestOf(1, chainId + 1, [{ from, request }]),
          digestOf(1, chainId, [{ from: lower(`0x${"ab".repeat(20)}`), request }]),
          digestOf(1, chainId, [
            { from, request },
            { from, request: another },
          ]),
          digestOf(1, chainId, [
            { from, request: another },
            { from, request },
          ]),
          digestOf(1, chainId, []),
          ...changes(request).map(([, changed]) => digestOf(1, chainId, [{ from, request: changed }])),
        ];
        const known = [digest, ...others].filter((one) => one !== null);
        expect(new Set(known).size).toBe(known.length);
      }),
      { numRuns: runs(100) },
    );
  });

  it("is null for a request that cannot be serialised", () => {
    const [request] = fc.sample(requestArbitrary, 1);
    if (request === undefined) throw new Error("no sample");
    const from = lower(`0x${"aa".repeat(20)}`);
    for (const chainId of [-1, 1.5, Number.NaN]) expect(digestOf(1, chainId, [{ from, request }])).toBeNull();
    const broken = { ...request, value: 2n ** 300n, maxFeePerGas: 2n ** 300n, gasPrice: 2n ** 300n } as never;
    expect(digestOf(1, 1, [{ from, request: broken }])).toBeNull();
    expect(digestOf(1, 1, [{ from: undefined as never, request }])).toBeNull();
  });
});

describe("a request and its input", () => {
  const fixedIn = (request: object): Transaction =>
    transaction({ from: lower(`0x${"aa".repeat(20)}`), to: null, ...request });

  it("belong together when only open fields were filled in", () => {
    fc.assert(
      fc.property(requestArbitrary, (request) => {
        const all = fixedIn(request);
        expect(isRequestOf(all, request)).toBe(true);
        const fees = { maxFeePerGas: null, maxPriorityFeePerGas: null };
        const gasOpen = { ...all, nonce: null, gas: null, chainId: null, ...fees };
        expect(isRequestOf(gasOpen, request)).toBe(true);
        for (const [field, changed] of changes(request))
          expect([field, isRequestOf(all, changed)]).toEqual([field, false]);
        const legacy = "gasPrice" in request && request.gasPrice !== undefined;
        if (legacy) expect(isRequestOf({ ...gasOpen, gasPrice: null }, request)).toBe(false);
      }),
      { numRuns: runs(100) },
    );
  });
});
