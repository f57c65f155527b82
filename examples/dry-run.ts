/**
 * A dry run before a deployment or a batch of admin calls: prints what would happen, and ends with
 * 0 (ready), 1 (blocked), 2 (caution) or 3 (unknown). Use a node that simulates deployments, such as geth: anvil 1.7.1
 * does not, and the report is then unknown (`DeploymentNotSimulated`).
 *
 *     npx tsx examples/dry-run.ts http://127.0.0.1:8545 0xSender
 */
import { pathToFileURL } from "node:url";
import { Report } from "evm-preflight";
import { createPreflight } from "evm-preflight/promise";
import { createPublicClient, getContractAddress, http, type Address } from "viem";
import { Token } from "./contracts.js";

const exitCodes = { ready: 0, blocked: 1, caution: 2, unknown: 3 } as const;

const treasury: Address = "0x00000000000000000000000000000000000077ea";

/** Deploys a token and moves its first units in the next transaction, without sending either. */
export const dryRun = async (url: string, from: Address): Promise<Report.Report> => {
  await using preflight = createPreflight({ url });
  const client = createPublicClient({ transport: http(url) });
  const nonce = await client.getTransactionCount({ address: from, blockTag: "pending" });
  const token = getContractAddress({ from, nonce: BigInt(nonce) });
  return await preflight.run(
    [
      { from, nonce, abi: Token.abi, bytecode: Token.bytecode, args: [1_000_000n] },
      { from, to: token, abi: Token.abi, functionName: "transfer", args: [treasury, 5n] },
    ],
    { deadline: "20 seconds" },
  );
};

const main = async () => {
  const [url = "http://127.0.0.1:8545", from] = process.argv.slice(2);
  if (from === undefined) {
    console.error(
      "Deploys a token and uses it, without sending anything, and prints the report. Usage: npx tsx dry-run.ts URL SENDER",
    );
    process.exitCode = 64;
    return;
  }
  const report = await dryRun(url, from as Address);
  console.log(Report.toText(report));
  process.exitCode = exitCodes[report.verdict];
};

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) void main();
