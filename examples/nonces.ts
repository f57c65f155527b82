import { createPreflight } from "evm-preflight/promise";
import { layerNodeRedis } from "evm-preflight/redis";
import { createClient } from "redis";
import type { Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";

const main = async () => {
  const key = process.env["PRIVATE_KEY"];
  if (key === undefined) {
    console.error(
      "Sends 1 wei with a nonce that many processes share in Redis. Usage: PRIVATE_KEY=0x… REDIS_URL=… ETH_RPC_URL=… npx tsx nonces.ts",
    );
    process.exitCode = 64;
    return;
  }
  const account = privateKeyToAccount(key as Hex);
  const redis = await createClient({ url: process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379" })
    .on("error", console.error)
    .connect();
  const preflight = createPreflight(
    { url: process.env["ETH_RPC_URL"] ?? "http://127.0.0.1:8545" },
    { nonces: layerNodeRedis(redis) }, // memory of this process when left out
  );
  const lane = { chainId: 31337, address: account.address };
  await preflight.nonces.bootstrap(lane); // at every start; takes 15 s for a new account, no time for a known one
  await preflight.nonces.keep(lane); // in at least one process: settles, and sends again what was lost

  const { sent } = await preflight.deliver((request) => account.signTransaction(request))(
    { from: account.address, to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", value: 1n },
    { waitMs: 30_000 }, // for a nonce, while the account has as many transactions in flight as it may
  );
  console.log("sent:", sent[0]?.hash);
  await preflight.dispose(); // ends keep, too
  redis.destroy();
};

void main();
