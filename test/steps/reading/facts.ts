/** What a node may say about fees, for the tests of quotes and of the prices that follow from them. */
import * as Result from "effect/Result";
import { MethodNotPermitted, MethodNotSupported, RpcError } from "../../rooms/errors.js";
import { Hash } from "../../rooms/primitives.js";
import { quoteOf, type FeeContext, type FeeFacts } from "../../rooms/steps.js";
import { chain } from "../parts.js";

export const gwei = 10n ** 9n;
export const parent = Hash.make(`0x${"ab".repeat(32)}`);

type Header = Extract<FeeFacts["header"], { readonly _tag: "Success" }>["success"];
/** The fields that fees are decided by; the rest of a header says nothing about them. */
export const header = (changed: Partial<Header> = {}): FeeFacts["header"] =>
  Result.succeed({
    ...{ hash: parent, number: 1n, baseFeePerGas: gwei, gasUsed: 15_000_000n, gasLimit: 30_000_000n },
    ...{ timestamp: 1_790_000_000n, blobGasUsed: null, extraData: null },
    ...{ requestsHash: null, blockAccessListHash: null, slotNumber: null },
    ...changed,
  } as Header);
export const history = (rows: ReadonlyArray<readonly [used: number, tips: ReadonlyArray<bigint>]>) =>
  Result.succeed({
    ...{ oldestBlock: 0n, baseFeePerGas: [...rows.map(() => gwei), gwei], gasUsedRatio: rows.map(([used]) => used) },
    ...{ reward: rows.map(([, tips]) => tips), baseFeePerBlobGas: null, blobGasUsedRatio: null },
  });
export const receipts = (...prices: ReadonlyArray<readonly [type: `0x${string}`, price: bigint]>) =>
  Result.succeed(prices.map(([type, effectiveGasPrice]) => ({ type, effectiveGasPrice })));
export const refused = Result.fail(
  new RpcError({ method: "eth_getBlockReceipts", reason: new MethodNotPermitted({ detail: "403", httpStatus: 403 }) }),
);
export const absent = Result.fail(
  new RpcError({ method: "eth_feeHistory", reason: new MethodNotSupported({ detail: "", code: -32601 }) }),
);

/** A quote out of the header alone, unless more was said, at a simulated base fee of a gwei. */
export const quoted = (facts: Partial<FeeFacts> = {}, context: Partial<FeeContext> = {}) =>
  quoteOf(
    { history: null, receipts: null, header: header(), ...facts },
    {
      ...{ chain: chain(), level: "normal", horizonSeconds: 60, simulatedBaseFee: gwei, parentHash: parent },
      ...context,
    },
  );
