/** The tables of an accuracy run: the goals beside what was measured, and the rules that were proven. */
import { isRight, type Sample } from "./run.js";

const quantile = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};

/** How many were sent, and how many came as they were told. */
export interface Came {
  readonly sent: number;
  readonly same: number;
}

export interface Summary {
  /** Transactions. */
  readonly mined: number;
  /** Blocked, and it failed or was refused when it was sent all the same. */
  readonly blocked: number;
  /** What was handed out and sent, and of how many `Preflight.settle` says that it did what was said. */
  readonly same: { readonly ready: Came; readonly others: Came };
  readonly outcome: number;
  readonly sufficed: number;
  readonly covered: number;
  /** Gas limit ÷ gas used. */
  readonly median: number;
  readonly p95: number;
  /** The median by position in a bundle. */
  readonly positions: ReadonlyArray<number>;
  /** Largest |expected − actual| ÷ actual. */
  readonly deviation: number;
  readonly falseReady: ReadonlyArray<Sample>;
  readonly falseBlocked: ReadonlyArray<Sample>;
  /** Not ready, handed out with what stands against it, and it did something else or was refused. */
  readonly warned: ReadonlyArray<Sample>;
}

const isReady = ({ report }: Sample) => report.verdict === "ready";
const cameOf = (samples: ReadonlyArray<Sample>): Came => ({
  sent: samples.length,
  same: samples.filter(({ settled }) => settled === "same").length,
});

export const summarise = (samples: ReadonlyArray<Sample>): Summary => {
  const sent = samples.filter(({ mined }) => mined !== null);
  const ratiosAt = (position: number | null): ReadonlyArray<number> =>
    sent.flatMap(({ mined }) =>
      (mined ?? []).flatMap(({ gasLimit, gasUsed }, index) =>
        gasUsed === null || (position !== null && (mined?.length === 1 || index !== position))
          ? []
          : [Number(gasLimit) / Number(gasUsed)],
      ),
    );
  const mined = sent.flatMap((sample) => (sample.mined ?? []).filter(({ gasUsed }) => gasUsed !== null));
  const share = (values: ReadonlyArray<boolean>) => values.filter(Boolean).length / values.length;
  const wrong = sent.filter((sample) => !isRight(sample));
  const stopped = samples.filter((sample) => sample.mined === null);
  return {
    mined: mined.length,
    blocked: stopped.filter(({ worksAnyway }) => !worksAnyway).length,
    same: {
      ready: cameOf(sent.filter(isReady)),
      others: cameOf(sent.filter((sample) => !isReady(sample))),
    },
    outcome: share(mined.map(({ status, logs, returnData }) => status && logs && returnData !== false)),
    sufficed: share(mined.map(({ sufficed }) => sufficed)),
    covered: share(sent.map(({ isCovered }) => isCovered)),
    median: quantile(ratiosAt(null), 0.5),
    p95: quantile(ratiosAt(null), 0.95),
    positions: [0, 1, 2, 3].map((position) => quantile(ratiosAt(position), 0.5)),
    deviation: Math.max(...sent.flatMap(({ deviation }) => deviation ?? [])),
    falseReady: wrong.filter(isReady),
    falseBlocked: stopped.filter(({ worksAnyway }) => worksAnyway),
    warned: wrong.filter((sample) => !isReady(sample)),
  };
};

const percent = (share: number): string => (Number.isNaN(share) ? "" : percentOf(share));
const percentOf = (share: number): string => `${(share * 100).toFixed(share === 1 ? 0 : 2)} %`;

const markdown = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

const cameShare = ({ sent, same }: Came): string => percent(same / sent);

/** The first thing to know of it all, in one sentence; a bed without a ready report proves nothing of them. */
export const hitRate = (columns: ReadonlyArray<readonly [name: string, summary: Summary]>): string => {
  const beds = columns.filter(([, { same }]) => same.ready.sent > 0);
  const total = (key: keyof Came) => beds.reduce((sum, [, { same }]) => sum + same.ready[key], 0);
  const came = { sent: total("sent"), same: total("same") };
  return `**${cameShare(came)}** of what was \`ready\` happened as it was said: ${came.same.toLocaleString("en")} of ${came.sent.toLocaleString("en")} reports, signed as handed out, mined and settled on ${beds.map(([name]) => name).join("; ")} ([how](#accuracy)).`;
};

/** Markdown, one column a bed. */
export const tableOf = (columns: ReadonlyArray<readonly [name: string, summary: Summary]>): string => {
  const row = (label: string, goal: string, cell: (summary: Summary) => string): ReadonlyArray<string> => [
    ...[label, goal],
    ...columns.map(([, summary]) => cell(summary)),
  ];
  return markdown(
    ["", "goal", ...columns.map(([name]) => name)],
    [
      row("what was said is what happened: of reports that are `ready`", "100 %", ({ same }) => cameShare(same.ready)),
      row("the same of those with warnings", "", ({ same }) => cameShare(same.others)),
      row("transactions signed as handed out, and mined", "≥ 300", ({ mined }) => String(mined)),
      row("same status, logs and return data", "100 %", ({ outcome }) => percent(outcome)),
      row("the gas limit sufficed", "100 %", ({ sufficed }) => percent(sufficed)),
      row("gas limit ÷ gas used, median", "≤ 1.2", ({ median }) => median.toFixed(3)),
      row("the same of the 1st, 2nd, 3rd, 4th of a bundle", "≤ 1.2", ({ positions }) =>
        positions.map((one) => one.toFixed(3)).join(", "),
      ),
      row("gas limit ÷ gas used, 95th percentile", "", ({ p95 }) => p95.toFixed(3)),
      row("required ≥ actual cost", "100 %", ({ covered }) => percent(covered)),
      row("expected against actual cost, at the most", "≤ 0.1 %", ({ deviation }) =>
        Number.isFinite(deviation) ? `${(deviation * 100).toFixed(4)} %` : "",
      ),
      row("false ready: it failed, or did something else", "0", ({ falseReady }) => String(falseReady.length)),
      row("false blocked: sent all the same, it worked", "0", ({ falseBlocked }) => String(falseBlocked.length)),
      row("rightly blocked: sent all the same, it failed", "", ({ blocked }) => String(blocked)),
      row("warned of, and it was refused or did something else", "", ({ warned }) => String(warned.length)),
    ],
  );
};

/** A test as Vitest's JSON reporter tells it: the bed is its suite, the rule its title. */
export interface Tested {
  readonly ancestorTitles: ReadonlyArray<string>;
  readonly title: string;
  readonly status: string;
}

/** Markdown, a row for each rule with the beds that prove it; only what passed counts. */
export const rulesTableOf = (tests: ReadonlyArray<Tested>): string => {
  const names = [...new Set(tests.map(({ ancestorTitles }) => ancestorTitles[0] ?? ""))];
  const passed = new Set(
    tests.flatMap(({ ancestorTitles, title, status }) =>
      status === "passed" ? [`${ancestorTitles[0]}: ${title}`] : [],
    ),
  );
  const provenOn = (rule: string): string => {
    const [on, missing] = [true, false].map((is) => names.filter((name) => passed.has(`${name}: ${rule}`) === is));
    if (missing?.length === 0) return "all";
    return missing?.length === 1 ? `all but ${missing[0]}` : (on ?? []).join("; ");
  };
  return `${markdown(
    ["rule", "proven on"],
    [...new Set(tests.map(({ title }) => title))].map((rule) => [rule, provenOn(rule)]),
  )}\n\nAll: ${names.join("; ")}.`;
};
