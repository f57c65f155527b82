/** What tests take from `src/postflight`: a file that moves inside it is followed here, and in no test. */
export { ranBehind } from "../../src/postflight/ask/replay.js";
export { settled } from "../../src/postflight/ask/settle.js";
export { causeOf, isAmountOnly } from "../../src/postflight/settle.js";
export type { MinedOutcome, Replay } from "../../src/postflight/settlement.js";
export { settledText } from "../../src/postflight/text.js";
