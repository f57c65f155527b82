/** The entry to the readings of steps for other folders. */
export { fatesOf, overrideNames, type Fate } from "./reading/overrides.js";
export { lacksTip } from "./reading/quote.js";
export { everyLog, isSameHead, isSameLog } from "./reading/sameOutcome.js";
export type { Plan, Run } from "./simulate.js";
