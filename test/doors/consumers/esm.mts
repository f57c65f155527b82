/** A user's ES module, for the compiler only. */
import * as Effect from "effect/Effect";
import { Errors, Preflight, Report, Rpc } from "evm-preflight";
import { createPreflight } from "evm-preflight/promise";
import { layerScripted } from "evm-preflight/testing";
import { preflightActions } from "evm-preflight/viem";
import { createPublicClient, http } from "viem";

const from = "0x00000000000000000000000000000000000000a1";
const abi = [{ type: "function", name: "pause", stateMutability: "nonpayable", inputs: [], outputs: [] }] as const;

export const report: Effect.Effect<Report.Report, Errors.InvalidTransaction> = Preflight.preflight({
  from,
  to: from,
  abi,
  functionName: "pause",
}).pipe(Effect.provide(Rpc.layerHttp("http://127.0.0.1:8545")));
export const promised: Promise<Report.Report> = createPreflight({ layer: layerScripted({}) }).run([{ from, to: from }]);
export const extended = createPublicClient({ transport: http() }).extend(preflightActions());
export const verdict: "ready" | "caution" | "unknown" | "blocked" = (await extended.scan({ from, to: from })).verdict;
// @ts-expect-error the ABI has no such function
void extended.scan({ from, to: from, abi, functionName: "unpause" });
