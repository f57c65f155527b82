/**
 * One line of a report: something found, how bad it is, and how it is known. Data: a sentence, numbers
 * with their units and a remedy; text is made by {@link messageOf} when somebody reads it.
 */
import * as Schema from "effect/Schema";
import * as Struct from "effect/Struct";
import { nullable } from "../primitives/hex.js";
import { OwnName, StepName, stepNames } from "../primitives/names.js";
import { count, Figure, figures, pageOf, statementText, type Statement } from "../primitives/statement.js";
import { Reason, RpcError } from "../errors/rpc.js";
import { Verdict } from "../errors/verdicts.js";
import { notes } from "./notes.js";

/**
 * How a fact is known, strongest first: `measured` inside the simulation; `logged` by an event;
 * `estimated` by a node or a rule; `assumed` through an override or a default; `unavailable`.
 */
export const Evidence = Schema.Literals(["measured", "logged", "estimated", "assumed", "unavailable"]);
export type Evidence = typeof Evidence.Type;

export { OwnName, StepName };

/** Codes of findings that are no error of their own; {@link notes} says what each means. */
export const NoteCode = Schema.Literals(Struct.keys(notes));
export type NoteCode = typeof NoteCode.Type;

/**
 * What a finding can be: the tag of a verdict, the reason of a failed request, or a note of ours, a closed list; and what
 * users' own steps find (`acme/Listed`).
 */
export type FindingCode = Verdict["_tag"] | Reason["_tag"] | keyof typeof notes | OwnName;
export const FindingCode: Schema.Union<
  readonly [Schema.Literals<ReadonlyArray<Exclude<FindingCode, OwnName>>>, typeof OwnName]
> = Schema.Union([
  Schema.Literals([
    ...NoteCode.literals,
    ...[...Verdict.members, ...Reason.members].map(({ identifier }) => identifier as Exclude<FindingCode, OwnName>),
  ]),
  OwnName,
]);

/** `blocker`: it must not be sent. `unavailable`: a needed check could not be made. The worst comes first. */
export const Severity = Schema.Literals(["blocker", "unavailable", "warning", "info"]);
export type Severity = typeof Severity.Type;

/** One finding. */
export const Finding = Schema.Struct({
  /** What it is: from a closed list, or with a slash a user's own. */
  code: FindingCode,
  /** What it does to the verdict. */
  severity: Severity,
  /** The step that found it. */
  step: StepName,
  /** Its place in the bundle, from 0; null = the whole. */
  transaction: nullable(Schema.Int),
  /** What happened. */
  sentence: Schema.String,
  /** The numbers that belong to it, with their units. */
  numbers: Schema.Array(Figure),
  /** What to do; empty where nothing is to be done. */
  remedy: Schema.String,
  /** Where its code is explained: `docs/errors.md#ApprovalUnlimited`, from the root of the package; absent of a user's own code. */
  docs: Schema.optionalKey(Schema.String),
  /** How what it speaks of is known. */
  evidence: Evidence,
  /** The typed error behind it, where there is one. */
  error: nullable(Schema.Union([Verdict, RpcError])),
}).annotate({ identifier: "Finding" });
export interface Finding extends Schema.Schema.Type<typeof Finding> {
  /** The numbers behind the sentence, with their units. */
  readonly numbers: ReadonlyArray<Figure>;
  readonly error: Verdict | RpcError | null;
}

/** A verdict or a failed request as a finding of the given severity, in its own words or in those given. */
export const fromError = (
  error: Verdict | RpcError,
  severity: Severity,
  { step, transaction = null, evidence }: Parameters<typeof note>[2] & { readonly step: StepName },
  { sentence, numbers, remedy }: Statement = error.statement,
): Finding => {
  const code = error._tag === "RpcError" ? error.reason._tag : error._tag;
  return { code, severity, step, transaction, sentence, numbers, remedy, docs: pageOf(code), evidence, error };
};

/** A finding with a code of its own: the catalogue's words about these numbers. */
export const note = (
  code: NoteCode,
  severity: Exclude<Severity, "blocker">,
  { transaction = null, evidence }: { readonly transaction?: number | null; readonly evidence: Evidence },
  ...known: ReadonlyArray<Figure | null>
): Finding => {
  const { step, sentence, remedy } = notes[code];
  const numbers = figures(...known);
  return { code, severity, step, sentence, remedy, transaction, numbers, docs: pageOf(code), evidence, error: null };
};

/** The finding in one line: sentence · numbers · remedy; native amounts in `currency`: a symbol, or the report's `chain`. */
export const messageOf = (
  finding: Finding,
  currency?: string | { readonly symbol: string; readonly decimals: number },
): string => statementText(finding, currency);

const places = new Map<StepName, number>(stepNames.map((step, place) => [step, place]));
/** Users' steps come last. */
const placeOf = ({ step }: Finding): number => places.get(step) ?? places.size;

/** Findings in pipeline order, then by transaction, stable otherwise. */
export const inOrder = (findings: ReadonlyArray<Finding>): ReadonlyArray<Finding> =>
  [...findings].sort((a, b) => placeOf(a) - placeOf(b) || (a.transaction ?? -1) - (b.transaction ?? -1));

/** The most findings of one report, without the one that says how many more there were. */
const mostFindings = 256;

/**
 * As many findings as a report holds, the worst of them, in their order; `FindingsCut` counts the rest. Of one
 * severity the first of every code comes before the second of any: a flood of one code hides no other.
 */
export const bounded = (findings: ReadonlyArray<Finding>): ReadonlyArray<Finding> => {
  if (findings.length <= mostFindings) return findings;
  const met = new Map<string, number>();
  const ranked = findings.map((finding, place) => {
    const kind = `${finding.severity}/${finding.code}`;
    const nth = met.get(kind) ?? 0;
    met.set(kind, nth + 1);
    // why: what users' steps find, however much, hides nothing of ours
    const isOwn = Number(finding.code.includes("/"));
    return { finding, place, severity: Severity.literals.indexOf(finding.severity), isOwn, nth };
  });
  const kept = ranked
    .sort((a, b) => a.severity - b.severity || a.isOwn - b.isOwn || a.nth - b.nth || a.place - b.place)
    .slice(0, mostFindings)
    .sort((a, b) => a.place - b.place)
    .map(({ finding }) => finding);
  const rest = count("left out", findings.length - kept.length);
  return [...kept, note("FindingsCut", "warning", { evidence: "measured" }, rest)];
};
