/**
 * One line of a report: something found, how bad it is, and how it is known.
 *
 * A code is the tag of a verdict or of an `RpcError` reason, or one of {@link noteCodes}.
 */
import * as Schema from "effect/Schema";
import { nullable } from "../primitives/hex.js";
import { RpcError } from "../errors/rpc.js";
import { sentence } from "../primitives/sentence.js";
import { Verdict } from "../errors/verdicts.js";

/**
 * How a fact is known, strongest first: `measured` inside the simulation; `logged` by an event;
 * `estimated` by a node or a rule; `assumed` through an override or a default; `unavailable`.
 */
export const Evidence = Schema.Literals(["measured", "logged", "estimated", "assumed", "unavailable"]);
export type Evidence = typeof Evidence.Type;

/** The pipeline's steps in their order, which is the order of findings. */
export const stepNames = [
  "chain",
  "code",
  "simulate",
  "estimate",
  "nonce",
  "fee",
  "assets",
  "approvals",
  "funds",
  "policy",
  "proof",
] as const;
export const StepName = Schema.Literals(stepNames);
export type StepName = typeof StepName.Type;

/** Codes of warnings and information that are no error of their own. A closed list. */
export const noteCodes = [
  "AccountDelegated",
  "ApprovalGranted",
  "ApprovalLeftOver",
  "ApprovalUnlimited",
  "AuthorizationSet",
  "BaseFeeDisagrees",
  "BaseNotComparable",
  "ConditionsAssumed",
  "ContractCreated",
  "DelegateWithoutCode",
  "EvidenceReduced",
  "FeeHorizonShort",
  "FirstSeenInProof",
  "GasDependent",
  "GasHeadroomThin",
  "GasWitnessesDisagree",
  "L1FeeDisagrees",
  "NodeDisagrees",
  "NonceGap",
  "NonceUnderReservation",
  "OptionsRefused",
  "OwnershipChanged",
  "PartiesCut",
  "PendingStale",
  "PolicyUnknown",
  "PredecessorsNotSimulated",
  "PriceDependent",
  "ReplacesPending",
  "RoleChanged",
  "SimulationUnavailable",
  "TipCapped",
  "TokenShortfall",
  "TransferMismatch",
  "ValueToPrecompile",
  "WitnessUnavailable",
  "ContractControlChanged",
] as const;
export type NoteCode = (typeof noteCodes)[number];

/** `blocker`: it must not be sent. `unavailable`: a needed check could not be made. */
export const Severity = Schema.Literals(["info", "warning", "blocker", "unavailable"]);
export type Severity = typeof Severity.Type;

/** One finding. `transaction` is the index in the bundle; null = the whole. */
export class Finding extends Schema.Class<Finding>("Finding")({
  /** A verdict's tag, a reason's tag, or a note code. */
  code: Schema.String,
  severity: Severity,
  step: StepName,
  transaction: nullable(Schema.Int),
  /** Verdict · evidence with units · remedy, escaped. */
  message: Schema.String,
  evidence: Evidence,
  remedy: Schema.String,
  /** The typed error behind it, where there is one. */
  error: nullable(Schema.Union([Verdict, RpcError])),
}) {}

interface Where {
  readonly step: StepName;
  readonly transaction?: number | null;
  readonly evidence?: Evidence;
}

/** A verdict or a failed request as a finding of the given severity. */
export const fromError = (error: Verdict | RpcError, severity: Severity, where: Where): Finding =>
  new Finding({
    code: error._tag === "RpcError" ? error.reason._tag : error._tag,
    severity,
    step: where.step,
    transaction: where.transaction ?? null,
    message: error.message,
    evidence: where.evidence ?? (severity === "unavailable" ? "unavailable" : "measured"),
    remedy: error.parts.remedy,
    error,
  });

/** A warning or a piece of information with a code of its own. */
export const note = (
  code: NoteCode,
  severity: Exclude<Severity, "blocker">,
  parts: { readonly verdict: string; readonly evidence?: string; readonly remedy?: string },
  where: Where,
): Finding =>
  new Finding({
    code,
    severity,
    step: where.step,
    transaction: where.transaction ?? null,
    message: sentence({ verdict: parts.verdict, evidence: parts.evidence ?? "", remedy: parts.remedy ?? "" }),
    evidence: where.evidence ?? (severity === "unavailable" ? "unavailable" : "measured"),
    remedy: parts.remedy ?? "",
    error: null,
  });

/** Findings in pipeline order, then by transaction, stable otherwise. */
export const inOrder = (findings: ReadonlyArray<Finding>): ReadonlyArray<Finding> =>
  [...findings].sort(
    (a, b) => stepNames.indexOf(a.step) - stepNames.indexOf(b.step) || (a.transaction ?? -1) - (b.transaction ?? -1),
  );
