/** What tests take from `src/settle`: a file that moves inside it is followed here, and in no test. */
export { ranBehind } from "../../src/settle/ask/replay.js";
export { settled } from "../../src/settle/ask/settle.js";
export { requestOfMined } from "../../src/settle/mined.js";
export { causeOf, isAmountOnly } from "../../src/settle/settle.js";
export type { Hindsight, MinedOutcome } from "../../src/settle/settlement.js";
export { settledText } from "../../src/settle/text.js";
