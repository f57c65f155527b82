/** What tests take from `src/watch`: a file that moves inside it is followed here, and in no test. */
export { essentialDiff, lostBy } from "../../src/watch/watch.js";
