/** A user's module in a package without `"type"`: compiled to CommonJS, checked and run. */
import { Errors, Policy } from "evm-preflight";
import { createPreflight, GuardRefused, guardProvider, Report as Promised } from "evm-preflight/promise";
import * as Report from "evm-preflight/Report";
import { createPreflight as createStatic } from "evm-preflight/static";
import { layerScripted } from "evm-preflight/testing";
import { preflightActions } from "evm-preflight/viem";

const from = "0x00000000000000000000000000000000000000a1";
const abi = [{ type: "function", name: "pause", stateMutability: "nonpayable", inputs: [], outputs: [] }] as const;
const request = (_args: unknown): Promise<never> => Promise.reject({ code: -32601, message: "not found" });

/* Inferred, so that the compiler has to name what it finds in its own declarations. */
export const preflight = createPreflight({ layer: layerScripted({}) }, { policies: [Policy.maxSpent("native", 1n)] });
export const scanned = () => preflight.scan([{ from, to: from, abi, functionName: "pause" }]);
export const readied = async () => Promised.ready(await scanned());
export const extended = preflightActions()({ request });

export const told = async (): Promise<ReadonlyArray<unknown>> => {
  const report: Report.BundleReport = await scanned();
  const verdict: "ready" | "caution" | "unknown" | "blocked" = report.verdict;
  const gas: bigint | null = report.transactions[0].gas.limit;
  const failed = await preflight.ready(report).catch((error: unknown) => error);
  const refused = await guardProvider({ request })
    .request({ method: "eth_sign", params: [from, "0x"] } as never)
    .catch((error: unknown) => (error instanceof GuardRefused ? error.what : error));
  return [
    verdict,
    gas,
    Report.summary(report) === Promised.summary(report),
    Promised.toText(report).startsWith("UNKNOWN"),
    failed instanceof Errors.NotProven && failed._tag,
    refused,
    (await extended.scan({ from, to: from })).verdict,
    (await createStatic({ provider: { request } }).scan({ from, to: from })).verdict,
    (await import("evm-preflight")).Errors === Errors,
  ];
};

// @ts-expect-error the ABI has no such function
void (() => preflight.scan({ from, to: from, abi, functionName: "unpause" }));
// @ts-expect-error `from` is missing
void (() => preflight.scan({ value: 1n }));
// @ts-expect-error several endpoints are for the Promise entry
void (() => createStatic({ endpoints: [] }));
// @ts-expect-error a report has no such field
void (() => scanned().then(({ verdicts }) => verdicts));

void told().then((all) => {
  console.log(JSON.stringify(all));
  process.exit(0);
});
