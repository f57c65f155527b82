/** What tests take from `src/errors`: a file that moves inside it is followed here, and in no test. */
export { classify, type ClassifyInput } from "../../src/errors/classify.js";
export { InvalidTransaction, ReportVersion } from "../../src/errors/input.js";
export * as NonceErrors from "../../src/errors/nonces.js";
export { NonceStoreError, PartlySent } from "../../src/errors/nonces.js";
export {
  refusedPart,
  BlockNotFound,
  InternalError,
  InvalidParams,
  MalformedResponse,
  MethodNotPermitted,
  MethodNotSupported,
  NodeLimitExceeded,
  PendingUnavailable,
  RateLimited,
  Reason,
  RpcError,
  SimBlockOrder,
  Timeout,
  Transport,
  Unauthorized,
  UpstreamUnavailable,
} from "../../src/errors/rpc.js";
export { outcomeOf, SendOutcome, SendOutcomeKind } from "../../src/errors/sendOutcome.js";
export {
  ChainIdMismatch,
  ExecutionReverted,
  gap,
  InsufficientFunds,
  IntrinsicGasTooLow,
  NonceOverflow,
  NonceTooHigh,
  NonceTooLow,
  NotProven,
  OutOfGas,
  PolicyViolation,
  SenderNotEoa,
  SimulationDiverged,
  Verdict,
  type Gap,
} from "../../src/errors/verdicts.js";
