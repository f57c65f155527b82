import { Report } from "evm-preflight";
import { createPreflight } from "evm-preflight/promise";
import { parseAbi } from "viem";

const main = async () => {
  const preflight = createPreflight({ url: process.env["ETH_RPC_URL"] ?? "http://127.0.0.1:8545" });
  const report = await preflight.run({
    from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    to: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
    abi: parseAbi(["function transfer(address to, uint256 amount) returns (bool)"]),
    functionName: "transfer",
    args: ["0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", 25_000_000n],
  });
  console.log(Report.toText(report));
  const { requests } = await preflight.ready(report); // or rejects with the typed reason why not
  console.log("sign exactly this:", requests[0]);
  await preflight.dispose();
};

void main();
