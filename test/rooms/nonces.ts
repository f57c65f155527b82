/** What tests take from `src/nonces`: a file that moves inside it is followed here, and in no test. */
export { violations } from "../../src/nonces/check.js";
export { besideLane, laneOf, type Lane } from "../../src/nonces/lane.js";
export {
  begin,
  foreign,
  freeSlot,
  maxSettled,
  pruneStep,
  type Decision,
  type Keep,
  type Slot,
  type View,
} from "../../src/nonces/laneRules.js";
export { makeMemory, memoryOfProcess } from "../../src/nonces/memory.js";
export * as Operations from "../../src/nonces/operations.js";
export { adopt, commit, reconcile, replace, report, reserve } from "../../src/nonces/operations.js";
export { writeLane } from "../../src/nonces/postgres/sql.js";
export { makePostgres } from "../../src/nonces/postgres/store.js";
export { anchorIn, contradiction, markOf, nextAnchor } from "../../src/nonces/protocol/identity.js";
export { forgetfulBy } from "../../src/nonces/redis/durability.js";
export type { Change, LaneBackend } from "../../src/nonces/remembered.js";
export { defaults, Settings } from "../../src/nonces/service.js";
export type { Snapshot } from "../../src/nonces/store.js";
export { makeTogether } from "../../src/nonces/together.js";
