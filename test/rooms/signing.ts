/** What tests take from `src/signing`: a file that moves inside it is followed here, and in no test. */
export { isSigning, operationIn, signingIn, typedDataIn } from "../../src/signing/index.js";
