/** The table of an accuracy run: the goals beside what was measured. */
import type { Sample } from "./run.js";

const quantile = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};

export interface Summary {
  readonly sent: number;
  readonly notSent: ReadonlyArray<Sample>;
  /** Shares from 0 to 1. */
  readonly status: number;
  readonly logs: number;
  readonly returnData: number;
  readonly sufficed: number;
  readonly covered: number;
  /** Gas limit ÷ gas used. */
  readonly median: number;
  readonly p95: number;
  /** Largest |expected − actual| ÷ actual. */
  readonly deviation: number;
}

export const summarise = (samples: ReadonlyArray<Sample>): Summary => {
  const mined = samples.flatMap((sample) => (sample.mined === null ? [] : [sample.mined]));
  const share = (values: ReadonlyArray<boolean>) => values.filter(Boolean).length / values.length;
  const ratios = mined.map(({ gasLimit, gasUsed }) => Number(gasLimit) / Number(gasUsed));
  return {
    sent: mined.length,
    notSent: samples.filter((sample) => sample.mined === null),
    status: share(mined.map(({ status }) => status)),
    logs: share(mined.map(({ logs }) => logs)),
    returnData: share(mined.flatMap(({ returnData }) => (returnData === null ? [] : [returnData]))),
    sufficed: share(mined.map(({ sufficed }) => sufficed)),
    covered: share(mined.map(({ isCovered }) => isCovered)),
    median: quantile(ratios, 0.5),
    p95: quantile(ratios, 0.95),
    deviation: Math.max(...mined.flatMap(({ deviation }) => (deviation === null ? [] : [deviation]))),
  };
};

const percent = (share: number): string => `${(share * 100).toFixed(share === 1 ? 0 : 2)} %`;

/** Markdown, one column per node. */
export const tableOf = (columns: ReadonlyArray<readonly [name: string, summary: Summary]>): string => {
  const row = (label: string, goal: string, cell: (summary: Summary) => string): string =>
    `| ${[label, goal, ...columns.map(([, summary]) => cell(summary))].join(" | ")} |`;
  return [
    `| | goal | ${columns.map(([name]) => name).join(" | ")} |`,
    `|---|---|${columns.map(() => "---").join("|")}|`,
    row("transactions signed as handed out, sent and mined", "", ({ sent }) => String(sent)),
    row("same status", "100 %", ({ status }) => percent(status)),
    row("same logs", "100 %", ({ logs }) => percent(logs)),
    row("same return data", "100 %", ({ returnData }) => percent(returnData)),
    row("gas limit sufficed", "100 %", ({ sufficed }) => percent(sufficed)),
    row("gas limit ÷ gas used, median", "≤ 1.2", ({ median }) => median.toFixed(3)),
    row("gas limit ÷ gas used, 95th percentile", "", ({ p95 }) => p95.toFixed(3)),
    row("required ≥ actual cost", "100 %", ({ covered }) => percent(covered)),
    row(
      "largest difference of expected and actual cost",
      "≤ 0.1 %",
      ({ deviation }) => `${(deviation * 100).toFixed(4)} %`,
    ),
  ].join("\n");
};
