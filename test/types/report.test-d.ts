import { expectTypeOf, test } from "vitest";
import * as Report from "../../src/Report.js";
import type { RpcError, Verdict } from "../rooms/errors.js";

/** Only what users' own steps find fits. */
const kindOfOwn = (code: `${string}/${string}`): "own" | "note" => (code.includes("/") ? "own" : "note");

/** Every code, written out as an application would: a new one breaks this test until it is named here. */
const kindOf = (code: Report.FindingCode): "verdict" | "reason" | "note" | "own" => {
  switch (code) {
    case "ExecutionReverted":
    case "VmHalt":
    case "OutOfGas":
    case "InsufficientFunds":
    case "NonceTooLow":
    case "NonceTooHigh":
    case "NonceOverflow":
    case "ReplacementRefused":
    case "FeeCapTooLow":
    case "TipAboveFeeCap":
    case "IntrinsicGasTooLow":
    case "GasAllowanceExceeded":
    case "BlockGasLimitExceeded":
    case "TxGasLimitTooHigh":
    case "GasUintOverflow":
    case "SenderNotEoa":
    case "InitCodeTooLarge":
    case "NoCode":
    case "UnknownDelegateCall":
    case "ChainIdMismatch":
    case "PolicyViolation":
    case "SimulationDiverged":
    case "OutcomeChanged":
    case "WitnessesDisagree":
    case "NotProven":
      return "verdict";
    case "Unauthorized":
    case "MethodNotPermitted":
    case "MethodNotSupported":
    case "RateLimited":
    case "LogRangeTooLarge":
    case "UpstreamUnavailable":
    case "PendingUnavailable":
    case "HistoryPruned":
    case "NodeSyncing":
    case "Timeout":
    case "AdmissionTimeout":
    case "SimBlockOrder":
    case "NodeLimitExceeded":
    case "NodeGasCapExceeded":
    case "OverrideIgnored":
    case "DeploymentNotSimulated":
    case "StateUnavailable":
    case "BlockNotFound":
    case "InvalidParams":
    case "MalformedResponse":
    case "Transport":
    case "InternalError":
      return "reason";
    case "BlockNotNewest":
    case "ChainIdDisagrees":
    case "ClockSkew":
    case "FreshnessUnknown":
    case "HeadOld":
    case "NodeNamedByPage":
    case "PendingStale":
    case "StatePretended":
    case "AccountDelegated":
    case "AccountUnknown":
    case "DelegateWithoutCode":
    case "SenderWithoutKey":
    case "DelegationCleared":
    case "DelegationIneffective":
    case "DelegationSet":
    case "ValueToPrecompile":
    case "BlockNotPretended":
    case "CallsNotSeen":
    case "NativeMovesUnseen":
    case "NotValidated":
    case "OutcomeUnknown":
    case "InnerCallFailed":
    case "ReturnedFalse":
    case "RevertedInside":
    case "WitnessUnavailable":
    case "GasBelowEstimate":
    case "GasBufferCut":
    case "GasDependent":
    case "GasHeadroomThin":
    case "GasLimitWidened":
    case "GasUnknown":
    case "GasWitnessesDisagree":
    case "CountsDisagree":
    case "NonceAssumed":
    case "NonceUnderReservation":
    case "AuthorizationInFlight":
    case "NonceUnknown":
    case "PredecessorsNotSimulated":
    case "ReplacesPending":
    case "TooManyInFlight":
    case "BaseFeeDisagrees":
    case "BaseFeeUnknown":
    case "FeeHorizonShort":
    case "TipCapped":
    case "FindingsCut":
    case "PartiesCut":
    case "TokensStranded":
    case "TransferMismatch":
    case "ApprovalGranted":
    case "ApprovalLeftOver":
    case "ApprovalUnlimited":
    case "CalldataCut":
    case "ContractControlChanged":
    case "ContractsLeftOut":
    case "DelegateCall":
    case "DelegateCallUnread":
    case "EventUnexplained":
    case "OwnershipChanged":
    case "PaidToOther":
    case "ProxiesNotSeen":
    case "RightUnexplained":
    case "RoleChanged":
    case "FundsUnknown":
    case "AlreadySent":
    case "IncomeNotMined":
    case "NodeMayRefuse":
    case "OneInFlight":
    case "OrderNotHeld":
    case "QueuedCostUnknown":
    case "L1FeeDisagrees":
    case "L1FeeUnknown":
    case "TokenShortfall":
    case "ReadOnlyCall":
    case "ValueBurned":
    case "PolicyLost":
    case "StepUnavailable":
    case "PolicyUnknown":
    case "BaseNotComparable":
    case "DifficultyNotVaried":
    case "FirstSeenInProof":
    case "OptionsRefused":
    case "OutcomeNotCompared":
    case "ChanceDependent":
    case "BehindInFlight":
    case "BundleInOneBlock":
    case "ForkAhead":
    case "RulesUncertain":
    case "SealedStateUnseen":
    case "DependsOnPending":
    case "BlocksNotSimulated":
    case "ClosesAt":
    case "FollowsTime":
    case "NotYet":
    case "PendingMoved":
    case "PriceDependent":
    case "AtomicNotProven":
    case "BatchCallFails":
    case "PaymasterNotSimulated":
    case "ChainUnbound":
    case "RequestIncomplete":
    case "FeeCapShort":
    case "TipLow":
    case "QueuedCostTooHigh":
    case "ScanAgain":
    case "QuorumMissing":
    case "LeftOut":
    case "BalanceUnconfirmed":
    case "TokenChanges":
    case "TokenLies":
    case "AskedInVain":
    case "AuthorizationUnsigned":
    case "CalledNobody":
    case "GasBurnt":
    case "LookalikeAddress":
    case "DescriptorDisagrees":
    case "DescriptorUnread":
    case "TokenNotPretended":
    case "GasLimitLowered":
    case "SignatureUnknown":
    case "HashBlind":
    case "SignatureNotAssumed":
    case "DomainDisagrees":
    case "SignatureUnbound":
    case "SignatureUsed":
    case "SignatureNotYet":
    case "SignatureExpired":
    case "SignatureLongLived":
    case "SignatureNeverExpires":
    case "SignerIsNotOwner":
    case "SafeHashDisagrees":
    case "SafeNonceQueued":
    case "SafeGuardRefuses":
    case "SafeExecutionFails":
    case "SafeGasTooLow":
    case "SafePaysExecutor":
    case "SafeControlChanges":
    case "DelegateOpen":
    case "WitnessUnread":
    case "OrderUnderpaid":
    case "SignInDisagrees":
    case "OperationFails":
    case "OperationPrefund":
    case "BundlerRulesUnseen":
    case "BundlerRuleBroken":
      return "note";
    default:
      return kindOfOwn(code);
  }
};

test("a switch over the codes of findings is exhaustive", () => {
  expectTypeOf(kindOf).parameter(0).toEqualTypeOf<Report.Finding["code"]>();
  expectTypeOf<string>().not.toExtend<Report.FindingCode>();
  expectTypeOf<"ValueBurned">().toExtend<Report.FindingCode>();
  expectTypeOf<"ValueBurnd">().not.toExtend<Report.FindingCode>();
  // @ts-expect-error no finding has this code
  expectTypeOf(({ code }: Report.Finding) => code === "ValueBurnd").returns.toBeBoolean();
});

test("a finding is a statement, with the error behind it", () => {
  expectTypeOf<Report.Finding["error"]>().toEqualTypeOf<Verdict | RpcError | null>();
  expectTypeOf<Report.Finding>().toExtend<Report.Statement>();
  expectTypeOf<typeof Report.Report.Type>().toExtend<Report.Report>();
});
