/** Policies over rights, over who takes part, and over calls that fail inside a transaction that succeeds. */
import { isHiddenRight, isInnerFailure, isMismatch, isNativeUntraced, isUnexplained } from "../report/byCode.js";
import { every, fail, pass, type Policy, type PolicyResult, unknown } from "../report/policy.js";
import { type Report, simulatedIn } from "../report/schema.js";
import { isAllowed, isGranted } from "../steps/reading/inner.js";
import { cut, same, tokenText, unseen, whereSeen } from "./spending.js";
import { accountsOf } from "../report/amounts.js";
import { narrowMaximum } from "../abi/known/rights.js";
import { isNobody } from "../abi/words.js";
import type { Address } from "../primitives/hex.js";
import { checksummed } from "../primitives/text.js";
import type { Approval } from "../report/parts.js";
import { effectsIn } from "../effects/effects.js";

const nameOf = (report: Report, { standard, token, tokenId, owner, spender, after, unlimited }: Approval): string => {
  const size = after === null || unlimited ? "" : `, ${tokenText(report, token, after)}`;
  return `${unlimited ? "unlimited " : ""}${standard} approval of ${checksummed(token)}${tokenId === null ? "" : ` id ${tokenId}`} by ${checksummed(owner)} to ${checksummed(spender)}${size}`;
};

/** Unknown if something may be a right of a kind that is not known. */
const unexplained = (report: Report): PolicyResult =>
  report.findings.some(isUnexplained)
    ? unknown("an unknown event or call may give somebody a right to act for the sender")
    : pass;

const judgeApprovals = (judge: (approval: Approval, named: () => string) => PolicyResult) =>
  whereSeen((report) =>
    every([...report.approvals.map((approval) => judge(approval, () => nameOf(report, approval))), cut(report)]),
  );

/** Rights that are known and grow. What is only logged tells what was granted, but not what was there before. */
const judgeGrowth = judgeApprovals(({ before, after, extended, evidence }, named) => {
  if (evidence !== "measured" || after === null) return unknown(`whether the ${named()} is new was not measured`);
  if (after === 0n) return pass;
  if (before === null) return unknown(`the right before the ${named()} is not known`);
  return after > before || extended ? fail(named()) : pass;
});

/** Rights that grow, of whatever kind. */
export const judgeNewApprovals = (report: Report): PolicyResult => every([judgeGrowth(report), unexplained(report)]);

/** Unknown if calldata asks for a right without a limit that nobody measured, or for one without a known limit. */
const unlimitedClaim = (report: Report): PolicyResult =>
  report.findings.some(
    (finding) =>
      isHiddenRight(finding) &&
      // why: an event is told by its kind, and is for the policy on new rights
      !finding.numbers.some(({ unit, value }) => unit === "hash" || (unit === "units" && value < narrowMaximum)),
  )
    ? unknown("a call may give somebody a right without a limit")
    : pass;

/** Unlimited rights that are known, unless one that was there is only being spent. */
const judgeUnlimited = judgeApprovals(({ before, after, extended, evidence, unlimited }, named) => {
  if (unlimited) {
    const isSpending = evidence === "measured" && before !== null && after !== null && after < before && !extended;
    return isSpending ? pass : fail(named());
  }
  return evidence === "measured" ? pass : unknown(`the ${named()} was not measured`);
});

/** Unlimited rights, of whatever kind. */
export const judgeUnlimitedApprovals = (report: Report): PolicyResult =>
  every([judgeUnlimited(report), unlimitedClaim(report)]);

/** Everyone the bundle is seen to have to do with, its senders apart. */
const touchedBy = (report: Report): ReadonlySet<string> => {
  const touched = new Set<string>();
  const add = (...addresses: ReadonlyArray<Address | null>) => {
    for (const address of addresses) if (address !== null) touched.add(address.toLowerCase());
  };
  // why: with tokens and rights it stands for made, gone and taken back
  const addMade = (...addresses: ReadonlyArray<Address>) => add(...addresses.filter((address) => !isNobody(address)));
  for (const [index, { input, code, outcome }] of simulatedIn(report).entries()) {
    add(input.to, code.creates, code.from.delegate, code.to?.delegate ?? null);
    add(...(input.authorizationList ?? []).map(({ address }) => address));
    for (const { address } of outcome.logs) add(address);
    // why: a report may be changed in place, and what was read of a log object is remembered
    const logs = outcome.logs.map((log) => ({ ...log }));
    for (const { gains } of effectsIn([{ index, outcome: { ...outcome, logs } }], "control")) add(gains);
  }
  for (const { token, from, to } of report.transfers) {
    if (token === null) add(from, to);
    else addMade(token, from, to);
  }
  for (const { token, account, delta } of report.balanceChanges) if (delta !== 0n) add(token, account);
  for (const { token, owner, spender } of report.approvals) addMade(token, owner, spender);
  for (const account of accountsOf(report)) touched.delete(account);
  return touched;
};

/** Receivers, emitters, parties, tokens, spenders and delegates must all be among `allowed`. */
export const judgeTouched =
  (allowed: ReadonlySet<string>) =>
  (report: Report): PolicyResult => {
    const strangers = [...touchedBy(report)].filter((address) => !allowed.has(address));
    if (strangers.length > 0) return fail(`also touches ${strangers.slice(0, 16).map(checksummed).join(", ")}`);
    const isUntraced = (finding: Report["findings"][number]): boolean =>
      (isNativeUntraced(finding) && finding.severity !== "info") ||
      (isMismatch(finding) && !finding.numbers.some(({ name }) => name === "token"));
    const isTraced = !report.findings.some(isUntraced);
    const hidden = unseen(report) ?? (isTraced ? null : "whether others got native currency was not seen");
    return hidden === null ? cut(report) : unknown(hidden);
  };

/** No delegated account (EIP-7702) sends, receives or may spend, and none is made. */
export const judgeDelegated = (report: Report): PolicyResult =>
  every([
    ...simulatedIn(report).flatMap(({ input, code }, index) => [
      ...[code.from, ...(code.to === null ? [] : [code.to])].map(({ account, kind, delegate }) =>
        kind === "delegated"
          ? fail(
              `${checksummed(account)} delegates to ${delegate === null ? "an unknown delegate" : checksummed(delegate)}`,
            )
          : kind === "unknown"
            ? unknown(`whether ${checksummed(account)} has code is not known`)
            : pass,
      ),
      ...(input.authorizationList ?? []).map(({ address }) =>
        isNobody(address) ? pass : fail(`transaction ${index + 1} sets a delegation to ${checksummed(address)}`),
      ),
    ]),
    // why: a key is its own account of operations where that delegates, and nowhere else
    ...report.signings.map(({ sign, account }) =>
      sign.kind === "userOperation" && (same(sign.signer, account) || sign.delegate !== undefined)
        ? fail(`${checksummed(account)} is a delegated account`)
        : pass,
    ),
    ...report.approvals.map((approval) =>
      approval.after === 0n
        ? pass
        : approval.spenderKind === "delegated"
          ? fail(`the spender ${checksummed(approval.spender)} is a delegated account`)
          : approval.spenderKind === "unknown"
            ? unknown(`what the spender ${checksummed(approval.spender)} is, is not known`)
            : pass,
    ),
  ]);

/** No call inside fails in any world, but for those that may; permits that are there all the same count as passed. */
export const judgeInner = (mayFail: NonNullable<Policy["mayFail"]>) =>
  whereSeen((report) =>
    every(
      simulatedIn(report).map(({ outcome: { inner } }, index) => {
        const failed = (inner?.failed ?? []).filter(
          (failure) => !isAllowed(failure, mayFail) && !isGranted(failure, report.approvals),
        );
        const calls = failed.map(
          ({ to, call }) => `${call ?? "a call"} to ${to === null ? "an account that is not known" : checksummed(to)}`,
        );
        if (calls.length > 0) return fail(`inside transaction ${index + 1} fails ${calls.slice(0, 8).join("; ")}`);
        const isElsewhere = report.findings.some(
          (finding) => isInnerFailure(finding) && finding.severity === "warning" && finding.transaction === index,
        );
        if (isElsewhere) return fail(`a call inside transaction ${index + 1} fails in another block`);
        const count = inner?.unseen ?? 0;
        return count === 0
          ? pass
          : unknown(`whether calls inside transaction ${index + 1} fail was not seen (${count} of them)`);
      }),
    ),
  );
