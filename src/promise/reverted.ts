/** A call that reverts, as viem has it. */
import { type Abi, BaseError, ContractFunctionRevertedError } from "viem";
import { ExecutionReverted } from "../errors/index.js";
import { isRecord, safely } from "../primitives/index.js";
import type { Report } from "../report/index.js";

/**
 * The same error; of a call that reverts its cause is viem's error, decoded by the ABI of the call and those of the options,
 * and its `walk` is that of viem's errors.
 */
export const withViemCause = (error: unknown, { options, transactions }: Report): unknown => {
  if (!(error instanceof ExecutionReverted) || error.data === null || error.cause !== undefined) return error;
  const { data, to } = error;
  const own = options.abis.filter(({ address }) => address === to);
  const abi = [...own, ...options.abis].flatMap((entry) => entry.abi as Abi);
  const item = transactions.find(({ outcome: { status } }) => status === "reverted")?.input.item;
  const functionName = isRecord(item) ? String(item["name"]) : "(unknown)";
  const cause = safely(() => new ContractFunctionRevertedError({ abi, data, functionName }), undefined);
  Reflect.defineProperty(error, "cause", { value: cause });
  Reflect.defineProperty(error, "walk", { value: BaseError.prototype.walk });
  return error;
};
