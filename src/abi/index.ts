/** ABIs: what is encoded, decoded and printed: the door of this room. */
export { indexAbis } from "./abiIndex.js";
export { callsWithin } from "./batches.js";
export { decodeCall, type DecodedCall, functionText, innerLines } from "./calls.js";
export { wellKnown } from "./decodeCall.js";
export { elementOf, leastBytes } from "./layout.js";
export { decodeLog } from "./decodeLogs.js";
export { coerceAll, functionsText, isSignatures, noFunction, parseSignatures, type Walk } from "./encode.js";
export { describeLayer, describeLog, describeValue } from "./print.js";
export type { Provenance } from "./revert.js";
export { decodeRevert } from "./table.js";
export { dataAt, nobody, wordAt } from "./words.js";
