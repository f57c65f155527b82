/**
 * The findings that texts, policies, settlements and guards tell from others, and the sentences that people read of them. These readers stand below the files that
 * declare the codes, or load without them; so the names stand here, and the compiler holds them to the catalogue.
 */
import type { Finding, FindingCode } from "./finding.js";

const oneOf = (...codes: ReadonlyArray<FindingCode>): ((finding: Pick<Finding, "code">) => boolean) => {
  const named: ReadonlySet<string> = new Set(codes);
  return ({ code }) => named.has(code);
};

/** More than could be read, measured or shown. */
export const isCut = oneOf("CalldataCut", "FindingsCut", "FirstSeenInProof", "PartiesCut");
/** Amounts may differ when mined. */
export const isUncertain = oneOf("DependsOnPending", "ChanceDependent", "PriceDependent", "GasDependent");
export const isMismatch = oneOf("TransferMismatch");
export const isUnmeasured = oneOf("WitnessUnavailable");
export const isNativeUntraced = oneOf("NativeMovesUnseen");
/** A token that says one thing and then another. */
export const isTokenChange = oneOf("TokenChanges");
export const isPretended = oneOf("StatePretended");
export const isFeeOpen = oneOf("L1FeeUnknown");
/** A right that the contract's getters do not show. */
export const isHiddenRight = oneOf("RightUnexplained");
/** A right, or an event that may give one. */
export const isUnexplained = oneOf("EventUnexplained", "RightUnexplained");
export const isDelegation = oneOf("DelegationSet");
/** Control of a contract changes. */
export const isControl = oneOf("ContractControlChanged", "OwnershipChanged", "RoleChanged");
/** Something happens though nothing moves. */
export const isActing = oneOf("DelegationSet", "DelegationCleared", "EventUnexplained");
/** The kind of account that sends; it means nothing for a call without a sender. */
export const isOfSender = oneOf("SenderNotEoa", "SenderWithoutKey", "AccountDelegated");
export const isReadOnly = oneOf("ReadOnlyCall");
export const isInnerFailure = oneOf("InnerCallFailed");
/** The signature was not taken for given. */
export const isNotAssumed = oneOf("SignatureNotAssumed");
/** A call did nothing of what it asks for. */
export const isInVain = oneOf("ReturnedFalse", "AskedInVain", "CalledNobody");
/** A call said itself that it did nothing. */
export const isRefused = oneOf("ReturnedFalse");
export const isReservedAhead = oneOf("NonceUnderReservation");
/** The calls of a batch are not proven as one transaction. */
export const isApart = oneOf("AtomicNotProven");
export const isReplacement = oneOf("ReplacesPending");

const called = "{to}[, {an account without code},][, {a delegated account},][, {a contract that this bundle creates},]";
const nextNonce = "the next nonce of {account} is {next}, and this one is {nonce}";
const mined = "wait until {of's} first {nonces mined} transactions are mined";
const counts = "it counts {pending} with those pending, and {latest} mined";
const compared = "with a limit of {limit} it does something else than with {compared with}";
const moved = "the token is {token}{-asked for}[{-function}][{-spender}][{-moved}][{-allowed}][{-because}]";

/**
 * The numbers of a finding as a written sentence, by its code. `{name}` is the figure of that name, or an unnamed text
 * that says just that; `{name's}` whose it is; `{-name}` says nothing. What stands in `[…]` is left out where a figure of
 * it is missing, or is zero wei. Figures that a sentence does not name follow it, and so do those of a code without one.
 */
export const sentencesByCode: Partial<Readonly<Record<FindingCode, string>>> = {
  ApprovalGranted: `${called} may take {amount} from {of}`,
  ApprovalLeftOver: `${called} may still take {amount} from {of} afterwards`,
  ApprovalUnlimited: `${called} may take all of {of's} {token}[ #{id}], now and later[, and this is {left over at the end}]`,
  AskedInVain: moved,
  AuthorizationInFlight: nextNonce,
  BalanceUnconfirmed: "it is {of's} balance of {token}",
  BatchCallFails: "it is call {call} of {of}[, {what}][, at {to}][: {reason}]",
  BlocksNotSimulated: "{simulated up to} of {blocks in time} blocks were simulated",
  CalledNobody: "there is no contract at {to}[, where {function} is called][, with {value}]",
  ClosesAt: "it succeeds at second {ran in a block of the time} and fails at second {failed in one of}",
  ContractControlChanged: "{contract}: {}[, from {from}][, to {to}]",
  ContractsLeftOut: "{not checked} were not checked, the first of them {}",
  CountsDisagree: counts,
  DelegateCall: "[{account}: ]the code is that of {code}[, {known as}][, {as the option says}]",
  DelegateCallUnread: "[{account} would run ]the code of {code}",
  DelegationIneffective: "[{account's} delegation to ]{delegate} has no effect[, because {because}]",
  DelegationSet: "{delegate} may do anything in {account's} name[, {}]",
  EventUnexplained: "an event of {contract} names the sender and {beside}[; its kind is {event}]",
  ExecutionReverted: "the contract is {to}",
  DescriptorDisagrees: "the field {field} says {says}",
  FeeHorizonShort:
    "it holds through full blocks for {holds through full blocks for} instead of {instead of}, at {at most} instead of {instead of}",
  GasBurnt: "{limit} may cost {at most}[, and {smaller limit} {at most}]",
  GasDependent: compared,
  GasHeadroomThin: compared,
  IncomeNotMined: `{has} is there, and {required without income} is needed[: ${mined}]`,
  InnerCallFailed: "{made by} called {to}[ (its call {call})][: {function}][, with {value}][. It says {reason}]",
  LookalikeAddress: "{account} looks like {looks like}[, which you call {called}], and is another account",
  NoCode: "there is no contract at {account}",
  NonceTooHigh: nextNonce,
  NonceTooLow: nextNonce,
  OperationFails: "[{by} is why: ]{because}[ ({reason})][; {too low} is {given}, and {enough} is enough]",
  OperationPrefund: "{payer} has {deposit} in the EntryPoint[, and {balance} of its own]; {held back} are held back",
  OneInFlight: mined,
  OrderNotHeld: mined,
  OwnershipChanged: "the owner of {contract} changes[ from {from}][ to {to}]",
  PaidToOther: "{to} gets what {of's} account has or earns at {contract}",
  ReturnedFalse: moved,
  RevertedInside: "{calls deep} calls deep, {from} called {to}[: {call}][, which failed: {reason}]",
  RightUnexplained: "{contract} may let {to} act for {of}[, over {amount}]",
  SafeControlChanges: "it changes: {changes}",
  SafeGasTooLow: "it gets {safe gas}, and the whole execution used {used}",
  SafeGuardRefuses: "the guard is {guard}[, and it says {its words}]",
  SafeHashDisagrees: "by its fields it has {by its fields}, and not {said}",
  SafeNonceQueued: "{number in front} of them stand in front of it",
  SafePaysExecutor: "it pays at most {at most}[ of {token}]",
  RoleChanged: "a role over {contract} goes[ from {from}][ to {to}]",
  RulesUncertain: "it runs the rules of {executed}",
  SignatureExpired: "it was usable until {usable until}",
  SignatureLongLived: "it, or the right that it gives, ends at {usable until}",
  SignatureNotYet: "[it is usable from {usable from}][the reason is: {because}]",
  TipCapped: "it suggests {named}, and {proposed} is used",
  TipLow: "the tip in the next block would be {tip in the next block}, and it may need {at least}",
  TokenChanges:
    "{token} says one thing and then another[: {decimals} decimals and {decimals elsewhere}][: the symbol {symbol} and {symbol elsewhere}]",
  TokenLies: "{of's} balance of {token} is {to the witness} to one contract and {to an account} to an account",
  TokenNotPretended:
    "{pretended} was pretended for {of}[, to be taken by {spender}][, and the token says {told}][: {}]",
  TokenShortfall:
    "[{account's} balance is {has}][the allowance of {spender} is {has}][, and {needs} is needed][: {short by} is missing]{-too low}",
  TokensStranded: "{amount} goes to {token} itself",
  TooManyInFlight: counts,
  TransferMismatch:
    "{of's} balance[ of {token}] changes by {measured}, and the events say {events say}[{-native currency}][: {because}]",
  UnknownDelegateCall: "[{account} would run ]the code of {code}",
  ValueBurned: "the receiver is {to}[: {value}][: {amount}]",
  NotYet:
    "it was simulated as block {block of exact} at second {its time}, and as block {block of next} at second {its time}",
  CalldataCut: "[{calls read} calls were read][of {contract} is not known {not read}]",
};
