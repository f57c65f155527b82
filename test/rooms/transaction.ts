/** What tests take from `src/transaction`: a file that moves inside it is followed here, and in no test. */
export {
  Authorization as AuthorizationSchema,
  type Authorization,
  type Transaction,
} from "../../src/transaction/fields.js";
export {
  bareCall,
  buildRequest,
  exactCall,
  filledOf,
  isRequestOf,
  Request as RequestSchema,
  signingHash,
  unsignedBytes,
  type Request,
} from "../../src/transaction/request.js";
export { authenticate, type ShownTransaction } from "../../src/transaction/authenticate.js";
export { itemOf as fieldItem } from "../../src/transaction/envelope.js";
export { recoverAuthorities } from "../../src/transaction/authorities.js";
export {
  addressOfKey,
  authorityOf,
  readSigned,
  recoverSigner,
  signAuthorization,
  withoutBlobs,
} from "../../src/transaction/signer.js";
export { validate } from "../../src/transaction/validate.js";
