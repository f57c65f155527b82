/** What a transaction costs before anything runs, beside a node that refuses its gas limit without numbers. Pure. */
import { IntrinsicGasTooLow, type Verdict } from "../../errors/verdicts.js";
import type { Transaction } from "../../transaction/fields.js";

/** Zero and other bytes of the calldata. */
const bytesOf = (data: string): { readonly zero: number; readonly other: number } => {
  const pairs = data.slice(2).match(/../g) ?? [];
  const zero = pairs.filter((pair) => pair === "00").length;
  return { zero, other: pairs.length - zero };
};

/** Gas by EIP-2, EIP-2028, EIP-2930, EIP-3860 and EIP-7702. */
const intrinsicGas = ({ to, data, accessList, authorizationList }: Transaction): number => {
  const { zero, other } = bytesOf(data);
  const keys = (accessList ?? []).reduce((sum, { storageKeys }) => sum + storageKeys.length, 0);
  return (
    21_000 +
    (4 * zero + 16 * other) +
    (to === null ? 32_000 + 2 * Math.ceil((zero + other) / 32) : 0) +
    (2_400 * (accessList?.length ?? 0) + 1_900 * keys) +
    25_000 * (authorizationList?.length ?? 0)
  );
};

/** The least gas that calldata costs, by EIP-7623. */
const floorGas = ({ data }: Transaction): number => {
  const { zero, other } = bytesOf(data);
  return 21_000 + 10 * (zero + 4 * other);
};

/**
 * The refusal of a gas limit below the intrinsic cost, with both numbers where the node names none: the request's own
 * limit, and what our rule says it needs. Of a chain since Amsterdam, or where our rule finds the limit sufficient, the
 * need stays unknown.
 */
export const withIntrinsic = (failure: Verdict, input: Transaction, isAmsterdam: boolean): Verdict => {
  if (failure._tag !== "IntrinsicGasTooLow") return failure;
  const have = failure.have ?? input.gas;
  const need =
    have === null || isAmsterdam
      ? undefined
      : [Math.max(intrinsicGas(input), floorGas(input))].find((gas) => gas > have);
  const want = failure.want ?? (need === undefined ? null : BigInt(need));
  return new IntrinsicGasTooLow({ have, want, raw: failure.raw });
};
