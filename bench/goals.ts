/** Goals: what was to be reached, what was measured, and whether it was. */
import type { Spread } from "./measure.js";

/** One goal, as it is printed. */
export interface Goal {
  /** Names the goal for good: the page's reason for a miss is found by it. */
  readonly name: string;
  /** The limit with its unit. */
  readonly limit: string;
  readonly value: string;
  /** Null where another script measures it. */
  readonly met: boolean | null;
}

/** Four digits below 10, for a goal of 1.02 × h needs three of them; three above. */
const digits = (value: number): string => String(Number(value.toPrecision(value < 10 ? 4 : 3)));

/** The median, and the quartiles in brackets. */
export const shown = ({ low, median, high }: Spread): string => `${digits(median)} (${digits(low)}–${digits(high)})`;

/** A goal that `value` has to stay at or below, both in `unit`. */
export const atMost = (name: string, limit: number, unit: string, value: number, text: string): Goal => ({
  name,
  limit: `≤ ${digits(limit)}${unit}`,
  value: text,
  met: value <= limit,
});

/** The same for what was measured many times: the median counts. */
export const medianAtMost = (name: string, limit: number, unit: string, spread: Spread): Goal =>
  atMost(name, limit, unit, spread.median, shown(spread));

/** Rows as a Markdown table. */
export const tableOf = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

const metOf = ({ met }: Goal): string => (met === null ? "by another script" : met ? "met" : "MISSED");

/** Every goal in a row. */
export const goalsTable = (goals: ReadonlyArray<Goal>): string =>
  tableOf(
    ["goal", "limit", "measured", "met?"],
    goals.map((goal) => [goal.name, goal.limit, goal.value, metOf(goal)]),
  );
