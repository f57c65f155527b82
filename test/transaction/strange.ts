/** Values of every wrong kind, and every place of a request that they are put in. */
import type { Request } from "../rooms/transaction.js";

const weth = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2";

/** What JSON, a wallet or plain JavaScript may have in place of a field. */
export const strange: ReadonlyArray<unknown> = [
  ...[undefined, null, true, false, {}, Symbol("x"), () => 1n, new Date(0), Object(5n)],
  ...[0, -0, 1, 5, 27, -1, 1.5, 255, 256, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 2 ** 60],
  ...[0n, 1n, 5n, -1n, -(2n ** 255n), 2n ** 64n, 2n ** 256n - 1n, 2n ** 256n, 2n ** 300n],
  ...["", "0", "1", "5", "-1", "1.5", "1e3", " 5", "abc", "eip1559", "0x", "0X05", "0x0", "0x5", "0x05", "0x0005"],
  ...["0xAB", "0xabc", "0xzz", "0x-1", "ab", "0x 1", `0x${"00".repeat(20)}`, `0x${"AB".repeat(20)}`],
  ...[weth, weth.toLowerCase(), weth.replace("aaA", "AaA"), weth.slice(0, -1), weth.slice(0, -2), `${weth}00`],
  ...[`0x${"ab".repeat(32)}`, `0x${"AB".repeat(32)}`, `0x01${"cd".repeat(31)}`, `0x02${"cd".repeat(31)}`],
  ...[`0x${"ab".repeat(31)}`, `0x${"ab".repeat(33)}`, `0x${"0".repeat(63)}1`, `0x${"ab".repeat(5_000)}`],
  ...[[], [[]], ["0x"], ["0x05"], [1n], [5], [weth], ["legacy"], ["eip1559"], [undefined], [null], [{}]],
  ...[Array.from({ length: 2 }), new Uint8Array([5]), { length: 0 }, { length: 1, 0: "0x05" }],
  [{ address: weth }],
  [{ address: weth, storageKeys: [] }],
  [{ address: weth, storageKeys: ["0x05"] }],
  [{ address: weth, storageKeys: "0x" }],
  [[weth, []]],
];

type Path = ReadonlyArray<string | number>;

/** The same, with the value at a path replaced. */
export const put = (whole: unknown, [key, ...rest]: Path, value: unknown): unknown => {
  if (key === undefined) return value;
  const inner = put(Reflect.get(whole as object, key), rest, value);
  return Array.isArray(whole)
    ? whole.map((entry: unknown, index) => (index === key ? inner : entry))
    : { ...(whole as object), [key]: inner };
};

const fields = [
  ...["type", "chainId", "nonce", "gas", "data", "value", "to", "gasPrice", "maxFeePerGas", "maxPriorityFeePerGas"],
  ...["accessList", "authorizationList", "blobVersionedHashes", "maxFeePerBlobGas"],
];
/** Fields of no request: some that a serialiser reads all the same, some of other libraries. */
export const foreign = ["r", "s", "v", "yParity", "blobs", "sidecars", "kzg", "input", "gasLimit", "from", "chain"];

const within = (path: Path, value: unknown): ReadonlyArray<Path> =>
  Array.isArray(value)
    ? value.flatMap((each: unknown, at) => [[...path, at], ...within([...path, at], each)])
    : typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([name, each]) => [[...path, name], ...within([...path, name], each)])
      : [];

/** Every place of a request, and every field that it might have. */
export const placesOf = (request: Request): ReadonlyArray<Path> => [
  ...[...fields, ...foreign].map((name) => [name]),
  ...within([], request).filter((path) => path.length > 1),
];

/** A request without one of its fields. */
export const without = (request: Request, name: string): Request =>
  Object.fromEntries(Object.entries(request).filter(([each]) => each !== name)) as Request;

const common = ["type", "chainId", "nonce", "gas", "value", "data"];
const capped = [...common, "maxFeePerGas", "maxPriorityFeePerGas", "accessList"];
const byType: Readonly<Record<string, ReadonlyArray<string>>> = {
  legacy: [...common, "gasPrice"],
  eip2930: [...common, "gasPrice", "accessList"],
  eip1559: capped,
  eip4844: [...capped, "blobVersionedHashes", "maxFeePerBlobGas"],
  eip7702: [...capped, "authorizationList"],
};

/** What a serialiser looks at in a request of its type, with an empty list in place of none. */
export const fieldsOfType = (request: Request): Request => {
  const all = { ...request, accessList: request.accessList ?? [] };
  const names = [...(byType[request.type] ?? []), ...(request.to == null ? [] : ["to"])];
  return Object.fromEntries(names.map((name) => [name, Reflect.get(all, name)])) as Request;
};
