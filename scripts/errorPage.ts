/** The page of every code and every error: what it means, an example with numbers, how bad it is, what to do. */
import { Reason, RpcError } from "../src/errors/rpc.js";
import { Verdict } from "../src/errors/verdicts.js";
import { statementText, type Stated } from "../src/primitives/statement.js";
import { fromError, messageOf, note, type Finding, type NoteCode } from "../src/report/finding.js";
import { notes } from "../src/report/notes.js";
import { meanings, type Meaning } from "./codes.js";
import { severityText } from "./severities.js";
import { gaps, ofGuard, ofInput, ofSending, type Thrown } from "./thrown.js";

type Make<A> = new (fields: object) => A;

const where = { evidence: "measured", transaction: 0 } as const;
const asError = { ...where, step: "simulate" } as const;

/** The verdict classes and the reasons of failed requests, by tag. */
const classes = new Map<string, (fields: object) => Finding>([
  ...Verdict.members.map(
    (member) =>
      [
        member.identifier,
        (fields: object) => fromError(new (member as Make<Verdict>)(fields), "blocker", asError),
      ] as const,
  ),
  ...Reason.members.map(
    (member) =>
      [
        member.identifier,
        (fields: object) =>
          fromError(
            new RpcError({ method: "eth_simulateV1", reason: new (member as Make<Reason>)(fields) }),
            "unavailable",
            asError,
          ),
      ] as const,
  ),
]);

const isNote = (code: string): code is NoteCode => Object.hasOwn(notes, code);

const exampleOf = (code: string, { numbers = [], fields = {} }: Meaning): Finding =>
  isNote(code)
    ? note(code, "info", where, ...numbers)
    : (classes.get(code)?.(fields) ??
      (() => {
        throw new Error(`${code} is neither a note nor an error`);
      })());

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? "" : "."}`;

const entryText = (name: string, means: string | undefined, example: string, lines: ReadonlyArray<string>): string =>
  [`<a id="${name}"></a>`, `### ${name}`, ["```text", example, "```"].join("\n"), means ?? "", ...lines]
    .filter((part) => part !== "")
    .join("\n\n");

const entry = (code: string, meaning: Meaning): string => {
  const finding = exampleOf(code, meaning);
  return entryText(code, meaning.means, messageOf({ ...finding, remedy: "" }), [
    `**Severity:** ${severityText(code)}`,
    `**What to do:** ${sentence(finding.remedy === "" ? "nothing" : finding.remedy)}`,
  ]);
};

const thrownEntry = ({ means, example, remedy = "", sent }: Thrown): string => {
  const { statement = { sentence: example.message, numbers: [], remedy } } = example as Partial<Stated>;
  return entryText(example.name, means, statementText({ ...statement, remedy: "" }, "gwei"), [
    ...(sent === undefined ? [] : [`**May it be sent?** ${sentence(sent)}`]),
    `**What to do:** ${sentence(statement.remedy)}`,
  ]);
};

/** The reasons of `NotProven`; the anchor is that of the finding where the code has an entry. */
const gapsList = (): string =>
  Object.entries(gaps)
    .map(([reason, [means, action]]) => {
      const anchor = Object.hasOwn(meanings, reason) ? "" : `<a id="${reason}"></a>`;
      return `- ${anchor}\`${reason}\`: ${means} **What to do:** ${action}`;
    })
    .join("\n");

/** The chapters, in the order of the pipeline. */
const chapters: ReadonlyArray<readonly [title: string, intro: string, has: (code: string) => boolean]> = [
  ["Chain and freshness", "The chain and the age of its state.", (code) => stepOf(code) === "chain"],
  ["Sender and receiver", "The code of sender and receiver.", (code) => stepOf(code) === "code"],
  ["Outcome", "What the transaction does.", (code) => stepOf(code) === "simulate"],
  ["Gas", "Whether the gas limit suffices.", (code) => stepOf(code) === "estimate"],
  ["Nonce", "Whether the nonce is the next one.", (code) => stepOf(code) === "nonce"],
  ["Fees", "Whether the fees hold.", (code) => stepOf(code) === "fee"],
  ["Movements", "Which tokens and amounts move.", (code) => stepOf(code) === "assets"],
  ["Rights and control", "Who may do what afterwards.", (code) => stepOf(code) === "approvals"],
  ["Funds", "Whether the payers can pay.", (code) => stepOf(code) === "funds"],
  ["Policies and steps", "What you asked the report to hold to.", (code) => stepOf(code) === "policy"],
  ["Proof", "Whether the exact request does the same wherever it is simulated.", (code) => stepOf(code) === "proof"],
  [
    "Errors of a transaction",
    "Typed errors: `finding.error`, and what `ready` fails with. Their fields stand in the [API reference](api/Errors.md).",
    (code) => Verdict.members.some(({ identifier }) => identifier === code),
  ],
  [
    "Errors of a node",
    '<a id="RpcError"></a>The `reason` of an `RpcError`, whose `method` says what was asked. The code of the finding is that of the reason.',
    (code) => Reason.members.some(({ identifier }) => identifier === code),
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

const stepOf = (code: string): string | null => (isNote(code) ? notes[code].step : null);

const mark = "<!-- codes -->";

/** `docs/errors.md` with an entry for every code behind the mark. */
export const withCodes = (page: string): string =>
  [
    page.slice(0, page.indexOf(mark) + mark.length),
    ...chapters.flatMap(([title, intro, has]) => [
      `## ${title}`,
      intro,
      ...Object.entries(meanings)
        .filter(([code]) => has(code))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([code, meaning]) => entry(code, meaning)),
    ]),
    ...thrown.flatMap(([title, intro, all]) => [`## ${title}`, intro, ...all.map(thrownEntry)]),
    "## Why there is no clearance",
    "`ready` rejects with the error of the first blocker. Where there is no blocker, it rejects with [`NotProven`](#notproven). Each of its `missing` has a `reason`:",
    gapsList(),
    "",
  ]
    .join("\n\n")
    .trimEnd() + "\n";
