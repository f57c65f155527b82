/** The door of signatures: what they are for, and how they are simulated before they are given. */
export { carriersOf, isPlaced, isTrue, mergedIn, signedIn } from "./carriers.js";
export type { AnySigning, Mode, OpenSigning, PlacedSigning } from "./carriers.js";
export type { SafeState, Signing } from "./schema.js";
export { messageHash, signingIn, type GivenSigning, type ReadSigning } from "./input.js";
export { executedIn, isExecuted, isExecution } from "./executed.js";
export { accountFormOf, isSigning } from "./marks.js";
export { delegateOf, depositQuery, entitiesOf, isGasCut, namesDelegate, nonceQuery } from "./operation.js";
export { operationOfTyped, operationSigning, payerOf, paymasterHashQuery, prefundOf } from "./operation.js";
export { delegated, operationIn, type GasField, type GivenOperation, type OperationInput } from "./operationInput.js";
export { multiSends, numberOf, partsOf, safeIn, safeOfTyped, transactionHashOf, typedOf, withSafe } from "./safe.js";
export type { GivenSafeTransaction, SafeInput } from "./safe.js";
export { spendingCalls, type Carrier, type Use, type Used } from "./kinds.js";
export { ecrecover, given, shimCode, type AssumedSignature } from "./shim.js";
export { signInProblem, textOf, textOfFields, type SignIn } from "./signIn.js";
export { typedDataIn, type TypedData } from "./typedData.js";
