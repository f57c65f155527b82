/** What tests take from `src/transaction`: a file that moves inside it is followed here, and in no test. */
export { bareCall, exactCall } from "../../src/transaction/request.js";
export { buildRequest, filledOf, isRequestOf, signingHash, type Request } from "../../src/transaction/request.js";
export type { Authorization, Transaction } from "../../src/transaction/fields.js";
export { readSigned } from "../../src/transaction/signer.js";
export { authorityOf, recoverSigner } from "../../src/transaction/signer.js";
export { validate } from "../../src/transaction/validate.js";
