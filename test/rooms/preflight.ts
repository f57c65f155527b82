/** What tests take from `src/preflight`: a file that moves inside it is followed here, and in no test. */
export { answersOf, checkOutcomes, outcomeOf, type Answers, type Round } from "../../src/preflight/answers.js";
export type { Proof } from "../../src/preflight/askProof.js";
export { innermost } from "../../src/preflight/beside/trace.js";
export { tracedInner } from "../../src/preflight/beside/traceInner.js";
export {
  assignNonces,
  choose,
  keep,
  signedOf,
  withLimits,
  type Limits as GasLimits,
} from "../../src/preflight/choose.js";
export { askForks, knownOf } from "../../src/preflight/endpoint/known.js";
export { adapt, checkTaken, learn, leftOutOf, simulate } from "../../src/preflight/endpoint/taken.js";
export { isInDoubt, undoubted } from "../../src/preflight/gas/doubt.js";
export { settleGas } from "../../src/preflight/gas/limit.js";
export { afterwards, counted, inBranch, inRound, withRun } from "../../src/preflight/ledger.js";
export {
  measureOf,
  measureOfReport,
  measureQueries,
  wantedBy,
  type Limits,
  type Measure,
} from "../../src/preflight/limits.js";
export * as Prepare from "../../src/preflight/prepare.js";
export type { Options } from "../../src/preflight/prepare.js";
export { proofRules } from "../../src/preflight/proof.js";
export { placed, type About, type Attempt, type Standing } from "../../src/preflight/proofGround.js";
export { gasPlan, type Claim } from "../../src/preflight/proofPlans.js";
export { everyLook, everyStep, type Subject } from "../../src/preflight/steps.js";
export { reportOf } from "../../src/preflight/report.js";
export { rounds, rule, type Rule } from "../../src/preflight/rounds.js";
export { scanRules } from "../../src/preflight/scan.js";
export { alonePlan, barePlan } from "../../src/preflight/scanPlans.js";
export type { Scanning } from "../../src/preflight/scanRound.js";
export { isBounded } from "../../src/preflight/worlds/bounded.js";
export {
  checkChange,
  checkContrast,
  checkNewcomers,
  isClose,
  isSamePlace,
  same,
  type Cause,
  type Contrast,
} from "../../src/preflight/worlds/compare.js";
export { contraryTime, isParted as isSplit, worldsOf } from "../../src/preflight/worlds/contexts.js";
export { isParted, type Ground } from "../../src/preflight/worlds/ground.js";
export { effectsOf, movementsOf, type RunEffects } from "../../src/preflight/worlds/movements.js";
export { worseOf } from "../../src/preflight/worlds/worse.js";
