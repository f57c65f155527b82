/** The answers of calls as rows: whether one says that it did not work. Pure. */
import { wordOf } from "../abi/words.js";
import type { Hex } from "../primitives/hex.js";
import { isRecord } from "../primitives/record.js";
import type { Outcome } from "../report/parts.js";
import type { Transaction } from "../transaction/fields.js";
import type { Asked } from "./asked.js";

/** One answer. */
export interface Returned {
  /** null = nobody saw it. */
  readonly data: Hex | null;
  /** By what it says anything but `true`: the caller's ABI, or the function's selector; null = it does not. */
  readonly isFalseBy: "abi" | "selector" | null;
}

/** True if a function says by its answer alone whether it worked. */
export const isAnswering = ({ row: { answers, grant } }: Asked): boolean =>
  // why: a signed permit may have been used before, and what Permit2 keeps hangs on the time
  answers !== undefined ||
  (grant !== undefined && grant.isPermit !== true && grant.isTaken !== true && grant.standard !== "permit2");

/** The answer that an ABI names for a function that does more than read; null = it names none. */
const namedBy = (item: unknown): "bool" | "other" | null => {
  const outputs: ReadonlyArray<unknown> = isRecord(item) && Array.isArray(item["outputs"]) ? item["outputs"] : [];
  if (!isRecord(item) || outputs.length === 0) return null;
  const [output] = outputs;
  const isReading = item["stateMutability"] === "view" || item["stateMutability"] === "pure";
  return outputs.length === 1 && isRecord(output) && output["type"] === "bool" && !isReading ? "bool" : "other";
};

/** Reads the answer of a transaction that asks for `outer`. An empty answer says nothing: many tokens have no answer. */
export const returnedBy = (
  { status, returnData: data }: Pick<Outcome, "status" | "returnData">,
  { item }: Pick<Transaction, "item">,
  outer: Asked | undefined,
): Returned => {
  const isTrue = data === null || data === "0x" || data.startsWith(wordOf(1n));
  if (status !== "success" || isTrue) return { data, isFalseBy: null };
  const named = namedBy(item);
  if (named !== null) return { data, isFalseBy: named === "bool" ? "abi" : null };
  // why: where no standard has an answer, one word of zero alone is a refusal
  const isFalse =
    outer?.row.answers !== undefined || (outer !== undefined && isAnswering(outer) && data === wordOf(0n));
  return { data, isFalseBy: isFalse ? "selector" : null };
};
