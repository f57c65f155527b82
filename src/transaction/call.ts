/** A transaction and a request as calls, the parameter of a node's methods. */
import type { Address } from "../primitives/hex.js";
import { fields } from "./fields.js";
import type { Request } from "./request.js";
import type { Transaction } from "./schema.js";

/** A call: the fields that are there. */
export type Call = { readonly [K in keyof typeof fields]?: NonNullable<Transaction[K]> };

/**
 * What the caller wants done, without what the pipeline fills in (nonce, fees, chain) but for `gas`,
 * which stays behind too when it is null.
 */
export const bareCall = (transaction: Transaction, gas: bigint | null): Call => {
  const said = Object.entries(fields).flatMap(([field, { filled }]) => {
    const value = transaction[field as keyof typeof fields];
    return filled || value === null ? [] : [[field, value]];
  });
  return { ...Object.fromEntries(said), ...(gas === null ? {} : { gas }) };
};

/** Exactly what would be signed; the node knows its own chain, and the type follows from the fields. */
export const exactCall = (request: Request, from: Address): Call => {
  const { type: _, chainId: __, ...call } = request;
  return { from, ...call };
};
