/** A settlement for people: one line for each transaction, then what differs. */
import { escapeText } from "../primitives/text.js";
import { formatGas, formatGasPrice, formatWei } from "../primitives/units.js";
import type { Comparison, MinedSettlement, Settled, Settlement, SettlementClass } from "./settlement.js";

/** Each class in words. */
const meaning: Readonly<Record<SettlementClass, string>> = {
  same: "what was said is what happened",
  priceMoved: "amounts moved, and nothing else",
  ordering: "others' transactions came first",
  contextDependent: "the outcome depends on the block's own values, such as its time",
  replaced: "another transaction of the sender took its nonce",
  tampered: "what was mined is not what was proven",
  simulatorWrong: "the node's simulation was wrong",
  unknown: "what happened, or why it differs, could not be told",
};

/** Differences of one comparison that are shown. */
const mostLines = 64;

const differencesOf = ({ differences, uncompared }: Comparison): ReadonlyArray<string> => [
  ...differences
    .slice(0, mostLines)
    .flatMap(({ field, said, happened, class: name, evidence }) => [
      `  ${escapeText(field)}: ${name} [${evidence}]`,
      `    said      ${escapeText(said, 1024)}`,
      `    happened  ${escapeText(happened, 1024)}`,
    ]),
  ...(differences.length > mostLines ? [`  … and ${differences.length - mostLines} more`] : []),
  ...(uncompared.length === 0
    ? []
    : [
        `  not compared: ${uncompared
          .slice(0, mostLines)
          .map((field) => escapeText(field))
          .join(", ")}`,
      ]),
];

const costOf = ({ status, gasUsed, effectiveGasPrice, cost }: MinedSettlement): string =>
  [
    status ?? "status not known",
    `${formatGas(gasUsed)} used`,
    ...(effectiveGasPrice === null ? [] : [formatGasPrice(effectiveGasPrice)]),
    ...(cost === null ? [] : [`cost ${formatWei(cost)}`]),
  ].join(" · ");

const told = (one: Settlement): ReadonlyArray<string> => {
  const head = `transaction ${one.transaction + 1}  ${one.hash}`;
  if (one.state !== "mined") return [`${head}  ${one.state}`];
  const { blockNumber, compared, differences, created } = one;
  return [
    head,
    `  block ${blockNumber} · ${costOf(one)}${created === null ? "" : ` · created ${created}`}`,
    `  ${one.class}: ${meaning[one.class]} · ${compared - differences.length} of ${compared} facts the same`,
    ...differencesOf(one),
  ];
};

const why: Readonly<Record<NonNullable<Settled["balancesUntold"]>, string>> = {
  severalBlocks: "the bundle is in several blocks, and what is said is said of all of it",
  notAllMined: "not all of it is mined",
  otherRequest: "something else was mined than was proven",
};

/** What was said against what happened, as plain text; every string in it is bounded and free of control characters. */
export const settledText = ({ class: name, transactions, balances, balancesUntold, ledger }: Settled): string =>
  [
    `${name.toUpperCase()} · ${meaning[name]}`,
    ...transactions.flatMap(told),
    ...(balances.compared + balances.uncompared.length === 0
      ? []
      : [
          balancesUntold === null
            ? `balances  ${balances.compared - balances.differences.length} of ${balances.compared} the same`
            : `balances  not compared: ${why[balancesUntold]}`,
        ]),
    ...differencesOf(balances),
    `${ledger.requests.length} requests · ${ledger.rounds} rounds · ${Math.round(ledger.ms)} ms`,
  ].join("\n");
