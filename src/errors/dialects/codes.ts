/** What a code alone can tell when no words were understood. Last, because codes collide. */
import type { Flat } from "../flatten.js";
import * as Reasons from "../rpc.js";
import * as Verdicts from "../verdicts.js";
import { answerOf, failed, failedBy, type Answer, type PlainReason } from "./evidence.js";

type Meanings<A> = ReadonlyArray<readonly [codes: ReadonlyArray<number>, meaning: A]>;

/** The specification's codes for simulation, and its proposal for sending. */
const verdicts: Meanings<new (fields: Pick<Flat, "raw">) => Verdicts.Verdict> = [
  [[-38010, 1], Verdicts.NonceTooLow],
  [[-38011, 2], Verdicts.NonceTooHigh],
  [[-38012, 806], Verdicts.FeeCapTooLow],
  [[-38013, 800], Verdicts.IntrinsicGasTooLow],
  [[-38014, 809], Verdicts.InsufficientFunds],
  [[-38015], Verdicts.BlockGasLimitExceeded],
  [[-38024], Verdicts.SenderNotEoa],
  [[-38025], Verdicts.InitCodeTooLarge],
  [[801], Verdicts.OutOfGas],
];

const reasons: Meanings<PlainReason> = [
  [[-32601, -32604, -32004], Reasons.MethodNotSupported],
  [[403], Reasons.MethodNotPermitted],
  [[-32600, -32602, -32700, -38022, -38023], Reasons.InvalidParams],
  [[-38020, -38021], Reasons.SimBlockOrder],
  [[-38026], Reasons.NodeLimitExceeded],
  [[-32010, -32011, -32013, -32018], Reasons.UpstreamUnavailable],
  [[-32019, -39001], Reasons.BlockNotFound],
  [[4, -32002], Reasons.Timeout],
];

const statuses: Meanings<PlainReason> = [
  [[400, 422], Reasons.InvalidParams],
  [[405, 501], Reasons.MethodNotSupported],
  [[408, 522, 524], Reasons.Timeout],
  [[413], Reasons.NodeLimitExceeded],
  [[520, 521, 523, 525, 526, 530], Reasons.UpstreamUnavailable],
];

/** What a code means by a table. */
const meant = <A>(table: Meanings<A>, code: number | null): A | undefined =>
  table.find(([codes]) => code !== null && codes.includes(code))?.[1];

const meaningOf = (code: number, flat: Flat): Answer => {
  const [verdict, reason] = [meant(verdicts, code), meant(reasons, code)];
  if (verdict !== undefined) return new verdict({ raw: flat.raw });
  if (reason !== undefined) return failedBy(flat, reason);
  // a halt wherever no words say otherwise
  if (code === -32015) return new Verdicts.VmHalt({ halt: flat.texts.join(": ").slice(0, 512) || null, raw: flat.raw });
  if (code !== -32005) return undefined;
  return /getlogs/i.test(flat.method)
    ? failedBy(flat, Reasons.LogRangeTooLarge)
    : failed(flat, new Reasons.RateLimited({ ...answerOf(flat), retryAfterMs: flat.retryAfterMs }));
};

/** The first code with a meaning of its own. */
export const codes = (flat: Flat): Answer => {
  for (const code of flat.codes) {
    const meaning = meaningOf(code, flat);
    if (meaning !== undefined) return meaning;
  }
  return undefined;
};

/** What an HTTP status alone can tell. */
export const byStatus = (flat: Flat): Reasons.RpcError =>
  flat.httpStatus === null && flat.codes.length === 0
    ? failed(flat, new Reasons.MalformedResponse({ ...answerOf(flat), path: "error" }))
    : failedBy(flat, meant(statuses, flat.httpStatus) ?? Reasons.InternalError);
