/** The methods of the node, and what reads its answers: the door of this room. */
export * from "./methods.js";
export { Receipt } from "./block.js";
export { chainsInUse } from "./chains.js";
export { nonceTakerOf } from "./nonceTaker.js";
export { sent } from "./round.js";
export { isOfSend, readTransaction, receiptOfSend, sendForReceipt } from "./transactions.js";
export { decoder, nullOr } from "./shape.js";
