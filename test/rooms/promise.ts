/** What tests take from `src/promise`: a file that moves inside it is followed here, and in no test. */
export { withCallSite } from "../../src/promise/facade.js";
export { heldError } from "../../src/promise/nonces.js";
