/**
 * One line of a report: something found, how bad it is, and how it is known. Data: a sentence, numbers
 * with their units and a remedy; text is made by {@link messageOf} when somebody reads it.
 */
import * as Schema from "effect/Schema";
import type { NoteCode } from "../catalogue.js";
import { nullable } from "../primitives/hex.js";
import { OwnName, StepName, stepNames } from "../primitives/names.js";
import { Figure, figures, pageOf, statementText, type Statement } from "../primitives/statement.js";
import { Reason, RpcError } from "../errors/rpc.js";
import { Verdict } from "../errors/verdicts.js";

/**
 * How a fact is known, strongest first: `measured` inside the simulation; `logged` by an event;
 * `estimated` by a node or a rule; `assumed` through an override or a default; `unavailable`.
 */
export const Evidence = Schema.Literals(["measured", "logged", "estimated", "assumed", "unavailable"]);
export type Evidence = typeof Evidence.Type;

export { type NoteCode, OwnName, StepName };

const ownCode = /^[A-Z][A-Za-z0-9]{0,63}$/u;

/**
 * A closed list: the tags of verdicts, the reasons of failed requests, the codes of our own notes; and the codes of users'
 * own steps (`acme/Listed`). A stored report may hold a code of a later edition, so decoding takes any name in PascalCase.
 */
export type FindingCode = Verdict["_tag"] | Reason["_tag"] | NoteCode | `${string}/${string}`;
export const FindingCode: Schema.Codec<FindingCode, string> = Schema.Union([
  Schema.String.pipe(
    Schema.check(Schema.isPattern(ownCode)),
    Schema.refine((value): value is Exclude<FindingCode, OwnName> => typeof value === "string" && ownCode.test(value)),
  ),
  OwnName,
]);

/** `blocker`: it must not be sent. `unavailable`: a needed check could not be made. The worst comes first. */
export const Severity = Schema.Literals(["blocker", "unavailable", "warning", "info"]);
export type Severity = typeof Severity.Type;

/** One finding. */
export const Finding = Schema.Struct({
  /** Its code: from a closed list, or with a slash a user's own. */
  code: FindingCode,
  /** Its effect on the verdict. */
  severity: Severity,
  /** The step that found it. */
  step: StepName,
  /** Its place in the bundle, from 0; null = the whole. */
  transaction: nullable(Schema.Int),
  /** A sentence that says what happened. */
  sentence: Schema.String,
  /** The numbers that belong to it, with their units. */
  numbers: Schema.Array(Figure),
  /** The action to take; empty where nothing is to be done. */
  remedy: Schema.String,
  /** The page on its code, from the package's root: `docs/errors.md#ApprovalUnlimited`; absent of a user's own code. */
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

/** The transaction that a finding is about, null or absent for the whole bundle, and how its facts are known. */
export interface Where {
  readonly transaction?: number | null;
  readonly evidence: Evidence;
}

/** A verdict or a failed request as a finding of the given severity, in its own words or in those given. */
export const fromError = (
  error: Verdict | RpcError,
  severity: Severity,
  { step, transaction = null, evidence }: Where & { readonly step: StepName },
  { sentence, numbers, remedy }: Statement = error.statement,
): Finding => {
  const code = error._tag === "RpcError" ? error.reason._tag : error._tag;
  return { code, severity, step, transaction, sentence, numbers, remedy, docs: pageOf(code), evidence, error };
};

/** A code of findings that are no error of their own, with a maker for each severity that it may have. */
export type Code<Name extends string, Levels extends Severity> = {
  readonly [Level in Levels]: (where: Where, ...numbers: ReadonlyArray<Figure | null>) => Finding;
} & {
  readonly code: Name;
  readonly step: StepName;
  /** The usual severity comes first. */
  readonly severities: ReadonlyArray<Levels>;
  readonly sentence: string;
  /** Empty where nothing is to be done. */
  readonly remedy: string;
};

/**
 * Declares a code in the file that decides it. The sentence is true of every finding with the code; the numbers carry
 * what is particular. Its doc comment gives the entry of `docs/errors.md`: the meaning, `@figures` as an example has
 * them, and `@warning where …` for a severity that is not the usual one.
 */
export const code = <Name extends string, Levels extends Severity>(
  step: StepName,
  severities: ReadonlyArray<Levels>,
  name: Name,
  [sentence, remedy = ""]: readonly [sentence: string, remedy?: string],
): Code<Name, Levels> => {
  const docs = pageOf(name);
  // why: every declaration is in the catalogue, of which the closed list of codes is made
  const code = name as string as NoteCode;
  const make =
    (severity: Severity): Code<Name, Severity>[Severity] =>
    ({ transaction = null, evidence }, ...known) => {
      const numbers = figures(...known);
      return { code, severity, step, sentence, remedy, transaction, numbers, docs, evidence, error: null };
    };
  const makers = Object.fromEntries(severities.map((severity) => [severity, make(severity)]));
  // the makers are those of `severities`
  return { ...makers, code: name, step, severities, sentence, remedy } as never;
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
