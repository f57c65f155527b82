/** What tests take from `src/transaction`: a file that moves inside it is followed here, and in no test. */
export type { Authorization, Transaction } from "../../src/transaction/fields.js";
export {
  bareCall,
  buildRequest,
  exactCall,
  filledOf,
  isRequestOf,
  signingHash,
  type Request,
} from "../../src/transaction/request.js";
export { authenticate, type ShownTransaction } from "../../src/transaction/authenticate.js";
export { recoverAuthorities } from "../../src/transaction/authorities.js";
export { authorityOf, readSigned, recoverSigner } from "../../src/transaction/signer.js";
export { validate } from "../../src/transaction/validate.js";
