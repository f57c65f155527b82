/** Nonces reserved elsewhere, put into a scanned report's requests. Pure. */
import { Report, reportVersion } from "../report/schema.js";
import { buildRequest, digestOf } from "../transaction/request.js";

/**
 * The report with `nonces[i]` as the nonce of transaction `i`, requests and digest made anew. Where
 * the entry is null, or the caller fixed the nonce, everything stays.
 */
export const assignNonces = (report: Report, nonces: ReadonlyArray<bigint | null>): Report => {
  const assigned = report.transactions.map((transaction, index) => {
    const given = nonces[index] ?? null;
    // why: no account comes near 2^53, and a request holds its nonce as a number
    const value = given === null || given > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(given);
    if (value === null || transaction.input.nonce !== null) return transaction;
    const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = transaction.fee;
    const nonce = { ...transaction.nonce, value, evidence: "assumed" as const };
    const request = buildRequest(transaction.input, {
      chainId: report.chainId,
      nonce: value,
      gas: transaction.gas.limit,
      gasPrice,
      maxFeePerGas,
      maxPriorityFeePerGas,
    });
    return { ...transaction, nonce, request };
  });
  const [first, ...others] = assigned;
  if (first === undefined) return report;
  const signables = assigned.flatMap(({ input, request }) => (request === null ? [] : [{ from: input.from, request }]));
  const whole = report.chainId !== null && signables.length === assigned.length;
  const digest = whole && report.chainId !== null ? digestOf(reportVersion, report.chainId, signables) : null;
  return new Report({ ...report, transactions: [first, ...others], digest });
};
