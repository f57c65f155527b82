/**
 * Failures of the conversation with a node: one {@link RpcError} that names the method and a
 * `reason`. The reasons know whether a retry can help (`isRetryable`), where (`retryOn`) and after
 * how long (`retryAfterMs`). What a transaction did wrong is not here: see `verdicts.ts`.
 */
import * as Schema from "effect/Schema";
import * as reasons from "./reasons.js";
import { derived, type Stated } from "../primitives/statement.js";
import type { SimulationPart } from "../primitives/names.js";
import type { Verdict } from "./verdicts.js";
import { isRecord } from "../primitives/record.js";

export * from "./reasons.js";

/** Every reason, in the order of the design. */
export const Reason = Schema.Union([
  reasons.Unauthorized,
  reasons.MethodNotPermitted,
  reasons.MethodNotSupported,
  reasons.RateLimited,
  reasons.LogRangeTooLarge,
  reasons.UpstreamUnavailable,
  reasons.PendingUnavailable,
  reasons.HistoryPruned,
  reasons.NodeSyncing,
  reasons.Timeout,
  reasons.AdmissionTimeout,
  reasons.SimBlockOrder,
  reasons.NodeLimitExceeded,
  reasons.NodeGasCapExceeded,
  reasons.OverrideIgnored,
  reasons.DeploymentNotSimulated,
  reasons.StateUnavailable,
  reasons.BlockNotFound,
  reasons.InvalidParams,
  reasons.MalformedResponse,
  reasons.Transport,
  reasons.InternalError,
]);
export type Reason = typeof Reason.Type;

const sending = new Set([
  ...["eth_sendRawTransaction", "eth_sendRawTransactionSync", "eth_sendTransaction", "realtime_sendRawTransaction"],
]);

/** A method of the node that could not be answered, and why. Recover with `Effect.catchReason`. */
export class RpcError extends derived<
  RpcError,
  Stated & {
    /** True if asking the same endpoint again can help. */
    readonly isRetryable: boolean;
    /** True if a transaction may have been taken: a node that did not answer a sending method well may have done it. */
    readonly mayBeSent: boolean;
  }
>()(
  "RpcError",
  {
    /** The JSON-RPC method, e.g. `eth_call`. */
    method: Schema.String,
    /** Why it failed, as a tagged reason with its own facts. */
    reason: Reason,
  },
  {
    isRetryable: ({ reason }) => reason.advice.isRetryable,
    mayBeSent: ({ method }) => sending.has(method),
    docs: ({ reason }) => reason.docs,
    statement: ({ method, reason: { statement } }) => ({
      ...statement,
      sentence: method === "" ? statement.sentence : `${method}: ${statement.sentence}`,
    }),
  },
) {}

/* A part of a simulation that a node refuses by its name: nothing is wrong with the rest of it, or with the method. */

const names = "(validation|trace ?transfers|block ?overrides)";

/** Refused before it is named, or behind. */
export const refusesPart = new RegExp(
  `(?:(?:unknown|unsupported|unrecogni[sz]ed|unexpected|invalid|extra) (?:\\w+ )?(?:field|param\\w*|option|key|property|argument|flag)s?:?|unsupported|not support) \\W?(?:${names}|block ?hash)\\b` +
    `|\\b${names}\\b\\W?(?: ?[=:] ?true)?(?: (?:parameter|param|field|option|flag|mode))?(?: (?:is|are|currently|yet|still))* (?:not (?:yet |currently )?|un)(?:supported|known|recogni[sz]ed|implemented|allowed|permitted|accepted|available)` +
    // why: of a hash that is unknown or not available another state is meant
    "|\\bblock ?hash(?:es)?\\W?[^.\\n]{0,24} (?:not |un)(?:yet )?(?:supported|implemented|accepted|allowed)",
  "i",
);

/** A refusal that names the option by which transactions are shown in full. */
export const refusesFullTransactions = /returnFullTransactions/i;

/** Serde's words, which name the fields that it knows behind. */
export const refusesRoot = /\bunknown (?:field|key|property):? \W?beacon_?root\b/i;

/** Anvil's words, and serde's. */
const refusesDeployment = /missing (?:keys?|fields?)\W*[:[`'"]\W*to\b/i;

const parts: ReadonlyArray<SimulationPart> = ["validation", "traceTransfers", "blockOverrides"];

/** The part that a refusal names; `deployment` = a call without `to`; null = none. */
export const refusedPart = (failure: RpcError | Verdict): SimulationPart | "deployment" | null => {
  if (failure._tag !== "RpcError") return null;
  if (failure.reason._tag === "DeploymentNotSimulated") return "deployment";
  if (failure.reason._tag !== "InvalidParams") return null;
  const { detail } = failure.reason;
  const [, before, behind] = refusesPart.exec(detail) ?? [];
  const named = (before ?? behind)?.replace(" ", "").toLowerCase();
  return parts.find((part) => part.toLowerCase() === named) ?? (refusesDeployment.test(detail) ? "deployment" : null);
};

/** An error, with what a node answered in it or in its reason. */
type Told = { readonly message: string; readonly reason?: { readonly raw: unknown }; readonly raw?: unknown };

/** Why a node did not take it, in the node's own words where it said some: one line, at most 200 characters, not escaped; empty = it took it. */
export const refusalText = ({ error }: { readonly error: Told | null }): string => {
  if (error === null) return "";
  const raw = error.reason?.raw ?? error.raw;
  const text = isRecord(raw) && typeof raw["message"] === "string" ? raw["message"] : "";
  return (text.trim() === "" ? error.message : text)
    .replace(/[\s|]+/g, " ")
    .trim()
    .slice(0, 200);
};
