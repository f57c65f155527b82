/** A part of a simulation that a node refuses by its name: nothing is wrong with the rest of it, or with the method. */
import type { SimulationPart } from "../primitives/names.js";
import type { RpcError } from "./rpc.js";
import type { Verdict } from "./verdicts.js";

const names = "(validation|trace ?transfers|block ?overrides)";

/** Refused before it is named, or behind. */
export const refusesPart = new RegExp(
  `(?:(?:unknown|unsupported|unrecogni[sz]ed|unexpected|invalid|extra) (?:\\w+ )?(?:field|param\\w*|option|key|property|argument|flag)s?:?|unsupported|not support) \\W?(?:${names}|block ?hash)\\b` +
    `|\\b${names}\\b\\W?(?: ?[=:] ?true)?(?: (?:parameter|param|field|option|flag|mode))?(?: (?:is|are|currently|yet|still))* (?:not (?:yet |currently )?|un)(?:supported|known|recogni[sz]ed|implemented|allowed|permitted|accepted|available)` +
    // why: of a hash that is unknown or not available another state is meant
    "|\\bblock ?hash(?:es)?\\W?[^.\\n]{0,24} (?:not |un)(?:yet )?(?:supported|implemented|accepted|allowed)",
  "i",
);

/** Anvil's words, and serde's. */
const refusesDeployment = /missing (?:keys?|fields?)\W*[:[`'"]\W*to\b/i;

const parts: ReadonlyArray<SimulationPart> = ["validation", "traceTransfers", "blockOverrides"];

/** The part that a refusal names; `deployment` = a call without `to`; null = none. */
export const refusedPart = (failure: RpcError | Verdict): SimulationPart | "deployment" | null => {
  if (failure._tag !== "RpcError" || failure.reason._tag !== "InvalidParams") return null;
  const { detail } = failure.reason;
  const [, before, behind] = refusesPart.exec(detail) ?? [];
  const named = (before ?? behind)?.replace(" ", "").toLowerCase();
  return parts.find((part) => part.toLowerCase() === named) ?? (refusesDeployment.test(detail) ? "deployment" : null);
};
