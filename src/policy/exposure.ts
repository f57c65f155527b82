/** A policy over what contracts could take, beside what they do take. */
import type { Address } from "../primitives/hex.js";
import { largestOf } from "../primitives/units.js";
import { fail, unknown } from "../report/policy.js";
import type { Report } from "../report/schema.js";
import { cut } from "./rights.js";
import { accountsOf, currencyText, same, tokenText, whereSeen, whoOf, type Subject } from "./spending.js";

/** What could be taken of one account: allowances reach no further than the balance, a value is gone from it. */
const amountOf = ({ exposure }: Report, token: Address | null, account: Address): bigint | null => {
  const rows = (exposure?.rows ?? []).filter((row) => same(row.token, token) && same(row.account, account));
  if (rows.some(({ amount }) => amount === null)) return null;
  const byId = new Map<bigint | null, { sum: bigint; most: bigint | null }>();
  let sent = 0n;
  for (const { by, amount, balance, tokenId } of rows) {
    if (by === "value") sent += amount ?? 0n;
    else byId.set(tokenId, { sum: (byId.get(tokenId)?.sum ?? 0n) + (amount ?? 0n), most: balance });
  }
  return [...byId.values()].reduce((all, { sum, most }) => all + (most !== null && most < sum ? most : sum), sent);
};

/** `limit`: the most that could be taken of the accounts together. */
export const judgeExposure = (subject: Subject, limit: bigint) =>
  whereSeen((report) => {
    const { token } = subject;
    const amounts = accountsOf(report, subject).map((account) => amountOf(report, token, account));
    const could = amounts.reduce<bigint>((sum, amount) => sum + (amount ?? 0n), 0n);
    const told = (amount: bigint) => tokenText(report, token, amount, largestOf([could, limit]));
    if (could > limit) return fail(`of ${whoOf(subject)} could be taken ${told(could)}; at most ${told(limit)}`);
    const of = currencyText(report, token);
    if (report.exposure === null) return unknown(`what could be taken in ${of} was not checked`);
    if (amounts.includes(null)) return unknown(`what could be taken in ${of} is not known`);
    const { pairs, unread } = report.exposure;
    return unread > 0
      ? unknown(`of what could be taken, ${pairs} pairs were checked and ${unread} were not`)
      : cut(report);
  });
