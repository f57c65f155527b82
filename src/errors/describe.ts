/** A decoded revert in words, escaped and bounded: `ERC20InsufficientBalance(sender: 0x…, …)`. */
import type { Revert } from "./revert.js";
import { escapeText, shortHex } from "./text.js";

/** One line for a revert; placeholder text is never the contract's unescaped. */
export const describeRevert = (revert: Revert): string =>
  revert.layers
    .map(({ layer }) => {
      switch (layer._tag) {
        case "Empty":
          return "no reason";
        case "Reason":
          return `"${escapeText(layer.reason)}"`;
        case "Panic":
          return `Panic(${layer.code}): ${layer.meaning}`;
        case "Custom":
          return layer.signature;
        case "Ambiguous":
          return layer.candidates.map(({ signature }) => signature).join(" or ");
        case "Unknown":
          return `unknown data ${shortHex(layer.data)}`;
      }
    })
    .join(" ← ");
