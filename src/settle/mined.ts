/** A mined transaction as a request and as a call, and what it paid. Pure. */
import type { FullTransaction, Receipt, CallRequest } from "../eth/index.js";
import { authorizationsOf, type Request, requestIn } from "../transaction/index.js";

/** The type of a system's own transaction, which nobody signs: a deposit of the OP stack. */
const depositType = "0x7e";

const isDeposit = ({ type }: Pick<FullTransaction, "type">): boolean => type === depositType;

/** By whom the OP stack tells its blocks of layer 1. */
const depositor = "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001";

/** True if it is a deposit that moves nothing of anybody's; one of a user may pay its receiver, or call anything. */
export const isSystemDeposit = (mined: Pick<FullTransaction, "type" | "from">): boolean =>
  isDeposit(mined) && mined.from.toLowerCase() === depositor;

/** Returns the request that was signed, 0 for a price that is not told; null where it is of no type that is signed here. */
export const requestOfMined = (mined: FullTransaction): Request | null =>
  requestIn({
    ...mined,
    gasPrice: mined.gasPrice ?? 0n,
    maxFeePerGas: mined.maxFeePerGas ?? 0n,
    maxPriorityFeePerGas: mined.maxPriorityFeePerGas ?? 0n,
    maxFeePerBlobGas: mined.maxFeePerBlobGas ?? 0n,
    accessList: mined.accessList ?? [],
    authorizationList: mined.authorizationList ?? [],
  });

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
