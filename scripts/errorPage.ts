/** The page of every code and every error: what it means, an example with numbers, how bad it is, what to do. */
import { readdirSync, readFileSync } from "node:fs";
import { codes, type NoteCode } from "../src/catalogue.js";
import { Reason, RpcError } from "../src/errors/rpc.js";
import { Verdict } from "../src/errors/verdicts.js";
import * as Statement from "../src/primitives/statement.js";
import { fromError, messageOf, type Finding } from "../src/report/finding.js";
import { errors, named, ofRequest, type Severities } from "./findingErrors.js";
import { gaps, ofGuard, ofInput, ofSending, type Thrown } from "./thrown.js";

type Make<A> = new (fields: object) => A;

/** What the page says of one code. */
interface CodeEntry {
  readonly code: string;
  /** The chapter: the step of a code of ours, else the kind of error. */
  readonly chapter: string;
  readonly means: string;
  readonly example: Finding;
  readonly severities: Severities;
}

const where = { evidence: "measured", transaction: 0 } as const;
const asError = { ...where, step: "simulate" } as const;

/** The doc comments of the declarations, by code. */
const docs = new Map(
  readdirSync(new URL("../src", import.meta.url), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .flatMap((path) => [
      ...readFileSync(new URL(`../src/${path}`, import.meta.url), "utf8").matchAll(
        /\/\*\*((?:(?!\*\/)[^])*)\*\/\nexport const (\w+) = code\(/g,
      ),
    ])
    .map(([, text = "", name = ""]) => [name, text.replace(/\s*\n \* */g, " ").trim()] as const),
);

const scope = { ...Statement, ...named };
/** The figures of a declaration's example. */
const figuresOf = (text: string): ReadonlyArray<Statement.Figure | null> =>
  new Function(...Object.keys(scope), `return [${text}]`)(...Object.values(scope));

const entryOf = (code: NoteCode): CodeEntry => {
  const declared = codes[code];
  const [usual = "info", ...others] = declared.severities;
  const [means = "", ...tags] = (docs.get(code) ?? "").split(/(?:^| )@(?=figures|info|warning|unavailable|blocker)/);
  const told = new Map(tags.map((tag) => [tag.split(" ")[0] ?? "", tag.slice(tag.indexOf(" ") + 1)]));
  const example = declared[usual](where, ...figuresOf(told.get("figures") ?? ""));
  told.delete("figures");
  if ([...told.keys()].sort().join() !== [...others].sort().join())
    throw new Error(`${code}: the doc comment must say in which cases it is ${others.join(", ")}, and of no other`);
  const severities = [[usual], ...others.map((each) => [each, told.get(each) ?? ""] as const)] as const;
  return { code, chapter: declared.step, means, example, severities };
};

/** Every code, the errors' among them. */
const entries: ReadonlyArray<CodeEntry> = [
  ...Object.values(codes).map(({ code }) => entryOf(code)),
  ...Verdict.members.map((member) => {
    const { means = "", fields, severities = ofRequest } = errors[member.identifier as Verdict["_tag"]];
    const example = fromError(new (member as Make<Verdict>)(fields), "blocker", asError);
    return { code: member.identifier, chapter: "verdict", means, example, severities };
  }),
  ...Reason.members.map((member) => {
    const { means = "", fields } = errors[member.identifier as Reason["_tag"]];
    const reason = new (member as Make<Reason>)(fields);
    const example = fromError(new RpcError({ method: "eth_simulateV1", reason }), "unavailable", asError);
    return { code: member.identifier, chapter: "reason", means, example, severities: ofRequest };
  }),
];

/** The severities in words. */
const severityText = (severities: Severities): string =>
  `${severities.map(([severity, where]) => `\`${severity}\`${where === undefined ? "" : ` ${where}`}`).join("; ")}.`;

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? "" : "."}`;

const entryText = (name: string, means: string | undefined, example: string, lines: ReadonlyArray<string>): string =>
  [`<a id="${name}"></a>`, `### ${name}`, ["```text", example, "```"].join("\n"), means ?? "", ...lines]
    .filter((part) => part !== "")
    .join("\n\n");

const entry = ({ code, means, example, severities }: CodeEntry): string =>
  entryText(code, means, messageOf({ ...example, remedy: "" }), [
    `**Severity:** ${severityText(severities)}`,
    `**What to do:** ${sentence(example.remedy === "" ? "nothing" : example.remedy)}`,
  ]);

const thrownEntry = ({ means, example, remedy = "", sent }: Thrown): string => {
  const { statement = { sentence: example.message, numbers: [], remedy } } = example as Partial<Statement.Stated>;
  return entryText(example.name, means, Statement.statementText({ ...statement, remedy: "" }, "gwei"), [
    ...(sent === undefined ? [] : [`**May it be sent?** ${sentence(sent)}`]),
    `**What to do:** ${sentence(statement.remedy)}`,
  ]);
};

/** The reasons of `NotProven`; the anchor is that of the finding where the code has an entry. */
const gapsList = (): string =>
  Object.entries(gaps)
    .map(([reason, [means, action]]) => {
      const anchor = entries.some(({ code }) => code === reason) ? "" : `<a id="${reason}"></a>`;
      return `- ${anchor}\`${reason}\`: ${means} **What to do:** ${action}`;
    })
    .join("\n");

/** The chapters, in the order of the pipeline. */
const chapters: ReadonlyArray<readonly [title: string, intro: string, step: string]> = [
  ["Chain and freshness", "The chain and the age of its state.", "chain"],
  ["Sender and receiver", "The code of sender and receiver.", "code"],
  ["Outcome", "What the transaction does.", "simulate"],
  ["Gas", "Whether the gas limit suffices.", "estimate"],
  ["Nonce", "Whether the nonce is the next one.", "nonce"],
  ["Fees", "Whether the fees hold.", "fee"],
  ["Movements", "Which tokens and amounts move.", "assets"],
  ["Rights and control", "Who may do what afterwards.", "approvals"],
  ["Funds", "Whether the payers can pay.", "funds"],
  ["Policies and steps", "What you asked the report to hold to.", "policy"],
  ["Proof", "Whether the exact request does the same wherever it is simulated.", "proof"],
  [
    "Errors of a transaction",
    "Typed errors: `finding.error`, and what `ready` fails with. Their fields stand in the [API reference](api/Errors.md).",
    "verdict",
  ],
  [
    "Errors of a node",
    '<a id="RpcError"></a>The `reason` of an `RpcError`, whose `method` says what was asked. The code of the finding is that of the reason.',
    "reason",
  ],
];

/** The chapters of what is thrown. */
const thrown: ReadonlyArray<readonly [title: string, intro: string, all: ReadonlyArray<Thrown>]> = [
  ["Errors of the input", "Rejected before anything is asked. They are no findings.", ofInput],
  [
    "Errors of sending",
    "Of `deliver`, `withNonce` and the [nonce store](nonces.md). `mayBeSent` says whether to look before you try again.",
    ofSending,
  ],
  ["Errors of a guard", "Of `guard` and `guardProvider`; see [the guard](guard.md).", ofGuard],
];

const mark = "<!-- codes -->";

/** `docs/errors.md` with an entry for every code behind the mark. */
export const withCodes = (page: string): string =>
  [
    page.slice(0, page.indexOf(mark) + mark.length),
    ...chapters.flatMap(([title, intro, step]) => [
      `## ${title}`,
      intro,
      ...entries
        .filter(({ chapter }) => chapter === step)
        .sort((a, b) => (a.code < b.code ? -1 : 1))
        .map(entry),
    ]),
    ...thrown.flatMap(([title, intro, all]) => [`## ${title}`, intro, ...all.map(thrownEntry)]),
    "## Why there is no clearance",
    "`ready` rejects with the error of the first blocker. Where there is no blocker, it rejects with [`NotProven`](#notproven). Each of its `missing` has a `reason`:",
    gapsList(),
    "",
  ]
    .join("\n\n")
    .trimEnd() + "\n";
