import * as fc from "fast-check";
import * as Result from "effect/Result";
import { hashTypedData, type Hex } from "viem";
import { describe, expect, it } from "vitest";
import { isSigning, signingIn, typedDataIn } from "../rooms/signing.js";

const signer = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
const bytes = (size: number) =>
  fc.uint8Array({ minLength: size, maxLength: size }).map((all): Hex => `0x${Buffer.from(all).toString("hex")}`);
const bits = fc.constantFrom(8, 16, 48, 96, 128, 160, 248, 256);
const leaf = fc.oneof(
  bits.chain((size) => fc.record({ type: fc.constant(`uint${size}`), value: fc.bigInt(0n, 2n ** BigInt(size) - 1n) })),
  bits.chain((size) =>
    fc.record({
      type: fc.constant(`int${size}`),
      value: fc.bigInt(-(2n ** BigInt(size - 1)), 2n ** BigInt(size - 1) - 1n),
    }),
  ),
  fc.integer({ min: 1, max: 32 }).chain((size) => fc.record({ type: fc.constant(`bytes${size}`), value: bytes(size) })),
  fc.record({ type: fc.constant("address"), value: bytes(20) }),
  fc.record({ type: fc.constant("bool"), value: fc.boolean() }),
  fc.record({ type: fc.constant("string"), value: fc.string({ unit: "binary" }) }),
  fc.record({ type: fc.constant("bytes"), value: fc.integer({ min: 0, max: 70 }).chain(bytes) }),
);
const field = fc.oneof(
  leaf,
  leaf.chain(({ type, value }) =>
    fc.array(fc.constant(value), { maxLength: 3 }).map((value) => ({ type: `${type}[]`, value })),
  ),
);
/** Typed data with a struct in it, and a list of them. */
const message = fc.array(field, { minLength: 1, maxLength: 5 }).map((fields) => {
  const inner = fields.map(({ type }, at) => ({ name: `f${at}`, type }));
  const value = Object.fromEntries(fields.map((each, at) => [`f${at}`, each.value]));
  return {
    types: {
      Outer: [...inner, { name: "one", type: "Inner" }, { name: "many", type: "Inner[]" }],
      Inner: inner,
    },
    primaryType: "Outer" as const,
    domain: { name: "Name", version: "1", chainId: 1, verifyingContract: signer },
    message: { ...value, one: value, many: [value, value] },
  };
});

const json = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? String(part) : part)));

describe("typed data", () => {
  it("has the digest that viem signs, as an object, as JSON, and as it is handed out", () => {
    fc.assert(
      fc.property(message, (data) => {
        const digest = hashTypedData(data as never);
        for (const input of [data, json(data), JSON.stringify(json(data))]) {
          const read = Result.getOrThrow(typedDataIn(input, "typedData"));
          expect(read.digest).toBe(digest);
          expect(Result.getOrThrow(typedDataIn(read.json, "typedData")).digest).toBe(digest);
          expect(hashTypedData(read.json as never)).toBe(digest);
        }
      }),
    );
  });

  it("is total: anything else gives the field that is wrong", () => {
    fc.assert(
      fc.property(fc.anything(), message, fc.string(), (input, data, name) => {
        const part = fc.sample(fc.constantFrom("types", "primaryType", "domain", "message"), 1)[0] ?? "types";
        for (const wrong of [
          input,
          { ...data, [part]: input },
          { ...data, message: { ...data.message, [name]: input } },
        ]) {
          const read = typedDataIn(wrong, "typedData");
          if (Result.isFailure(read)) expect(read.failure.field.startsWith("typedData")).toBe(true);
        }
        // one thing is signed: nothing beside a text is left out in silence
        const read = signingIn({ signer, typedData: input, message: name }, "");
        expect(Result.isFailure(read)).toBe(input != null);
      }),
    );
  });

  const permit = {
    types: { Permit: [{ name: "value", type: "uint256" }] },
    ...{ primaryType: "Permit", domain: { name: "A", chainId: 1 }, message: { value: "1" } },
  };
  it.each([
    ["a number that is not exact", { ...permit, message: { value: 1e20 } }, "typedData.message.value"],
    ["a number below its type", { ...permit, message: { value: "-1" } }, "typedData.message.value"],
    ["a field that is missing", { ...permit, message: {} }, "typedData.message.value"],
    [
      "a type of no width",
      { ...permit, types: { Permit: [{ name: "value", type: "uint7" }] } },
      "typedData.message.value",
    ],
    [
      "a type that is not declared",
      { ...permit, types: { Permit: [{ name: "value", type: "Odd" }] } },
      "typedData.message.value",
    ],
    [
      "more bytes than any message has",
      {
        ...permit,
        types: { Permit: [{ name: "value", type: "bytes" }] },
        message: { value: `0x${"00".repeat(200_000)}` },
      },
      "typedData.message.value",
    ],
    [
      "a list that is longer than any message",
      { ...permit, types: { Permit: [{ name: "value", type: "bool[]" }] }, message: { value: Array(4_000_000_000) } },
      "typedData.message.value",
    ],
    ["a struct with the name of a type", { ...permit, types: { ...permit.types, uint8: [] } }, "typedData.types.uint8"],
    [
      "a domain that its type does not bind",
      { ...permit, types: { ...permit.types, EIP712Domain: [{ name: "name", type: "string" }] } },
      "typedData.domain.chainId",
    ],
    ["a message without its type", { ...permit, primaryType: "Other" }, "typedData.primaryType"],
  ])("%s is refused by its name", (_, data, path) => {
    const read = typedDataIn(data, "typedData");
    expect(Result.isFailure(read) && read.failure.field).toBe(path);
  });
});

const permitOf = (owner: string) => ({
  types: {
    Permit: ["address owner", "address spender", "uint256 value", "uint256 nonce", "uint256 deadline"].map((field) => {
      const [type = "", name = ""] = field.split(" ");
      return { name, type };
    }),
  },
  ...{ primaryType: "Permit", domain: { name: "A", chainId: 1, verifyingContract: signer } },
  message: { owner, spender: signer, value: "1", nonce: "0", deadline: "1" },
});

describe("what typed data is for", () => {
  const use = (typedData: object) => Result.getOrThrow(signingIn({ typedData, signer })).use;
  const fields = (all: string) =>
    all.split(",").map((field) => {
      const [type = "", name = ""] = field.split(" ");
      return { name, type };
    });
  it("is not known where the domain's contract is no address by its type", () => {
    const permit = (type: string) => ({
      types: {
        EIP712Domain: [{ name: "verifyingContract", type }],
        Permit: fields("address owner,address spender,uint256 value,uint256 nonce,uint256 deadline"),
      },
      ...{ primaryType: "Permit", domain: { verifyingContract: signer } },
      message: { owner: signer, spender: signer, value: 1n, nonce: 0n, deadline: 1n },
    });
    expect([use(permit("address")).kind, use(permit("string")).kind]).toEqual(["erc2612", "unknown"]);
  });

  it.each([
    ["is simulated", 5n, "erc"],
    ["is not simulated where an amount changes with time", 6n, null],
  ])("an order %s", (_, endAmount, calls) => {
    const item = "uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount";
    const order = use({
      types: {
        OrderComponents: fields(
          "address offerer,address zone,OfferItem[] offer,ConsiderationItem[] consideration,uint8 orderType,uint256 startTime,uint256 endTime,bytes32 zoneHash,uint256 salt,bytes32 conduitKey,uint256 counter",
        ),
        OfferItem: fields(item),
        ConsiderationItem: fields(`${item},address recipient`),
      },
      primaryType: "OrderComponents",
      domain: { name: "Seaport", version: "1.6", chainId: 1, verifyingContract: signer },
      message: {
        ...{ offerer: signer, zone: `0x${"00".repeat(20)}`, consideration: [], orderType: 0, startTime: 0, endTime: 9 },
        offer: [{ itemType: 1, token: signer, identifierOrCriteria: 0, startAmount: 5n, endAmount }],
        ...{ zoneHash: `0x${"00".repeat(32)}`, salt: 0, conduitKey: `0x${"00".repeat(32)}`, counter: 0 },
      },
    });
    expect([order.kind, order.consume === null]).toEqual(["seaport", calls === null]);
  });
});

describe("what asks for a signature", () => {
  const typed = { types: { A: [{ name: "a", type: "bool" }] }, primaryType: "A", domain: {}, message: { a: true } };
  it.each([
    [{ typedData: typed, signer }, "typedData"],
    [{ ...typed, account: signer }, "typedData"],
    [{ method: "eth_signTypedData_v4", params: [signer, JSON.stringify(typed)] }, "typedData"],
    [{ method: "personal_sign", params: ["0x6869", signer] }, "message"],
    [{ message: "hi", signer }, "message"],
    [{ message: { raw: "0x6869" }, signer }, "message"],
    [{ method: "eth_sign", params: [signer, `0x${"11".repeat(32)}`] }, "hash"],
    [{ authorization: { chainId: 1, address: signer, nonce: 0 }, signer }, "authorization"],
  ] as const)("%j", (input, kind) => {
    expect(isSigning(input)).toBe(true);
    expect(Result.getOrThrow(signingIn(input)).sign).toMatchObject({ kind, signer });
  });
  it("not what cannot be read", () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const thrower = {
      typedData: typed,
      get signer(): string {
        throw new Error("no");
      },
    };
    expect([proxy, thrower, { method: Object.create(null) as unknown }].map(isSigning)).toEqual([false, false, false]);
  });
  it.each([[{ from: signer, to: signer }], [{ hash: `0x${"11".repeat(32)}` }], ["0x02"], [null], [[]]])(
    "not %j",
    (input) => {
      expect(isSigning(input)).toBe(false);
    },
  );
  it.each([
    [{ typedData: typed, message: "hi", signer }, "message"],
    [{ message: "hi", signer: "0x12" }, "signer"],
    [{ message: "hi", signer, account: signer }, "account"],
    [{ typedData: permitOf(signer), signer, account: `0x${"12".repeat(20)}` }, "account"],
    [{ hash: "0x12", signer }, "hash"],
    [{ message: { raw: "0x1" }, signer }, "message"],
    [{ authorization: { chainId: 1, address: signer }, signer }, "authorization.nonce"],
    [{ typedData: typed, signer, spender: signer }, "spender"],
    [{ message: "hi", signer, origin: "example" }, "origin"],
    [{ ...typed, signer, account: signer }, "account"],
  ])("%j is refused by the name of its field", (input, field) => {
    const read = signingIn(input);
    expect(Result.isFailure(read) && read.failure.field).toBe(field);
  });
});
