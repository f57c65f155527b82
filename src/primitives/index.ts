/** The parts that every room is built of: the door of this room. */
export { concat, keccak256, numberToHex } from "./bytes.js";
export { copyOf, dataOf } from "./copy.js";
export { type Difference, type Fact, logFacts, nothing, paired, type FactOf, subjectText } from "./difference.js";
export { lazyImport, onAbort } from "./effects.js";
export { plainJson, withJson } from "./json.js";
export { type Address, Hash, Hex, isAddress, isHash, isHex, isQuantity } from "./hex.js";
export { type builtInSteps, forksIn } from "./names.js";
export { addressProblem, type Checked, each, no, notWhole, onlyHas, type Problem, reportProblem } from "./problem.js";
export { pageOf, statementText } from "./statement.js";
export { errorTypeOf, Listener } from "./telemetry.js";
export { escapeText } from "./text.js";
export { type Currency, formatGas, formatGasPrice, formatWei } from "./units.js";
export { isPlain, isRecord, safely } from "./record.js";
