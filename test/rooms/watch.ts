/** What tests take from `src/watch`: a file that moves inside it is followed here, and in no test. */
export { byHeader, essentialDiff, isForAnother } from "../../src/watch/judge.js";
export {
  isUntouched,
  keysOf,
  requestsFor,
  unionOf,
  type Reading,
  type ReadValue,
  type Touched,
} from "../../src/watch/reading.js";
export { sweep } from "../../src/watch/sweep.js";
