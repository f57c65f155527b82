/** A settlement for people: one line for each transaction, then what differs. */
import {
  subjectText,
  type FactOf,
  escapeText,
  type Currency,
  formatGas,
  formatGasPrice,
  formatWei,
} from "../primitives/index.js";
import type { Report } from "../report/index.js";
import { valuesForPeople } from "../report/diff.js";
import { namesFor, type AmountOptions, type Names } from "../report/amounts.js";
import type { Comparison, MinedSettlement, Settled, Settlement } from "./settlement.js";

/** Each class in words. */
const meaning: Readonly<Record<Settled["class"], string>> = {
  same: "it happened as the report said",
  priceMoved: "amounts moved, and nothing else",
  unfulfilled: "it succeeded, and what its call asks for did not happen",
  ordering: "others' transactions came first",
  contextDependent: "the outcome depends on the block's own values, such as its time",
  replaced: "another transaction of the sender took its nonce",
  tampered: "what was mined is not what was proven",
  simulatorWrong: "the node's simulation was wrong",
  unknown: "what happened, or why it differs, is not known",
};

/** Differences of one comparison that are shown. */
const mostLines = 64;

const differencesOf = ({ differences, uncompared }: Comparison, names: Names): ReadonlyArray<string> => {
  const label = (of: FactOf): string => escapeText(subjectText(of, names.whole, names.native.symbol));
  return [
    ...differences.slice(0, mostLines).flatMap((one) => {
      const [said, happened] = valuesForPeople([one.a, one.b], one, names);
      return [`  ${label(one)}: ${one.class} [${one.evidence}]`, `    said      ${said}`, `    happened  ${happened}`];
    }),
    ...(differences.length > mostLines ? [`  … and ${differences.length - mostLines} more`] : []),
    ...(uncompared.length === 0 ? [] : [`  not compared: ${uncompared.slice(0, mostLines).map(label).join(", ")}`]),
  ];
};

const costOf = ({ status, gasUsed, effectiveGasPrice, cost }: MinedSettlement, currency: Currency): string =>
  [
    status ?? "status not known",
    `${formatGas(gasUsed)} used`,
    ...(effectiveGasPrice === null ? [] : [formatGasPrice(effectiveGasPrice, currency)]),
    ...(cost === null ? [] : [`cost ${formatWei(cost, currency)}`]),
  ].join(" · ");

/** The meaning of each state, where it does not say it itself. */
const stateMeaning: Readonly<Record<Exclude<Settlement["state"], "mined">, string>> = {
  pending: "in the pool, in no block",
  dropped: "not found: the node does not know this hash, and its nonce is free",
  replaced: "another transaction of the sender took its nonce",
  unknown: "its nonce is used, and by which transaction was not found",
};

const settlementLines = (settlement: Settlement, names: Names): ReadonlyArray<string> => {
  const head = `transaction ${settlement.transaction + 1}  ${settlement.hash}`;
  if (settlement.state !== "mined") return [`${head}  ${settlement.state} · ${stateMeaning[settlement.state]}`];
  const { blockNumber, compared, differences, created } = settlement;
  return [
    head,
    ...(settlement.sent === undefined
      ? []
      : [`  found in place of ${settlement.sent}, which is in no block, by its sender and nonce`]),
    `  block ${blockNumber} · ${costOf(settlement, names.native)}${created === null ? "" : ` · created ${created}`}`,
    `  ${settlement.class}: ${meaning[settlement.class]} · ${compared - differences.length} of ${compared} facts the same`,
    ...differencesOf(settlement, names),
  ];
};

/** The meaning of each state of what an account sent. */
const sentMeaning: Readonly<Record<NonNullable<Settled["signings"]>[number]["state"], string>> = {
  mined: "its contract says so",
  pending: "in the pool, in no block",
  dropped: "not found: the node does not know this hash",
  unknown: "what was mined says nothing of it",
};

const signingLines = (settled: Settled, names: Names): ReadonlyArray<string> =>
  (settled.signings ?? []).map(({ signing, hash, state, success, cost }) => {
    const outcome = success === null ? state : success ? "its calls succeeded" : "its calls FAILED";
    const costText = cost === null ? "" : ` · cost ${formatWei(cost, names.native)}`;
    return `signature ${signing + 1}  ${hash}  ${outcome} · ${sentMeaning[state]}${costText}`;
  });

const why: Readonly<Record<NonNullable<Settled["balancesUntold"]>, string>> = {
  severalBlocks: "the bundle is in several blocks, and the report is about all of it in one",
  notAllMined: "not all of it is mined",
  otherRequest: "something else was mined than was proven",
  ofAccounts: "what an account sends is mined among what others send",
};

/**
 * Writes a settlement as plain text; every string in it is bounded and free of control characters.
 * Amounts as {@link AmountOptions} say, by the symbols and decimals that `report` knows; exact in {@link Settled}.
 */
export const settledText = (settled: Settled, report: Report, options: AmountOptions = {}): string => {
  const { class: name, transactions, balances, balancesUntold, ledger } = settled;
  const names = namesFor(report, options);
  const isOther = transactions.some((one) => "sent" in one);
  const same = `${balances.compared - balances.differences.length} of ${balances.compared} the same`;
  const compared = balancesUntold === null ? same : `not compared: ${why[balancesUntold]}`;
  return [
    `${name.toUpperCase()} · ${meaning[name]}${isOther ? "; the hash was not found: what was found instead follows" : ""}`,
    ...transactions.flatMap((transaction) => settlementLines(transaction, names)),
    ...signingLines(settled, names),
    ...(balances.compared + balances.uncompared.length === 0 ? [] : [`balances  ${compared}`]),
    ...differencesOf(balances, names),
    `${ledger.requests.length} requests · ${ledger.rounds} rounds · ${Math.round(ledger.ms)} ms`,
  ].join("\n");
};
