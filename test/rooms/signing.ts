/** What tests take from `src/signing`: a file that moves inside it is followed here, and in no test. */
export {
  executedIn,
  isSigning,
  operationIn,
  operationOfTyped,
  safeIn,
  signingIn,
  typedDataIn,
  typedOf,
} from "../../src/signing/index.js";
