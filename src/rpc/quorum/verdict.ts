/** Whether what endpoints answered is one answer: each beside the one that is handed on; of advice, whether it is near enough. Pure. */
import * as BigInts from "effect/BigInt";
import * as Result from "effect/Result";
import type { RpcError } from "../../errors/rpc.js";
import type { Verdict } from "../../errors/verdicts.js";
import { isRecord } from "../../primitives/record.js";
import { escapeText } from "../../primitives/text.js";
import type { Testimony } from "../service.js";
import { differenceOf, inPool, isDoubtOnly, partsOf, unknown, type Look, type Parts } from "./normal.js";
import type { State } from "./question.js";
import { list } from "./simulated.js";

export type Answer = Result.Result<unknown, RpcError | Verdict>;

/** What another endpoint is found to say beside the first. */
export type Finding =
  | { readonly kind: "agreed" }
  | {
      readonly kind: "disagreed" | "pending" | "unconfirmed";
      readonly path: string;
      readonly values: readonly [string, string];
    };

export const agreed: Finding = { kind: "agreed" };

export const unconfirmed = (why: string): Finding => ({ kind: "unconfirmed", path: "", values: ["answered", why] });

/** What an answer says; a verdict on the transaction is an answer, a failure to answer is none. */
const saidBy = (method: string, params: ReadonlyArray<unknown>, answer: Answer, look: Look): Parts | RpcError => {
  if (Result.isSuccess(answer)) return partsOf(method, params, answer.success, look);
  const { failure } = answer;
  return failure._tag === "RpcError" ? failure : new Map([["refused", failure._tag]]);
};

/** The kind that a difference is of, by what it is about. */
const kindOf = (state: State): Exclude<Finding["kind"], "agreed"> =>
  state === "sealed" ? "disagreed" : state === "pending" ? "pending" : "unconfirmed";

/** One answer beside the first, about a state. The first is an answer. */
export const compareAnswers = (
  asked: { readonly method: string; readonly params: ReadonlyArray<unknown>; readonly state: State },
  first: Answer,
  other: Answer,
  isMoved = false,
): Finding => {
  const { method, params, state } = asked;
  const look = { isOpen: state !== "sealed", isMoved };
  const [mine, theirs] = [saidBy(method, params, first, look), saidBy(method, params, other, look)];
  if ("_tag" in theirs) return unconfirmed(`${theirs.reason._tag} ${theirs.reason.detail}`.trim());
  if ("_tag" in mine) return unconfirmed("no answer to compare with");
  const different = differenceOf(mine, theirs);
  if (different === null) return agreed;
  const [path, one, two] = different;
  // why: a transaction that waits need not be told to everybody, and that it waits promises nothing
  if (one === inPool && two === unknown) return agreed;
  const kind = kindOf(state);
  return { kind: kind === "disagreed" && isDoubtOnly(different) ? "unconfirmed" : kind, path, values: [one, two] };
};

/** The number of a block; null where there is none. */
export const numberIn = (block: unknown): bigint | null => {
  const number = isRecord(block) ? block["number"] : null;
  return typeof number === "string" && /^0x[0-9a-fA-F]{1,16}$/.test(number) ? BigInt(number) : null;
};

/** Two answers about one block; two blocks of one number are two branches, of which one will not stay. */
export const compareBlocks = (first: Answer, other: Answer): Finding => {
  const seen = compareAnswers({ method: "eth_getBlockByNumber", params: [], state: "sealed" }, first, other);
  return seen.kind === "disagreed" && seen.path === "hash" ? { ...seen, kind: "unconfirmed" } : seen;
};

const quantityIn = (value: unknown): bigint | null =>
  typeof value === "string" && /^0x[0-9a-fA-F]{1,64}$/.test(value) ? BigInt(value) : null;

const fieldOf = (object: unknown, field: string): bigint | null =>
  isRecord(object) ? quantityIn(object[field]) : null;

/** A quantity that was answered; null where none was. */
export const quantityOf = (answer: Answer): bigint | null =>
  Result.isSuccess(answer) ? quantityIn(answer.success) : null;

/** Whether a value can have become another in so many blocks, in each of which it moves by at most a part of itself. */
const isReachable = (from: bigint | null, to: bigint | null, part: bigint, blocks: bigint): boolean => {
  if (from === null || to === null) return from === to;
  let [least, greatest] = [from, from];
  for (let passed = 0n; passed < blocks; passed++) {
    least -= least / part + 1n;
    greatest += greatest / part + 1n;
  }
  return to >= least && to <= greatest;
};

/**
 * Whether a head can follow an earlier one, by the rules that bind every block: nobody but its teller has seen it, and
 * what it says of price, room and time is bounded by what both have seen.
 */
export const canFollow = (earlier: Answer, head: Answer, blocks: bigint): boolean => {
  if (Result.isFailure(earlier) || Result.isFailure(head)) return false;
  const both = (field: string) => [fieldOf(earlier.success, field), fieldOf(head.success, field)] as const;
  const [before, after] = both("timestamp");
  return (
    before !== null &&
    after !== null &&
    after >= before &&
    isReachable(...both("baseFeePerGas"), 8n, blocks) &&
    isReachable(...both("gasLimit"), 1_024n, blocks)
  );
};

const most = 240;

/** A finding in words, by the names of both. */
export const testimonyOf = (
  { method, run, isSealed }: Pick<Testimony, "method" | "run" | "isSealed">,
  finding: Exclude<Finding, { readonly kind: "agreed" }>,
  names: readonly [string, string],
): Testimony => {
  const about = [run === null ? method : `${method} (${run})`, finding.path].filter((part) => part !== "").join(", ");
  return {
    ...{ kind: finding.kind, isSealed, method, run },
    lines: names.map((name, index) => escapeText(`${name}: ${about}: ${finding.values[index]}`, most)),
  };
};

/** How many times what the other tells may be told. */
const far = 4n;

const median = (values: ReadonlyArray<bigint | null>): bigint => {
  const known = values.filter((value) => value !== null).sort(BigInts.Order);
  return known[known.length >> 1] ?? 0n;
};

/** Per column of a fee history, and of the receipts of a block, what is paid in the middle, wei per gas. */
const pricesIn = (answer: unknown): ReadonlyArray<bigint> => {
  if (Array.isArray(answer)) return [median(list(answer).map((receipt) => fieldOf(receipt, "effectiveGasPrice")))];
  const rows = list(isRecord(answer) ? answer["reward"] : null).map((row) => list(row));
  const columns = Math.max(0, ...rows.map(({ length }) => length));
  return Array.from({ length: columns }, (_, column) =>
    median(rows.map((row) => quantityIn(row[column])).filter((tip) => tip !== 0n)),
  );
};

/** One endpoint's advice beside another's: what is much dearer than there is nobody's but its own. Low prices harm nobody. */
export const compareAdvice = (first: Answer, other: Answer): Finding => {
  if (Result.isFailure(first)) return unconfirmed("no answer to compare with");
  const theirs = Result.isSuccess(other) ? pricesIn(other.success) : [];
  const dear = pricesIn(first.success).findIndex((price, column) => price > far * (theirs[column] ?? 0n));
  return dear === -1 ? agreed : unconfirmed(`says ${theirs[dear] ?? "nothing of what is paid"}`);
};
