/** Policies over what the bundle may cost. */
import type { PolicyResult } from "../report/policy.js";
import type { Report } from "../report/schema.js";
import { formatGas } from "../primitives/units.js";
import { nativeText } from "./amounts.js";
import { fail, pass, unknown } from "./results.js";

const fees: ReadonlySet<string> = new Set(["gas", "blobGas", "l1Fee", "operatorFee"]);

/** The most that all fees together can come to: gas limit × max fee, blob, L1 and operator fees, wei. */
export const judgeFee =
  (limit: bigint) =>
  (report: Report): PolicyResult => {
    const payers = new Set(report.funds.map(({ account }) => account));
    const incomplete = report.funds.find(({ required }) => required === null);
    const missing = report.transactions.find(({ input }) => !payers.has(input.from));
    if (incomplete !== undefined || missing !== undefined)
      return unknown(`what ${incomplete?.account ?? missing?.input.from} must pay is not known`);
    const total = report.funds
      .flatMap(({ terms }) => terms)
      .reduce((sum, { name, amount }) => (fees.has(name) ? sum + amount : sum), 0n);
    return total > limit
      ? fail(`fees of up to ${nativeText(report, total)}, at most ${nativeText(report, limit, total)}`)
      : pass;
  };

/** The gas limits of all transactions together. */
export const judgeGas =
  (limit: bigint) =>
  (report: Report): PolicyResult => {
    const limits = report.transactions.map(({ request, gas }) => request?.gas ?? gas.limit);
    const unset = limits.findIndex((gas) => gas === null);
    if (unset >= 0) return unknown(`the gas limit of transaction ${unset + 1} is not known`);
    const total = limits.reduce<bigint>((sum, gas) => sum + (gas ?? 0n), 0n);
    return total > limit ? fail(`gas limits of ${formatGas(total)}, at most ${formatGas(limit)}`) : pass;
  };
