/** What a code alone can tell when no words were understood. Last, because codes collide. */
import type { Flat } from "../flatten.js";
import {
  BlockNotFound,
  InternalError,
  InvalidParams,
  LogRangeTooLarge,
  MalformedResponse,
  MethodNotPermitted,
  MethodNotSupported,
  NodeLimitExceeded,
  RateLimited,
  SimBlockOrder,
  Timeout,
  UpstreamUnavailable,
  type Reason,
} from "../rpc.js";
import {
  BlockGasLimitExceeded,
  FeeCapTooLow,
  InitCodeTooLarge,
  InsufficientFunds,
  IntrinsicGasTooLow,
  NonceTooHigh,
  NonceTooLow,
  OutOfGas,
  SenderNotEoa,
  VmHalt,
  type Verdict,
} from "../verdicts.js";
import { answerOf, failed, type Answer } from "./evidence.js";

type Raw = Pick<Flat, "raw">;

/** The specification's codes for simulation, and its proposal for sending. */
const verdictOf = (code: number, { raw }: Raw): Verdict | undefined => {
  switch (code) {
    case -38010:
    case 1:
      return new NonceTooLow({ raw });
    case -38011:
    case 2:
      return new NonceTooHigh({ raw });
    case -38012:
    case 806:
      return new FeeCapTooLow({ raw });
    case -38013:
    case 800:
      return new IntrinsicGasTooLow({ raw });
    case -38014:
    case 809:
      return new InsufficientFunds({ raw });
    case -38015:
      return new BlockGasLimitExceeded({ raw });
    case -38024:
      return new SenderNotEoa({ raw });
    case -38025:
      return new InitCodeTooLarge({ raw });
    case 801:
      return new OutOfGas({ raw });
    default:
      return undefined;
  }
};

const reasonOf = (code: number, flat: Flat): Reason | undefined => {
  const answer = answerOf(flat);
  switch (code) {
    case -32601:
    case -32604:
      return new MethodNotSupported(answer);
    case 403:
      return new MethodNotPermitted(answer);
    case -32600:
    case -32602:
    case -32700:
    case -38022:
    case -38023:
      return new InvalidParams(answer);
    case -38020:
    case -38021:
      return new SimBlockOrder(answer);
    case -38026:
      return new NodeLimitExceeded(answer);
    case -32005:
      return /getlogs/i.test(flat.method)
        ? new LogRangeTooLarge(answer)
        : new RateLimited({ ...answer, retryAfterMs: flat.retryAfterMs });
    case -32010:
    case -32011:
    case -32013:
    case -32018:
      return new UpstreamUnavailable(answer);
    case -32019:
    case -39001:
      return new BlockNotFound(answer);
    case 4:
    case -32002:
      return new Timeout(answer);
    default:
      return undefined;
  }
};

/** The first code with a meaning of its own; −32015 is a halt wherever no words say otherwise. */
export const codes = (flat: Flat): Answer => {
  for (const code of flat.codes) {
    const verdict = verdictOf(code, flat);
    if (verdict !== undefined) return verdict;
    const reason = reasonOf(code, flat);
    if (reason !== undefined) return failed(flat, reason);
    if (code === -32015) return new VmHalt({ halt: flat.texts.join(": ").slice(0, 512) || null, raw: flat.raw });
  }
  return undefined;
};

/** What an HTTP status alone can tell. */
export const httpReason = (flat: Flat): Reason => {
  const answer = answerOf(flat);
  switch (flat.httpStatus) {
    case null:
      return flat.codes.length === 0 ? new MalformedResponse({ ...answer, path: "error" }) : new InternalError(answer);
    case 400:
    case 422:
      return new InvalidParams(answer);
    case 405:
    case 501:
      return new MethodNotSupported(answer);
    case 408:
    case 522:
    case 524:
      return new Timeout(answer);
    case 413:
      return new NodeLimitExceeded(answer);
    case 520:
    case 521:
    case 523:
    case 525:
    case 526:
    case 530:
      return new UpstreamUnavailable(answer);
    default:
      return new InternalError(answer);
  }
};
