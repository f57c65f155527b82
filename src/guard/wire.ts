/** Transactions as JSON-RPC writes them: read into an input, and written from a cleared request. Pure. */
import { formatTransactionRequest, numberToHex } from "viem";
import { isRecord } from "../primitives/index.js";
import type { Report, Request } from "../report/index.js";
import { fields } from "../transaction/index.js";

/** Only what JSON-RPC writes for a number is one: wallets do not agree on "10" and "". */
const number = (value: unknown): unknown =>
  typeof value === "string" && /^0x[\da-f]+$/i.test(value) ? BigInt(value) : value;

const small = (value: unknown): unknown => {
  const read = number(value);
  return typeof read === "bigint" && read <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(read) : read;
};

const authorization = (value: unknown): unknown => {
  if (!isRecord(value)) return value;
  const { chainId, nonce, yParity } = value;
  return { ...value, chainId: small(chainId), nonce: small(nonce), yParity: small(yParity) };
};

const readers: Readonly<Record<string, (value: unknown) => unknown>> = {
  quantity: number,
  authorizationList: (value) => (Array.isArray(value) ? value.map(authorization) : value),
};

/**
 * The fields of a JSON-RPC transaction as the pipeline takes them; what cannot be read stays as it is, for the pipeline's check
 * names the field. `input` is `data`. Fields that the pipeline does not know are kept: it refuses them.
 */
export const inputOf = (transaction: unknown, chainId: number): unknown => {
  if (!isRecord(transaction)) return transaction;
  // why: the type follows from the fields; nodes take `data` and `input` for the same
  const { type: _, input, data: named, ...rest } = transaction;
  const data = named ?? input;
  // guard: two kinds of data, of which nobody knows what a wallet signs
  const isTwice = input != null && String(input).toLowerCase() !== String(data).toLowerCase();
  const all = { ...rest, ...(data == null ? {} : { data }), ...(isTwice ? { input } : {}) };
  const read = Object.entries(all).flatMap(([name, value]) => {
    if (value === undefined || value === null) return [];
    const wire = Object.entries(fields).find(([field]) => field === name)?.[1].wire;
    const reader = name === "chainId" || name === "nonce" ? small : readers[wire ?? ""];
    return [[name, reader?.(value) ?? value] as const];
  });
  return { chainId, ...Object.fromEntries(read) };
};

/** Every field of a cleared request, for a wallet. */
export const transactionOf = (request: Request, from: string): Record<string, unknown> => ({
  ...formatTransactionRequest(request as never),
  from,
  chainId: numberToHex(request.chainId),
});

/** Fields that a call of an EIP-5792 request may have; its chain is compared. */
const fieldsOfCall = ["to", "value", "data", "capabilities", "chainId"];

/** The first field of the calls that a wallet might read and a proof does not. */
export const strayIn = (calls: ReadonlyArray<unknown>): string | undefined =>
  calls.flatMap((call) => (isRecord(call) ? Object.keys(call) : [])).find((name) => !fieldsOfCall.includes(name));

/** The bundle of an EIP-5792 request: one transaction for each call. */
export const bundleOf = (calls: ReadonlyArray<unknown>, from: unknown, chainId: number): ReadonlyArray<unknown> =>
  calls.map((call) => {
    if (!isRecord(call)) return call;
    const { to, value, data } = call;
    return inputOf({ to, value, data, from }, chainId);
  });

/** The calls as they were given, for a wallet; a field that is written otherwise than it was proven, as it was proven. */
export const callsOf = ({ transactions }: Report, calls: ReadonlyArray<unknown>): ReadonlyArray<object> =>
  transactions.map(({ input: { to, value, data } }, index) => {
    const values = new Map<string, unknown>(Object.entries({ to, value: numberToHex(value), data }));
    const isKept = (name: string, field: unknown) =>
      !values.has(name) || String(field).toLowerCase() === values.get(name);
    return Object.fromEntries(
      Object.entries(calls[index] ?? {}).flatMap(([name, field]) =>
        field === null ? [] : [[name, isKept(name, field) ? field : values.get(name)]],
      ),
    );
  });
