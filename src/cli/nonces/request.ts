/** Transactions to sign for a nonce: the CLI holds no keys. Pure. */
import type { LaneId } from "../../nonces/lane.js";
import type { JsonFields } from "../input.js";
import type { Hex } from "../../primitives/index.js";
import { type Filled, readSigned, type Request } from "../../transaction/index.js";

/** The fees to pay now, wei per gas; null where nobody was asked, or the node did not say. */
export const noQuote: Pick<Filled, "maxFeePerGas" | "maxPriorityFeePerGas"> = {
  maxFeePerGas: null,
  maxPriorityFeePerGas: null,
};

/** The signed request, without its signature; null where only a hash is kept. */
export const requestIn = (raw: Hex | null): Request | null =>
  raw === null ? null : (readSigned(raw)?.request ?? null);

export const isBlob = (request: Request | null): boolean => request?.type === "eip4844";

/** The least that pools take in place of `old`: a tenth more, of a blob transaction twice as much. */
export const raised = (old: bigint, blob: boolean): bigint => (blob ? old * 2n : old + (old + 9n) / 10n) || 1n;

const most = (...values: ReadonlyArray<bigint | null>): bigint | null =>
  values.reduce((a, b) => (a === null || (b !== null && b > a) ? b : a), null);

const capOf = (request: Request): bigint => request.maxFeePerGas ?? request.gasPrice ?? 0n;
const tipOf = (request: Request): bigint => request.maxPriorityFeePerGas ?? request.gasPrice ?? 0n;

/** Prices that replace those of `old`, and are worth mining by the quote. */
const pricesOver = (old: Request | null, quote: typeof noQuote) => {
  const least = (of: (request: Request) => bigint) => (old === null ? null : raised(of(old), isBlob(old)));
  const tip = most(least(tipOf), quote.maxPriorityFeePerGas);
  const cap = most(least(capOf), quote.maxFeePerGas, tip);
  return old?.gasPrice === undefined
    ? { maxFeePerGas: cap, maxPriorityFeePerGas: tip }
    : { gasPrice: most(least(capOf), quote.maxFeePerGas) };
};

/** Nothing to oneself: for a gap, or in place of `old`, of the same kind of price. */
export const noopOver = (lane: LaneId, nonce: bigint, old: Request | null, gas: bigint, quote: typeof noQuote) => ({
  type: old?.gasPrice === undefined ? "eip1559" : "legacy",
  chainId: lane.chainId,
  nonce: Number(nonce),
  to: lane.address,
  value: 0n,
  data: "0x",
  gas,
  ...pricesOver(old, quote),
});

/** The same transaction with higher fees. */
export const dearer = (old: Request, quote: typeof noQuote): JsonFields => ({
  to: null,
  ...old,
  ...pricesOver(old, quote),
  ...(old.maxFeePerBlobGas === undefined ? {} : { maxFeePerBlobGas: raised(old.maxFeePerBlobGas, true) }),
});

/** True if a transaction does nothing but use its nonce. */
export const isNoop = ({ to, value, data }: Request, { address }: LaneId): boolean =>
  to?.toLowerCase() === address && value === 0n && data === "0x";

/** Why pools would not take `next` in place of `old`; null = they would, or it is not known. */
export const tooCheap = (old: Request | null, next: Request | null): string | null => {
  if (old === null || next === null) return null;
  const [cap, tip] = [raised(capOf(old), isBlob(old)), raised(tipOf(old), isBlob(old))];
  if (capOf(next) < cap) return `pays at most ${capOf(next)} wei per gas; pools take no less than ${cap} in its place`;
  return tipOf(next) < tip ? `tips ${tipOf(next)} wei per gas; pools take no less than ${tip} in its place` : null;
};
