/** What an editor shows of the names that users meet: named types, their documentation, and an ABI once. */
import { expect, it } from "vitest";
import { hover } from "./hover.js";

const opening = `
import { Report } from "evm-preflight";
import { createPreflight } from "evm-preflight/promise";
declare const from: \`0x\${string}\`;
const abi = [{ type: "function", name: "burn", stateMutability: "nonpayable", inputs: [], outputs: [] }] as const;
const preflight = createPreflight({ url: "http://127.0.0.1:8545" });
const report = await preflight.preflight({ from });
const [one] = report.transactions;
const clearance = await preflight.ready(report);
`;

/** A line with one mark, the type that is shown, and words of the documentation; null = it has none of its own. */
const shown: ReadonlyArray<readonly [line: string, type: string, docs: string | null]> = [
  ["void /*?*/preflight", "const preflight: PreflightClient", null],
  ["void /*?*/report", "const report: Report.BundleReport", null],
  ["void report./*?*/transactions", ": readonly [Report.TransactionReport, ...Report.TransactionReport[]]", "order"],
  ["void report./*?*/findings", ": readonly Report.Finding[]", "Findings: blockers"],
  ["void report./*?*/observed", ": Report.Observed", "The state"],
  ["void report./*?*/funds", ": readonly Report.Funds[]", "Funds that each payer has"],
  ["void one./*?*/request", ": Report.Request | null", "The request to be signed"],
  ["void one./*?*/gas", ": Report.Gas", "How much gas"],
  ["void one.gas./*?*/limit", ": bigint | null", "The limit to sign."],
  ["void one.outcome./*?*/logs", ": readonly Report.OutcomeLog[]", null],
  ["const /*?*/request = clearance.requests[0]", "const request: Report.Request", null],
  ["void clearance./*?*/requests", ": readonly [Report.Request, ...Report.Request[]]", "Requests to be signed"],
  ["void clearance.requests[0]./*?*/gas", ": bigint", "Gas limit, in gas."],
  ["void clearance./*?*/waits", ": readonly Report.Wait[]", "Waits for what must be mined first"],
  ["void clearance./*?*/expiresAt", ": number", "Epoch ms."],
  ["void preflight.preflight({ from, /*?*/value: 1n })", ": bigint", "Wei that are sent along."],
  ["void preflight.preflight({ from, to: from, abi, /*?*/functionName: 'burn' })", ': "burn"', "The function to call"],
  ["void preflight.preflight({ from }, { /*?*/maxAge: 1 })", "maxAge?: Input", "How long a clearance holds"],
  ["void Report./*?*/matches", "(clearance: Report.Clearance, signed: ReadonlyArray<string>) => boolean", "exactly"],
];

const call = "void preflight./*?*/preflight({ from, to: from, abi, functionName: 'burn' })";
const seen = hover([opening, ...shown.map(([line]) => `{ ${line}; }`), call].join("\n"));

it.each(shown.map(([line, type, docs], index) => ({ line, type, docs, index })))(
  "hovering over $line shows a named type, with its documentation",
  ({ type, docs, index }) => {
    expect(seen[index]?.type).toContain(type);
    // why: of what is exported from another file the editor says so in a second line
    const lines = seen[index]?.type.split("\n").filter((line) => !/^(export|import) \w+$/.test(line));
    expect(lines).toHaveLength(1);
    expect(seen[index]?.docs).toContain(docs ?? "");
  },
);

it("hovering over a call shows what the function does, the form that it took, and the ABI once", () => {
  const { type, docs } = seen[shown.length] ?? { type: "", docs: "" };
  expect(docs).toContain("two rounds, a proven report");
  expect(type).toContain('FunctionCall<"burn">');
  expect(type.split("stateMutability")).toHaveLength(2);
});
