import { Report } from "evm-preflight";
import { createPreflight } from "evm-preflight/promise";

const main = async () => {
  const url = process.env["ETH_RPC_URL"] ?? "http://127.0.0.1:8545";
  const preflight = createPreflight({ url });
  const report = await preflight.preflight({
    from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
    value: 10n ** 17n,
  });
  console.log(Report.toText(report));
  // throws a typed error if it must not be signed
  const { requests } = await preflight.ready(report);
  console.log("sign exactly this:", requests[0]);
  await preflight.dispose();
};

void main();
