/** The service that asks a node, and what a run is: the door of this room. Its layers are made in `Rpc.ts`. */
export { malformed } from "./judging.js";
export { redactUrls } from "./redact.js";
export { type EndpointFacts, KnownEndpoint, knownEndpointFormat, type Memory, memoryOf } from "./memory.js";
export { CurrentRun, type HeadSighting, type LedgerEntry, Rpc, type RunContext, type Testimony } from "./service.js";
