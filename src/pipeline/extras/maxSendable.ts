/** How much native currency an account can send at most. */
import * as Effect from "effect/Effect";
import type { InvalidTransaction } from "../../errors/input.js";
import type { RpcError } from "../../errors/rpc.js";
import { gap, InsufficientFunds, NotProven, type Verdict } from "../../errors/verdicts.js";
import { inCurrency } from "../../primitives/statement.js";
import { currencyOf } from "../../report/chain.js";
import { gapOf } from "../../report/ready.js";
import type { BundleReport } from "../../report/schema.js";
import type { Rpc } from "../../rpc/index.js";
import type { RawCall } from "../../transaction/input.js";
import type { Options } from "../prepare.js";

/** Returns wei of balance, fee cap and fees beyond gas × price; the gas limit, null = the call was not seen to work. */
const costsIn = (report: BundleReport) => {
  const { gas, fee, code } = report.transactions[0];
  const funds = report.funds[0];
  if (funds === undefined || funds.balance === null || fee.maxFeePerGas === null || fee.maxPriorityFeePerGas === null)
    return null;
  const extra = funds.terms.reduce(
    (sum, { name, amount }) => (name === "l1Fee" || name === "operatorFee" ? sum + amount : sum),
    0n,
  );
  const { maxFeePerGas, maxPriorityFeePerGas } = fee;
  return {
    ...{ balance: funds.balance, gas: gas.limit, maxFeePerGas, maxPriorityFeePerGas, extra },
    // why: where nothing is executed, the gas cannot depend on the value
    plain: code.to?.kind === "nobody",
  };
};

/** The first thing in a report that kept the costs from being known. */
const reasonOf = (report: BundleReport): Verdict | RpcError => {
  const against = report.findings.find(({ severity }) => severity === "blocker" || severity === "unavailable");
  const unknown = gap("CheckUnavailable", "what sending costs is not known");
  return against?.error ?? new NotProven({ missing: [against === undefined ? unknown : gapOf(report)(against)] });
};

/** Gas of a call may depend on its value a little: so many tries to find the limit that fits. */
const mostTries = 3;

/**
 * The most that `from` can send to `to`: with the gas limit and fee cap that are handed out, value and
 * costs together are the whole balance.
 *
 * On chains that charge gas × price alone this is exact to the wei: `value + gas · maxFeePerGas` equals
 * the balance, and what the account keeps in the end is the part of gas and price that was not used. On
 * OP-stack chains the margin for the L1 fee is kept as well. Where `to` has code, the gas of receiving
 * this very value is found by simulation. JSON-RPC as `scan` (twice or more, where `to` has code) and
 * `preflight`. Fails with `InsufficientFunds` when the fees alone are more than the balance, and with
 * what kept the costs from being known; a receiver that refuses is a blocker of the report.
 */
export const maxSendableWith = (
  scan: (input: RawCall, options?: Options) => Effect.Effect<BundleReport, InvalidTransaction, Rpc>,
  preflight: typeof scan,
) =>
  Effect.fn("Preflight.maxSendable")(function* (
    from: `0x${string}`,
    to: `0x${string}`,
    options: Options = {},
  ): Effect.fn.Return<
    {
      /** The most that can be sent, wei. */
      readonly value: bigint;
      /** The proven report of sending exactly that. */
      readonly report: BundleReport;
    },
    InvalidTransaction | Verdict | RpcError,
    Rpc
  > {
    const start = yield* scan({ from, to, value: 0n }, options);
    const costs = costsIn(start);
    if (costs === null) return yield* reasonOf(start);
    const { maxFeePerGas, maxPriorityFeePerGas, plain } = costs;
    const fees = { maxFeePerGas, maxPriorityFeePerGas };
    let { balance, extra } = costs;
    let gas = costs.gas ?? 0n;
    for (let attempt = 0; attempt < mostTries && !plain; attempt++) {
      const value = balance - gas * maxFeePerGas - extra;
      if (value <= 0n) break;
      const trial = yield* scan({ from, to, value, ...fees }, options);
      const now = costsIn(trial);
      if (now === null) return yield* reasonOf(trial);
      if (now.gas === null) return { value, report: trial };
      ({ balance, extra } = now);
      if (now.gas === gas) break;
      // the last try keeps the larger, which is enough for both
      gas = attempt === mostTries - 1 && gas > now.gas ? gas : now.gas;
    }
    if (gas === 0n) return yield* reasonOf(start);
    const send = (value: bigint) => preflight({ from, to, value, gas, ...fees }, options);
    const cost = gas * maxFeePerGas + extra;
    if (balance <= cost) {
      const account = start.transactions[0].input.from;
      const [want, shortfall] = [cost + 1n, cost + 1n - balance];
      return yield* inCurrency(new InsufficientFunds({ account, have: balance, want, shortfall }), currencyOf(start));
    }
    const value = balance - cost;
    const report = yield* send(value);
    const funds = report.funds[0];
    if (funds === undefined || funds.balance === null || funds.required === null) return { value, report };
    const rest = funds.balance - funds.required;
    // the balance moved meanwhile, or the exact bytes cost more than the rough ones: once more with what is known now
    if (rest === 0n || (rest > 0n && extra > 0n) || value + rest <= 0n) return { value, report };
    return { value: value + rest, report: yield* send(value + rest) };
  });
