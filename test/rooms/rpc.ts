/** What tests take from `src/rpc`: a file that moves inside it is followed here, and in no test. */
export { providerOf } from "../../src/rpc/connection.js";
export { endpointOf, redactJson, redactUrls } from "../../src/rpc/endpoint.js";
export * as Foreign from "../../src/rpc/foreign.js";
export { cutter } from "../../src/rpc/frames.js";
export { gate, type GateOptions } from "../../src/rpc/gate.js";
export { judging } from "../../src/rpc/judging.js";
export { KnownEndpoint } from "../../src/rpc/knownEndpoint.js";
export { receiver, roomFor, sharedRoom, type Posted } from "../../src/rpc/post.js";
export { byMiddle, earliestFork, reachedBy, sharedBy, textOf, type Vote } from "../../src/rpc/quorum/middle.js";
export { differenceOf, isDoubtOnly, partsOf } from "../../src/rpc/quorum/normal.js";
export { choseOtherwise, inBlocksOf, movedTo, stateOf } from "../../src/rpc/quorum/question.js";
export { canFollow, compareAdvice, compareAnswers, compareBlocks, type Answer } from "../../src/rpc/quorum/verdict.js";
export { patience, pause } from "../../src/rpc/retry.js";
export * as Socket from "../../src/rpc/socket.js";
export { subscription } from "../../src/rpc/subscription.js";
export type { Subscribing } from "../../src/rpc/viemSocket.js";
