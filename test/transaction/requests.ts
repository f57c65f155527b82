/** Random requests of every type, and every way to change one field of them. */
import fc from "fast-check";
import { parseTransaction, type Hex, type TransactionSerialized } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { Address } from "../rooms/primitives.js";
import type { Request, ShownTransaction } from "../rooms/transaction.js";

export const hexOf = (min: number, max = min): fc.Arbitrary<Hex> =>
  fc.uint8Array({ minLength: min, maxLength: max }).map((bytes): Hex => `0x${Buffer.from(bytes).toString("hex")}`);

const address = hexOf(20);
const hash = hexOf(32);
const amount = fc.oneof(
  fc.constant(0n),
  fc.bigInt({ min: 0n, max: 2n ** 96n }),
  fc.bigInt({ min: 0n, max: 2n ** 255n }),
);
const price = fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 2n ** 64n }));
const count = fc.oneof(fc.constant(0), fc.nat(2 ** 20), fc.nat(2 ** 31));
const accessList = fc.array(fc.record({ address, storageKeys: fc.array(hash, { maxLength: 2 }) }), { maxLength: 2 });
const authorization = fc.record({
  address,
  chainId: count,
  nonce: count,
  r: hash,
  s: hash,
  yParity: fc.constantFrom(0, 1),
});

const common = {
  chainId: fc.integer({ min: 1, max: 2 ** 31 }),
  nonce: count,
  data: hexOf(0, 40),
  value: amount,
  gas: fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }),
};
const fees = fc
  .tuple(price, price)
  .map(([a, b]) => ({ maxFeePerGas: a > b ? a : b, maxPriorityFeePerGas: a > b ? b : a }));
const maybeTo = fc.option(address, { nil: undefined }).map((to) => (to === undefined ? {} : { to }));
const maybeList = fc
  .option(accessList, { nil: undefined })
  .map((list) => (list === undefined ? {} : { accessList: list }));
const merged = (...parts: ReadonlyArray<fc.Arbitrary<object>>): fc.Arbitrary<Request> =>
  fc.tuple(...parts).map((all) => Object.assign({}, ...all) as Request);
const typed = (type: Request["type"]) => fc.constant({ type });

/** A request of each type. */
export const requestArbitrary: fc.Arbitrary<Request> = fc.oneof(
  merged(typed("legacy"), fc.record({ ...common, gasPrice: price }), maybeTo),
  merged(typed("eip2930"), fc.record({ ...common, gasPrice: price, accessList }), maybeTo),
  merged(typed("eip1559"), fc.record(common), fees, maybeTo, maybeList),
  merged(
    typed("eip4844"),
    fc.record({
      ...{ ...common, to: address, maxFeePerBlobGas: price },
      blobVersionedHashes: fc.array(
        hash.map((one): Hex => `0x01${one.slice(4)}`),
        { minLength: 1, maxLength: 2 },
      ),
    }),
    fees,
    maybeList,
  ),
  merged(
    typed("eip7702"),
    fc.record({ ...common, to: address, authorizationList: fc.array(authorization, { minLength: 1, maxLength: 2 }) }),
    fees,
    maybeList,
  ),
);

export const accountArbitrary = hash.map((key) => privateKeyToAccount(`0x01${key.slice(4)}`));
export const lower = (address_: string) => address_.toLowerCase() as Address;

const flip = (hex: string): string => `${hex.slice(0, -1)}${hex.endsWith("1") ? "2" : "1"}`;

/** Every request that differs in exactly one field, each with the field's name. */
export const changes = (request: Request): ReadonlyArray<readonly [field: string, changed: Request]> => {
  const one = (field: string, value: unknown) => [field, { ...request, [field]: value } as Request] as const;
  const changed = Object.entries(request).flatMap(([field, value]): ReadonlyArray<readonly [string, Request]> => {
    switch (field) {
      case "type":
        return request.type === "eip1559"
          ? [one("type", "eip7702")].map(([name, other]) => [
              name,
              { ...other, to: `0x${"12".repeat(20)}`, authorizationList: [] } as Request,
            ])
          : request.type === "legacy"
            ? [[field, { ...request, type: "eip2930", accessList: [] } as unknown as Request]]
            : [];
      case "chainId":
      case "nonce":
        return [one(field, (value as number) + 1)];
      case "data":
        return [one(field, `${value as string}00`), ...(value === "0x" ? [] : [one(field, flip(value as string))])];
      case "to":
        return [one(field, flip(value as string))];
      case "accessList":
        return [
          one(field, [...(value as ReadonlyArray<unknown>), { address: `0x${"34".repeat(20)}`, storageKeys: [] }]),
        ];
      case "authorizationList": {
        const [head, ...rest] = (request as Extract<Request, { type: "eip7702" }>).authorizationList;
        if (head === undefined) return [];
        const altered = [
          { ...head, address: flip(head.address) },
          { ...head, chainId: head.chainId + 1 },
          { ...head, nonce: head.nonce + 1 },
          { ...head, r: flip(head.r) },
          { ...head, s: flip(head.s) },
          { ...head, yParity: 1 - head.yParity },
        ];
        return [one(field, rest), ...altered.map((entry) => one(field, [entry, ...rest]))];
      }
      case "blobVersionedHashes": {
        const hashes = value as ReadonlyArray<string>;
        return [one(field, [...hashes, hashes[0]]), one(field, [flip(hashes[0] ?? "0x"), ...hashes.slice(1)])];
      }
      default:
        return typeof value === "bigint"
          ? [one(field, value + 1n), ...(value === 0n ? [] : [one(field, value - 1n)])]
          : [];
    }
  });
  const { to: _, ...deployment } = request;
  return request.type !== "eip7702" && request.type !== "eip4844" && "to" in request
    ? [...changed, ["to", deployment as Request]]
    : changed;
};

const types = { legacy: "0x0", eip2930: "0x1", eip1559: "0x2", eip4844: "0x3", eip7702: "0x4" } as const;

/** What a node shows of signed bytes, read. */
export const shownOf = (raw: Hex): ShownTransaction => {
  const parsed = parseTransaction(raw as TransactionSerialized);
  const { type, chainId, nonce = 0, gas = 0n, to = null, value = 0n, data = "0x", r, s, v, yParity } = parsed;
  const isLegacy = type === "legacy";
  const lists = "authorizationList" in parsed ? parsed.authorizationList : undefined;
  return {
    ...{ type: types[type ?? "legacy"], nonce: BigInt(nonce), gas, to, value, input: data },
    chainId: chainId === undefined ? null : BigInt(chainId),
    gasPrice: parsed.gasPrice ?? (isLegacy || type === "eip2930" ? 0n : 123n),
    maxFeePerGas: parsed.maxFeePerGas ?? 0n,
    maxPriorityFeePerGas: parsed.maxPriorityFeePerGas ?? 0n,
    maxFeePerBlobGas: ("maxFeePerBlobGas" in parsed ? parsed.maxFeePerBlobGas : null) ?? 0n,
    blobVersionedHashes: ("blobVersionedHashes" in parsed ? parsed.blobVersionedHashes : null) ?? null,
    accessList: isLegacy ? null : (("accessList" in parsed ? parsed.accessList : null) ?? []),
    authorizationList:
      lists?.map((each) => ({
        ...{ address: each.address, chainId: BigInt(each.chainId), nonce: BigInt(each.nonce) },
        ...{ yParity: BigInt(each.yParity ?? 0), r: BigInt(each.r), s: BigInt(each.s) },
      })) ?? null,
    ...{ r: BigInt(r ?? 0), s: BigInt(s ?? 0) },
    v: isLegacy ? (v ?? null) : BigInt(yParity ?? 0),
    yParity: isLegacy ? null : BigInt(yParity ?? 0),
  };
};
