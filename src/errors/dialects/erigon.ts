/** Erigon where it differs from geth: its own limits. */
import type { Flat } from "../flatten.js";
import { BlockNotFound, NodeLimitExceeded } from "../rpc.js";
import { failedBy, says, type Answer } from "./evidence.js";

/** Words of Erigon. */
export const erigon = (flat: Flat): Answer => {
  if (says(flat, /exceeding --rpc\.[\w.]+|too many blocks in request/i)) {
    return failedBy(flat, NodeLimitExceeded);
  }
  return !says(flat, /block number is in the future/i) ? undefined : failedBy(flat, BlockNotFound);
};
