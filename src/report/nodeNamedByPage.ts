/** Reports that rest on a node which somebody else named. */
import { code } from "./finding.js";
import { withFinding } from "./ready.js";
import type { Report } from "./schema.js";

/**
 * The page added the chain to the wallet (`wallet_addEthereumChain`), and a guard without a `node` asks only the node
 * that the page named.
 */
export const NodeNamedByPage = code("chain", ["unavailable"], "NodeNamedByPage", [
  "the page named the only node that was asked about this chain",
  "give the guard a `node`",
]);

/** Returns the report as `unknown`, since a page named the only node that was asked. */
export const namedByPage = <R extends Report>(report: R): R =>
  withFinding(report, NodeNamedByPage.unavailable({ evidence: "unavailable" }));
