/** What tests take from `src/pipeline`: a file that moves inside it is followed here, and in no test. */
export {
  answersOf,
  checkOutcomes,
  figuresOf,
  outcomeOf,
  type RunAnswers,
  type Answers,
  type Round,
} from "../../src/pipeline/answers.js";
export { delegateFor, formSeen, sentFor, type Facts } from "../../src/pipeline/batches.js";
export { heldOf } from "../../src/pipeline/askProof.js";
export { innermost, tracedInner } from "../../src/pipeline/extras/trace.js";
export {
  assignNonces,
  choose,
  keep,
  signedOf,
  withLimits,
  type Limits as GasLimits,
} from "../../src/pipeline/choose.js";
export { askForks, endpointFactsOf } from "../../src/pipeline/endpoint/known.js";
export { adapt, checkUnsupported, learn, leftOutOf, simulate } from "../../src/pipeline/endpoint/simulate.js";
export { isInDoubt, undoubted } from "../../src/pipeline/gas/doubt.js";
export { judgeSmaller, type Seen } from "../../src/pipeline/smaller.js";
export { between, firstThatHolds, settleGas, settleLimit, type Tried } from "../../src/pipeline/gas/limit.js";
export {
  afterwards,
  counted,
  inBranch,
  inRound,
  ledgerSoFar,
  withRoomFor,
  withRun,
} from "../../src/pipeline/rounds.js";
export { measureOf, measureOfReport, measureQueries, wantedBy, type Measure } from "../../src/pipeline/limits.js";
export * as Prepare from "../../src/pipeline/prepare.js";
export type { Options } from "../../src/pipeline/prepare.js";
export { attemptOf } from "../../src/pipeline/attempt.js";
export { proofRules } from "../../src/pipeline/proof.js";
export { everyDoubt, isParted, minedBehind, type Ground } from "../../src/pipeline/proofGround.js";
export { assumedIn, type Proof, type ProofState } from "../../src/pipeline/proofState.js";
export { gasPlan, type Unplaced, type Claim } from "../../src/pipeline/proofPlans.js";
export { everyLook, everyStep, type Subject } from "../../src/pipeline/steps.js";
export { draftOf } from "../../src/pipeline/report.js";
export { rounds, rule, type Rule } from "../../src/pipeline/rounds.js";
export { scanRules } from "../../src/pipeline/scan.js";
export { readerOnlyPlan, freePlan } from "../../src/pipeline/scanPlans.js";
export { askPlan, type Scanning } from "../../src/pipeline/scanRound.js";
export { isBounded } from "../../src/pipeline/worlds/movements.js";
export {
  checkChange,
  checkContrast,
  checkNewcomers,
  isClose,
  isSamePlace,
  same,
  type WorldDiff,
} from "../../src/pipeline/worlds/compare.js";
export {
  blocksOf,
  closeSpacing,
  contraryTime,
  emptyBlocks,
  gapOf,
  gridOf,
  isParted as isSplit,
  offsetOf,
  reachOf,
  spanOf,
  stepsBetween,
  untilOf,
  wideSpacing,
} from "../../src/pipeline/worlds/bracket.js";
export { differ } from "../../src/pipeline/worlds/between.js";
export { gasRows, groundOf, worldsOf, worldsOn, type World } from "../../src/pipeline/worlds/contexts.js";
export { contraryBlock, ordinaryBlock } from "../../src/pipeline/worlds/values.js";
export { effectsOf, movementsOf, type RunEffects } from "../../src/pipeline/worlds/movements.js";
export { causeOf, comparisonOf, effectsReader } from "../../src/pipeline/worlds/contrast.js";
export { worseOf } from "../../src/pipeline/worlds/movements.js";
export { isListOf, namedIn, readNames } from "../../src/pipeline/accessLists.js";
export { assumed } from "../../src/pipeline/unsigned.js";
export { rulesBroken, type Ruled } from "../../src/pipeline/bundlerRules.js";
