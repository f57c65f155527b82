/** How bad a finding with each code is, by what makes it: the severity, and where it has another. */
import type { FindingCode, OwnName } from "../src/report/finding.js";
import type { Reason } from "../src/errors/rpc.js";

type Severity = "info" | "warning" | "blocker" | "unavailable";
/** Always the same, or the usual one and in which case another. */
type Severities = Severity | readonly [usual: Severity, ...others: ReadonlyArray<readonly [Severity, where: string]>];

const alone: Severities = [
  "blocker",
  ["warning", "where only the node's estimate says so"],
  ["unavailable", "where only the second simulation of the proof does"],
];

const others: Readonly<Record<Exclude<FindingCode, OwnName | Reason["_tag"]>, Severities>> = {
  BlockNotNewest: "warning",
  ChainIdDisagrees: "unavailable",
  ClockSkew: ["info", ["warning", "where the head is ahead of every clock and does not advance"]],
  ForkAhead: "warning",
  FreshnessUnknown: "info",
  HeadOld: "warning",
  PendingStale: "unavailable",
  RulesUncertain: ["info", ["warning", "where the transaction may use what differs between the forks"]],
  StatePretended: "warning",
  AccountDelegated: "info",
  AccountUnknown: "unavailable",
  DelegateWithoutCode: "warning",
  ValueBurned: "warning",
  ValueToPrecompile: "warning",
  AlreadySent: "warning",
  BlockNotPretended: "unavailable",
  InnerCallFailed: [
    "warning",
    ["info", "where a policy allows the call to fail, or a permit fails that was used before"],
  ],
  NativeMovesUnseen: ["warning", ["info", "where nothing but plain transfers is sent"]],
  NotValidated: "warning",
  OutcomeUnknown: "unavailable",
  ReadOnlyCall: "info",
  RevertedInside: "info",
  WitnessUnavailable: "warning",
  GasBelowEstimate: "warning",
  GasBufferCut: "info",
  GasDependent: "warning",
  GasHeadroomThin: "warning",
  GasLimitWidened: "info",
  GasUnknown: "unavailable",
  GasWitnessesDisagree: "info",
  ScanAgain: "unavailable",
  CountsDisagree: "warning",
  BehindInFlight: "info",
  NonceAssumed: "warning",
  NonceUnderReservation: "warning",
  NonceUnknown: "unavailable",
  OneInFlight: "warning",
  OrderNotHeld: "warning",
  PredecessorsNotSimulated: "warning",
  ReplacesPending: "info",
  TooManyInFlight: "unavailable",
  BaseFeeDisagrees: "info",
  BaseFeeUnknown: "unavailable",
  FeeCapShort: "info",
  FeeHorizonShort: "warning",
  NodeMayRefuse: ["warning", ["info", "where the limit is only assumed"]],
  TipLow: "info",
  TipCapped: "warning",
  FindingsCut: "warning",
  BalanceUnconfirmed: "unavailable",
  PartiesCut: "warning",
  TokenChanges: "warning",
  TokenLies: "unavailable",
  TokensStranded: "warning",
  TransferMismatch: ["warning", ["info", "where something bounded explains it, such as the rounding of shares"]],
  ApprovalGranted: ["info", ["warning", "where the spender is no contract that was there before"]],
  ApprovalLeftOver: "warning",
  ApprovalUnlimited: "warning",
  CalldataCut: ["warning", ["unavailable", "where calls were not looked at"]],
  ContractControlChanged: [
    "warning",
    ["info", "where the contract is new"],
    ["blocker", "where a contract of the sender's own changes hands to somebody whom nobody named"],
  ],
  DelegateCall: ["warning", ["info", "where the option `delegateTargets` names the code"]],
  DelegateCallUnread: "unavailable",
  DelegationCleared: "info",
  DelegationIneffective: ["info", ["warning", "where it is for this chain and still had no effect"]],
  DelegationSet: "warning",
  EventUnexplained: "info",
  PaidToOther: "warning",
  ContractsLeftOut: ["warning", ["info", "where those left out are only paid, or asked to transfer or approve tokens"]],
  ProxiesNotSeen: "info",
  OwnershipChanged: ["warning", ["info", "where the contract is new, or the sender only gains it"]],
  RightUnexplained: "info",
  RoleChanged: ["warning", ["info", "where the contract is new, or the sender only gains the role"]],
  FundsUnknown: "unavailable",
  IncomeNotMined: "warning",
  L1FeeDisagrees: "info",
  L1FeeUnknown: "unavailable",
  QueuedCostTooHigh: "warning",
  QueuedCostUnknown: "info",
  TokenShortfall: "warning",
  LeftOut: [
    "unavailable",
    ["warning", "for `assets` and `approvals`, and for `estimate` where you fix every gas limit"],
  ],
  PolicyLost: "unavailable",
  PolicyUnknown: "unavailable",
  StepUnavailable: "unavailable",
  BaseNotComparable: "unavailable",
  FirstSeenInProof: "warning",
  OptionsRefused: "unavailable",
  OutcomeNotCompared: "warning",
  BundleInOneBlock: "warning",
  ChanceDependent: "warning",
  BlocksNotSimulated: ["info", ["warning", "where the block with unusual values had no answer in time"]],
  ClosesAt: ["info", ["warning", "where it succeeds in the next block alone"]],
  FollowsTime: "info",
  DependsOnPending: ["warning", ["info", "where policies bound every amount that differs"]],
  NotYet: "unavailable",
  PendingMoved: ["info", ["unavailable", "where the sealed block could not stand in for it"]],
  PriceDependent: ["warning", ["info", "where only what comes in follows the price"]],
  SealedStateUnseen: "info",
  QuorumMissing: "unavailable",
  RequestIncomplete: "unavailable",
  ExecutionReverted: alone,
  VmHalt: alone,
  OutOfGas: alone,
  InsufficientFunds: [
    "blocker",
    ["unavailable", "where the node says so and our own sum does not"],
    ["info", "where the estimate alone says so"],
  ],
  NonceTooLow: alone,
  NonceTooHigh: alone,
  NonceOverflow: alone,
  ReplacementRefused: ["blocker", ["unavailable", "where the rule of the chain's mempools is not known"]],
  FeeCapTooLow: ["blocker", ["warning", "where the lower of two base fees is covered"]],
  TipAboveFeeCap: alone,
  IntrinsicGasTooLow: alone,
  GasAllowanceExceeded: ["blocker", ["info", "where the estimate says so"]],
  BlockGasLimitExceeded: alone,
  TxGasLimitTooHigh: ["blocker", ["warning", "where the chain's cap is not known"]],
  GasUintOverflow: alone,
  SenderNotEoa: alone,
  InitCodeTooLarge: ["blocker", ["warning", "where the chain's limit is not known"]],
  NoCode: "blocker",
  UnknownDelegateCall: "blocker",
  ChainIdMismatch: "blocker",
  PolicyViolation: "blocker",
  SimulationDiverged: "blocker",
  OutcomeChanged: "warning",
  WitnessesDisagree: "blocker",
  NotProven: "unavailable",
};

const ofReason: Severities = [
  "unavailable",
  ["warning", "where one of two counts of the nonce is missing"],
  ["info", "where another answer stands in"],
];

const isOther = (code: string): code is keyof typeof others => Object.hasOwn(others, code);

/** Every severity that a finding with the code has; a failed request's where it has none of its own. */
export const severitiesOf = (code: string): Exclude<Severities, string> => {
  const its = isOther(code) ? others[code] : ofReason;
  return typeof its === "string" ? [its] : its;
};

/** The severities in words. */
export const severityText = (code: string): string => {
  const [usual, ...cases] = severitiesOf(code);
  return [`\`${usual}\``, ...cases.map(([severity, where]) => `\`${severity}\` ${where}`)].join("; ") + ".";
};
