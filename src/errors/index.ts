/** Errors, and what makes one of a node's words: the door of this room. */
export { Disposed, InvalidConnection, InvalidStep, InvalidTransaction } from "./input.js";
export {
  InvalidLane,
  LeaseLost,
  NonceBurned,
  NonceBusy,
  NonceChainReset,
  NonceColdStart,
  NonceError,
  NonceForgotten,
  NonceImplausible,
  NonceStoreError,
  PartlySent,
  ReplaceConflict,
  SendRejected,
  SignedMismatch,
} from "./nonces.js";
export { refusalText, RpcError, Timeout, UpstreamUnavailable } from "./rpc.js";
export {
  ChainIdMismatch,
  ExecutionReverted,
  FeeCapTooLow,
  gap,
  NotProven,
  type Verdict,
  WitnessesDisagree,
} from "./verdicts.js";
