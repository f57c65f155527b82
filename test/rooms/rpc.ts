/** What tests take from `src/rpc`: a file that moves inside it is followed here, and in no test. */
export { endpointOf, providerOf, redactJson } from "../../src/rpc/endpoint.js";
export { redactUrls } from "../../src/rpc/redact.js";
export * as Foreign from "../../src/rpc/foreign.js";
export { cutter } from "../../src/rpc/cutter.js";
export type { Patience } from "../../src/rpc/connection.js";
export { judging } from "../../src/rpc/judging.js";
export { KnownEndpoint } from "../../src/rpc/memory.js";
export { receiver, roomFor, sharedRoom, type Posted } from "../../src/rpc/post.js";
export { earliestFork, isSaidByEnough, reachedBy, type Member, type Vote } from "../../src/rpc/quorum/members.js";
export { differenceOf, isDoubtOnly, partsOf } from "../../src/rpc/quorum/normal.js";
export {
  canFollow,
  choseOtherwise,
  compareAdvice,
  compareAnswers,
  compareBlocks,
  inBlocksOf,
  movedTo,
  stateOf,
  type MemberAnswer,
} from "../../src/rpc/quorum/verdict.js";
export { gate, patience, pause } from "../../src/rpc/requests.js";
export * as Socket from "../../src/rpc/socket.js";
export { subscription, type Subscribing } from "../../src/rpc/subscription.js";
export { CurrentRun, memoryOf, type HeadSighting, type RunContext } from "../../src/rpc/index.js";
