/**
 * Balances read a second time, by calls of an account itself: a token may know the witness by its code, its gas or its
 * wealth, and tell it what nobody else hears. Behind the transactions only: in front of them such a call would raise the
 * account's nonce. Who cannot pay for it gets what it costs in front of it, behind all that is measured. Pure.
 */
import type * as Eth from "../../eth/index.js";
import type { Address } from "../../primitives/hex.js";
import { address, units } from "../../primitives/statement.js";
import { code, type Finding } from "../../report/finding.js";
import { witnessFees, type Placement } from "../../witness/placement.js";
import { balanceOf } from "../../witness/queries.js";
import { callsOf, unseen, type View } from "../../witness/view.js";
import type { Report } from "../../report/schema.js";
import type { Case } from "./bundle.js";
import { amountIn, type Holding } from "./holdings.js";

/** How many balances one run reads a second time. */
const mostSecond = 8;
/**
 * Gas of one reading: more than the witness gives, and never less than the least. `gift` is for giving the account what
 * that costs, code of its own that takes it included.
 */
export const secondGas = { least: 100_000n, usual: 260_000n, most: 760_000n, gift: 100_000n };

const feesOf = (
  {
    gasPrice,
    maxFeePerGas = 0n,
    maxPriorityFeePerGas = 0n,
  }: Partial<Record<"gasPrice" | "maxFeePerGas" | "maxPriorityFeePerGas", bigint>>,
  baseFee: bigint | null,
) => {
  if (gasPrice !== undefined) return { price: gasPrice, fees: { gasPrice } };
  const charged = (baseFee ?? maxFeePerGas) + maxPriorityFeePerGas;
  const price = charged < maxFeePerGas ? charged : maxFeePerGas;
  const tip = maxPriorityFeePerGas < price ? maxPriorityFeePerGas : price;
  return { price, fees: { maxFeePerGas: price, maxPriorityFeePerGas: tip } };
};

/**
 * Readings of balances, each with the most gas that it may have, wei that its account is given for it, and at the price
 * that the account signs: a signer reads its own, the first signer those of others; `baseFee` = that of the block, wei per
 * gas; null = not known.
 */
export const secondReadings = (
  {
    bundle,
    measure,
    report,
  }: {
    readonly bundle: ReadonlyArray<Pick<Case, "signer"> & { readonly request: Parameters<typeof feesOf>[0] }>;
    readonly measure: { readonly holdings: ReadonlyArray<Holding> };
    readonly report: Pick<Report, "funds">;
  },
  baseFee: bigint | null,
) => {
  const all = judged(measure.holdings).slice(0, mostSecond);
  return all.flatMap(({ token, account }) => {
    const payer = bundle.find(({ signer }) => signer === account) ?? bundle[0];
    if (payer === undefined) return [];
    const funds = report.funds.find((entry) => entry.account === payer.signer);
    const spare = funds?.balance == null ? 0n : funds.balance - (funds.expected ?? funds.required ?? funds.balance);
    const { price, fees } = feesOf(payer.request, baseFee);
    // why: what is expected to be paid is no bound, and each reading pays for those before it
    const room = price === 0n ? secondGas.most : (spare * 7n) / 8n / price - secondGas.least * BigInt(all.length - 1);
    const isPoor = room < secondGas.least;
    const gas = isPoor || room > secondGas.most ? secondGas.most : room;
    const query = balanceOf(token, account);
    const wei: Pick<Eth.CallRequest, "gasPrice" | "maxFeePerGas" | "maxPriorityFeePerGas"> = fees;
    return [{ from: payer.signer, query, gas, fees: wei, gift: isPoor ? secondGas.most * price : 0n }];
  });
};

/** The call, with an amount of gas that no contract can foresee, behind what its account is given for it. */
export const secondCalls = (
  { from, query, gas, fees, gift }: ReturnType<typeof secondReadings>[number],
  { address, sender }: Placement,
) => {
  const room = gas - secondGas.usual;
  const more = room > 0n ? secondGas.usual + (BigInt(`0x${address.slice(-8)}`) % room) : gas;
  const reading = { from, to: query.to, data: query.data, gas: more, ...fees };
  const donation = { ...{ from: sender, to: from, value: gift, gas: secondGas.gift }, ...witnessFees };
  return gift === 0n ? [reading] : [donation, reading];
};

/** The readings' answers, each by its place; undefined = it does not count. */
export const readBy = (
  readings: ReturnType<typeof secondReadings>,
  resultOf: (place: number) => Pick<Eth.CallResult, "status" | "returnData"> | undefined,
): View => {
  const answers = readings.flatMap(({ query }, place) => {
    const result = resultOf(place);
    if (result === undefined) return [];
    const { status, returnData: data } = result;
    const size = BigInt((data.length - 2) >> 1);
    return [[query, { kind: "call", success: status === "success", size, data }] as const];
  });
  return { ...unseen, call: callsOf(answers) };
};

/** Balances of tokens that somebody judges by. */
export const judged = (holdings: ReadonlyArray<Holding>): ReadonlyArray<Holding & { readonly token: Address }> =>
  holdings.flatMap((holding) => {
    const { token, tokenId, wanted } = holding;
    return wanted && token !== null && tokenId === null ? [{ ...holding, token }] : [];
  });

/** Both amounts that a run shows of a balance behind the transactions. */
const twice = ({ after, second }: { readonly after: View; readonly second: View }, holding: Holding) => ({
  ...{ first: amountIn(after, holding), other: amountIn(second, holding) },
});

/** True if a token told the witness another balance than the account. */
export const isContradicted = (run: Parameters<typeof twice>[0], holding: Holding): boolean => {
  // why: few balances are read twice
  const other = amountIn(run.second, holding);
  const first = other === null ? null : amountIn(run.after, holding);
  return first !== null && first !== other;
};

/**
 * An account's own call must confirm what was read inside the simulation, and it failed or could not be paid.
 * @figures address("token", usdc), address("of", alice)
 */
export const BalanceUnconfirmed = code("assets", ["unavailable"], "BalanceUnconfirmed", [
  "a policy depends on a token balance that could be read in one way only",
  "fund the sender, so that a second reading can be paid, or check the token",
]);

/**
 * The token may detect simulations.
 * @figures address("token", usdc), address("of", alice), units("to the witness", 5_000_000n), units("to an account",
 *   0n)
 */
export const TokenLies = code("assets", ["unavailable"], "TokenLies", [
  "a token reports a different balance depending on who asks",
  "trust no amount of this token",
]);

/** Balances under a policy on which the two readings disagree, and those that were not read a second time. */
export const checkSecond = (holdings: ReadonlyArray<Holding>, worlds: ReadonlyArray<Parameters<typeof twice>[0]>) =>
  judged(holdings).flatMap((holding): ReadonlyArray<Finding> => {
    const readings = worlds.map((run) => twice(run, holding)).filter(({ first }) => first !== null);
    const of = [address("token", holding.token), address("of", holding.account)];
    const lie = readings.find(({ first, other }) => other !== null && first !== other);
    if (lie !== undefined)
      return [
        TokenLies.unavailable(
          { evidence: "measured" },
          ...[...of, units("to the witness", lie.first), units("to an account", lie.other)],
        ),
      ];
    return readings.some(({ other }) => other === null)
      ? [BalanceUnconfirmed.unavailable({ evidence: "unavailable" }, ...of)]
      : [];
  });
