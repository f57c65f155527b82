/** What of a bundle does not work, in sentences. Pure. */
import { nativeForPeople, type Names } from "./amounts.js";
import { failuresOf } from "./stakes.js";
import type { Report } from "./schema.js";

/** More of a kind than a sentence holds. */
export const mostItems = 3;
export const mostSenders = 3;

/** `a`, `a and b`, `a, b, and c`. */
export const listed = (parts: ReadonlyArray<string>): string =>
  parts.length < 3 ? parts.join(" and ") : `${parts.slice(0, -1).join(", ")}, and ${parts.at(-1) ?? ""}`;

/** What does not work: which transactions fail or were not simulated, and who cannot pay. */
export const hindrances = (report: Report, names: Names): ReadonlyArray<string> => {
  const { transactions, funds } = report;
  const failed = failuresOf(report);
  const unseen = transactions.filter(({ outcome }) => outcome.status === "unknown").length;
  const one = transactions.length === 1;
  const numbers = listed(failed.slice(0, mostItems).map((index) => String(index + 1)));
  const more = failed.length > mostItems ? ` and ${failed.length - mostItems} more` : "";
  const poor = funds.flatMap(({ account, shortfall }) =>
    shortfall === null || shortfall <= 0n ? [] : [{ account, shortfall }],
  );
  return [
    ...(failed.length === 0
      ? []
      : [
          one
            ? "It would fail."
            : `Transaction${failed.length === 1 ? "" : "s"} ${numbers}${more} of ${transactions.length} would fail.`,
        ]),
    ...(unseen === 0
      ? []
      : [
          one
            ? "What it would do is not known."
            : `What ${unseen} of ${transactions.length} transactions would do is not known.`,
        ]),
    ...poor.slice(0, mostSenders).map(({ account, shortfall }) => {
      const who = names.who(account);
      const short = nativeForPeople(shortfall, "up", names);
      return who === "you" ? `You lack ${short}.` : `${who} lacks ${short}.`;
    }),
  ];
};
