/** What tests take from `src/abi`: a file that moves inside it is followed here, and in no test. */
export { indexAbis, signatureOf, topicOf, type AbiSources } from "../../src/abi/abiIndex.js";
export { callsIn, callsWithin } from "../../src/abi/batches.js";
export { families, forms as batchForms } from "../../src/abi/known/batches.js";
export { grants, handovers } from "../../src/abi/known/rights.js";
export { coerce, coerceAll, encodeFunction, type Walk } from "../../src/abi/encode.js";
export { isDecodable, arrayOf, elementOf, isDynamic } from "../../src/abi/layout.js";
export { callIn, callText, decodeCall, describeRawCall, innerLines } from "../../src/abi/calls.js";
export { declared, functionsOf, wellKnown } from "../../src/abi/decodeCall.js";
export { DecodedLog, DecodedResult, decodeLog, decodeResult } from "../../src/abi/decodeLogs.js";
export { decodeRevert, builtin, packages } from "../../src/abi/table.js";
export {
  describeLog,
  describeCall,
  describeResult,
  describeValue,
  describeLayer,
  describeRevert,
} from "../../src/abi/print.js";
export { innerCalls, type InnerCall } from "../../src/abi/innerCalls.js";
export { Revert, RevertAmbiguous, RevertCustom, RevertLayer, looksLikeRevert } from "../../src/abi/revert.js";
export { shortReasons } from "../../src/abi/table/reasons.js";
export { knownCalls } from "../../src/abi/known/calls.js";
export { knownEvents } from "../../src/abi/known/events.js";
export { nobody } from "../../src/abi/words.js";
