/** The witness: its queries and answers: the door of this room. */
export { decodeAnswers } from "./answers.js";
export { witnessBytecode } from "./bytecode.js";
export { balanceOf, decodeQueries, type Query } from "./queries.js";
