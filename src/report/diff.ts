/**
 * Which facts of two reports differ; and two values of one fact side by side, for people: amounts with their symbol and
 * decimals, parties by their names. Pure.
 */
import {
  type Difference,
  differenceText,
  type Fact,
  logFacts,
  nothing,
  type OutcomeDifference,
  paired,
  subjectText,
} from "../primitives/difference.js";
import { escapeText } from "../primitives/text.js";
import { formatGas, formatGasPrice, maxUint256 } from "../primitives/units.js";
import { amountForPeople, decimalsOf, namesFor, type AmountOptions, type Names, type Rounding } from "./amounts.js";
import type { Report } from "./schema.js";
import { mustBeReport } from "./stakes.js";

const factsOf = (report: Report): ReadonlyArray<Fact> => {
  const fact = (
    transaction: number | null,
    what: string,
    value: Difference["a"] | undefined,
    unit: Difference["unit"] = null,
  ): Fact => ({ of: { ...nothing, kind: "fact", transaction, what, unit }, value: value ?? null });
  const numberOf = (value: number | null): Difference["a"] => (value === null ? null : String(value));
  const { observed, transactions, funds, balanceChanges, approvals, stateChanges, findings } = report;
  return [
    fact(null, "verdict", report.verdict),
    fact(null, "stage", report.stage),
    fact(null, "chain id", numberOf(report.chainId)),
    fact(null, "digest", report.digest),
    fact(null, "observed base fee per gas", observed.baseFeePerGas, "wei per gas"),
    ...transactions.flatMap(({ request, code, outcome, gas, nonce, fee }, index) => [
      fact(index, "code from", code.from.kind),
      fact(index, "code to", code.to?.kind),
      fact(index, "outcome status", outcome.status),
      fact(index, "outcome gas used", outcome.gasUsed, "gas"),
      fact(index, "outcome return data", outcome.returnData),
      ...logFacts(index, outcome.logs),
      fact(index, "gas limit", request?.gas ?? gas.limit, "gas"),
      fact(index, "nonce value", numberOf(nonce.value)),
      fact(index, "fee base fee per gas", fee.baseFeePerGas, "wei per gas"),
      fact(index, "fee max fee per gas", fee.maxFeePerGas ?? fee.gasPrice, "wei per gas"),
      fact(index, "fee max priority fee per gas", fee.maxPriorityFeePerGas, "wei per gas"),
    ]),
    ...funds.flatMap(({ account, ...payer }) =>
      (["balance", "required", "expected", "shortfall"] as const).map((name): Fact => {
        const kind = name === "balance" ? "holding" : "fact";
        return { of: { ...nothing, kind, what: `funds ${name}`, unit: "wei", account }, value: payer[name] };
      }),
    ),
    ...balanceChanges.map(({ account, token, tokenId, delta }): Fact => ({
      of: { ...nothing, kind: "balance", account, unit: { token, tokenId } },
      value: delta,
    })),
    ...approvals.map(({ token, owner, spender, tokenId, standard, after }): Fact => ({
      of: { ...nothing, kind: "approval", account: owner, to: spender, unit: { token, tokenId }, what: standard },
      value: after,
    })),
    // why: a word that says nothing of who acts is data, and which of them are seen depends on what the run touched
    ...stateChanges
      .filter(({ holds }) => holds !== null)
      .map(({ account, slot, holds, after }): Fact => {
        const what = `${holds}${slot === null ? "" : ` in slot ${slot}`}`;
        return { of: { ...nothing, kind: "fact", what, account }, value: after };
      }),
    ...findings.map(({ code, step, transaction, severity }): Fact => ({
      of: { ...nothing, kind: "finding", transaction, what: `${code} (${step})` },
      value: severity,
    })),
  ];
};

/**
 * The differences from `before` (`a`) to `after` (`b`), in the order of the report; empty when nothing did. Throws
 * `InvalidTransaction` where one is no report, such as one that is still JSON.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Preflight, Report, Rpc } from "evm-preflight";
 *
 * const reportOf = (value: bigint) =>
 *   Preflight.preflight({ from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", value });
 * const [one, two] = await Effect.all([reportOf(1n), reportOf(2n)])
 *   .pipe(Effect.provide(Rpc.layerHttp("http://127.0.0.1:8545")), Effect.runPromise);
 * console.log(Report.diff(one, one).length, Report.diff(one, two).some(({ b }) => b === 2n)); // 0 true
 * ```
 */
export const diff = (before: Report, after: Report): ReadonlyArray<Difference> => {
  for (const report of [before, after]) mustBeReport(report);
  return paired(factsOf(before), factsOf(after)).flatMap(({ of, a = null, b = null }) =>
    a === b ? [] : [{ ...of, a, b }],
  );
};

/** More of a text that is no amount than anybody reads beside another. */
const mostText = 512;

/** No amount, but a number that nobody reads. */
const vast = 10n ** 100n;

const amountOf = (amount: bigint, unit: Difference["unit"], rounding: Rounding, names: Names) => {
  const plain = (digits: string) => ({ mark: "", digits, unit: "" });
  if (unit === null || unit === "count") return plain(String(amount));
  if (unit === "gas") return plain(formatGas(amount));
  if (unit === "wei") return amountForPeople(names, { token: null, tokenId: null }, amount, rounding);
  if (typeof unit === "string") return plain(formatGasPrice(amount, names.native));
  const { token, tokenId } = unit;
  if (token !== null) {
    if (amount === maxUint256) return plain("unlimited");
    // why: rights and NFTs that are there or not are counted so
    const isFlag = decimalsOf(names, token) === null && (amount === 0n || amount === 1n);
    if (tokenId !== null || isFlag) return plain(String(amount));
  }
  return amountForPeople(names, unit, amount, rounding);
};

/** Two values of one fact: both rounded where they can still be told apart, else both exact. */
export const valuesForPeople = (
  [a, b]: readonly [a: Difference["a"], b: Difference["a"]],
  { kind, unit }: Pick<Difference, "kind" | "unit">,
  names: Names,
): readonly [a: string, b: string] => {
  const isHeld = kind === "balance" || kind === "holding";
  const amountFor = (value: Difference["a"], by: Names) =>
    typeof value !== "bigint" || value > vast || value < -vast
      ? { mark: "", digits: escapeText(String(value ?? "none"), mostText), unit: "" }
      : // why: what may be spent is rounded up, what is there down
        amountOf(value, unit, isHeld && value > 0n ? "down" : "up", by);
  const [here, there] = [amountFor(a, names), amountFor(b, names)];
  const isTold = here.digits !== there.digits || here.unit !== there.unit;
  const text = (value: Difference["a"], isBound: boolean): string => {
    const { mark, digits, unit: of } = amountFor(value, isTold ? names : { ...names, exact: true });
    return `${isBound ? "≤ " : mark}${digits}${of === "" ? "" : ` ${of}`}`;
  };
  return [text(a, kind === "most"), text(b, false)];
};

/** A difference with its amounts readable. */
export const differenceForPeople = (difference: OutcomeDifference, names: Names): string =>
  differenceText(
    difference,
    names.whole,
    (each) => valuesForPeople([each.a ?? 0n, each.b ?? 0n], each, names),
    names.native.symbol,
  );

/**
 * Differences of reports in words, a line each: amounts as {@link AmountOptions} say, by the symbols and decimals that
 * `report` knows. Of `Moved`, its `diff` and its `report`. Escaped and bounded; the {@link Difference} itself is exact.
 */
export const diffText = (
  differences: ReadonlyArray<Difference>,
  report: Report,
  options: AmountOptions = {},
): string => {
  const names = namesFor(report, options);
  return differences
    .map((difference) => {
      const values = valuesForPeople([difference.a, difference.b], difference, names);
      return `${escapeText(subjectText(difference, names.whole, names.native.symbol), mostText)}: ${values.join(" → ")}`;
    })
    .join("\n");
};
