/** The input: the door of this room. */
export { authenticate } from "./authenticate.js";
export { fields, maxTransactions, type Transaction, type Unit } from "./fields.js";
export { demandedIn, fieldsOfRequest, isDemandedAtomic, isOneByFields, isOtherForm, shownBy } from "./forms.js";
export { exactCall, type Filled, type Request, requestOf, hasUnsigned, signingHash } from "./request.js";
export { authorityOf, readSigned, recoverSigner, withoutBlobs } from "./signer.js";
export { fieldHint, fieldNames } from "./validate.js";
