/** What tests take from `src/cli`: a file that moves inside it is followed here, and in no test. */
export { explain } from "../../src/cli/decode.js";
export { conclude } from "../../src/cli/doctor/doctor.js";
export type { ProbeResult } from "../../src/cli/doctor/probe.js";
export { codeOf } from "../../src/cli/exit.js";
export { deadlineText, nothingAnswered, readOwnConnection, withProgress } from "../../src/cli/endpoint.js";
export { joined, textsOf, toolsOf } from "../../src/cli/mcp/tools.js";
export { main, normalize } from "../../src/cli/main.js";
export { abiOf, abiOfText, callOf, inputOf, inputOfText, isSignature } from "../../src/cli/input.js";
export { amount, block, count, duration, integer, wei } from "../../src/cli/quantity.js";
