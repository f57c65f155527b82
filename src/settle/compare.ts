/** The facts of a report beside those of a receipt. Pure. */
import * as Arr from "effect/Array";
import type { FullTransaction, Receipt } from "../eth/index.js";
import { type Fact, logFacts, nothing, paired, plainJson, type FactOf } from "../primitives/index.js";
import { isInVain, isRefused, type Report, type TransactionReport } from "../report/index.js";
import { isSameLog } from "../steps/index.js";
import { fields, signingHash, type Request } from "../transaction/index.js";
import { paidBy, requestOfMined } from "./mined.js";
import type { Comparison, MinedOutcome } from "./settlement.js";

/** A class that a difference may have, and how it is known. */
export type Cause = Pick<Comparison["differences"][number], "class" | "evidence">;

export const unknownCause: Cause = { class: "unknown", evidence: "unavailable" };

/** As much of a value as anybody reads. */
const mostShown = 512;
const shown = (value: Fact["value"] | undefined): Fact["value"] =>
  typeof value === "string" && value.length > mostShown ? `${value.slice(0, mostShown)}…` : (value ?? null);

const isSame = ({ kind }: FactOf, said: Fact["value"] | undefined, happened: Fact["value"] | undefined): boolean =>
  kind === "most" && typeof said === "bigint" && typeof happened === "bigint" ? happened <= said : said === happened;

/** Compares what was said and what happened, each difference with its cause; null = nothing was said, or is known. */
export const compare = (facts: ReadonlyArray<Fact>, happened: ReadonlyArray<Fact>, causeOf: (of: FactOf) => Cause) => {
  const pairs = paired(facts, happened).filter(({ a }) => a !== null);
  const known = pairs.filter(({ b }) => b !== null);
  return {
    compared: known.length,
    differences: known.flatMap(({ of, a, b }) =>
      isSame(of, a, b) ? [] : [{ ...of, a: shown(a), b: shown(b), ...causeOf(of) }],
    ),
    uncompared: pairs.flatMap(({ of, b }) => (b === null ? [of] : [])),
  };
};

export const merged = (...all: ReadonlyArray<Comparison>): Comparison => ({
  compared: all.reduce((sum, { compared }) => sum + compared, 0),
  differences: all.flatMap(({ differences }) => differences),
  uncompared: all.flatMap(({ uncompared }) => uncompared),
});

const factOf =
  (transaction: number, kind: "fact" | "most" = "fact") =>
  (what: string, value: Fact["value"], unit: Fact["of"]["unit"] = null): Fact => ({
    of: { ...nothing, kind, transaction, what, unit },
    value,
  });

/** Compares facts that are told side by side. */
const compareRows = (
  fact: ReturnType<typeof factOf>,
  rows: ReadonlyArray<readonly [what: string, said: Fact["value"], happened: Fact["value"], unit?: Fact["of"]["unit"]]>,
  causeOf: (of: FactOf) => Cause,
): Comparison =>
  compare(
    rows.map(([what, said, , unit]) => fact(what, said, unit)),
    rows.map(([what, , happened, unit]) => fact(what, happened, unit)),
    causeOf,
  );

const plain = (value: unknown): Fact["value"] =>
  typeof value === "bigint"
    ? value
    : (typeof value === "object" ? JSON.stringify(plainJson(value)) : String(value)).toLowerCase();

const requestFacts = (transaction: number, from: string, request: Request | null): ReadonlyArray<Fact> => {
  const fact = factOf(transaction);
  return [
    fact("request from", from.toLowerCase()),
    ...Object.entries(request ?? {}).flatMap(([name, value]) =>
      value === undefined
        ? []
        : fact(`request ${name}`, plain(value), Object.entries(fields).find(([field]) => field === name)?.[1].unit),
    ),
  ];
};

/** The fields in which what was mined is not the request that was proven; none where it is the very same. */
export const compareRequest = (
  transaction: number,
  from: string,
  request: Request,
  mined: FullTransaction,
  cause: Cause,
): Comparison & { readonly isSame: boolean } => {
  const signed = requestOfMined(mined);
  const hash = signingHash(request);
  const isSame =
    signed !== null && mined.from.toLowerCase() === from.toLowerCase() && signingHash(signed) === hash && hash !== null;
  const because = () => cause;
  const whole = (said: string, happened: string) =>
    compareRows(factOf(transaction), [["request", said, happened]], because);
  if (isSame) return { ...whole("same", "same"), isSame };
  const found = compare(
    requestFacts(transaction, from, request),
    requestFacts(transaction, mined.from, signed),
    because,
  );
  // why: it differs, though no field of ours tells where
  const untold = whole("the request that was proven", "another");
  return { ...found, differences: (found.differences.length > 0 ? found : untold).differences, isSame };
};

/** Returns what the report says that a transaction does; null where it was not simulated. */
export const expectedOf = ({ outcome }: TransactionReport): MinedOutcome | null =>
  outcome.status === "unknown" || outcome.gasUsed === null
    ? null
    : {
        status: outcome.status === "success" ? "success" : "failure",
        gasUsed: outcome.gasUsed,
        logs: outcome.logs,
      };

/** Returns what the chain did with it; null where the receipt does not say all of it. */
export const happenedOf = ({ status, gasUsed, logs }: Receipt): MinedOutcome | null =>
  status === null || logs === null ? null : { status, gasUsed, logs };

/** Status, gas, every log in order, and what was created. */
export const compareOutcome = (proven: TransactionReport, transaction: number, receipt: Receipt, cause: Cause) => {
  const said = expectedOf(proven);
  if (said === null) return compare([], [], () => cause);
  const factsOf = (
    status: MinedOutcome["status"] | null,
    gasUsed: bigint,
    logs: Receipt["logs"] | MinedOutcome["logs"],
    created: string | null | undefined,
  ): ReadonlyArray<Fact> => {
    const fact = factOf(transaction);
    return [
      fact("status", status),
      fact("gas used", gasUsed, "gas"),
      ...(receipt.logs === null || logs === null
        ? [fact("events", logs === null ? null : "")]
        : logFacts(transaction, logs)),
      ...(proven.input.to === null && said.status === "success"
        ? [fact("created", created?.toLowerCase() ?? null)]
        : []),
    ];
  };
  return compare(
    factsOf(said.status, said.gasUsed, said.logs, proven.code.creates),
    factsOf(receipt.status, receipt.gasUsed, receipt.logs, receipt.contractAddress ?? "nothing"),
    () => cause,
  );
};

/** That a call did nothing of what it asks for, where the report said so; nothing of any other. */
export const compareAsked = ({ findings }: Report, transaction: number): Comparison => {
  const vain = findings.find(
    (finding) => isInVain(finding) && finding.transaction === transaction && finding.severity === "warning",
  );
  const what =
    vain !== undefined && isRefused(vain)
      ? "the call did not return true, and nothing happened"
      : "nothing showed that it did";
  const row = ["what its call asks for", "happens", what] as const;
  return compareRows(factOf(transaction), vain === undefined ? [] : [row], () => ({
    class: "unfulfilled",
    evidence: "logged",
  }));
};

/** Status and events of what was said beside those of what happened, in whatever order; what was not said comes last. */
const eventsBeside = (said: ReadonlyArray<MinedOutcome>, happened: ReadonlyArray<MinedOutcome>, index: number) => {
  const others = happened.flatMap(({ logs }) => logs);
  const logs = said.flatMap((outcome) => outcome.logs);
  const found = logs.map((log) => {
    const at = others.findIndex((other) => isSameLog(log, other));
    return at === -1 ? null : others.splice(at, 1);
  });
  const status = (all: typeof said) => (all.every((outcome) => outcome.status === "success") ? "success" : "failure");
  const factsOf = (all: typeof said, events: ReadonlyArray<ReadonlyArray<Parameters<typeof isSameLog>[0]> | null>) => [
    factOf(index)("status", status(all)),
    ...events.flatMap((each, event) =>
      logFacts(index, each ?? []).map(({ of, value }): Fact => ({ of: { ...of, event }, value })),
    ),
  ];
  const listed = (some: ReadonlyArray<(typeof logs)[number]>) => some.map((log) => [log]);
  const asSaid = factsOf(said, listed(logs));
  return compare(asSaid, factsOf(happened, [...found, ...listed(others)]), () => unknownCause);
};

/**
 * Compares calls that a wallet sent under its own nonces, gas and fees, and may have put into one transaction: with a
 * receipt for each they are compared one by one, else all as one. Null where a side is not known.
 */
export const compareCalls = (report: Report, receipts: ReadonlyArray<Receipt>): Comparison | null => {
  const { transactions } = report;
  const said = transactions.flatMap((transaction) => expectedOf(transaction) ?? []);
  const happened = receipts.flatMap((receipt) => happenedOf(receipt) ?? []);
  if (said.length !== transactions.length || happened.length !== receipts.length) return null;
  const found =
    said.length === happened.length
      ? Arr.zip(said, happened).map(([a, b], index) => eventsBeside([a], [b], index))
      : [eventsBeside(said, happened, 0)];
  const isSame = found.every(({ differences }) => differences.length === 0);
  return merged(...found, ...(isSame ? transactions.map((_, index) => compareAsked(report, index)) : []));
};

/** Price, cost, and the fees of layer 1 and of the operator, each within what was said to be the most. */
export const compareCost = (
  { request }: TransactionReport,
  transaction: number,
  funds: Report["funds"],
  receipt: Receipt,
): Comparison => {
  const terms = funds.flatMap((payer) => payer.terms).filter((term) => term.transaction === transaction);
  const termOf = (name: string): bigint | null => terms.find((term) => term.name === name)?.amount ?? null;
  const { cost, l1Fee, operatorFee } = paidBy(receipt);
  const fees = terms.filter(({ name }) => name !== "value" && name !== "received" && name !== "spent");
  const isKnown = fees.some(({ name }) => name === "gas");
  const most = isKnown ? fees.reduce((sum, { amount }) => sum + amount, 0n) : null;
  return compareRows(
    factOf(transaction, "most"),
    [
      ["price", request?.maxFeePerGas ?? request?.gasPrice ?? null, receipt.effectiveGasPrice, "wei per gas"],
      ["cost", most, cost, "wei"],
      ["L1 fee", termOf("l1Fee"), l1Fee ?? 0n, "wei"],
      ["operator fee", termOf("operatorFee"), operatorFee ?? 0n, "wei"],
    ],
    // why: a chain takes no more than was signed, so that a price above it is explained by nothing here
    ({ what }) => (what === "price" ? unknownCause : { class: "priceMoved", evidence: "logged" }),
  );
};

/** Returns what is said of balances, by `valueOf`; of tokens that are told apart nothing is. */
export const balanceFacts = (
  { balanceChanges }: Pick<Report, "balanceChanges">,
  valueOf: (change: Report["balanceChanges"][number]) => bigint | null,
): ReadonlyArray<Fact> =>
  balanceChanges
    .filter(({ tokenId }) => tokenId === null)
    .map((change) => ({
      of: { ...nothing, kind: "balance", account: change.account, unit: { token: change.token, tokenId: null } },
      value: valueOf(change),
    }));
