/** Transactions as JSON-RPC writes them: read into an input, and written from a cleared request. Pure. */
import { formatTransactionRequest, numberToHex } from "viem";
import { isRecord } from "../primitives/index.js";
import type { Request } from "../report/index.js";
import type { Transaction } from "../transaction/index.js";

const oldTypes: ReadonlyArray<unknown> = ["0x0", "0x1", "legacy", "eip2930"];

/** A transaction without an old type whose price is left to the wallet: what is proven has the prices of the new ones. */
export const withoutOpenType = ({ type, ...rest }: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  type === undefined || (oldTypes.includes(type) && rest["gasPrice"] == null) ? rest : { ...rest, type };

/** A JSON-RPC transaction for the pipeline, whose table of forms reads it: the wallet's chain, as hex, marks its form. */
export const inputOf = (transaction: unknown, chainId: number): unknown =>
  isRecord(transaction)
    ? { ...withoutOpenType(transaction), chainId: transaction["chainId"] ?? numberToHex(chainId) }
    : transaction;

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

/** The batch of an EIP-5792 request, for the pipeline: what a proof reads of it, and no more. */
export const batchOf = (
  { from, atomicRequired, forceAtomic, capabilities }: Readonly<Record<string, unknown>>,
  calls: ReadonlyArray<unknown>,
  chainId: number,
): Readonly<Record<string, unknown>> => ({
  ...{ from, atomicRequired, forceAtomic, capabilities, chainId: numberToHex(chainId) },
  calls: calls.map((call) => (isRecord(call) ? { to: call["to"], value: call["value"], data: call["data"] } : call)),
});

/** The calls as they were given, for a wallet; a field that is written otherwise than it was proven, as it was proven. */
export const callsOf = (
  proven: ReadonlyArray<Pick<Transaction, "to" | "value" | "data">>,
  calls: ReadonlyArray<unknown>,
): ReadonlyArray<object> =>
  proven.map(({ to, value, data }, index) => {
    const values = new Map<string, unknown>(Object.entries({ to, value: numberToHex(value), data }));
    const isKept = (name: string, field: unknown) =>
      !values.has(name) || String(field).toLowerCase() === values.get(name);
    return Object.fromEntries(
      Object.entries(calls[index] ?? {}).flatMap(([name, field]) =>
        field === null ? [] : [[name, isKept(name, field) ? field : values.get(name)]],
      ),
    );
  });
