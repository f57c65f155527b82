/**
 * Every error: verdicts on a transaction, failures of the communication with a node, and wrong input. Also the pure
 * functions that read them from a node's answers.
 */
import * as Schema from "effect/Schema";
import type { AbiSources } from "./abi/abiIndex.js";
import type { Revert } from "./abi/revert.js";
import * as table from "./abi/table.js";
import { classify as classifyAnswer } from "./errors/classify.js";
import { RpcError } from "./errors/rpc.js";
import { ExecutionReverted, Verdict } from "./errors/verdicts.js";
import { safely } from "./primitives/record.js";

export type { AbiSources } from "./abi/abiIndex.js";
export { DecodedLog, DecodedResult } from "./abi/decodeLogs.js";
export { decodeCall, DecodedCall } from "./abi/calls.js";
export { describeRevert } from "./abi/print.js";
export { DecodedArgument } from "./abi/values.js";
export type { Stated } from "./primitives/statement.js";
export { Disposed, InvalidConnection, InvalidStep, InvalidTransaction, ReportVersion } from "./errors/input.js";
export { BundlerError, bundlerErrorOf } from "./errors/bundler.js";
export * from "./errors/nonces.js";
export {
  Revert,
  RevertAmbiguous,
  RevertCustom,
  RevertEmpty,
  RevertPanic,
  RevertReason,
  RevertUnknown,
} from "./abi/revert.js";
export * from "./errors/reasons.js";
export { Reason, RpcError } from "./errors/rpc.js";
export * from "./errors/verdicts.js";

/**
 * One typed error for one failed answer of a node. Reverts are decoded by `abis` first, then by the built-in table.
 * Pure and total: for any input, hostile ones included, it answers in bounded time and never throws.
 *
 * @example
 * ```ts
 * import { Errors } from "evm-preflight";
 *
 * const error = { code: -32000, message: "nonce too low: next nonce 7, tx nonce 4" };
 * const read = Errors.classify({ method: "eth_sendRawTransaction", error });
 * console.log(read._tag); // NonceTooLow
 * ```
 */
export const classify = (input: Parameters<typeof classifyAnswer>[0]): RpcError | Verdict => {
  const error = classifyAnswer(input);
  if (error._tag !== "ExecutionReverted" || error.data === null) return error;
  const { data, text, raw } = error;
  return safely(() => {
    const to = input.to?.toLowerCase() as `0x${string}` | undefined;
    const revert = table.decodeRevert(data, input.abis ?? [], { address: to ?? null });
    return new ExecutionReverted({ data, revert, text, to: to ?? null, raw });
  }, error);
};

/**
 * Decodes reverted bytes. `abis` are tried by address first (`options.address` = the contract that
 * reverted), then all of them together with the built-in table. A custom error counts only when the
 * bytes are exactly its encoding; several that fit make `RevertAmbiguous`.
 *
 * Text that is no even-length hex counts as no bytes.
 *
 * @example
 * ```ts
 * import { Errors } from "evm-preflight";
 *
 * const revert = Errors.decodeRevert(`0x4e487b71${"11".padStart(64, "0")}`);
 * console.log(Errors.describeRevert(revert)); // Panic(0x11): arithmetic overflow or underflow
 * ```
 */
export const decodeRevert = (
  bytes: string,
  abis: AbiSources = [],
  options: { readonly address?: string | null } = {},
): Revert => table.decodeRevert(bytes, abis ?? [], options ?? {});

/**
 * Tells a verdict on the transaction from other caught errors. After a verdict, do not send the transaction as it is.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Errors, Preflight, Report, Rpc } from "evm-preflight";
 *
 * const error = await Preflight.preflight({
 *   from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
 *   to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
 *   value: 10n ** 30n,
 * }).pipe(
 *   Effect.flatMap(Report.ready),
 *   Effect.flip,
 *   Effect.provide(Rpc.layerHttp("http://127.0.0.1:8545")),
 *   Effect.runPromise,
 * );
 * console.log(Errors.isVerdict(error), error._tag); // true InsufficientFunds
 * ```
 */
export const isVerdict = Schema.is(Verdict);
