/** The bytes of transactions beside viem's: the same for every request, both ways, and none of what is not well typed. */
import * as Schema from "effect/Schema";
import fc from "fast-check";
import { fromRlp, keccak256, parseTransaction, serializeTransaction, toRlp, type Hex } from "viem";
import type { TransactionSerializable, TransactionSerialized } from "viem";
import { describe, expect, it } from "vitest";
import { runs } from "../harness/parts.js";
import {
  authenticate,
  authorityOf,
  AuthorizationSchema,
  fieldItem,
  readSigned,
  RequestSchema,
  signingHash,
  unsignedBytes,
  withoutBlobs,
  type Request,
} from "../rooms/transaction.js";
import { authorityByViem, bytesByViem, readByViem } from "./beside.js";
import { accountArbitrary, hexOf, lower, requestArbitrary, shownOf } from "./requests.js";
import { fieldsOfType, foreign, placesOf, put, strange, without } from "./strange.js";

const isRequest = Schema.is(RequestSchema);
/** True if it is a request and no more than that. */
const isWellTyped = (request: Request): boolean => isRequest(request) && !foreign.some((name) => name in request);

/** No other bytes than viem's; none where viem makes none; and viem's wherever the request is well typed. */
const agrees = (request: Request, label: unknown): void => {
  const [ours, theirs] = [unsignedBytes(request), bytesByViem(request)];
  if (ours !== null) expect([label, ours]).toEqual([label, theirs]);
  else if (isWellTyped(request) && isBounded(request)) expect([label, theirs]).toEqual([label, null]);
};

/** Of no amount is there more than 256 bits hold, and a parity is one byte. */
const isBounded = (value: unknown): boolean =>
  typeof value === "bigint"
    ? value < 2n ** 256n
    : typeof value !== "object" ||
      value === null ||
      Object.entries(value).every(([name, each]) => (name === "yParity" ? Number(each) < 256 : isBounded(each)));

const word = `0x${"ab".repeat(32)}` as const;
const account = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2";
const authority = { address: account, chainId: 1n, nonce: 0n, yParity: 1n, r: 2n, s: 256n };
const amounts = ["chainId", "nonce", "gas", "value", "gasPrice", "maxFeePerGas", "maxPriorityFeePerGas"] as const;

describe("a field of an envelope", () => {
  const kinds: ReadonlyArray<
    readonly [ReadonlyArray<Parameters<typeof fieldItem>[0]>, ReadonlyArray<readonly [unknown, unknown]>]
  > = [
    [
      [...amounts, "maxFeePerBlobGas"],
      [
        [0n, "0x"],
        [5n, "0x5"],
        [2n ** 256n - 1n, `0x${"f".repeat(64)}`],
      ],
    ],
    [
      ["to"],
      [
        [account, account],
        [`0x${"AB".repeat(20)}`, `0x${"AB".repeat(20)}`],
      ],
    ],
    [
      ["input"],
      [
        ["0x", "0x"],
        ["0xAbcd", "0xAbcd"],
      ],
    ],
    [
      ["blobVersionedHashes"],
      [
        [[], []],
        [[word], [word]],
      ],
    ],
    [
      ["accessList"],
      [
        [[], []],
        [[{ address: account, storageKeys: [word] }], [[account, [word]]]],
      ],
    ],
    [
      ["authorizationList"],
      [
        [[], []],
        [[authority], [["0x1", account, "0x", "0x1", "0x2", "0x100"]]],
        [[{ ...authority, yParity: 255n }], [["0x1", account, "0x", "0xff", "0x2", "0x100"]]],
      ],
    ],
  ];
  it.each(kinds)("of %j is written only of its own kind", (names, values) => {
    const known = new Set<unknown>(values.map(([value]) => value));
    const inKind = (name: string, value: unknown): boolean =>
      known.has(value) ||
      (Array.isArray(value) && value.length === 0 && /List|Hashes/.test(name)) ||
      (typeof value === "bigint" &&
        value >= 0n &&
        value < 2n ** 256n &&
        /chain|nonce|gas|value|Fee/i.test(name) &&
        !/List/.test(name)) ||
      (typeof value === "string" && name === "to" && /^0x[0-9a-f]{40}$/i.test(value)) ||
      (typeof value === "string" && name === "input" && /^0x([0-9a-f]{2})*$/i.test(value) && value.startsWith("0x"));
    for (const name of names) {
      for (const [value, item] of values) expect([name, fieldItem(name, value)]).toEqual([name, item]);
      for (const value of strange)
        if (!inKind(name, value) && !(name === "accessList" && isList(value)))
          expect([name, value, fieldItem(name, value)]).toEqual([name, value, null]);
    }
  });
  const isList = (value: unknown): boolean =>
    Array.isArray(value) &&
    value.every((each: unknown) =>
      Schema.is(Schema.Struct({ address: Schema.String, storageKeys: Schema.Tuple([]) }))(each),
    );

  it("that is a list is written only if every part of every entry is of its kind", () => {
    const entry = { address: account, storageKeys: [word] };
    for (const [name, list] of [
      ["accessList", [entry, entry]],
      ["authorizationList", [authority, authority]],
    ] as const)
      for (const part of Object.keys(list[0]))
        for (const value of strange) {
          const isAmount = typeof value === "bigint" && value >= 0n && value < (part === "yParity" ? 256n : 2n ** 256n);
          const isFine =
            part === "address"
              ? /^0x[0-9a-f]{40}$/i.test(String(value)) && typeof value === "string"
              : part === "storageKeys"
                ? Array.isArray(value) && value.length === 0
                : isAmount;
          expect([part, value, fieldItem(name, put(list, [1, part], value)) !== null]).toEqual([part, value, isFine]);
        }
  });
});

describe("the bytes of a request", () => {
  it("are viem's, for every type", () =>
    fc.assert(
      fc.property(requestArbitrary, (request) => {
        expect(unsignedBytes(request)).toBe(serializeTransaction(request as TransactionSerializable));
      }),
      { numRuns: runs(500) },
    ));

  it("are viem's or none with one strange field, and none where viem makes none", () =>
    fc.assert(
      fc.property(requestArbitrary, fc.nat(), (request, seed) => {
        const places = placesOf(request);
        const path = places[seed % places.length] ?? [];
        for (const value of strange) agrees(put(request, path, value) as Request, [path, value]);
      }),
      { numRuns: runs(200) },
    ));

  it("are viem's or none with two strange fields", () =>
    fc.assert(
      fc.property(
        requestArbitrary,
        fc.array(fc.tuple(fc.nat(), fc.constantFrom(...strange)), { minLength: 2, maxLength: 4 }),
        (request, changes) => {
          const changed = changes.reduce<unknown>((whole, [seed, value]) => {
            const places = placesOf(request).filter((path) => path.length === 1);
            return put(whole, places[seed % places.length] ?? [], value);
          }, request);
          agrees(changed as Request, changes);
        },
      ),
      { numRuns: runs(3_000) },
    ));

  it("are none without a field that the type needs", () =>
    fc.assert(
      fc.property(requestArbitrary, (request) => {
        for (const name of Object.keys(request)) {
          const changed = without(request, name);
          agrees(changed, name);
          const mayLack =
            name === "accessList" ||
            (name === "to" && !/4844|7702/.test(request.type)) ||
            (name === "chainId" && request.type === "legacy");
          expect([name, unsignedBytes(changed) !== null]).toEqual([name, mayLack]);
        }
      }),
      { numRuns: runs(200) },
    ));

  it("are none for a value that is no request", () => {
    for (const value of strange) expect([value, unsignedBytes(value as Request)]).toEqual([value, null]);
  });

  it("are none of an amount above 256 bits, which no chain can hold", () => {
    const plain = { type: "legacy", chainId: 1, nonce: 0, gas: 21_000n, data: "0x", value: 0n, gasPrice: 1n } as const;
    for (const name of ["gas", "value", "gasPrice"])
      expect([name, unsignedBytes({ ...plain, [name]: 2n ** 256n } as never)]).toEqual([name, null]);
  });

  it("are none with a fee of another type, nor with a tip above its cap", () => {
    const plain = { chainId: 1, nonce: 0, gas: 21_000n, data: "0x", value: 0n } as const;
    for (const request of [
      { type: "legacy", ...plain, gasPrice: 1n, maxFeePerGas: 1n },
      { type: "eip2930", ...plain, gasPrice: 1n, accessList: [], maxPriorityFeePerGas: 1n },
      { type: "eip1559", ...plain, maxFeePerGas: 1n, maxPriorityFeePerGas: 2n },
    ])
      expect([unsignedBytes(request as never), bytesByViem(request)]).toEqual([null, null]);
  });
});

/** Every list of items that differs in one place: other bytes, a list in place of bytes, one more, one less. */
const mutations = (items: unknown): ReadonlyArray<unknown> => {
  if (!Array.isArray(items)) {
    const text = items as Hex;
    return [
      ...[[], [text], [[]], "0x", "0x00", "0x01", "0x80", `0x00${text.slice(2)}`, `${text}00`, `0x${text.slice(4)}`],
      ...[`0x${"ff".repeat(33)}`, `0x${"11".repeat(20)}`, `0x${"11".repeat(32)}`],
    ];
  }
  const list: ReadonlyArray<unknown> = items;
  return [
    ...["0x", "0x00", "0xc0", [], [...list, "0x"], [...list, "0x01"], [...list, []], ["0x", ...list], list.slice(1)],
    ...[list.slice(0, -1), [list], list.toReversed()],
    ...list.flatMap((item, index) => mutations(item).map((other) => list.with(index, other))),
  ];
};

/** The same signer and the same signed hash, or none. */
const readsAlike = (raw: string, label: unknown): void => {
  const [ours, theirs] = [readSigned(raw), readByViem(raw)];
  const said = ours === null ? null : { from: ours.from, signed: signingHash(ours.request) };
  if (ours !== null) {
    expect([label, said?.from, said?.signed]).toEqual([label, theirs?.from, theirs?.signed]);
    expect([label, said?.signed]).toEqual([label, keccak256(bytesByViem(ours.request) ?? "0x")]);
  } else if (theirs !== null && isBounded(theirs.request)) {
    // why: viem takes lists in place of addresses
    const whole = { ...absent, ...theirs.request } as Request;
    expect([label, isRequest(fieldsOfType(whole))]).toEqual([label, false]);
  }
};
/** Fields that viem leaves out of what it reads. */
const absent = {
  ...{ chainId: 1, nonce: 0, gas: 0n, value: 0n, data: "0x", gasPrice: 0n, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n },
  ...{ maxFeePerBlobGas: 0n, accessList: [], authorizationList: [] },
} as const;
describe("signed bytes", () => {
  it("are read as viem reads them, with the fields that it leaves out", () =>
    fc.assert(
      fc.asyncProperty(requestArbitrary, accountArbitrary, async (request, signer) => {
        const raw = await signer.signTransaction(request as TransactionSerializable);
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
      { numRuns: runs(150) },
    ));

  it("are read as viem reads them whatever one of their items is changed to", () =>
    fc.assert(
      fc.asyncProperty(requestArbitrary, accountArbitrary, async (request, signer) => {
        const raw = await signer.signTransaction(request as TransactionSerializable);
        const prefix = request.type === "legacy" ? "0x" : raw.slice(0, 4);
        const items = fromRlp(`0x${raw.slice(prefix.length)}`, "hex");
        for (const changed of mutations(items)) {
          const other = `${prefix}${toRlp(changed as never).slice(2)}`;
          readsAlike(other, changed);
        }
      }),
      { numRuns: runs(15) },
    ));

  it("are read as viem reads them whatever bytes are cut, doubled or turned", () =>
    fc.assert(
      fc.asyncProperty(
        requestArbitrary,
        accountArbitrary,
        fc.nat(),
        hexOf(1, 3),
        async (request, signer, seed, some) => {
          const raw = await signer.signTransaction(request as TransactionSerializable);
          const at = 2 + 2 * (seed % (raw.length / 2 - 1));
          for (const other of [
            ...[raw.slice(0, at), `${raw}${some.slice(2)}`, `${raw.slice(0, at)}${some.slice(2)}${raw.slice(at)}`],
            ...[`${raw.slice(0, at)}${some.slice(2)}${raw.slice(at + some.length - 2)}`, raw.slice(0, -1), `${raw}0`],
            ...[`${raw.slice(0, at)}${raw.slice(at + 2)}`, raw.replace("0x", "0X"), raw.slice(2), ` ${raw}`],
            ...["f8", "f9", "b8", "b9", "c1", "00", "05", "7e"].map((byte) => `0x${byte}${raw.slice(4)}`),
          ])
            readsAlike(other, other);
        },
      ),
      { numRuns: runs(150) },
    ));

  it("are those of the payload where blobs travel with it, and none for another encoding of that", () =>
    fc.assert(
      fc.asyncProperty(
        requestArbitrary.filter(({ type }) => type === "eip4844"),
        accountArbitrary,
        async (request, signer) => {
          const raw = await signer.signTransaction(request as TransactionSerializable);
          const payload = fromRlp(`0x${raw.slice(4)}`, "hex") as ReadonlyArray<Hex>;
          const wrapped = (...parts: ReadonlyArray<unknown>): Hex => `0x03${toRlp(parts as never).slice(2)}`;
          const carried = wrapped(payload, ["0x12"], ["0x34"], ["0x56"]);
          expect(withoutBlobs(carried)).toBe(raw);
          expect(readSigned(carried)).toEqual(readSigned(raw));
          expect(readSigned(`${carried}00`)).toBeNull();
          expect(readSigned(wrapped(payload, ["0x12"], ["0x34"]))).toBeNull();
          // the bytes of the payload stand among the blobs, and another encoding in its place
          const padded = payload.with(1, `0x00${(payload[1] ?? "0x").slice(2)}`);
          expect(readSigned(wrapped(padded, [`0x${raw.slice(4)}`], ["0x34"], ["0x56"]))).toBeNull();
        },
      ),
      { numRuns: runs(20) },
    ));

  it("are refused as long lists in lists", () => {
    for (const raw of [`0x${"c1".repeat(200_000)}c0`, `0x02${"c1".repeat(200_000)}c0`, `0x03${"c4".repeat(9)}c0`])
      expect(readSigned(raw)).toBeNull();
  });
});

describe("an authorisation's signer", () => {
  const count = fc.oneof(fc.constant(0), fc.nat(), fc.constant(Number.MAX_SAFE_INTEGER));
  const said = fc.record({ address: hexOf(20), chainId: count, nonce: count });
  it("is viem's, and null with a strange part", () =>
    fc.assert(
      fc.asyncProperty(accountArbitrary, said, fc.nat(), async (signer, what, seed) => {
        const { r, s, yParity } = await signer.signAuthorization(what);
        const signed = { ...what, r, s, yParity: yParity ?? 0 };
        expect(authorityOf(signed)).toBe(lower(signer.address));
        const part = Object.keys(signed)[seed % 6] ?? "";
        for (const value of strange) {
          const changed = { ...signed, [part]: value };
          const [ours, theirs] = [authorityOf(changed), authorityByViem(changed)];
          if (ours !== null || Schema.is(AuthorizationSchema)(changed))
            expect([part, value, ours]).toEqual([part, value, theirs]);
        }
        // what was remembered of the right one is not that of another type
        expect(authorityOf({ ...signed, chainId: String(what.chainId) } as never)).toBeNull();
        expect(authorityOf({ ...signed, nonce: BigInt(what.nonce) } as never)).toBeNull();
        expect(authorityOf({ ...signed, yParity: String(yParity) } as never)).toBeNull();
      }),
      { numRuns: runs(30) },
    ));
});

describe("a shown transaction as an envelope", () => {
  it("is not verifiable with a strange part", () =>
    fc.assert(
      fc.asyncProperty(requestArbitrary, accountArbitrary, fc.nat(), async (request, signer, seed) => {
        const shown = shownOf(await signer.signTransaction(request as TransactionSerializable));
        const names = Object.keys(shown) as ReadonlyArray<keyof typeof shown>;
        const name = names[seed % names.length] ?? "type";
        const known = authenticate(shown);
        for (const value of strange) {
          const found = authenticate({ ...shown, [name]: value } as never);
          const isSeal = name === "v" || name === "r" || name === "s" || name === "yParity";
          const isTyped =
            name === "type" || isSeal || value === null
              ? value === null || value === "0x0" || (isSeal && typeof value === "bigint")
              : fieldItem(name, value) !== null;
          if (!isTyped && found !== null) expect([name, value, found]).toEqual([name, value, known]);
          if (!isTyped && isSigned(request, name)) expect([name, value, found]).toEqual([name, value, null]);
        }
      }),
      { numRuns: runs(60) },
    ));
  const isSigned = ({ type }: Request, name: string): boolean =>
    ["nonce", "gas", "to", "value", "input", "r", "s", "type", type === "legacy" ? "gasPrice" : "chainId"].includes(
      name,
    );
});
