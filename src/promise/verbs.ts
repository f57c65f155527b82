/** The pipeline's verbs of a client: all that a page loads of it before it sends, settles or watches. */
export {
  callBatch,
  maxSendable,
  preflight,
  prove,
  ready,
  safeTransaction,
  scan,
  signature,
  userOperation,
} from "../Preflight.js";
