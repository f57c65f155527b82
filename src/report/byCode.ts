/**
 * The findings that texts, policies, settlements and guards tell from others. These readers stand below the files that
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
export const isReadOnly = oneOf("ReadOnlyCall");
export const isInnerFailure = oneOf("InnerCallFailed");
/** A call did nothing of what it asks for. */
export const isInVain = oneOf("ReturnedFalse", "AskedInVain", "CalledNobody");
/** A call said itself that it did nothing. */
export const isRefused = oneOf("ReturnedFalse");
export const isReservedAhead = oneOf("NonceUnderReservation");
export const isReplacement = oneOf("ReplacesPending");
