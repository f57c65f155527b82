/**
 * A chain that charges for the bytes of a transaction beside its gas. How it does is one object: what the
 * simulation reads at the chain's oracle, in the very block that is simulated, and what follows from it.
 *
 *     npx tsx examples/fee-model.ts http://127.0.0.1:8545 0xOracle 0xSender
 */
import { pathToFileURL } from "node:url";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { Chains, Preflight, Report, Rpc, Step } from "evm-preflight";
import { toFunctionSelector, type Address } from "viem";

/** Bytes that the signature adds to an unsigned transaction, at the most. */
const signatureBytes = 68;

/** Charged by the byte, at the price that `oracle` names. */
const perByte = (oracle: Address): Chains.FeeModel => {
  const price = Step.staticCall(oracle, toFunctionSelector("weiPerByte()"));
  return {
    name: "per byte",
    queries: () => [price],
    decide: ({ unsigned }, _gas, view) => {
      const weiPerByte = Chains.readUint256(view.call(price));
      // Never zero for want of an answer: what the sender needs is then unknown, and so is the verdict.
      if (weiPerByte === null) return { unreadable: "the oracle did not name its price" };
      const l1Fee = weiPerByte * BigInt((unsigned.length - 2) / 2 + signatureBytes);
      // The price may rise until inclusion: twice of it has to be there.
      return { fees: { l1Fee, l1FeeAtMost: 2n * l1Fee, operatorFee: 0n, operatorFeeAtMost: 0n } };
    },
  };
};

/** A report of a transfer on such a chain: its funds hold what the bytes cost. */
export const transferOn = (
  url: string,
  chainId: number,
  oracle: Address,
  { from, to, value }: { readonly from: Address; readonly to: Address; readonly value: bigint },
): Promise<Report.BundleReport> =>
  Preflight.preflight({ from, to, value, chainId }).pipe(
    Effect.provide(
      Layer.merge(Rpc.layerHttp(url), Chains.layerWith(chainId, { name: "my chain", feeModel: perByte(oracle) })),
    ),
    Effect.runPromise,
  );

const main = async () => {
  const [url = "http://127.0.0.1:8545", oracle, from] = process.argv.slice(2);
  if (oracle === undefined || from === undefined) {
    console.error(
      "A report on a chain that charges for bytes at an oracle (Oracle.sol). Usage: npx tsx fee-model.ts URL ORACLE SENDER",
    );
    process.exitCode = 64;
    return;
  }
  const report = await transferOn(url, 31337, oracle as Address, {
    from: from as Address,
    to: from as Address,
    value: 1n,
  });
  console.log(Report.toText(report));
};

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) void main();
