/** What few runs need. One file, for each more of them would have a bundler cut what they share with the pipeline once more. */
export { beginOwn } from "./beginOwn.js";
export { askCalls, askFirst, bisectUnsupported } from "./endpoint/bisect.js";
export { withSent, withTrace, withTracedInner } from "./extras/trace.js";
export { settleGas } from "./gas/limit.js";
