/** The page of every code that a finding can have: what it means, an example with numbers, what to do. */
import { Reason, RpcError } from "../src/errors/rpc.js";
import { Verdict } from "../src/errors/verdicts.js";
import { fromError, messageOf, note, type Finding, type NoteCode } from "../src/report/finding.js";
import { notes } from "../src/report/notes.js";
import { meanings, type Meaning } from "./codes.js";

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

const entry = (code: string, meaning: Meaning): string => {
  const finding = exampleOf(code, meaning);
  return [
    `<a id="${code}"></a>`,
    `### ${code}`,
    ["```text", messageOf({ ...finding, remedy: "" }), "```"].join("\n"),
    ...(meaning.means === undefined ? [] : [meaning.means]),
    ...(finding.remedy === "" ? [] : [`**What to do:** ${sentence(finding.remedy)}`]),
  ].join("\n\n");
};

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
    "The `reason` of an `RpcError`. The finding is `unavailable` where a needed answer is missing, else `info`.",
    (code) => Reason.members.some(({ identifier }) => identifier === code),
  ],
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
    "",
  ]
    .join("\n\n")
    .trimEnd() + "\n";
