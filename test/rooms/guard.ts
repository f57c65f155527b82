/** What tests take of a transaction that is shown: a file that moves is followed here, and in no test. */
export { readTransaction } from "../../src/eth/index.js";
export { signedBy } from "../../src/settle/mined.js";
