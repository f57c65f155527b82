/** The answers of calls as rows: whether one says that it did not work. Pure. */
import { wordOf } from "../abi/words.js";
import type { Hex } from "../primitives/hex.js";
import { isRecord } from "../primitives/record.js";
import type { Asked } from "./asked.js";

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

/**
 * The answer of a transaction that asks for `outer`, where it says anything but `true`, and by what: the caller's ABI, or the
 * function's selector. An empty answer says nothing: many tokens have no answer.
 */
export const returnedBy = (
  data: Hex | null,
  item: unknown,
  outer: Asked | undefined,
): ReadonlyArray<{ readonly data: Hex; readonly isFalseBy: "abi" | "selector" }> => {
  if (data === null || data === "0x" || data.startsWith(wordOf(1n))) return [];
  const named = namedBy(item);
  if (named !== null) return named === "bool" ? [{ data, isFalseBy: "abi" }] : [];
  // why: where no standard has an answer, one word of zero alone is a refusal
  const isFalse =
    outer?.row.answers !== undefined || (outer !== undefined && isAnswering(outer) && data === wordOf(0n));
  return isFalse ? [{ data, isFalseBy: "selector" }] : [];
};
