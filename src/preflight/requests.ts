/** The exact requests of a report, and what changes them from outside: reserved nonces, a wider gas limit. Pure. */
import * as Arr from "effect/Array";
import type { Report } from "../report/schema.js";
import { digestOfReport } from "../report/digest.js";
import type { TransactionReport } from "../report/schema.js";
import type { Bundle } from "../steps/reading/bundle.js";
import { buildRequest, type Request } from "../transaction/request.js";
import { chosenOf, type Chosen } from "./choose.js";

/** A case whose request has no hole. */
export interface Signed extends Chosen {
  readonly request: Request;
}

const isSigned = (one: Chosen): one is Signed => one.request !== null;

/** The cases of a report as they would be signed; null while a request has a hole. */
export const signedOf = (report: Report): Bundle<Signed> | null => {
  const chosen = chosenOf(report);
  return chosen.every(isSigned) ? (chosen as Bundle<Signed>) : null;
};

/** The report with other choices in its transactions, requests and digest made anew. */
const changed = (
  report: Report,
  change: (transaction: TransactionReport, index: number) => TransactionReport,
): Report => {
  const transactions = Arr.map(report.transactions, (transaction, index) => {
    const { input, nonce, gas, fee } = change(transaction, index);
    const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = fee;
    const filled = { chainId: report.chainId, nonce: nonce.value, gas: gas.limit };
    const request = buildRequest(input, { ...filled, gasPrice, maxFeePerGas, maxPriorityFeePerGas });
    return { ...transaction, nonce, gas, fee, request };
  });
  return { ...report, transactions, digest: digestOfReport({ ...report, transactions }) };
};

/**
 * The report with `nonces[i]` as the nonce of transaction `i`, reserved from outside the pipeline. Where
 * the entry is null, or the caller fixed the nonce, everything stays.
 */
export const assignNonces = (report: Report, nonces: ReadonlyArray<bigint | null>): Report =>
  changed(report, (transaction, index) => {
    const given = nonces[index] ?? null;
    // why: no account comes near 2^53, and a request holds its nonce as a number
    if (given === null || given > BigInt(Number.MAX_SAFE_INTEGER) || transaction.nonce.by === "caller")
      return transaction;
    return {
      ...transaction,
      nonce: { ...transaction.nonce, value: Number(given), by: "reserved", evidence: "assumed" },
    };
  });

/** The report with these gas limits, chosen anew where they are ours to choose. */
export const withLimits = (report: Report, limits: ReadonlyArray<bigint>): Report =>
  changed(report, (transaction, index) => ({
    ...transaction,
    gas:
      transaction.gas.by === "caller"
        ? transaction.gas
        : { ...transaction.gas, limit: limits[index] ?? transaction.gas.limit },
  }));
