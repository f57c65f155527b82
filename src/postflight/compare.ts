/** The facts of a report beside those of a receipt. Pure. */
import type { FullTransaction, Receipt } from "../eth/block.js";
import type { Report, TransactionReport } from "../report/schema.js";
import { isSameLog } from "../steps/reading/sameOutcome.js";
import { fields } from "../transaction/fields.js";
import { signingHash, type Request } from "../transaction/request.js";
import { paidBy, requestIn } from "./mined.js";
import type { Comparison, Happened, SettledDifference } from "./settlement.js";

/** A class that a difference may have, and how it is known. */
export type Cause = Pick<SettledDifference, "class" | "evidence">;

export const unknownCause: Cause = { class: "unknown", evidence: "unavailable" };

/** A fact of both sides; `said` null = nothing was said of it, `happened` null = nobody told. */
export interface Fact extends Partial<Pick<SettledDifference, "unit" | "isMost">> {
  readonly field: string;
  readonly said: bigint | string | null;
  readonly happened: bigint | string | null;
  /** Where it is not plain equality. */
  readonly isSame?: boolean;
  /** Where it has another than the facts beside it. */
  readonly cause?: Cause;
}

/** As much of a value as anybody reads. */
const mostShown = 512;
const shown = <V extends bigint | string>(value: V): V | string =>
  typeof value === "string" && value.length > mostShown ? `${value.slice(0, mostShown)}…` : value;

/** Facts told apart; each that differs gets its own cause, else that of all. */
export const toldApart = (facts: ReadonlyArray<Fact>, ofAll: Cause): Comparison => {
  const differences: Array<SettledDifference> = [];
  const uncompared: Array<string> = [];
  let compared = 0;
  for (const { field, said, happened, unit = null, isMost = false, isSame, cause = ofAll } of facts) {
    if (said === null) continue;
    if (happened === null) {
      uncompared.push(field);
      continue;
    }
    compared++;
    if (isSame ?? said === happened) continue;
    const both = { said: shown(said), happened: shown(happened), isMost, unit };
    differences.push({ field, ...both, ...cause });
  }
  return { compared, differences, uncompared };
};

export const merged = (...all: ReadonlyArray<Comparison>): Comparison => ({
  compared: all.reduce((sum, { compared }) => sum + compared, 0),
  differences: all.flatMap(({ differences }) => differences),
  uncompared: all.flatMap(({ uncompared }) => uncompared),
});

/** What the numbers of a request count. */
const unitOf = (name: string): SettledDifference["unit"] =>
  Object.entries(fields).find(([field]) => field === name)?.[1].unit ?? null;

const plain = (value: unknown): bigint | string =>
  value === null || value === undefined
    ? "none"
    : typeof value === "bigint"
      ? value
      : typeof value === "object"
        ? JSON.stringify(value, (_, inner: unknown) =>
            typeof inner === "bigint" ? String(inner) : inner,
          ).toLowerCase()
        : String(value).toLowerCase();

/** The fields in which what was mined is not the request that was proven; none where it is the very same. */
export const compareRequest = (
  from: string,
  request: Request,
  mined: FullTransaction,
  cause: Cause,
): Comparison & { readonly isSame: boolean } => {
  const signed = requestIn(mined);
  const isSame =
    signed !== null &&
    mined.from.toLowerCase() === from.toLowerCase() &&
    signingHash(signed) === signingHash(request) &&
    signingHash(request) !== null;
  const [said, happened]: ReadonlyArray<Readonly<Record<string, unknown>>> = [request, signed ?? {}];
  const all = [...new Set([...Object.keys(said ?? {}), ...Object.keys(happened ?? {})])];
  const facts: ReadonlyArray<Fact> = isSame
    ? [{ field: "request", said: "", happened: "" }]
    : [
        { field: "request.from", said: from.toLowerCase(), happened: mined.from.toLowerCase() },
        ...all.map((field) => ({
          field: `request.${field}`,
          said: plain(said?.[field]),
          happened: plain(happened?.[field]),
          unit: unitOf(field),
        })),
      ];
  const told = toldApart(facts, cause);
  // why: it differs, though no field of ours tells where
  const untold = toldApart([{ field: "request", said: "the request that was proven", happened: "another" }], cause);
  return { ...told, differences: (isSame || told.differences.length > 0 ? told : untold).differences, isSame };
};

/** What the report says that a transaction does; null where it was not simulated. */
export const saidOf = ({ outcome }: TransactionReport): Happened | null =>
  outcome.status === "unknown" || outcome.gasUsed === null
    ? null
    : {
        status: outcome.status === "success" ? "success" : "failure",
        gasUsed: outcome.gasUsed,
        logs: outcome.logs,
      };

/** What the chain did with it; null where the receipt does not say all of it. */
export const happenedOf = ({ status, gasUsed, logs }: Receipt): Happened | null =>
  status === null || logs === null ? null : { status, gasUsed, logs };

const logText = ({ address, topics, data }: Happened["logs"][number]): string =>
  [address, ...topics, data].join(" ").toLowerCase();

const logFacts = (said: Happened, { logs }: Receipt): ReadonlyArray<Fact> => {
  if (logs === null) return [{ field: "outcome.logs", said: String(said.logs.length), happened: null }];
  const most = Math.max(said.logs.length, logs.length);
  return Array.from({ length: most }, (_, index) => {
    const [one, other] = [said.logs[index], logs[index]];
    return {
      field: `outcome.logs[${index}]`,
      said: one === undefined ? "none" : logText(one),
      happened: other === undefined ? "none" : logText(other),
      isSame: one !== undefined && other !== undefined && isSameLog(one, other),
    };
  });
};

/** Status, gas, every log in order, and what was created. */
export const compareOutcome = (one: TransactionReport, receipt: Receipt, cause: Cause): Comparison => {
  const said = saidOf(one);
  const deploys = one.input.to === null && said?.status === "success";
  const facts: ReadonlyArray<Fact> = [
    { field: "outcome.status", said: said?.status ?? null, happened: receipt.status },
    { field: "outcome.gasUsed", said: said?.gasUsed ?? null, happened: receipt.gasUsed, unit: "gas" },
    ...(said === null ? [] : logFacts(said, receipt)),
    {
      field: "code.creates",
      said: deploys ? (one.code.creates?.toLowerCase() ?? null) : null,
      happened: receipt.contractAddress?.toLowerCase() ?? "none",
    },
  ];
  return toldApart(facts, cause);
};

/** Whether what happened stays within a bound that was said. */
const within = (
  field: string,
  most: bigint | null,
  happened: bigint | null,
  unit: SettledDifference["unit"] = "wei",
): Fact => ({
  ...{ field, said: most, happened, unit, isMost: true },
  isSame: most !== null && happened !== null && happened <= most,
});

/** Price, cost, and the fees of layer 1 and of the operator, each within what was said to be the most. */
export const compareCost = (one: TransactionReport, index: number, funds: Report["funds"], receipt: Receipt) => {
  const terms = funds.flatMap((payer) => payer.terms).filter(({ transaction }) => transaction === index);
  const termOf = (name: string): bigint | null => terms.find((term) => term.name === name)?.amount ?? null;
  const { cost, l1Fee, operatorFee } = paidBy(receipt);
  const beside = terms.filter(({ name }) => name !== "value" && name !== "received" && name !== "spent");
  const most = beside.some(({ name }) => name === "gas") ? beside.reduce((sum, { amount }) => sum + amount, 0n) : null;
  const cap = one.request?.maxFeePerGas ?? one.request?.gasPrice ?? null;
  return toldApart(
    [
      // why: a chain takes no more than was signed, so that a price above it is explained by nothing here
      { ...within("fee.price", cap, receipt.effectiveGasPrice, "wei per gas"), cause: unknownCause },
      within("funds.cost", most, cost),
      within("funds.l1Fee", termOf("l1Fee"), l1Fee ?? 0n),
      within("funds.operatorFee", termOf("operatorFee"), operatorFee ?? 0n),
    ],
    { class: "priceMoved", evidence: "logged" },
  );
};

/** The changes that are said of balances: those of tokens that are told apart are not. */
export const changesIn = ({ balanceChanges }: Pick<Report, "balanceChanges">) =>
  balanceChanges.filter(({ tokenId }) => tokenId === null);

/** `balances[0x…/native]`, with addresses as `write` has them. */
export const changeField = (
  { account, token }: Report["balanceChanges"][number],
  write: (address: string) => string = (address) => address,
): string => `balances[${write(account)}/${token === null ? "native" : write(token)}]`;

/** All that was said of balances, of which nothing can be said. */
export const uncomparedBalances = (report: Pick<Report, "balanceChanges">): Comparison => ({
  ...{ compared: 0, differences: [] },
  uncompared: changesIn(report).map((change) => changeField(change)),
});
