/**
 * The meaning of an answer to `eth_sendRawTransaction` for the nonce. Pure, and the only reader of the
 * pools' words that no verdict has a name for: "already known", "replacement transaction underpriced".
 *
 * Sources of the words: go-ethereum `core/txpool/errors.go`, reth `rpc-eth-types/src/error`, besu
 * `RpcErrorType`, nethermind `AcceptTxResult`, erigon `txpoolcfg.DiscardReason`, OpenEthereum, anvil.
 */
import * as Schema from "effect/Schema";
import { classify } from "./classify.js";
import { Hash, isHash, nullable } from "../primitives/hex.js";
import { isRecord } from "../primitives/record.js";
import { refusalText, RpcError } from "./rpc.js";
import { Verdict } from "./verdicts.js";

export const SendOutcomeKind = Schema.Literals([
  "accepted",
  "alreadyKnown",
  "tooLow",
  "underpriced",
  "tooHigh",
  "rejected",
  "unknown",
]);

/** One send and what came of it. */
export class SendOutcome extends Schema.Class<SendOutcome>("SendOutcome")({
  /**
   * The outcome of the sending:
   * - `accepted`: the node answered with the hash. That alone is no place in its pool: geth answers so to what its pool
   *   refuses for now (an account's limit, a gap, a reserved authority, a full pool).
   * - `alreadyKnown`: it is in the pool.
   * - `tooLow`: the nonce is used, by ours or by somebody else's: receipts tell which.
   * - `underpriced`: the pool holds another one at the nonce, or wants a higher fee: replace it with a higher fee.
   * - `tooHigh`: a predecessor is missing, or the account may not have more in flight: send again later.
   * - `rejected`: these bytes cannot be mined as things stand.
   * - `unknown`: it is not known whether the node took it: send the same bytes again.
   */
  kind: SendOutcomeKind,
  /** The hash the node answered with, in a receipt too; null when it answered with an error. */
  hash: nullable(Hash),
  /** The classified error; null when the node took it. */
  error: nullable(Schema.Union([Verdict, RpcError])),
}) {
  /** How far it is known to have come: `handed` where the node answered with the hash alone, `seen` where it knew these bytes; else null. */
  get state(): "handed" | "seen" | null {
    return this.kind === "accepted" ? "handed" : this.kind === "alreadyKnown" ? "seen" : null;
  }
}

const isJudged = Schema.is(Schema.Union([Verdict, RpcError]));

const maxTexts = 16;
const maxLength = 2_048;

/** Every string inside a JSON value, bounded. */
const textsIn = (value: unknown, depth: number, found: Array<string>): void => {
  if (found.length >= maxTexts || depth > 6 || value === null) return;
  if (typeof value === "string") {
    found.push(value.slice(0, maxLength));
  } else if (typeof value === "object") {
    for (const item of Object.values(value).slice(0, maxTexts)) textsIn(item, depth + 1, found);
  }
};

const wordsOf = (error: RpcError | Verdict): string => {
  const found: Array<string> = [];
  if (error._tag === "RpcError") found.push(error.reason.detail.slice(0, maxLength));
  textsIn(error._tag === "RpcError" ? error.reason.raw : "raw" in error ? error.raw : null, 0, found);
  return found.join("\n");
};

const known =
  /\balready ?(?:known|imported|in (?:the )?(?:tx|mem)?pool)|\bknown transaction|same hash was already|existing tx with same hash|\btx already (?:exists?|in)/i;
const waits =
  /in-?flight transaction limit|gapped[- ]nonce|nonce ?gap|(?:authority|address) already reserved|account limit exceeded|nonce is too distant|transaction with (?:a )?lower nonce|future transaction tries/i;
/** Nethermind's name for it. */
const oldNonce = /\bOldNonce\b/;
const cheap =
  /underpriced|replacement ?(?:not ?allowed|fee too low|gas price)|could not replace existing|fee ?too ?low(?: to replace)?|gas price (?:too low|below (?:configured )?minimum)|below the (?:minimum|configured)|same nonce already inserted/i;
const full = /pool is full|pool ?overflow|pool limit|queue is full|transaction pool not ready/i;
const invalid =
  /invalid (?:sender|signature|transaction|rlp|raw)|\brlp\b|type not supported|unsupported transaction type|only replay-protected|typed transaction too short|oversized data|negative value|exceeds the configured cap|exceeds configured/i;

const judge = (error: RpcError | Verdict): SendOutcome["kind"] => {
  const words = wordsOf(error);
  if (known.test(words)) return "alreadyKnown";
  if (waits.test(words)) return "tooHigh";
  if (error._tag === "NonceTooLow" || oldNonce.test(words)) return "tooLow";
  if (error._tag === "NonceTooHigh") return "tooHigh";
  if (cheap.test(words) && error._tag !== "FeeCapTooLow") return "underpriced";
  if (full.test(words)) return "unknown";
  if (error._tag !== "RpcError") return "rejected";
  const { _tag, raw, code, httpStatus } = error.reason;
  if (_tag === "InternalError") return invalid.test(words) ? "rejected" : "unknown";
  // why: what we did not read for its size may be the hash
  const isUnread = [raw, code, httpStatus].every((told) => told === null);
  return _tag === "InvalidParams" || (_tag === "NodeLimitExceeded" && !isUnread) ? "rejected" : "unknown";
};

/** The result in a whole JSON-RPC answer. */
const resultIn = (answer: unknown): unknown =>
  isRecord(answer) && (answer["error"] === undefined || answer["error"] === null) ? answer["result"] : undefined;

/**
 * The outcome of a send, read from its hash, its classified error, a whole JSON-RPC answer, or an error of another
 * client. Of viem's errors the node's own text counts. Anything else is `unknown`.
 */
export const outcomeOf = (answer: unknown): SendOutcome => {
  const result = isHash(answer) ? answer : resultIn(answer);
  if (isHash(result)) return new SendOutcome({ kind: "accepted", hash: result });
  const error = isJudged(answer) ? answer : classify({ method: "eth_sendRawTransaction", error: answer });
  return new SendOutcome({ kind: judge(error), error });
};

/** Codes of EIP-7966 for a transaction that is in the pool and not mined: the time is over, or it is not ready. */
const notMined: ReadonlySet<unknown> = new Set([4, 5]);

/** True if a node that was to wait for a receipt says that it took this transaction: the error has its hash as `data`. */
export const isTaken = (error: RpcError | Verdict, hash: Hash): boolean => {
  const raw = error._tag === "RpcError" ? error.reason.raw : "raw" in error ? error.raw : null;
  return isRecord(raw) && notMined.has(raw["code"]) && isHash(raw["data"]) && raw["data"].toLowerCase() === hash;
};

/** True if a node refused a method, or its parameters, as such: whatever it was to send was not sent. */
export const isUnsent = (error: RpcError | Verdict): boolean => {
  if (error._tag !== "RpcError") return false;
  const { _tag, code } = error.reason;
  return (
    _tag === "MethodNotSupported" || _tag === "MethodNotPermitted" || (_tag === "InvalidParams" && code === -32_602)
  );
};

/** Returns what a store keeps of it: the kind, and of a refusal why. */
export const recordOf = (outcome: SendOutcome): SendOutcome["kind"] | `${"rejected" | "underpriced"}: ${string}` => {
  const { kind } = outcome;
  const why = refusalText(outcome);
  return (kind === "rejected" || kind === "underpriced") && why !== "" ? `${kind}: ${why}` : kind;
};

/** {@link recordOf}, read again. */
export const kindAndWhy = (record: string): { readonly outcome: string; readonly why: string } => {
  const [, outcome = record, why = ""] = /^(\w+): (.*)$/s.exec(record) ?? [];
  return { outcome, why };
};
