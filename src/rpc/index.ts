/** The service that asks a node, and what a run is: the door of this room. Its layers are made in `Rpc.ts`. */
export { CurrentRun, Rpc } from "./service.js";
export type { LedgerEntry, Run, HeadSighting, Subscribe, Subscription, Testimony } from "./service.js";
export type { Facts, Memory, Refusable } from "./memory.js";
