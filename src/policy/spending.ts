/**
 * Policies over what leaves and arrives, judged by measured balances with the events as a second witness, over what the
 * bundle may cost, and over what contracts could take. Amounts are told in the token's own units, with the raw ones that
 * were judged beside.
 */
import * as BigInts from "effect/BigInt";
import { isQuantity, type Address } from "../primitives/hex.js";
import { checksummed, shownDecimals, symbolText } from "../primitives/text.js";
import { formatGas, formatUnits, formatWei, largestOf } from "../primitives/units.js";
import { accountsOf as own } from "../report/amounts.js";
import { currencyOf } from "../report/chain.js";
import { isCut, isNativeUntraced } from "../report/byCode.js";
import { type Report, simulatedIn } from "../report/schema.js";
import { fail, pass, unknown, type Policy, type PolicyResult } from "../report/policy.js";
import { feeTerms } from "../report/parts.js";

export const same = (a: string | null, b: string | null): boolean => a?.toLowerCase() === b?.toLowerCase();

/** Wei of the report's chain, in the unit of the amount that it is told `beside`. */
const nativeText = (report: Pick<Report, "chain" | "chainId">, wei: bigint, beside: bigint = wei): string =>
  formatWei(wei, currencyOf(report), beside);

/** `25 USDC (25000000 raw units of 0xA0b8…)`, by what the token says of itself; `1.5 ETH`. */
export const tokenText = (report: Report, token: Address | null, amount: bigint, beside: bigint = amount): string => {
  if (token === null) return nativeText(report, amount, beside);
  const info = report.tokens.find((tokenInfo) => same(tokenInfo.token, token)) ?? null;
  const decimals = shownDecimals(info);
  const raw = `${amount} raw units of ${checksummed(token)}`;
  return decimals === null || decimals === 0
    ? raw
    : `${formatUnits(amount, decimals)} ${symbolText(info) ?? "token"} (${raw})`;
};

/** Names what is counted: the chain's currency, or a token. */
export const currencyText = (report: Pick<Report, "chain" | "chainId">, token: Address | null): string =>
  token === null ? currencyOf(report).symbol : checksummed(token);

/** The most that the accounts of user operations pay for them, in wei; a paymaster pays for its own. */
const heldBack = ({ signings }: Report): bigint =>
  signings.reduce((sum, { account, operation }) => (operation?.payer === account ? sum + operation.prefund : sum), 0n);

/** The most that all fees together can come to: gas limit × max fee, blob, L1 and operator fees, and what operations hold back, wei. */
export const judgeFee =
  (limit: bigint) =>
  (report: Report): PolicyResult => {
    const payers = new Set(report.funds.map(({ account }) => account));
    const incomplete = report.funds.find(({ required }) => required === null);
    const missing = report.transactions.find(({ input }) => !payers.has(input.from));
    const unknownPayer = incomplete?.account ?? missing?.input.from;
    if (unknownPayer !== undefined) return unknown(`what ${checksummed(unknownPayer)} must pay is not known`);
    const total = report.funds
      .flatMap(({ terms }) => terms)
      .reduce((sum, { name, amount }) => (feeTerms.has(name) ? sum + amount : sum), heldBack(report));
    return total > limit
      ? fail(`fees of up to ${nativeText(report, total)}, at most ${nativeText(report, limit, total)}`)
      : pass;
  };

/** The gas of all limits of each user operation; null where its price does not tell it. */
const gasOfOperations = ({ signings }: Report): ReadonlyArray<bigint | null> =>
  signings.flatMap(({ sign, operation }) => {
    if (operation === undefined || sign.kind !== "userOperation") return [];
    const { maxFeePerGas } = sign.operation;
    const price = isQuantity(maxFeePerGas) ? BigInt(maxFeePerGas) : 0n;
    return [price === 0n ? null : operation.prefund / price];
  });

/** The gas limits of all transactions and user operations together. */
export const judgeGas =
  (limit: bigint) =>
  (report: Report): PolicyResult => {
    const limits = report.transactions.map(({ request, gas }) => request?.gas ?? gas.limit);
    const unset = limits.findIndex((gas) => gas === null);
    if (unset >= 0) return unknown(`the gas limit of transaction ${unset + 1} is not known`);
    const operations = gasOfOperations(report);
    if (operations.includes(null)) return unknown("the gas limits of a user operation are not known");
    const total = [...limits, ...operations].reduce<bigint>((sum, gas) => sum + (gas ?? 0n), 0n);
    return total > limit ? fail(`gas limits of ${formatGas(total)}, at most ${formatGas(limit)}`) : pass;
  };

/** The balance of an account in a token or the currency; `account` null = the senders of the bundle together. */
export type ExposureSubject = NonNullable<Policy["exposures"]>[number];

export const accountsOf = (report: Report, { account }: ExposureSubject): ReadonlyArray<Address> =>
  account === null ? (own(report) as ReadonlyArray<Address>) : [account.toLowerCase() as Address];

/** Amounts that the subject gives (negative) and gets by the events, movement by movement. */
const movesOf = (report: Report, subject: ExposureSubject) => {
  const accounts = accountsOf(report, subject);
  return report.transfers
    .filter(({ token }) => same(token, subject.token))
    .flatMap(({ standard, amount, tokenId, from, to }) => {
      const counted = standard === "erc721" ? 1n : amount;
      return accounts.flatMap((account) => [
        ...(same(from, account) ? [{ tokenId, delta: -counted }] : []),
        ...(same(to, account) ? [{ tokenId, delta: counted }] : []),
      ]);
    });
};

/** The whole balance where it was read; else the sum over the ids, where every one of them was. */
const measuredOf = (report: Report, token: Address | null, account: Address): bigint | null => {
  const rows = report.balanceChanges.filter((change) => same(change.token, token) && same(change.account, account));
  const whole = rows.find(({ tokenId }) => tokenId === null);
  if (whole !== undefined) return whole.evidence === "measured" ? whole.delta : null;
  return rows.length === 0 || rows.some(({ evidence }) => evidence !== "measured")
    ? null
    : rows.reduce((sum, { delta }) => sum + delta, 0n);
};

/** Why nothing can be said of movements; null where the outcome is known. */
export const unseen = (report: Report): string | null => {
  const all = simulatedIn(report);
  if (report.observed.tier !== "simulate" || all.length === 0) return "the transactions were not simulated";
  const index = all.findIndex(({ outcome }) => outcome.status === "unknown");
  return index < 0 ? null : `the outcome of transaction ${index + 1} is not known`;
};

/** Unknown if the report may lack rights or parties that the bundle has to do with. */
export const cut = (report: Report): PolicyResult =>
  report.findings.some(isCut) ? unknown("not everything that the bundle touches was read or measured") : pass;

/** A judgement that only a report can be given whose movements are seen. */
export const whereSeen =
  (judge: Policy["evaluate"]): Policy["evaluate"] =>
  (report) => {
    const hidden = unseen(report);
    return hidden === null ? judge(report) : unknown(hidden);
  };

/** The subject's gain, or loss (negative), by the bundle, gas apart; `measured` null where a balance was not. */
const netOf = (report: Report, subject: ExposureSubject) => {
  const parts = accountsOf(report, subject).map((account) => measuredOf(report, subject.token, account));
  const moves = movesOf(report, subject);
  return {
    measured: parts.reduce<bigint | null>((sum, part) => (sum === null || part === null ? null : sum + part), 0n),
    logged: BigInts.sumAll(moves.map(({ delta }) => delta)),
    moves,
  };
};

/** Sums what is gone, id by id: what arrives of one id makes up for no other. */
const goneById = (moves: ReadonlyArray<{ readonly tokenId: bigint | null; readonly delta: bigint }>): bigint => {
  const ids = new Map<bigint, bigint>();
  for (const { tokenId, delta } of moves) if (tokenId !== null) ids.set(tokenId, (ids.get(tokenId) ?? 0n) + delta);
  return [...ids.values()].reduce((sum, net) => (net < 0n ? sum - net : sum), 0n);
};

/** The amount spent, raw units or wei, negative for what arrives; by whole balances, and by ids where there are any. */
const spentOf = (report: Report, subject: ExposureSubject) => {
  const accounts = accountsOf(report, subject);
  const { measured, logged, moves } = netOf(report, subject);
  const rows = report.balanceChanges.filter(
    ({ token, tokenId, account }) =>
      tokenId !== null && same(token, subject.token) && accounts.some((owner) => same(owner, account)),
  );
  const hasIds = rows.length > 0 || moves.some(({ tokenId }) => tokenId !== null);
  if (!hasIds) return { measured: measured === null ? null : -measured, logged: -logged };
  const isMeasured = measured !== null && rows.every(({ evidence }) => evidence === "measured");
  return {
    measured: isMeasured ? BigInts.max(-measured, goneById(rows)) : null,
    logged: BigInts.max(-logged, goneById(moves)),
  };
};

export const whoOf = ({ account }: ExposureSubject): string =>
  account === null ? "the senders" : checksummed(account);

/** True if events tell of no native movements, so that balances alone speak. */
const isUntold = ({ findings }: Report, { token }: ExposureSubject): boolean =>
  token === null && findings.some(isNativeUntraced);

const unmeasured = (report: Report, subject: ExposureSubject): PolicyResult =>
  unknown(`the balance of ${whoOf(subject)} in ${currencyText(report, subject.token)} was not measured`);

/** `limit`: the most that may leave: net, of ERC-721 and ERC-1155 net by id. */
export const judgeSpent = (subject: ExposureSubject, limit: bigint) =>
  whereSeen((report) => {
    const { measured, logged } = spentOf(report, subject);
    const beside = largestOf([measured ?? 0n, logged, limit]);
    const amountText = (amount: bigint) => tokenText(report, subject.token, amount, beside);
    const over = (spent: bigint, how: string) =>
      fail(`${whoOf(subject)} spend ${amountText(spent)}, ${how}; at most ${amountText(limit)}`);
    if (measured !== null && measured > limit) return over(measured, "measured");
    if (measured === null) return logged > limit ? over(logged, "by the events") : unmeasured(report, subject);
    return logged > limit && !isUntold(report, subject)
      ? unknown(
          `measured ${amountText(measured)} spent, but the events say ${amountText(logged)}; at most ${amountText(limit)}`,
        )
      : pass;
  });

/** `least`: what must arrive, net. */
export const judgeReceived = (subject: ExposureSubject, least: bigint) =>
  whereSeen((report) => {
    const { measured, logged } = netOf(report, subject);
    const beside = largestOf([measured ?? 0n, logged, least]);
    const amountText = (amount: bigint) => tokenText(report, subject.token, amount, beside);
    if (measured === null) return unmeasured(report, subject);
    if (measured < least)
      return fail(
        `${whoOf(subject)} receive ${amountText(measured)}, measured (the events say ${amountText(logged)}); at least ${amountText(least)}`,
      );
    // why: a contract without events of movements, as a stake, says nothing by them
    return subject.token !== null && logged !== 0n && logged < least
      ? unknown(
          `measured ${amountText(measured)} received, but the events say ${amountText(logged)}; at least ${amountText(least)}`,
        )
      : pass;
  });

/** Sums what could be taken of one account: allowances reach no further than the balance, a value is gone from it. */
const amountOf = ({ exposure }: Report, token: Address | null, account: Address): bigint | null => {
  const rows = (exposure?.rows ?? []).filter((row) => same(row.token, token) && same(row.account, account));
  if (rows.some(({ amount }) => amount === null)) return null;
  const byId = new Map<bigint | null, { sum: bigint; most: bigint | null }>();
  let values = 0n;
  for (const { by, amount, balance, tokenId } of rows) {
    if (by === "value") values += amount ?? 0n;
    else byId.set(tokenId, { sum: (byId.get(tokenId)?.sum ?? 0n) + (amount ?? 0n), most: balance });
  }
  return [...byId.values()].reduce((all, { sum, most }) => all + (most !== null && most < sum ? most : sum), values);
};

/** `limit`: the most that could be taken of the accounts together. */
export const judgeExposure = (subject: ExposureSubject, limit: bigint) =>
  whereSeen((report) => {
    const { token } = subject;
    const amounts = accountsOf(report, subject).map((account) => amountOf(report, token, account));
    const could = amounts.reduce<bigint>((sum, amount) => sum + (amount ?? 0n), 0n);
    const amountText = (amount: bigint) => tokenText(report, token, amount, largestOf([could, limit]));
    if (could > limit)
      return fail(`of ${whoOf(subject)} could be taken ${amountText(could)}; at most ${amountText(limit)}`);
    const of = currencyText(report, token);
    if (report.exposure === null) return unknown(`what could be taken in ${of} was not checked`);
    if (amounts.includes(null)) return unknown(`what could be taken in ${of} is not known`);
    const { pairs, unread, moved = [] } = report.exposure;
    const left = moved.map((gone) => `; ${checksummed(gone.token)} was moved by ${gone.spender ?? "one not known"}`);
    return unread > 0
      ? unknown(`of what could be taken, ${pairs} pairs were checked and ${unread} were not${left.join("")}`)
      : cut(report);
  });
