/** What a revert reads like: one line, from the outside in. */
import { checksummed, escapeText, quoteText, shortHex } from "../primitives/text.js";
import { hasDecodable } from "./decodable.js";
import { describeCall, most, parametersOf, sizeOf } from "./print.js";
import type { Provenance, Revert, RevertCustom, RevertLayer } from "./revert.js";

const customText = (custom: RevertCustom): string => {
  const inputs = parametersOf(custom.item, "inputs");
  const readable = sizeOf(custom.data) <= most.bytes && hasDecodable(custom.item, "inputs");
  const args = readable ? custom.args : null;
  return args?.length === inputs.length
    ? describeCall(custom.name, inputs, args)
    : escapeText(custom.signature, most.call);
};

const meaningText = (meaning: string | null): string => (meaning === null ? "" : `: ${escapeText(meaning)}`);

const sourceText = ([first]: ReadonlyArray<Provenance>): string => {
  if (first === undefined) return "";
  switch (first.kind) {
    case "address":
      return first.source === null
        ? " (by the ABI of the contract)"
        : ` (by the ABI given for ${checksummed(first.source)})`;
    case "caller":
      return " (by an ABI you gave)";
    case "builtin":
      return first.source === null
        ? " (by the built-in table)"
        : ` (by the built-in table: ${escapeText(first.source, 80)})`;
  }
};

/** How much a description of a revert says. */
export interface RevertTextOptions {
  /** Whether it names whose ABI explained each custom error; default false. */
  readonly sources?: boolean | undefined;
}

/** One layer of a revert, arguments included. */
export const describeLayer = (layer: RevertLayer, options: RevertTextOptions = {}): string => {
  switch (layer._tag) {
    case "Empty":
      return "no reason";
    case "Reason":
      return `${quoteText(layer.reason)}${meaningText(layer.meaning)}`;
    case "Panic":
      return `Panic(0x${layer.code.toString(16).padStart(2, "0")}): ${escapeText(layer.meaning)}`;
    case "Custom":
      return `${customText(layer)}${meaningText(layer.meaning)}${options.sources === true ? sourceText(layer.provenance) : ""}`;
    case "Ambiguous":
      return `one of ${layer.candidates.slice(0, most.items).map(customText).join(" or ")}`;
    case "Unknown":
      return `unknown data ${shortHex(layer.data)}`;
  }
};

/**
 * One line for a revert, from the outside in: `outer ← path: inner`. Nothing in it is a contract's
 * unescaped text, and its length is bounded.
 */
export const describeRevert = (revert: Revert, options: RevertTextOptions = {}): string =>
  escapeText(
    revert.layers
      .slice(0, most.items)
      .map(({ path, layer }) => `${path === "" ? "" : `${escapeText(path, 60)}: `}${describeLayer(layer, options)}`)
      .join(" ← "),
    most.line,
  );
