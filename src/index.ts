/** evm-preflight: what will happen if this transaction is sent now, and exactly what should be signed. */
export * as Chains from "./Chains.js";
export * as Errors from "./Errors.js";
export * as Eth from "./Eth.js";
export * as NonceStore from "./NonceStore.js";
export * as Nonces from "./Nonces.js";
export * as Policy from "./Policy.js";
export * as Preflight from "./Preflight.js";
export * as Report from "./Report.js";
export * as Rpc from "./Rpc.js";
export * as Step from "./Step.js";
export * as Transaction from "./Transaction.js";
