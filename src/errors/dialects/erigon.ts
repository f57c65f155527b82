/** Erigon where it differs from geth: its own limits. */
import type { Flat } from "../flatten.js";
import { BlockNotFound, NodeLimitExceeded } from "../rpc.js";
import { answerOf, failed, said, type Answer } from "./evidence.js";

/** Words of Erigon. */
export const erigon = (flat: Flat): Answer => {
  if (said(flat, /exceeding --rpc\.[\w.]+|too many blocks in request/i) !== null) {
    return failed(flat, new NodeLimitExceeded(answerOf(flat)));
  }
  return said(flat, /block number is in the future/i) === null
    ? undefined
    : failed(flat, new BlockNotFound(answerOf(flat)));
};
