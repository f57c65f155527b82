/** The pipeline: the door of this room, for what calls it. */
export { maxSendableWith } from "./extras/maxSendable.js";
export { checkCode, estimateGas, quoteFee, resolveNonce, simulate } from "./extras/single.js";
export { layerTokenCache, TokenCache } from "../steps/reading/tokens.js";
export { assignNonces, inputsOf } from "./choose.js";
export { admitted, afterwards, inBranch, inRound, ledgerSoFar, withRun } from "./rounds.js";
export { MeasureLimits } from "./limits.js";
export { simulate as askRun } from "./endpoint/simulate.js";
export { checkConnection } from "./observe.js";
export { madeOf, OwnSteps, type OwnStep } from "./own.js";
export { prepare, revise, type Options } from "./prepare.js";
export {
  sourcesOf,
  type DescribedCall,
  type DescriptorRenderer,
  type NameContext,
  type NameSources,
  type SourceAnswer,
  type SourceOptions,
} from "./sources.js";
export { ready } from "./steps.js";
export { proveChosen } from "./prove.js";
export { unprovable } from "./report.js";
export { merged, parted } from "./signings.js";
export { proveScanned, runOn, scanOnce, withLast } from "./twoRounds.js";
