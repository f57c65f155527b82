/** Chains, their rules and base fees: the door of this room. */
export type { Chain } from "./rules.js";
export { nextBaseFee, parametersOf } from "./baseFee.js";
export { eip7825Cap, forkOf } from "./rules.js";
