/** What tests take from `src/abi`: a file that moves inside it is followed here, and in no test. */
export { indexAbis, signatureOf } from "../../src/abi/abiIndex.js";
export { coerce, coerceAll, type Reading } from "../../src/abi/coerce.js";
export { isDecodable } from "../../src/abi/decodable.js";
export { decodeCall, describeRawCall } from "../../src/abi/decodeCall.js";
export { DecodedLog, DecodedResult } from "../../src/abi/decoded.js";
export { decodeLog, decodeResult } from "../../src/abi/decodeLogs.js";
export { decodeRevert, type AbiSources } from "../../src/abi/decodeRevert.js";
export { describeLog } from "../../src/abi/describeLog.js";
export { innerCalls, innerLines, type InnerCall } from "../../src/abi/innerCalls.js";
export { readers } from "../../src/abi/innerForms.js";
export { describeCall, describeCalldata, describeResult, describeValue } from "../../src/abi/print.js";
export { Revert, RevertAmbiguous, RevertCustom, RevertLayer } from "../../src/abi/revert.js";
export { looksLikeRevert } from "../../src/abi/revertBytes.js";
export { describeLayer, describeRevert } from "../../src/abi/revertText.js";
export { builtin, packages } from "../../src/abi/table.js";
export { shortReasons } from "../../src/abi/table/reasons.js";
export { arrayOf, elementOf, isDynamic } from "../../src/abi/type.js";
export { wellKnown } from "../../src/abi/wellKnown.js";
