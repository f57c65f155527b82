#!/bin/sh
# viem 2.57.20 with anvil 1.7.1: the estimate of a call that ends in INVALID is asked for four times.
# Guess: one request, for such a call always fails, as does a revert, which is asked for once.
# Seen: anvil answers −32603 (internal error), which viem takes for a fault that passes: four requests, and a second or more.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --silent @foundry-rs/anvil@1.7.1 viem@2.57.20
cat >run.mjs <<'JS'
import { spawn } from "node:child_process";
import { createPublicClient, http } from "viem";
const port = 20000 + (process.pid % 20000);
const node = spawn("node_modules/.bin/anvil", ["--port", String(port), "--silent"], { stdio: "ignore" });
let requests = 0;
const client = createPublicClient({ transport: http(`http://127.0.0.1:${port}`, { onFetchRequest: () => void requests++ }) });
for (let tries = 0; tries < 100; tries++) {
  if (await client.getChainId().catch(() => null)) break;
  await new Promise((go) => setTimeout(go, 100));
}
const to = "0x1000000000000000000000000000000000000001";
const countOf = async (code) => {
  await client.request({ method: "anvil_setCode", params: [to, code] });
  requests = 0;
  const error = await client.estimateGas({ account: "0x2000000000000000000000000000000000000002", to }).catch((thrown) => thrown);
  return [requests, error.walk((one) => typeof one.code === "number")?.code];
};
const [halt, revert] = [await countOf("0xfe"), await countOf("0x5f5ffd")];
console.log("viem 2.57.20, anvil 1.7.1: requests and code for INVALID:", halt, "for REVERT:", revert);
node.kill();
process.exit(halt[0] === 4 && revert[0] === 1 ? 0 : 1);
JS
node run.mjs
