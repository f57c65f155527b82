/** The tables of `npm run beds`. */
import type { Row } from "./nodes.js";
import type { Said, Seen } from "./run.js";

/** A node, and what was seen on it, or why nothing was. */
export interface Column {
  readonly row: Row;
  readonly seen: Seen | string;
}
interface Full extends Column {
  readonly seen: Seen;
}
const isFull = (column: Column): column is Full => typeof column.seen !== "string";

const line = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`;
const table = (head: ReadonlyArray<string>, body: ReadonlyArray<ReadonlyArray<string>>): string =>
  [head, head.map(() => "---"), ...body].map(line).join("\n");

const nameOf = ({ row, seen }: Column): string => {
  const told = typeof seen === "string" ? null : /v?(\d+\.\d+\.\d+)/.exec(seen.client ?? "")?.[1];
  const version = row.version ?? told ?? "";
  return version === "" ? row.name : `${row.name} ${version}`;
};

/** Who is told what is not so: cleared and not mined, or held back for what is no danger there. */
export const wrongOf = (columns: ReadonlyArray<Column>): ReadonlyArray<string> =>
  columns.filter(isFull).flatMap((column) =>
    Object.entries(column.seen.said).flatMap(([what, { verdict, code, fate }]) => {
      const isCleared = verdict === "ready" || verdict === "caution";
      // why: a call of nobody is mined, and does nothing; ganache mines the nonce 0 again
      const isMeant = code === "NoCode" || (code === "NonceTooLow" && column.row.key === "ganache");
      const isWrong =
        (isCleared && fate !== "mined" && fate !== "no status") ||
        (verdict === "blocked" && fate === "mined" && !isMeant);
      return fate !== "none" && isWrong ? [`${nameOf(column)}: ${what}: ${verdict} ${code ?? ""}, ${fate}`] : [];
    }),
  );

const cellOf = (said: Said | undefined): string =>
  said === undefined ? "–" : said.fate === "none" ? said.verdict : `${said.verdict}, ${said.fate}`;

const verdicts = (columns: ReadonlyArray<Full>): string => {
  const inputs = [...new Set(columns.flatMap(({ seen }) => Object.keys(seen.said)))];
  return table(
    ["", ...columns.map(nameOf), "decided by"],
    inputs.map((what) => {
      const codes = new Set(columns.flatMap(({ seen }) => seen.said[what]?.code ?? []));
      return [
        what,
        ...columns.map(({ seen }) => cellOf(seen.said[what])),
        [...codes].map((code) => `\`${code}\``).join(", "),
      ];
    }),
  );
};

/** What `doctor` found missing, by name; of a node without simulation nothing about simulations. */
const lacksOf = ({ seen: { diagnosis } }: Full): string => {
  const simulates = diagnosis.findings.some(({ id, status }) => id === "eth_simulateV1" && status === "yes");
  const told = diagnosis.findings.filter(
    ({ id, group }) =>
      id !== "rules" &&
      (simulates ||
        !(group === "eth_simulateV1" || group.startsWith("what a simulation") || id.startsWith("pending.eth_sim"))),
  );
  const named = (status: string) =>
    told.filter((one) => one.status === status).map(({ id }) => `\`${id.replace("override.", "")}\``);
  const [missing, unknown] = [named("no"), named("unknown")];
  return [...missing, ...(unknown.length === 0 ? [] : [`not known: ${unknown.join(", ")}`])].join(", ") || "nothing";
};

const middle = (all: ReadonlyArray<number>): number => [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;

const traits = (columns: ReadonlyArray<Full>): string =>
  table(
    ["", "`doctor`", "lacks", "unknown method", "call that reverts", "estimate, no money", "ms a report"],
    columns.map((column) => {
      const { errors, diagnosis, said } = column.seen;
      const ms = middle(Object.values(said).map((one) => one.ms));
      return [nameOf(column), diagnosis.level, lacksOf(column), ...Object.values(errors), String(Math.round(ms))];
    }),
  );

/** Nodes that could not be run here, with what was seen instead. */
const absent: ReadonlyArray<readonly [name: string, why: string]> = [
  [
    "Foundry 1.8.5",
    "npm has no anvil after 1.7.1; known to refuse `gasPrice` beside EIP-1559 fees, which no request of a report has",
  ],
  ["bor, kaia, Celo, Sei", "Go's module proxy refuses them: 403"],
  ["Avalanche, Cosmos EVM", "Go's module proxy has them; not built"],
  ["Erigon 3", "Go's module proxy ends at 1.10.16"],
  ["Besu, Nethermind, reth", "found no program of theirs in npm, PyPI or NuGet"],
];

/** Both tables, and what was not run. */
export const tablesOf = (columns: ReadonlyArray<Column>): string => {
  const full = columns.filter(isFull);
  const none = columns.flatMap(({ row, seen }) => (typeof seen === "string" ? [[row.name, seen]] : []));
  return [verdicts(full), traits(full), table(["not run", "why"], [...none, ...absent])].join("\n\n");
};
