/** What tests take from `src/signing`: a file that moves inside it is followed here, and in no test. */
export {
  executedIn,
  isSigning,
  operationIn,
  safeIn,
  signingIn,
  typedDataIn,
  typedOf,
} from "../../src/signing/index.js";
