/**
 * Policies that somebody else keeps, in a JSON file: what a transaction must not do, whoever asks.
 *
 *     npx tsx examples/policies.ts http://127.0.0.1:8545 0xSender 0xRecipient 1000000000000000000
 */
import { readFile } from "node:fs/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as Effect from "effect/Effect";
import { Policy, Preflight, Report, Rpc } from "evm-preflight";
import type { Address } from "viem";

/** A report of a transfer that was held to the policies of a file. Rejects with `InvalidTransaction`, which names a policy that is none. */
export const transferUnder = async (
  file: string,
  url: string,
  transfer: { readonly from: Address; readonly to: Address; readonly value: bigint },
): Promise<Report.Report> => {
  const json: unknown = JSON.parse(await readFile(file, "utf8"));
  return Policy.fromJson(json).pipe(
    Effect.flatMap((policies) => Preflight.preflight(transfer, { policies })),
    Effect.provide(Rpc.layerHttp(url)),
    Effect.runPromise,
  );
};

const main = async () => {
  const [url = "http://127.0.0.1:8545", from, to, value = "0"] = process.argv.slice(2);
  if (from === undefined || to === undefined) {
    console.error(
      "A transfer under the policies of policies.json, and its report. Usage: npx tsx policies.ts URL SENDER RECIPIENT WEI",
    );
    process.exitCode = 64;
    return;
  }
  const transfer = { from: from as Address, to: to as Address, value: BigInt(value) };
  const report = await transferUnder(fileURLToPath(new URL("policies.json", import.meta.url)), url, transfer);
  console.log(Report.toText(report));
};

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) void main();
