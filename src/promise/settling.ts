/** Comparing a report with what was mined; loaded when somebody first asks for it. */
export { settle } from "../Preflight.js";
