/** Findings in the words of a report: the numbers of a token's own error with its amounts beside. */
import { describeRevert, isAmountName } from "../abi/print.js";
import { amountInSentence, decimalsOf, type Names } from "./amounts.js";
import type { Finding } from "./finding.js";
import type { Report } from "./schema.js";

/** A finding's sentence; the numbers of a token's own error as amounts beside. */
export const sentenceOf = (finding: Finding, names: Names): string => {
  const { sentence, error } = finding;
  const revert = error?._tag === "ExecutionReverted" ? error.revert : null;
  const token = error?._tag === "ExecutionReverted" ? (revert?.address ?? error.to) : null;
  if (revert === null || token === null || decimalsOf(names, token) === null) return sentence;
  const described = describeRevert(revert, {
    beside: (value, name, type) =>
      typeof value === "bigint" && type.startsWith("uint") && isAmountName(name)
        ? ` = ${amountInSentence(names, { token, tokenId: null }, value, "none")}`
        : "",
  });
  return sentence === error?.statement.sentence ? `the call reverts with ${described}` : sentence;
};

/** The reason for the verdict, in the same words. */
export const reasonOf = (report: Report, names: Names): string => {
  const { because, findings } = report;
  const deciding = findings.find(({ sentence }) => sentence === because);
  return deciding === undefined ? because : sentenceOf(deciding, names);
};

/** Longer than any reason of our own. */
export const mostReason = 600;
