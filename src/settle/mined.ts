/** A mined transaction as a request and as a call, and what it paid. Pure. */
import type { FullTransaction, Receipt, CallRequest } from "../eth/index.js";
import type { Hash } from "../primitives/index.js";
import { type Request, requestOf } from "../transaction/index.js";

/** The type of a system's own transaction, which nobody signs: a deposit of the OP stack. */
const depositType = "0x7e";

const isDeposit = ({ type }: Pick<FullTransaction, "type">): boolean => type === depositType;

/** By whom the OP stack tells its blocks of layer 1. */
const depositor = "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001";

/** True if it is a deposit that moves nothing of anybody's; one of a user may pay its receiver, or call anything. */
export const isSystemDeposit = (mined: Pick<FullTransaction, "type" | "from">): boolean =>
  isDeposit(mined) && mined.from.toLowerCase() === depositor;

const types: ReadonlyMap<string, Request["type"]> = new Map([
  ["0x0", "legacy"],
  ["0x1", "eip2930"],
  ["0x2", "eip1559"],
  ["0x3", "eip4844"],
  ["0x4", "eip7702"],
]);

/** The chain that was signed for; of type 0 it stands in the signature (EIP-155, or none at all), whatever a node tells beside. */
const chainOf = ({ chainId, v, type }: FullTransaction): bigint => {
  const isInside = (type ?? "0x0") === "0x0" && v !== null && v >= 27n;
  return isInside ? (v >= 35n ? (v - 35n) / 2n : 0n) : (chainId ?? 0n);
};

const wordOf = (value: bigint): Hash => `0x${value.toString(16).padStart(64, "0")}`;

/** The authorisations as they were signed. */
const authorizationsOf = ({ authorizationList }: Pick<FullTransaction, "authorizationList">) =>
  (authorizationList ?? []).map(({ address, chainId, nonce, r, s, yParity }) => ({
    ...{ address, chainId: Number(chainId), nonce: Number(nonce) },
    ...{ r: wordOf(r), s: wordOf(s), yParity: Number(yParity) },
  }));

/** Returns the request that was signed, for chain 0 where it is for any and 0 for a price that is not told; null where it is of no type that is signed here. */
export const requestOfMined = (mined: FullTransaction): Request | null => {
  const type = types.get(mined.type ?? "0x0");
  if (type === undefined) return null;
  const accessList = mined.accessList ?? [];
  return requestOf(type, {
    ...mined,
    ...{ chainId: Number(chainOf(mined)), nonce: Number(mined.nonce), data: mined.input },
    gasPrice: mined.gasPrice ?? 0n,
    maxFeePerGas: mined.maxFeePerGas ?? 0n,
    maxPriorityFeePerGas: mined.maxPriorityFeePerGas ?? 0n,
    maxFeePerBlobGas: mined.maxFeePerBlobGas ?? 0n,
    accessList: type !== "eip2930" && accessList.length === 0 ? null : accessList,
    authorizationList: authorizationsOf(mined),
  });
};

/** The transaction as a call that a simulation takes, with the price that it offered. */
export const callOf = (mined: FullTransaction): CallRequest => {
  const { from, to, input, value, gas, gasPrice, maxFeePerGas, maxPriorityFeePerGas } = mined;
  const { accessList, blobVersionedHashes, maxFeePerBlobGas } = mined;
  const authorizationList = authorizationsOf(mined);
  // why: the price of a transaction with a cap is what it came to pay, and both together are refused
  const price = maxFeePerGas === null ? { gasPrice } : { maxFeePerGas, maxPriorityFeePerGas };
  return {
    ...{ from, to, data: input, value, gas },
    ...(isDeposit(mined) ? {} : price),
    ...(accessList === null || accessList.length === 0 ? {} : { accessList }),
    ...(blobVersionedHashes === null ? {} : { blobVersionedHashes, maxFeePerBlobGas }),
    ...(authorizationList.length === 0 ? {} : { authorizationList }),
  };
};

/** Parts per million, in which a scalar counts before Jovian; from then on it counts hundredfold. */
const million = 1_000_000n;

/** Wei that the OP stack's operator took, by the receipt's own parameters; null where it names none. */
const operatorFeeOf = ({ gasUsed, operatorFeeScalar, operatorFeeConstant, daFootprintGasScalar }: Receipt) => {
  if (operatorFeeScalar === null && operatorFeeConstant === null) return null;
  const scaled = gasUsed * (operatorFeeScalar ?? 0n);
  // why: the scalar of the data footprint came with the fork that multiplies by 100
  const charged = daFootprintGasScalar === null ? scaled / million : scaled * 100n;
  return charged + (operatorFeeConstant ?? 0n);
};

/** Returns what was paid beside the value; `cost` is null where the receipt does not say the price. */
export const paidBy = (receipt: Receipt) => {
  const { gasUsed, effectiveGasPrice, l1Fee, blobGasUsed, blobGasPrice, type } = receipt;
  const operatorFee = operatorFeeOf(receipt);
  // why: on the OP stack `blobGasUsed` is the data footprint, which is paid as gas
  const blobFee = type === "0x3" ? (blobGasUsed ?? 0n) * (blobGasPrice ?? 0n) : 0n;
  const cost =
    effectiveGasPrice === null ? null : gasUsed * effectiveGasPrice + blobFee + (l1Fee ?? 0n) + (operatorFee ?? 0n);
  return { cost, l1Fee, operatorFee };
};
