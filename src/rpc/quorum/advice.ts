/** What others paid for gas, as two endpoints tell it: near enough, or no advice. Pure. */
import * as Result from "effect/Result";
import { isRecord } from "../../primitives/record.js";
import { agreed, unconfirmed, type Answer, type Finding } from "./verdict.js";

/** How many times what the other tells may be told. */
const far = 4n;

const quantityIn = (value: unknown): ReadonlyArray<bigint> =>
  typeof value === "string" && /^0x[0-9a-fA-F]{1,64}$/.test(value) ? [BigInt(value)] : [];

const median = (values: ReadonlyArray<bigint>): bigint =>
  values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))[values.length >> 1] ?? 0n;

const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : []);

/** Per column of a fee history, and of the receipts of a block, what is paid in the middle, wei per gas. */
const pricesIn = (answer: unknown): ReadonlyArray<bigint> => {
  if (Array.isArray(answer))
    return [median(list(answer).flatMap((one) => (isRecord(one) ? quantityIn(one["effectiveGasPrice"]) : [])))];
  const rows = list(isRecord(answer) ? answer["reward"] : null).map((row) => list(row));
  const columns = Math.max(0, ...rows.map(({ length }) => length));
  return Array.from({ length: columns }, (_, column) =>
    median(rows.flatMap((row) => quantityIn(row[column]).filter((tip) => tip > 0n))),
  );
};

/** One endpoint's advice beside another's: what is much dearer than there is nobody's but its own. Low prices harm nobody. */
export const compareAdvice = (first: Answer, other: Answer): Finding => {
  if (Result.isFailure(first)) return unconfirmed("no answer to compare with");
  const theirs = Result.isSuccess(other) ? pricesIn(other.success) : [];
  const dear = pricesIn(first.success).findIndex((price, column) => price > far * (theirs[column] ?? 0n));
  return dear === -1 ? agreed : unconfirmed(`says ${theirs[dear] ?? "nothing of what is paid"}`);
};
