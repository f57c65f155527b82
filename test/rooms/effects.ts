/** What tests take from `src/effects`: a file that moves inside it is followed here, and in no test. */
export { askedBy } from "../../src/effects/asked.js";
export { effectsIn, type Rows } from "../../src/effects/effects.js";
export { eventIn } from "../../src/effects/events.js";
export { failedIn, frameOf, framesOf, isSameWork, isTraceOf, leastLeft } from "../../src/effects/frames.js";
export { settle, transfersOf } from "../../src/effects/movements.js";
export { settleRight, type Right } from "../../src/effects/rights.js";
export { toldIn } from "../../src/effects/told.js";
export { treeOf } from "../../src/effects/tree.js";
