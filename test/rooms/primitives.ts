/** What tests take from `src/primitives`: a file that moves inside it is followed here, and in no test. */
export { dataOf } from "../../src/primitives/copy.js";
export { differenceText, nothing, type OutcomeDifference } from "../../src/primitives/difference.js";
export { lazyOr, RandomWords, turn } from "../../src/primitives/effects.js";
export {
  forksIn,
  unknownForks,
  optionNames,
  stepNames,
  type AskRule,
  type BlockRead,
  type Fork,
  type SimulationPart,
} from "../../src/primitives/names.js";
export * as Branded from "../../src/primitives/hex.js";
export { Address, Hash, Hex } from "../../src/primitives/hex.js";
export { nearest } from "../../src/primitives/problem.js";
export { memoizeList, remembered } from "../../src/primitives/record.js";
export * as Statement from "../../src/primitives/statement.js";
export { address, count, hash, numbersText, quote, text, units, type Figure } from "../../src/primitives/statement.js";
export { Listener } from "../../src/primitives/telemetry.js";
export * as Bytes from "../../src/primitives/bytes.js";
export { isChecksummed } from "../../src/primitives/bytes.js";
export { checksummed, escapeText } from "../../src/primitives/text.js";
export { formatUnits, roundUnits } from "../../src/primitives/units.js";
