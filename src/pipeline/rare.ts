/** Code that few runs need. One file: each more would have a bundler cut what they share with the pipeline again. */
export { startUserSteps } from "./userSteps.js";
export { withSources } from "./askSources.js";
export { askCalls, askFirst, bisectUnsupported } from "./endpoint/bisect.js";
export { withSent, withTrace, withTracedInner, withTraces } from "./extras/trace.js";
export { settleGas } from "./gas/limit.js";
export { withTokenSlots } from "./tokenSlots.js";
export { withAssumed } from "./unsigned.js";
export { withBatch } from "./batches.js";
export { readMixed, withSignings } from "./signatures.js";
export { settleBurnt } from "./smaller.js";
