/** What tests take from `src/guard`: a file that moves inside it is followed here, and in no test. */
export { beneficiariesOf } from "../../src/guard/proven.js";
