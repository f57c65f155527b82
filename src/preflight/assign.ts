/** Nonces reserved elsewhere, put into a scanned report's requests. Pure. */
import { Report, reportVersion } from "../report/schema.js";
import { buildRequest, digestOf } from "../transaction/request.js";

/**
 * The report with `nonces[i]` as the nonce of transaction `i`, requests and digest made anew. Where
 * the entry is null, or the caller fixed the nonce, everything stays.
 */
export const assign = (report: Report, nonces: ReadonlyArray<number | null>): Report => {
  const assigned = report.transactions.map((transaction, index) => {
    const value = nonces[index] ?? null;
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
