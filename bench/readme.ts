/** The page of what was measured, and why a goal is missed, as somebody wrote it below. */
import type { Goal } from "./goals.js";

const marked = /(<!-- bench -->\n)([^]*?)(\n<!-- \/bench -->)/;

/** Reasons by the goal's name, from lines such as `- **goal**, **goal**: reason`. */
const reasonsIn = (text: string): ReadonlyMap<string, string> =>
  new Map(
    [...text.matchAll(/^- (\*\*.+\*\*): (.+)$/gm)].flatMap(([, names = "", reason = ""]) =>
      names
        .slice(2, -2)
        .split("**, **")
        .map((name) => [name, reason] as const),
    ),
  );

/** A line for each reason, with the goals that it is given for. */
const linesOf = (reasons: ReadonlyArray<readonly [name: string, reason: string]>): ReadonlyArray<string> =>
  [...new Set(reasons.map(([, reason]) => reason))].map((reason) => {
    const names = reasons.flatMap(([name, its]) => (its === reason ? [`**${name}**`] : []));
    return `- ${names.join(", ")}: ${reason}`;
  });

/**
 * The page with `measured` between its marks, and below that the reasons which it gives for what is still
 * missed. `unexplained` are the goals that are missed for no reason given.
 */
export const withMeasured = (
  readme: string,
  measured: string,
  goals: ReadonlyArray<Goal>,
): { readonly readme: string; readonly unexplained: ReadonlyArray<string> } => {
  const reasons = reasonsIn(marked.exec(readme)?.[2] ?? "");
  const missed = goals.filter(({ met }) => met === false).map(({ name }) => name);
  const kept = linesOf(
    missed.flatMap((name) => {
      const reason = reasons.get(name);
      return reason === undefined ? [] : [[name, reason] as const];
    }),
  );
  const block = [measured, ...(kept.length === 0 ? [] : [kept.join("\n")])].join("\n\n");
  return {
    readme: readme.replace(marked, (_, open: string, _old: string, close: string) => `${open}\n${block}\n${close}`),
    unexplained: missed.filter((name) => !reasons.has(name)),
  };
};
