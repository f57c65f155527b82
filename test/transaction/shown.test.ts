/** Sender and hash of a transaction that a node shows, by its own fields alone: every type, and every field that was changed. */
import * as Result from "effect/Result";
import { keccak256, numberToHex, parseGwei, parseTransaction } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { readTransaction } from "../rooms/eth.js";
import { authenticate } from "../rooms/transaction.js";

const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
const other = privateKeyToAccount(`0x${"22".repeat(32)}`);
const to = "0x00000000000000000000000000000000000000dd";
const base = { to, value: 5n, data: "0x1234", gas: 90_000n, nonce: 7, chainId: 31_337 } as const;
const caps = { maxFeePerGas: parseGwei("9"), maxPriorityFeePerGas: 1n } as const;
const accessList = [
  { address: to, storageKeys: [`0x${"02".repeat(32)}`, `0x${"01".repeat(32)}`] },
  { address: account.address, storageKeys: [] },
] as const;
const blobVersionedHashes = [`0x01${"ab".repeat(31)}`] as const;

const authorization = await other.signAuthorization({ contractAddress: to, chainId: 31_337, nonce: 3 });
const { chainId: _, ...everywhere } = base;
const transactions = {
  legacy: { type: "legacy", ...base, gasPrice: 3n },
  unprotected: { type: "legacy", ...everywhere, gasPrice: 3n },
  "access list": { type: "eip2930", ...base, gasPrice: 3n, accessList },
  capped: { type: "eip1559", ...base, ...caps, accessList },
  deployment: { type: "eip1559", ...base, ...caps, to: undefined },
  blobs: { type: "eip4844", ...base, ...caps, blobVersionedHashes, maxFeePerBlobGas: 4n },
  authorizations: { type: "eip7702", ...base, ...caps, authorizationList: [authorization] },
} as Readonly<Record<string, object>>;

const hex = (value: unknown): unknown => {
  if (typeof value === "bigint" || typeof value === "number") return numberToHex(value);
  if (Array.isArray(value)) return value.map(hex);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, hex(field)]));
};
/** Without leading zeros, as nodes write numbers. */
const stripped = (word: unknown): string => numberToHex(BigInt(String(word)));
const types: Readonly<Record<string, string>> = {
  legacy: "0x0",
  eip2930: "0x1",
  eip1559: "0x2",
  eip4844: "0x3",
  eip7702: "0x4",
};

/** As a node writes it: numbers without leading zeros, no parity of type 0, and the price that is paid beside the caps. */
const wireOf = (raw: `0x${string}`, from: string = account.address): Record<string, unknown> => {
  const {
    type = "",
    data,
    v,
    yParity,
    r,
    s,
    authorizationList,
    ...fields
  } = parseTransaction(raw) as Record<string, unknown>;
  const isLegacy = type === "legacy";
  const wire = {
    ...{ value: 0n, to: null, ...fields, from, input: data ?? "0x", type: types[String(type)], hash: keccak256(raw) },
    ...(isLegacy ? { v } : { v: yParity, yParity, accessList: fields["accessList"] ?? [] }),
    ...(fields["maxFeePerGas"] === undefined ? {} : { gasPrice: 8n }),
    ...{ blockNumber: null, blockHash: null },
  };
  const list = (authorizationList as ReadonlyArray<Record<string, unknown>> | undefined)?.map((each) => ({
    ...each,
    ...{ r: stripped(each["r"]), s: stripped(each["s"]) },
  }));
  const listed = list === undefined ? wire : { ...wire, authorizationList: list };
  return { ...(hex(listed) as object), r: stripped(r), s: stripped(s) };
};
const read = (wire: unknown) => authenticate(Result.getOrThrow(readTransaction(wire)) as never);
const sign = (transaction: object) => account.signTransaction(transaction as never);

describe.each(Object.entries(transactions))("a shown transaction, %s,", (name, transaction) => {
  it("has the hash and the sender of its fields, whatever else is said of it", async () => {
    const raw = await sign(transaction);
    const chainId = name === "unprotected" ? null : 31_337n;
    const is = { hash: keccak256(raw), sender: account.address.toLowerCase(), chainId };
    expect(read(wireOf(raw))).toEqual(is);
    expect(read(wireOf(raw, other.address))).toEqual(is);
    // a chain that is told beside an unprotected one is no part of it
    if (name === "unprotected") expect(read({ ...wireOf(raw), chainId: "0x7a69" })).toEqual(is);
  });

  it("has another hash or sender where any field differs", async () => {
    const raw = await sign(transaction);
    const wire = wireOf(raw);
    const changes: Readonly<Record<string, unknown>> = {
      ...{ to: other.address, value: "0x6", input: "0x1235", nonce: "0x8", gas: "0x5", r: "0x5", s: "0x5" },
      ...(wire["maxFeePerGas"] === undefined
        ? { gasPrice: "0x4" }
        : { maxFeePerGas: "0x218711a01", maxPriorityFeePerGas: "0x2" }),
      ...(wire["accessList"] === undefined ? {} : { accessList: [{ address: to, storageKeys: [] }] }),
      ...(name === "blobs" ? { maxFeePerBlobGas: "0x5", blobVersionedHashes: [`0x01${"ac".repeat(31)}`] } : {}),
      ...(name === "authorizations" ? { authorizationList: [] } : {}),
      ...(wire["yParity"] === undefined
        ? { v: "0x25" }
        : { yParity: wire["yParity"] === "0x0" ? "0x1" : "0x0", chainId: "0x1" }),
    };
    for (const [field, value] of Object.entries(changes)) {
      const found = read({ ...wire, [field]: value });
      expect(found === null || found.hash !== keccak256(raw), field).toBe(true);
    }
  });
});

it("the sender is read from signatures without leading zeros", async () => {
  let short = 0;
  for (let nonce = 0; nonce < 400 && short < 3; nonce++) {
    const raw = await sign({ type: "eip1559", ...base, ...caps, nonce });
    const wire = wireOf(raw);
    if (String(wire["r"]).length === 66 && String(wire["s"]).length === 66) continue;
    short++;
    expect(read(wire)).toEqual({ hash: keccak256(raw), sender: account.address.toLowerCase(), chainId: 31_337n });
  }
  expect(short).toBe(3);
});

it("the sender is unknown for unknown types, and without a signature", async () => {
  const wire = wireOf(await sign({ type: "eip1559", ...base, ...caps }));
  for (const type of ["0x5", "0x64", "0x6a", "0x71", "0x7b", "0x7e"]) expect(read({ ...wire, type }), type).toBeNull();
  for (const field of ["r", "s"]) expect(read({ ...wire, [field]: null }), field).toBeNull();
  expect(read({ ...wire, r: "0x0", s: "0x0" })).toBeNull();
});
