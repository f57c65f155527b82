/** What tests take from `src/steps`: a file that moves inside it is followed here, and in no test. */
export * as Approvals from "../../src/steps/approvals.js";
export * as Assets from "../../src/steps/assets.js";
export { depositsIn, transfers } from "../../src/steps/assets.js";
export * as Code from "../../src/steps/code.js";
export * as Estimate from "../../src/steps/estimate.js";
export * as Fee from "../../src/steps/fee.js";
export { checkSources } from "../../src/steps/fee.js";
export * as Funds from "../../src/steps/funds.js";
export * as Nonce from "../../src/steps/nonce.js";
export type { Facts } from "../../src/steps/reading/answers.js";
export {
  bundleOf,
  signers,
  type Bundle,
  type Case,
  type Filled,
  type Reading,
} from "../../src/steps/reading/bundle.js";
export { ByBalance, type Balance } from "../../src/steps/reading/holdings.js";
export { compareEffects, isAmount, isSameShape, type Effects, type Terms } from "../../src/steps/reading/compare.js";
export { checkControl, controlAccounts } from "../../src/steps/reading/control.js";
export { checkDelegateCalls } from "../../src/steps/reading/delegateCalls.js";
export { checkDelegations, delegationAccounts } from "../../src/steps/reading/control.js";
export type { AskResult } from "../../src/steps/reading/askResult.js";
export {
  addressesIn,
  holding,
  queries as holdingQueries,
  holdings,
  suspects as holdingSuspects,
  union as holdingUnion,
  type Holding,
} from "../../src/steps/reading/holdings.js";
export * as NobodyCalled from "../../src/steps/reading/nobodyCalled.js";
export { isGranted, mayTell } from "../../src/steps/reading/inner.js";
export { withIntrinsic } from "../../src/steps/estimate.js";
export { innerOf, readInner, withLost, type SucceededCall } from "../../src/steps/reading/innerFailures.js";
export { likelyCause } from "../../src/steps/reading/likelyCause.js";
export * as L1Fee from "../../src/steps/reading/l1Fee.js";
export { burns, readCall, unknownOutcome } from "../../src/steps/reading/outcome.js";
export { concernedIn, doubtfulIn, livesIn } from "../../src/steps/reading/addressPositions.js";
export { checkLookalikes } from "../../src/steps/reading/lookalikes.js";
export { checkPool } from "../../src/steps/reading/pool.js";
export { barOf, isOtherKind, isUnderpriced, queuedCost, raised } from "../../src/steps/reading/pool.js";
export { accountsIn, blockReads, instructionsIn } from "../../src/steps/reading/blockReads.js";
export { callees, chosenOf, lensOf, suspects as proxySuspects } from "../../src/steps/reading/proxies.js";
export { checkChanges } from "../../src/steps/reading/stateChanges.js";
export { type ContractsSeen } from "../../src/steps/reading/stateWords.js";
export { quoteOf, type FeeContext, type FeeFacts, type Quote } from "../../src/steps/reading/quote.js";
export { queries as rightQueries } from "../../src/steps/reading/rightLevel.js";
export { newIn, rights, union as rightUnion } from "../../src/steps/reading/rights.js";
export { reasonOf } from "../../src/steps/reading/rounding.js";
export { knownCode } from "../../src/steps/reading/safeCode.js";
export { isSame, within, type Result } from "../../src/steps/reading/sameOutcome.js";
export { checkStranded } from "../../src/steps/reading/tokenShortfall.js";
export { read, standards, tokens } from "../../src/steps/reading/tokens.js";
export * as TokenShortfall from "../../src/steps/reading/tokenShortfall.js";
export { checkPayouts } from "../../src/steps/approvals.js";
export { checkUnexplained } from "../../src/steps/reading/unexplained.js";
export * as Simulate from "../../src/steps/simulate.js";
export type { Plan, Run } from "../../src/steps/simulate.js";
export { exposed, read as readExposure } from "../../src/steps/reading/exposure.js";
export * as FalseAnswers from "../../src/steps/reading/falseAnswers.js";
export { cutIn, gasCapIn, grantedOf, isLarge, type Metered } from "../../src/steps/reading/granted.js";
export { answersIn, layoutOf } from "../../src/steps/reading/layout.js";
